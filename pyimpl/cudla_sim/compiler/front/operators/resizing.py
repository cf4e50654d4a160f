"""Resize and Upsample as two matrices, one for rows and one for columns."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import ceil, floor

import numpy as np
from numpy.typing import NDArray

from ...errors import Unsupported
from ...graph import Affine, Resize, Value
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
    how = Sampling(
        rounding=call.attribute("nearest_mode", "round_prefer_floor"),
        cubic=float(call.attribute("cubic_coeff_a", -0.75)),
        inside=bool(call.attribute("exclude_outside", 0)),
        antialias=bool(call.attribute("antialias", 0)),
    )
    regions = [(0.0, 1.0)] * x.rank
    if coordinates == "tf_crop_and_resize":
        given = call.constant(1, "roi").floats().astype(np.float64).reshape(2, -1)
        for axis, begin, end in zip(axes, *given, strict=True):
            regions[axis] = float(begin), float(end)
    return _resized(call, x, sizes, scales, mode, coordinates, how, regions)


def _resized(
    call: Call,
    x: Tensor,
    sizes: list[int],
    scales: list[float],
    mode: str,
    coordinates: str,
    how: Sampling | None = None,
    regions: list[tuple[float, float]] | None = None,
) -> Tensor:
    if mode not in ("nearest", "linear", "cubic"):
        raise Unsupported(f"its mode {mode!r} is unknown", "use linear, nearest or cubic")
    how = how or Sampling(rounding="floor")
    regions = regions or [(0.0, 1.0)] * x.rank
    value, groups = _placed_for(call, x, sizes)
    matrices, inside = [], []
    for axis in (2, 3):
        moving = [d for d in groups[axis] if x.shape[d] > 1 or sizes[d] > 1]
        inside.append(np.ones(value.shape[axis], bool))
        if not moving:
            matrices.append(identity(value.shape[axis]))
            continue
        if len(moving) > 1 and any(sizes[d] != x.shape[d] for d in moving):
            raise Unsupported("it resizes more than two dimensions")
        d = moving[0]
        if sizes[d] == x.shape[d] and scales[d] == 1 and regions[d] == (0.0, 1.0):
            matrices.append(identity(value.shape[axis]))
            continue
        centers = _source(sizes[d], x.shape[d], scales[d], coordinates, regions[d])
        if mode == "nearest":
            matrices.append(nearest(centers, x.shape[d], how.rounding))
        else:
            matrices.append(weighted(centers, x.shape[d], scales[d], mode, how))
        if coordinates == "tf_crop_and_resize":
            inside[-1] = (centers >= 0) & (centers <= x.shape[d] - 1)
            matrices[-1][~inside[-1]] = 0
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
    outside = float(call.attribute("extrapolation_value", 0.0))
    if coordinates == "tf_crop_and_resize" and outside:
        shift = np.where(np.outer(*inside), 0.0, outside).astype(np.float32)
        one = np.ones((1, 1, 1, 1), np.float32)
        result = call.build.add(Affine, [result], result.shape, scale=one, shift=shift[None, None])
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


@dataclass(frozen=True, slots=True)
class Sampling:
    """How outputs come from their neighbours: the rounding of "nearest", the coefficient of
    "cubic", whether only neighbours *inside* of the picture count, and whether a filter as wide as
    the step between outputs goes before."""

    rounding: str = "round_prefer_floor"
    cubic: float = -0.75
    inside: bool = False
    antialias: bool = False


def _source(
    size: int, length: int, scale: float, coordinates: str, region: tuple[float, float]
) -> NDArray[np.float64]:
    """Where each output position lies in the input (ONNX Resize-19)."""
    out = np.arange(size, dtype=np.float64)
    if coordinates == "asymmetric":
        return out / scale
    if coordinates == "align_corners":
        return out * (length - 1) / (size - 1) if size > 1 else np.zeros(size)
    if coordinates == "pytorch_half_pixel":
        return (out + 0.5) / scale - 0.5 if size > 1 else np.zeros(size)
    if coordinates == "half_pixel":
        return (out + 0.5) / scale - 0.5
    if coordinates == "half_pixel_symmetric":
        adjusted = size / (scale * length)
        centre = length / 2
        return centre * (1 - adjusted) + (out + 0.5) / scale - 0.5
    if coordinates == "tf_half_pixel_for_nn":
        return (out + 0.5) / scale
    if coordinates == "tf_crop_and_resize":
        begin, end = (at * (length - 1) for at in region)
        if size == 1:
            return np.array([(begin + end) / 2])
        return begin + out * (end - begin) / (size - 1)
    raise Unsupported(f"its coordinate mode {coordinates!r} is unknown", "use half_pixel")


_ROUND: dict[str, Callable[[NDArray[np.float64]], NDArray[np.float64]]] = {
    "round_prefer_floor": lambda x: np.ceil(x - 0.5),
    "round_prefer_ceil": lambda x: np.floor(x + 0.5),
    "floor": np.floor,
    "ceil": np.ceil,
}


def nearest(centers: NDArray[np.float64], length: int, rounding: str) -> NDArray[np.float32]:
    """[size, length] with one 1 in each line."""
    if rounding not in _ROUND:
        raise Unsupported(f"its nearest_mode {rounding!r} is unknown", "use floor")
    index = np.clip(_ROUND[rounding](centers), 0, length - 1).astype(np.int64)
    picked(len(centers), length)
    return identity(length)[index]


def _cubic(distance: NDArray[np.float64], a: float) -> NDArray[np.float64]:
    """Keys' kernel."""
    near = ((a + 2) * distance - (a + 3)) * distance**2 + 1
    far = ((a * distance - 5 * a) * distance + 8 * a) * distance - 4 * a
    return np.where(distance <= 1, near, np.where(distance < 2, far, 0.0))


def weighted(
    centers: NDArray[np.float64], length: int, scale: float, mode: str, how: Sampling
) -> NDArray[np.float32]:
    """[size, length] with the weights of neighbours, which depend on their distance; beyond the
    border it repeats, or nothing counts."""
    picked(len(centers), length)
    stretch = min(scale, 1.0) if how.antialias else 1.0
    reach = (1 if mode == "linear" else 2) / stretch
    if mode == "linear" and not how.inside and not how.antialias:
        centers = np.clip(centers, 0, length - 1)
    matrix = np.zeros((len(centers), length))
    for line, center in enumerate(centers):
        places = np.arange(floor(center - reach) + 1, ceil(center + reach))
        distance = np.abs(places - center) * stretch
        weights = np.maximum(1 - distance, 0) if mode == "linear" else _cubic(distance, how.cubic)
        if how.inside:
            weights = np.where((places >= 0) & (places < length), weights, 0.0)
        if how.inside or how.antialias:
            weights = weights / weights.sum()
        np.add.at(matrix[line], np.clip(places, 0, length - 1), weights)
    return matrix.astype(np.float32)
