"""Convolutions, and what is one: Gemm and MatMul with constants."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

import numpy as np
from numpy.typing import NDArray

from cudla_sim.nvdla.facts.windows import extent, output_size

from ...errors import Unsupported
from ...graph import Conv, Deconv, Value
from ..tensors import Constant, Item, Tensor
from ..views import Digit, View, arranged, grouped, whole
from ..windows import needed_stride, pads_of, two
from .arithmetic import changed, combined, with_constant
from .registry import Call, floats, operator

_AT_RUN_TIME = "multiply by a constant"


def picture(call: Call, x: Tensor) -> tuple[Value, list[list[int]]]:
    """A tensor [n, c, (h,) w] as a value, and the groups of its dimensions."""
    if x.rank == 3:
        groups = [[0], [1], [], [2]]
    elif x.rank == 4:
        groups = [[0], [1], [2], [3]]
    else:
        raise Unsupported(
            f"its input has {x.rank} dimensions", "one and two spatial dimensions can be compiled"
        )
    return call.build.plain(arranged(x.view, groups)), groups


def placed(x: Tensor, value: Value, groups: list[list[int]]) -> Tensor:
    """A value that is the result for a tensor that was a picture."""
    shape = [value.shape[i] for i, group in enumerate(groups) if group]
    return x.viewed(grouped(value, shape, groups))


def step_of(weights: Constant, axis: int, count: int) -> NDArray[np.float64] | None:
    """Quantisation steps for each kernel, where the weights have such along *axis*."""
    if weights.steps is None:
        return None
    if weights.steps.size == 1:
        return np.full(count, weights.steps[0])
    if weights.axis == axis and weights.steps.size == count:
        return weights.steps.copy()
    return None


@operator("Conv")
@operator("FusedConv", domain="com.microsoft")
def conv(call: Call) -> Item:
    """Conv of one or two dimensions with constant weights."""
    x = call.tensor()
    constant = call.constant(1, "weights")
    weights = floats(constant)
    if weights.ndim == 3:
        weights = weights[:, :, None, :]
    if weights.ndim != 4:
        raise Unsupported("it has three spatial dimensions", "use two-dimensional layers")
    value, groups = picture(call, x)
    n, c, h, w = value.shape
    kernels, depth, rows, columns = weights.shape
    group = call.attribute("group", 1)
    if depth * group != c or kernels % group:
        raise Unsupported(
            f"weights {list(weights.shape)} in {group} groups do not fit {c} channels",
            "repair the model",
        )
    _same_kernel(call, constant)
    stride, dilation = two(call.attribute("strides")), two(call.attribute("dilations"))
    _possible((rows, columns), dilation)
    pads = pads_of(call, (h, w), (rows, columns), stride, dilation)
    bias = _bias(call, kernels)
    reach = (extent(rows, dilation[0]), extent(columns, dilation[1]))
    oh = output_size(h, reach[0], stride[0], pads[0], pads[1])
    ow = output_size(w, reach[1], stride[1], pads[2], pads[3])
    if min(pads) < 0:
        raise Unsupported("it has negative pads", "use Slice")
    result = call.build.add(
        Conv,
        [value],
        (n, kernels, oh, ow),
        weights=np.ascontiguousarray(weights),
        bias=bias,
        stride=(
            needed_stride(stride[0], h + pads[0] + pads[1] - reach[0]),
            needed_stride(stride[1], w + pads[2] + pads[3] - reach[1]),
        ),
        pads=pads,
        dilation=dilation,
        groups=group,
        weight_scale=step_of(constant, 0, kernels),
    )
    if call.attribute("activation") not in (None, "", "Relu"):
        raise Unsupported(f"its fused activation {call.attribute('activation')} is unknown")
    if call.attribute("activation") == "Relu":
        result = call.build.clip(result, 0.0, np.inf)
    return placed(x, result, groups)


def _same_kernel(call: Call, weights: Constant) -> None:
    """The attribute says what the weights say, where it is there."""
    said = call.attribute("kernel_shape")
    if said and list(said) != list(weights.shape[2:]):
        raise Unsupported(
            f"its kernel_shape is {list(said)}, its weights are {list(weights.shape)}",
            "repair the model",
        )


def _possible(size: Sequence[int], dilation: Sequence[int]) -> None:
    """Old releases of onnx let these pass."""
    if min(size) < 1:
        raise Unsupported(
            f"its weights have no elements ({' x '.join(map(str, size))})", "repair the model"
        )
    if min(dilation) < 1:
        raise Unsupported(f"its dilations are {list(dilation)}", "repair the model")


def _bias(call: Call, kernels: int) -> NDArray[np.float32]:
    bias = call.optional(2, "bias")
    if bias is None:
        return np.zeros(kernels, np.float32)
    return floats(bias).reshape(kernels)


@operator("ConvTranspose")
def conv_transpose(call: Call) -> Item:
    """ConvTranspose of one or two dimensions with constant weights."""
    x = call.tensor()
    constant = call.constant(1, "weights")
    weights = floats(constant)
    spatial = weights.ndim - 2
    if weights.ndim == 3:
        weights = weights[:, :, None, :]
    if weights.ndim != 4:
        raise Unsupported("it has three spatial dimensions", "use two-dimensional layers")
    value, groups = picture(call, x)
    n, c, h, w = value.shape
    depth, per_group, *size = weights.shape
    group = call.attribute("group", 1)
    kernels = per_group * group
    if depth != c:
        raise Unsupported(f"weights for {depth} channels do not fit {c}", "repair the model")
    _same_kernel(call, constant)
    stride, dilation = two(call.attribute("strides")), two(call.attribute("dilations"))
    _possible(size, dilation)
    extra = two(call.attribute("output_padding"), 0)
    asked = call.attribute("output_shape")
    lengths = two(asked[-spatial:], 1) if asked else None
    mode = call.attribute("auto_pad", "NOTSET")
    places = []
    out = []
    explicit = pads_of(call, (h, w), (1, 1), (1, 1), (1, 1)) if mode == "NOTSET" else (0, 0, 0, 0)
    for i, length in enumerate((h, w)):
        full = stride[i] * (length - 1) + extra[i] + extent(size[i], dilation[i])
        wanted = lengths[i] if lengths else length * stride[i]
        if lengths or mode in ("SAME_UPPER", "SAME_LOWER"):
            total = full - wanted
            before = total // 2 if mode == "SAME_UPPER" else total - total // 2
            before = before if total > 0 else 0  # a longer result gets its lines at the end
            places += [before, total - before]
        else:
            places += list(explicit[2 * i : 2 * i + 2])
        out.append(full - places[-2] - places[-1])
    if min(places) < 0 and (lengths or mode != "NOTSET"):
        extra = (extra[0] + max(-places[1], 0), extra[1] + max(-places[3], 0))
        places[1], places[3] = max(places[1], 0), max(places[3], 0)
    elif min(places) < 0:
        raise Unsupported("it has negative pads", "use output_padding")
    result = call.build.add(
        Deconv,
        [value],
        (n, kernels, out[0], out[1]),
        weights=np.ascontiguousarray(weights),
        bias=_bias(call, kernels),
        stride=stride,
        pads=(places[0], places[1], places[2], places[3]),
        output_padding=extra,
        dilation=dilation,
        groups=group,
        weight_scale=step_of(constant, 1, kernels) if group == 1 else None,
    )
    return placed(x, result, groups)


@operator("Gemm")
def gemm(call: Call) -> Item:
    """alpha * A' * B' + beta * C with one constant factor."""
    a, b = call.item(0), call.item(1)
    alpha, beta = call.attribute("alpha", 1.0), call.attribute("beta", 1.0)
    if isinstance(a, Tensor) and isinstance(b, Tensor):
        raise Unsupported("both factors are computed at run time", _AT_RUN_TIME)
    if isinstance(a, Constant) and isinstance(b, Constant):
        raise Unsupported("both factors are constants", "fold it when exporting")
    if isinstance(a, Constant):  # A B = (B' A')'
        assert isinstance(b, Tensor)
        matrix = floats(a).T if not call.attribute("transA", 0) else floats(a)
        x = b if call.attribute("transB", 0) else b.viewed(b.view.transpose((1, 0)))
        product = matrix_product(call, x, _times(matrix, alpha), None)
        product = product.viewed(product.view.transpose((1, 0)))
    else:
        x = a.viewed(a.view.transpose((1, 0))) if call.attribute("transA", 0) else a
        assert isinstance(b, Constant)
        flip = call.attribute("transB", 0)
        matrix = floats(b).T if flip else floats(b)
        steps = step_of(b, 0 if flip else 1, matrix.shape[1])
        steps = steps * abs(alpha) if steps is not None else None
        addend = call.item(2) if call.given(2) else None
        fused = isinstance(addend, Constant) and _is_row(addend.shape, matrix.shape[1])
        bias = None
        if fused:
            assert isinstance(addend, Constant)
            row = floats(addend).reshape(-1) * np.float32(beta)
            bias = np.broadcast_to(row, matrix.shape[1]).copy()
        product = matrix_product(call, x, _times(matrix, alpha), steps, bias)
        if fused:
            return product
    if not call.given(2) or not beta:
        return product
    addend = call.item(2)
    build = call.build
    if isinstance(addend, Constant):
        scaled = Constant(floats(addend) * np.float32(beta))
        return with_constant(build, product, scaled, lambda v, k: build.affine(v, 1.0, k))
    if beta != 1:
        addend = changed(addend, lambda v: build.affine(v, beta, 0.0, f"{build.target}/addend"))
    return combined(build, "add", product, addend)


def _times(matrix: NDArray[np.float32], factor: float) -> NDArray[np.float32]:
    return matrix if factor == 1 else matrix * np.float32(factor)


def _is_row(shape: tuple[int, ...], columns: int) -> bool:
    return prod(shape) in (1, columns) and (not shape or shape[-1] == prod(shape))


@operator("MatMul")
@operator("FusedMatMul", domain="com.microsoft")
def matmul(call: Call) -> Item:
    """Product of a tensor of any rank with a constant matrix."""
    a, b = call.item(0), call.item(1)
    if isinstance(a, Tensor) and isinstance(b, Tensor):
        raise Unsupported("both factors are computed at run time", _AT_RUN_TIME)
    if isinstance(a, Constant) and isinstance(b, Constant):  # of Microsoft's domain: not folded
        raise Unsupported("both factors are constants", "fold it when exporting")
    alpha = call.attribute("alpha", 1.0)
    if call.attribute("transA", 0) or call.attribute("transB", 0):
        raise Unsupported("its factors are transposed", "export plain MatMul")
    if isinstance(a, Tensor):
        assert isinstance(b, Constant)
        matrix = floats(b)
        while matrix.ndim > 2 and matrix.shape[0] == 1:
            matrix = matrix[0]
        if matrix.ndim == 1:
            product = matrix_product(call, a, _times(matrix[:, None], alpha), None)
            return product.viewed(product.view.without(product.rank - 1))
        if matrix.ndim > 2:
            return _batched(call, a, _times(matrix, alpha))
        return matrix_product(
            call, a, _times(matrix, alpha), step_of(b, b.array.ndim - 1, matrix.shape[1])
        )
    assert isinstance(b, Tensor)
    matrix = floats(a)
    while matrix.ndim > 2 and matrix.shape[0] == 1:
        matrix = matrix[0]
    if matrix.ndim > 2 or b.rank == 1:
        raise Unsupported("its constant factor is a stack of matrices", _AT_RUN_TIME)
    last = b.rank - 1
    swap = [*range(last - 1), last, last - 1]
    flipped = b.viewed(b.view.transpose(swap))
    row = matrix[None] if matrix.ndim == 1 else matrix
    product = matrix_product(call, flipped, _times(row.T, alpha), None)
    product = product.viewed(product.view.transpose(swap))
    return product.viewed(product.view.without(last - 1)) if matrix.ndim == 1 else product


def _batched(call: Call, x: Tensor, stack: NDArray[np.float32]) -> Tensor:
    """One matrix for each of the outer positions: a grouped convolution."""
    outer = x.shape[:-2]
    if np.broadcast_shapes(outer, stack.shape[:-2]) == outer:
        stack = np.broadcast_to(stack, (*outer, *stack.shape[-2:]))
    if stack.ndim != x.rank:
        raise Unsupported(
            f"a stack of matrices {list(stack.shape)} on {list(x.shape)}", "use one matrix"
        )
    count, k, n = prod(outer), stack.shape[-2], stack.shape[-1]
    rank = x.rank
    groups = [[], [*range(rank - 2), rank - 1], [], [rank - 2]]
    value = call.build.plain(arranged(x.view, groups))
    weights = stack.reshape(count, k, n).transpose(0, 2, 1).reshape(count * n, k, 1, 1)
    result = call.build.add(
        Conv,
        [value],
        (1, count * n, 1, x.shape[-2]),
        weights=np.ascontiguousarray(weights),
        bias=np.zeros(count * n, np.float32),
        groups=count,
    )
    return x.viewed(grouped(result, (*x.shape[:-1], n), groups))


def matrix_product(
    call: Call,
    x: Tensor,
    matrix: NDArray[np.float32],
    steps: NDArray[np.float64] | None,
    bias: NDArray[np.float32] | None = None,
) -> Tensor:
    """x [..., k] times a constant [k, columns] as a convolution.

    Axes of the value that make up k become the kernel, the other ones stay: a flattened cube has
    a kernel of its own size, and its weights are reordered instead of the data.
    """
    last = x.rank - 1
    k, columns = matrix.shape
    if last < 0 or x.shape[last] != k:
        raise Unsupported(f"{list(x.shape)} does not fit a matrix {k} x {columns}")
    view = x.view if _kernel_axes(x.view) is not None else _rows_as_width(call, x)
    axes = _kernel_axes(view)
    assert axes is not None
    shape = view.value.shape
    # rows of the matrix in the order of the value's axes
    part = View(Value("", _only(shape, axes)), (view.dims[last],))
    weights = part.to_value(np.arange(k)).reshape(-1)
    kernel = _only(shape, axes)
    in_order = bool((weights == np.arange(k)).all())
    ordered = (matrix if in_order else matrix[weights]).T.reshape(columns, *kernel[1:])
    size = (shape[0], columns, *(1 if a in axes else shape[a] for a in (2, 3)))
    result = call.build.add(
        Conv,
        [view.value],
        size,
        weights=np.ascontiguousarray(ordered, np.float32),
        bias=np.zeros(columns, np.float32) if bias is None else bias,
        weight_scale=steps,
    )
    made = (Digit(1, 1, columns),) if columns > 1 else ()
    return x.viewed(View(result, (*view.dims[:last], made)))


def _kernel_axes(view: View) -> set[int] | None:
    """The axes that make up the last dimension, if they do as wholes and the channels are among
    them."""
    axes = {digit.axis for digit in view.dims[-1]}
    others = {digit.axis for dim in view.dims[:-1] for digit in dim}
    shape = view.value.shape
    if 0 in axes or axes & others or (1 in others):
        return None
    return axes | {1} | {a for a in (2, 3) if shape[a] == 1}


def _only(shape: tuple[int, ...], axes: set[int]) -> tuple[int, int, int, int]:
    n, c, h, w = (size if axis in axes else 1 for axis, size in enumerate(shape))
    return n, c, h, w


def _rows_as_width(call: Call, x: Tensor) -> View:
    """The tensor with its last dimension as channels."""
    last = x.rank - 1
    outer = list(range(last))
    batch = outer[:1] if outer and x.view.dims[0] == whole(x.view.value.shape, 0) else []
    rest = outer[len(batch) :]
    groups = [batch, [last], rest[:-1], rest[-1:]]
    value = call.build.plain(arranged(x.view, groups))
    return grouped(value, x.shape, groups)
