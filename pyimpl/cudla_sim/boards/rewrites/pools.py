"""Pools: global ones and large windows as rows of small ones."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ..rules.rule import most
from .edit import Edit, NotPossible
from .registry import rewrites

if TYPE_CHECKING:
    import onnx

WINDOW, KERNEL, STRIDE = (
    most(rule) for rule in ("pooling-window", "convolution-kernel", "convolution-stride")
)


def factors(size: int) -> tuple[list[int], int]:
    """*size* as a product of windows, the largest first, and a rest that has no such factor."""
    found = []
    while window := next((w for w in range(WINDOW, 1, -1) if size % w == 0), 0):
        found.append(window)
        size //= window
    return found, size


def depthwise(
    edit: Edit,
    value: str,
    weights: Any,
    hint: str,
    channels: int,
    like: str = "",
    outputs: Any = (),
    **attributes: Any,
) -> onnx.NodeProto:
    """A convolution that gives each channel the same kernel *weights* (h, w); the tensor *like* has
    its type, where *value* is new."""
    kernel = np.broadcast_to(weights, (channels, 1, *np.shape(weights)))
    name = edit.constant(kernel, f"{hint}/kernel", like or value)
    return edit.make("Conv", [value, name], hint, outputs, group=channels, **attributes)


def _reduced_axes(edit: Edit, node: onnx.NodeProto) -> tuple[list[int], bool]:
    """Axes of a reduction over a picture, and whether they are kept."""
    rank = len(edit.shape(node.input[0]))
    if node.op_type.startswith("Global"):
        return list(range(2, rank)), True
    given = edit.given(node, 1)
    listed = given.tolist() if given is not None else edit.attribute(node, "axes")
    axes = sorted(a % rank for a in listed) if listed else list(range(rank))
    return axes, bool(edit.attribute(node, "keepdims", 1))


def _finish(edit: Edit, node: onnx.NodeProto, made: list[Any], keep: bool) -> None:
    """Puts *made* in the place of *node*; where axes are dropped a Flatten follows."""
    if keep:
        made[-1].output[0] = node.output[0]
    else:
        if len(edit.shape(node.output[0])) != 2:
            raise NotPossible("what is left has not two dimensions")
        value = made[-1].output[0] if made else node.input[0]
        made.append(edit.make("Flatten", [value], f"{node.name}/flat", node.output, axis=1))
    edit.put([node], made)


@rewrites("global-average-pool", "GlobalAveragePool", "ReduceMean")
def global_average(edit: Edit, node: onnx.NodeProto) -> str:
    return _reduced(edit, node, mean=True)


@rewrites("reduce-sum", "ReduceSum")
def reduce_sum(edit: Edit, node: onnx.NodeProto) -> str:
    return _reduced(edit, node, mean=False)


def _reduced(edit: Edit, node: onnx.NodeProto, mean: bool) -> str:
    value = edit.varying(node)
    _, channels, height, width = edit.picture(value)
    axes, keep = _reduced_axes(edit, node)
    if axes == [1]:
        kernel = np.full((1, channels, 1, 1), 1 / channels if mean else 1)
        name = edit.constant(kernel, f"{node.name}/kernel", value)
        _finish(edit, node, [edit.make("Conv", [value, name], f"{node.name}/sum")], keep)
        return "a 1 x 1 convolution over the channels"
    if axes not in ([2, 3], [2], [3]):
        raise NotPossible(f"it reduces the axes {axes}; C, or H and W, are possible")
    rows, columns = (height if 2 in axes else 1), (width if 3 in axes else 1)
    if rows * columns == 1 and keep:
        edit.remove(node)
        return "nothing: there is one value to reduce"
    made: list[Any] = []
    if mean:
        (per_row, rows), (per_column, columns) = factors(rows), factors(columns)
        made = _chain(edit, node, "AveragePool", value, per_row, per_column)
    if rows > KERNEL or columns > KERNEL:
        raise NotPossible(f"{rows} x {columns} is left of it, and a kernel is up to {KERNEL}")
    words = _windows(made, edit)
    if rows * columns > 1:
        weights = np.full((rows, columns), 1 / (rows * columns) if mean else 1)
        last = made[-1].output[0] if made else value
        made.append(depthwise(edit, last, weights, f"{node.name}/sum", channels, value))
        words.append(f"a depthwise convolution of {rows} x {columns}")
    _finish(edit, node, made, keep)
    return " then ".join(words) or "a Flatten"


def _windows(made: list[Any], edit: Edit) -> list[str]:
    return [
        f"{n.op_type} {' x '.join(map(str, edit.attribute(n, 'kernel_shape')))}"
        for n in made
        if "Pool" in n.op_type
    ]


def _chain(
    edit: Edit, node: onnx.NodeProto, op: str, value: str, rows: list[int], columns: list[int]
) -> list[Any]:
    made: list[Any] = []
    for i in range(max(len(rows), len(columns))):
        window = [sizes[i] if i < len(sizes) else 1 for sizes in (rows, columns)]
        pool = edit.make(op, [value], f"{node.name}/{i}", kernel_shape=window, strides=window)
        made.append(pool)
        value = pool.output[0]
    return made


@rewrites("global-max-pool", "GlobalMaxPool", "ReduceMax")
def global_max(edit: Edit, node: onnx.NodeProto) -> str:
    value = edit.varying(node)
    sizes = list(edit.picture(value)[2:])
    axes, keep = _reduced_axes(edit, node)
    if axes != [2, 3] or max(sizes) == 1:
        raise NotPossible(f"it reduces the axes {axes}; H and W are possible")
    made: list[Any] = []
    while max(sizes) > 1:
        window = [min(size, WINDOW) for size in sizes]
        ends = [-size % w for size, w in zip(sizes, window, strict=True)]  # -inf, less than 8
        pool = edit.make(
            "MaxPool", [value], f"{node.name}/{len(made)}",
            kernel_shape=window, strides=window, pads=[0, 0, *ends],
        )  # fmt: skip
        made.append(pool)
        value = pool.output[0]
        sizes = [(s + e) // w for s, e, w in zip(sizes, ends, window, strict=True)]
    _finish(edit, node, made, keep)
    return " then ".join(_windows(made, edit))


@rewrites("pool-chain", "MaxPool", "AveragePool")
def large_window(edit: Edit, node: onnx.NodeProto) -> str:
    value = node.input[0]
    edit.picture(value)
    kernel = [int(k) for k in edit.attribute(node, "kernel_shape")]
    strides = [int(s) for s in edit.attribute(node, "strides", [1, 1])]
    pads = [int(p) for p in edit.attribute(node, "pads", [0, 0, 0, 0])]
    plain = edit.attribute(node, "auto_pad", "NOTSET") in ("NOTSET", "VALID")
    dilations = edit.attribute(node, "dilations", [1, 1])
    if len(kernel) != 2 or not plain or edit.attribute(node, "ceil_mode", 0):
        raise NotPossible("auto_pad, ceil_mode and other than two dimensions are not rewritten")
    if max(dilations) > 1 or len(node.output) > 1:
        raise NotPossible("dilations and indices are not rewritten")
    if node.op_type == "MaxPool":
        return _max_of_maxima(edit, node, kernel, strides, pads)
    return _large_average(edit, node, kernel, strides, pads)


def _max_of_maxima(
    edit: Edit, node: onnx.NodeProto, kernel: list[int], strides: list[int], pads: list[int]
) -> str:
    """Windows of k1 and k2 one behind the other see k1 + k2 - 1."""
    value = node.input[0]
    made: list[Any] = []
    left, rest = list(kernel), list(pads)
    while True:
        window = [min(size, WINDOW) for size in left]
        last = window == left
        # what is beyond the edge is -inf in each of them: a window takes what padding it can
        own = [min(rest[i], window[i % 2] - 1) for i in range(4)]
        rest = [r - o for r, o in zip(rest, own, strict=True)]
        outputs = [node.output[0]] if last else []
        pool = edit.make(
            "MaxPool", [value], f"{node.name}/{len(made)}", outputs,
            kernel_shape=window, strides=strides if last else [1, 1], pads=own,
        )  # fmt: skip
        made.append(pool)
        if last:
            break
        value = pool.output[0]
        left = [size - w + 1 for size, w in zip(left, window, strict=True)]
    if max(rest) > 0:
        raise NotPossible("its padding is as large as its window")
    edit.put([node], made)
    return " then ".join(_windows(made, edit))


def _large_average(
    edit: Edit, node: onnx.NodeProto, kernel: list[int], strides: list[int], pads: list[int]
) -> str:
    _, channels, height, width = edit.picture(node.input[0])
    (per_row, rest), (per_column, rest_too) = (factors(size) for size in kernel)
    whole = height % kernel[0] == 0 and width % kernel[1] == 0
    if strides == kernel and not any(pads) and rest * rest_too == 1 and whole:
        made = _chain(edit, node, "AveragePool", node.input[0], per_row, per_column)
        _finish(edit, node, made, keep=True)
        return " then ".join(_windows(made, edit))
    counts = edit.attribute(node, "count_include_pad", 0)
    if any(pads) and not counts:
        raise NotPossible("averages that leave padding out are not sums of convolutions")
    if max(kernel) > KERNEL or max(strides) > STRIDE:
        raise NotPossible(f"a convolution has kernels up to {KERNEL}, strides up to {STRIDE}")
    weights = np.full(kernel, 1 / (kernel[0] * kernel[1]))
    made = [
        depthwise(
            edit, node.input[0], weights, f"{node.name}/sum", channels, outputs=node.output,
            strides=strides, pads=pads,
        )
    ]  # fmt: skip
    edit.put([node], made)
    return f"a depthwise convolution of {kernel[0]} x {kernel[1]}"
