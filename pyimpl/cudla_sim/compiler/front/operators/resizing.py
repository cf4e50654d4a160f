"""Resize and Upsample as two matrices, one for rows and one for columns."""

from __future__ import annotations

from collections.abc import Callable
from math import floor

import numpy as np
from numpy.typing import NDArray

from ...errors import Unsupported
from ...graph import Resize, Value
from ..builder import identity, picked
from ..tensors import Item, Tensor
from ..views import arranged, grouped
from .arrangement import own_layout
from .convolutions import picture
from .registry import Call, axis_of, operator


@operator("Upsample", integers=True)
def _upsample(call: Call) -> Item:
    x = call.tensor()
    scales = call.attribute("scales")
    if scales is None:
        scales = [float(s) for s in call.constant(1, "scales").floats().reshape(-1)]
    mode = str(call.attribute("mode", "nearest"))
    sizes = [floor(s * length) for s, length in zip(scales, x.shape, strict=True)]
    return _resized(call, x, sizes, list(scales), mode.replace("bilinear", "linear"), "asymmetric")


@operator("Resize", integers=True)
def _resize(call: Call) -> Item:
    x = call.tensor()
    mode = call.attribute("mode", "nearest")
    if call.version < 11:
        scales = [float(s) for s in call.constant(1, "scales").floats().reshape(-1)]
        sizes = [floor(s * length) for s, length in zip(scales, x.shape, strict=True)]
        return _resized(call, x, sizes, scales, mode, "asymmetric")
    coordinates = call.attribute("coordinate_transformation_mode", "half_pixel")
    if mode == "cubic":
        raise Unsupported("cubic interpolation has no hardware", "use linear or nearest")
    if call.attribute("antialias", 0):
        raise Unsupported("it is antialiased", "use linear without antialias")
    if coordinates == "tf_crop_and_resize":
        raise Unsupported("it crops (tf_crop_and_resize)", "use Slice and Resize")
    axes = [axis_of(a, x.rank) for a in call.attribute("axes") or range(x.rank)]
    given_sizes = call.optional(3, "sizes")
    if given_sizes is not None and given_sizes.array.size:
        asked = dict(zip(axes, given_sizes.ints(), strict=True))
        policy = call.attribute("keep_aspect_ratio_policy", "stretch")
        if policy != "stretch":
            ratios = [asked[a] / x.shape[a] for a in axes]
            ratio = min(ratios) if policy == "not_larger" else max(ratios)
            asked = {a: floor(ratio * x.shape[a] + 0.5) for a in axes}
            factors = dict.fromkeys(axes, ratio)
        else:
            factors = {a: asked[a] / x.shape[a] for a in axes}
    else:
        numbers = call.constant(2, "scales").floats().astype(np.float64).reshape(-1)
        factors = dict(zip(axes, map(float, numbers), strict=True))
        asked = {a: floor(factors[a] * x.shape[a]) for a in axes}
    sizes = [asked.get(a, length) for a, length in enumerate(x.shape)]
    scales = [factors.get(a, 1.0) for a in range(x.rank)]
    rounding = call.attribute("nearest_mode", "round_prefer_floor")
    return _resized(call, x, sizes, scales, mode, coordinates, rounding)


def _resized(
    call: Call,
    x: Tensor,
    sizes: list[int],
    scales: list[float],
    mode: str,
    coordinates: str,
    rounding: str = "floor",
) -> Tensor:
    if mode not in ("nearest", "linear"):
        raise Unsupported(f"its mode {mode!r} is unknown", "use linear or nearest")
    value, groups = _placed_for(call, x, sizes)
    matrices = []
    for axis in (2, 3):
        moving = [d for d in groups[axis] if x.shape[d] > 1 or sizes[d] > 1]
        if not moving:
            matrices.append(identity(value.shape[axis]))
            continue
        if len(moving) > 1 and any(sizes[d] != x.shape[d] for d in moving):
            raise Unsupported("it resizes more than two dimensions")
        d = moving[0]
        if sizes[d] == x.shape[d] and scales[d] == 1:
            matrices.append(identity(value.shape[axis]))
            continue
        build = nearest if mode == "nearest" else linear
        matrices.append(build(x.shape[d], sizes[d], scales[d], coordinates, rounding))
    rows, columns = matrices
    if mode == "nearest" and rows.shape[0] == rows.shape[1] and _is_eye(rows) and _is_eye(columns):
        return x
    n, c = value.shape[:2]
    result = call.build.add(
        Resize,
        [value],
        (n, c, rows.shape[0], columns.shape[0]),
        mode=mode,
        rows=rows,
        columns=columns,
    )
    return x.viewed(grouped(result, sizes, groups))


