"""Sums, means and extremes over dimensions."""

from __future__ import annotations

from math import prod

import numpy as np

from ...errors import Unsupported
from ...graph import Conv, Pool, PRelu, Slice, Value
from ..builder import Builder, layouts, usual_layout
from ..tensors import Item, Tensor
from ..views import View, arranged, grouped
from .arithmetic import changed, power
from .arrangement import own_layout
from .registry import Call, axis_of, operator

_MODES = {
    "ReduceMean": "average",
    "ReduceSum": "sum",
    "ReduceMax": "max",
    "ReduceMin": "min",
    "ReduceSumSquare": "sum",
    "ReduceL2": "sum",
    "ReduceL1": "sum",
}


@operator(*_MODES)
def _reduce(call: Call) -> Item:
    x = call.tensor()
    axes = call.ints("axes", 1)
    if not axes and call.attribute("noop_with_empty_axes", 0):
        return x
    axes = [axis_of(a, x.rank) for a in axes] if axes else list(range(x.rank))
    keep = bool(call.attribute("keepdims", 1))
    build, target = call.build, call.build.target
    if call.op in ("ReduceSumSquare", "ReduceL2"):
        x = changed(x, lambda v: power(build, v, 2, f"{target}/squares"))
    if call.op == "ReduceL1":
        x = changed(x, lambda v: _abs(build, v))
    result = reduced(build, x, axes, _MODES[call.op], keep)
    if call.op == "ReduceL2":
        result = changed(result, lambda v: build.curve(v, "Sqrt"))
    return result


def _abs(build: Builder, x: Value) -> Value:
    slope = np.full((1, 1, 1, 1), -1, np.float32)
    return build.add(PRelu, [x], x.shape, f"{build.target}/abs", slope=slope)


def reduced(build: Builder, x: Tensor, axes: list[int], mode: str, keep: bool) -> Tensor:
    """*mode* over dimensions *axes*: "average", "sum", "max" or "min"."""
    keeps = [d for d in range(x.rank) if d not in axes]
    for candidate in _arrangements(x, axes, keeps):
        value = build.plain(arranged(x.view, candidate)) if candidate else x.view.value
        view = grouped(value, x.shape, candidate) if candidate else x.view
        gone = {digit.axis for d in axes for digit in view.dims[d]}
        result = _reduce_value(build, value, gone, mode)
        dims = tuple(() if d in axes else dim for d, dim in enumerate(view.dims))
        if not keep:
            dims = tuple(dim for d, dim in enumerate(dims) if d not in axes)
        return x.viewed(View(result, dims))
    raise Unsupported("it reduces the batch", "use a batch of one picture")


def _arrangements(x: Tensor, axes: list[int], keeps: list[int]) -> list[list[list[int]] | None]:
    """Ways to lay the tensor so that whole axes of a value vanish; None: as it lies."""
    gone = {digit.axis for d in axes for digit in x.view.dims[d]}
    stays = {digit.axis for d in keeps for digit in x.view.dims[d]}
    found: list[list[list[int]] | None] = []
    if not gone & stays and 0 not in gone:
        found.append(None)
    for groups in [own_layout(x), usual_layout(x.shape), *layouts(x.shape)]:
        if groups is None:
            continue
        parts = [{d in axes for d in g if x.shape[d] > 1} for g in groups]
        batch = prod(x.shape[d] for d in groups[0] if d in axes)
        if all(len(part) < 2 for part in parts) and batch == 1:
            found.append(groups)
    found.append([[], keeps, axes[:-1], axes[-1:]])
    return found


def _reduce_value(build: Builder, x: Value, gone: set[int], mode: str) -> Value:
    n, c, h, w = x.shape
    name = build.target
    if 1 in gone and mode in ("max", "min"):
        if gone & {2, 3}:
            x = _reduce_value(build, x, gone - {1}, mode)
        return _extreme_channel(build, x, mode)
    kernel = (h if 2 in gone else 1, w if 3 in gone else 1)
    count = kernel[0] * kernel[1] * (c if 1 in gone else 1)
    factor = 1 / count if mode == "average" else 1.0
    if 1 in gone:
        return build.add(
            Conv,
            [x],
            (n, 1, h // kernel[0], w // kernel[1]),
            weights=np.full((1, c, *kernel), factor, np.float32),
            bias=np.zeros(1, np.float32),
        )
    if kernel == (1, 1):
        return x
    size = (n, c, h // kernel[0], w // kernel[1])
    if mode in ("max", "min"):
        return build.add(Pool, [x], size, name, mode=mode, kernel=kernel)
    return build.add(Pool, [x], size, name, mode="average", kernel=kernel, divisor=1 / factor)


def _extreme_channel(build: Builder, x: Value, mode: str) -> Value:
    """The largest or smallest channel: halves that may overlap, against each other."""
    while x.shape[1] > 1:
        n, c, h, w = x.shape
        half = (c + 1) // 2
        name = f"{build.target}/{half}"
        parts = [
            build.add(Slice, [x], (n, half, h, w), f"{name}/half", starts=(start, 0, 0))
            for start in (0, c - half)
        ]
        x = build.binary(mode, parts[0], parts[1], build.target if half == 1 else name)
    return x