def _is_eye(matrix: NDArray[np.float32]) -> bool:
    return matrix.shape[0] == matrix.shape[1] and bool((matrix == np.eye(len(matrix))).all())


def _placed_for(call: Call, x: Tensor, sizes: list[int]) -> tuple[Value, list[list[int]]]:
    """The value and its groups such that only h and w change."""
    changes = [d for d in range(x.rank) if sizes[d] != x.shape[d]]
    own = own_layout(x)
    if own and all(d in own[2] + own[3] for d in changes):
        return x.view.value, own
    if x.rank in (3, 4) and all(d >= 2 for d in changes):
        return picture(call, x)
    if len(changes) <= 2 and 0 not in changes:
        rest = [d for d in range(1, x.rank) if d not in changes]
        rows = changes[:-1]
        groups = [[0], rest, rows, changes[-1:]]
        return call.build.plain(arranged(x.view, groups)), groups
    if not changes:
        return picture(call, x)
    raise Unsupported("it resizes the batch or more than two dimensions", "resize h and w only")


def _source(
    count: int, length: int, size: int, scale: float, coordinates: str
) -> NDArray[np.float64]:
    """Where each output position lies in the input (ONNX Resize-19)."""
    out = np.arange(count, dtype=np.float64)
    if coordinates == "asymmetric":
        return out / scale
    if coordinates == "align_corners":
        return out * (length - 1) / (size - 1) if size > 1 else np.zeros(count)
    if coordinates == "pytorch_half_pixel":
        return (out + 0.5) / scale - 0.5 if size > 1 else np.zeros(count)
    if coordinates == "half_pixel":
        return (out + 0.5) / scale - 0.5
    if coordinates == "half_pixel_symmetric":
        adjusted = size / (scale * length)
        centre = length / 2
        return centre * (1 - adjusted) + (out + 0.5) / scale - 0.5
    if coordinates == "tf_half_pixel_for_nn":
        return (out + 0.5) / scale
    raise Unsupported(f"its coordinate mode {coordinates!r} is unknown", "use half_pixel")


_ROUND: dict[str, Callable[[NDArray[np.float64]], NDArray[np.float64]]] = {
    "round_prefer_floor": lambda x: np.ceil(x - 0.5),
    "round_prefer_ceil": lambda x: np.floor(x + 0.5),
    "floor": np.floor,
    "ceil": np.ceil,
}


def nearest(
    length: int, size: int, scale: float, coordinates: str, rounding: str
) -> NDArray[np.float32]:
    """[size, length] with one 1 in each line."""
    if rounding not in _ROUND:
        raise Unsupported(f"its nearest_mode {rounding!r} is unknown", "use floor")
    x = _source(size, length, size, scale, coordinates)
    index = np.clip(_ROUND[rounding](x), 0, length - 1).astype(np.int64)
    picked(size, length)
    return identity(length)[index]


def linear(
    length: int, size: int, scale: float, coordinates: str, rounding: str = ""
) -> NDArray[np.float32]:
    """[size, length] with the weights of the two neighbours; the border repeats."""
    del rounding
    picked(size, length)
    x = np.clip(_source(size, length, size, scale, coordinates), 0, length - 1)
    low = np.floor(x).astype(np.int64)
    part = x - low
    matrix = np.zeros((size, length))
    line = np.arange(size)
    np.add.at(matrix, (line, low), 1 - part)
    np.add.at(matrix, (line, np.minimum(low + 1, length - 1)), part)
    return matrix.astype(np.float32)
