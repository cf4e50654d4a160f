"""Layers of the operators that have parameters: windows, axes, constants, modes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import isfinite, prod

from ...compiler.front.tensors import Constant
from ...nvdla.facts.windows import extent
from ..layers import Number, Shape, Tensor
from .call import Call
from .operators import ACTIVATION, ELEMENTWISE, OTHERS, REDUCE, ROWS, SHUFFLE, UNARY

Converter = Callable[[Call], None]
CONVERTERS: dict[str, Converter] = {}


def converts(*operators: str) -> Callable[[Converter], Converter]:
    def note(function: Converter) -> Converter:
        CONVERTERS.update(dict.fromkeys(operators, function))
        return function

    return note


# --- windows


def _sizes(values: Sequence[int] | None, spatial: int, default: int = 1) -> list[int]:
    found = [int(value) for value in values or ()]
    return found if len(found) == spatial else [default] * spatial


def _pads(
    call: Call, spatial: int, kernel: list[int], stride: list[int], dilation: list[int]
) -> list[int]:
    """Begins, then ends."""
    mode = call.attribute("auto_pad", "NOTSET")
    if mode not in ("SAME_UPPER", "SAME_LOWER"):
        return _sizes(call.attribute("pads"), 2 * spatial, 0)
    begins, ends = [], []
    for size, k, s, d in zip(call.input.shape[2:], kernel, stride, dilation, strict=False):
        total = max((-(-size // s) - 1) * s + extent(k, d) - size, 0)
        small, large = total // 2, total - total // 2
        begins.append(small if mode == "SAME_UPPER" else large)
        ends.append(large if mode == "SAME_UPPER" else small)
    return [*begins, *ends]


def _window(call: Call, kernel: Sequence[int]) -> dict[str, Number]:
    """Of one or two dimensions; one is a line of columns. The first two of more."""
    spatial = len(kernel)
    sizes = list(kernel)
    stride = _sizes(call.attribute("strides"), spatial)
    dilation = _sizes(call.attribute("dilations"), spatial)
    pads = _pads(call, spatial, sizes, stride, dilation)
    if spatial == 1:
        sizes, stride, dilation = [1, *sizes], [1, *stride], [1, *dilation]
        pads = [0, pads[0], 0, pads[1]]
        spatial = 2
    return {
        "spatial": len(kernel),
        "kernel_h": sizes[0],
        "kernel_w": sizes[1],
        "stride_h": stride[0],
        "stride_w": stride[1],
        "dilation_h": dilation[0],
        "dilation_w": dilation[1],
        "pad_top": pads[0],
        "pad_left": pads[1],
        "pad_bottom": pads[spatial],
        "pad_right": pads[spatial + 1],
    }


@converts("Conv", "ConvTranspose")
def convolution(call: Call) -> None:
    kind = "CONVOLUTION" if call.operator == "Conv" else "DECONVOLUTION"
    kernel = call.constant(1)
    shape = kernel.shape if kernel else _shape(call, 1)
    groups = int(call.attribute("group", 1))
    bias = call.constant(2)
    maps = shape[0] if kind == "CONVOLUTION" else shape[1] * groups
    weights = {"kernel": shape} | ({"bias": bias.shape} if bias else {})
    _in_four(
        call,
        kind,
        weights,
        c=call.input.shape[1],
        maps=maps,
        groups=groups,
        bias=bias is not None,
        constant=kernel is not None,
        output_pad=max(call.attribute("output_padding") or [0]),
        **_window(call, shape[2:]),
    )


def _in_four(call: Call, kind: str, weights: dict[str, Shape], **parameters: Number) -> None:
    """A layer of one dimension is put between two shuffles."""
    if len(call.input.shape) != 3:
        call.add(kind, call.tensors, call.outputs, weights, **parameters)
        return
    n, c, length = call.input.shape
    widened = Tensor(f"{call.input.name}:4", (n, c, 1, length), call.input.dtype)
    n, c, length = call.output.shape
    result = Tensor(f"{call.output.name}:4", (n, c, 1, length), call.output.dtype)
    call.add("SHUFFLE", [call.input], [widened], reshape=True)
    call.add(kind, [widened, *call.tensors[1:]], [result], weights, **parameters)
    call.add("SHUFFLE", [result], [call.output], reshape=True)


@converts("MaxPool", "AveragePool", "LpPool")
def pooling(call: Call) -> None:
    mode = {"MaxPool": "MAX", "AveragePool": "AVERAGE", "LpPool": "LP"}[call.operator]
    window = _window(call, call.attribute("kernel_shape") or [1, 1])
    counts = mode == "AVERAGE" and not call.attribute("count_include_pad", 0)
    _in_four(
        call,
        "POOLING",
        {},
        mode=mode,
        exclusive=bool(counts),
        indices=len(call.outputs) > 1,
        **window,
    )


# --- matrices


def _shape(call: Call, index: int) -> Shape:
    item = call.item(index)
    return item.shape if item is not None else ()


@converts("Gemm")
def gemm(call: Call) -> None:
    shape = _shape(call, 1)
    c, maps = reversed(shape) if call.attribute("transB", 0) else shape
    _full(call, c, maps, bias=call.item(2) is not None)


@converts("MatMul")
def matmul(call: Call) -> None:
    shape = _shape(call, 1)
    _full(call, shape[-2] if len(shape) > 1 else shape[0], shape[-1] if len(shape) > 1 else 1)


def _full(call: Call, c: int, maps: int, bias: bool = False) -> None:
    """FULLY_CONNECTED where the second factor is constant, else MATRIX_MULTIPLY."""
    second = call.constant(1)
    if second is None or call.constant(0) is not None:
        call.one("MATRIX_MULTIPLY")
        return
    ones = dict.fromkeys(("kernel_h", "kernel_w", "stride_h", "stride_w"), 1)
    ones |= dict.fromkeys(("dilation_h", "dilation_w", "groups"), 1)
    ones |= dict.fromkeys(("pad_top", "pad_bottom", "pad_left", "pad_right"), 0)
    call.add(
        "FULLY_CONNECTED",
        call.tensors,
        call.outputs,
        {"kernel": (maps, c, 1, 1)} | ({"bias": (maps,)} if bias else {}),
        c=c,
        maps=maps,
        bias=bias,
        **ones,
    )


# --- functions of elements


@converts(*ACTIVATION)
def activation(call: Call) -> None:
    function = ACTIVATION[call.operator]
    more: dict[str, Number] = {}
    if function == "CLIP":
        low, high = (_limit(call, i, n) for i, n in ((1, "min"), (2, "max")))
        more = {"alpha": low, "beta": high}
    elif "alpha" in call.attributes:
        more = {"alpha": float(call.attributes["alpha"])}
    call.add("ACTIVATION", [call.input], call.outputs, None, function=function, **more)


def _limit(call: Call, index: int, attribute: str) -> float:
    """Of Clip: an input since opset 11, else an attribute."""
    item = call.constant(index)
    if item is not None and item.array.size:
        return float(item.array.reshape(-1)[0])
    value = call.attribute(attribute)
    if value is not None and isfinite(value):
        return float(value)
    return float("-inf") if attribute == "min" else float("inf")


@converts("PRelu")
def prelu(call: Call) -> None:
    slope = call.constant(1)
    weights = {"slope": slope.shape} if slope else {}
    rank = len(_shape(call, 1))
    constant = slope is not None
    call.add(
        "PARAMETRIC_RELU", call.tensors, call.outputs, weights, constant=constant, slope_rank=rank
    )


@converts(*UNARY)
def unary(call: Call) -> None:
    call.one("UNARY", function=UNARY[call.operator])


@converts(*ROWS)
def row(call: Call) -> None:
    """Layers one behind the other; the last reads the node's input again where it takes two."""
    kinds = ROWS[call.operator]
    value = call.input
    for kind, function in kinds:
        last = len(call.layers) == len(kinds) - 1
        result = call.output if last else call.between()
        two = kind == "ELEMENTWISE" and function != "POW" and value is not call.input
        inputs = [value, call.input] if two else [value]
        call.add(kind, inputs, [result], function=function)
        value = result


@converts("BatchNormalization")
def batch_normalization(call: Call) -> None:
    channels = (call.input.shape[1],) if len(call.input.shape) > 1 else ()
    call.add(
        "SCALE", [call.input], call.outputs[:1], {"scale": channels, "shift": channels},
        function="CHANNEL",
    )  # fmt: skip


@converts(*ELEMENTWISE)
def elementwise(call: Call) -> None:
    """Several inputs make a row of layers; a constant of one value, of one for each channel or
    element makes a Scale of sums and products."""
    function = ELEMENTWISE[call.operator]
    items = [item for item in call.inputs if item is not None]
    if len(items) == 1:
        call.one("IDENTITY")
        return
    left = items[0]
    for number, right in enumerate(items[1:], 1):
        result = call.output if number == len(items) - 1 else call.between(call.output.shape)
        _two(call, function, left, right, result)
        left = result


def _two(
    call: Call, function: str, left: Constant | Tensor, right: Constant | Tensor, result: Tensor
) -> None:
    tensors = [item for item in (left, right) if isinstance(item, Tensor)]
    constant = next((item for item in (left, right) if isinstance(item, Constant)), None)
    spread = _spread(constant, result.shape) if constant else ""
    first = isinstance(left, Constant)
    weights = {"constant": constant.shape} if constant else {}
    scales = function in ("SUM", "PROD") or (function == "SUB" and not first)
    if scales and spread not in ("", "OTHER"):
        call.add("SCALE", tensors, [result], weights, function=spread)
        return
    value = _only(constant)
    more: dict[str, Number] = {} if value is None else {"value": value}
    broadcast = len(tensors) == 2 and tensors[0].shape != tensors[1].shape
    if broadcast:
        more["spread"] = _spread_of(min((t.shape for t in tensors), key=prod), result.shape)
    call.add(
        "ELEMENTWISE", tensors, [result], weights, function=function, constant=spread,
        constant_first=first, broadcast=broadcast, **more,
    )  # fmt: skip


def _only(constant: Constant | None) -> float | None:
    """The value of a constant that has only one."""
    if constant is None or not constant.array.size:
        return None
    flat = constant.array.reshape(-1)
    return float(flat[0]) if bool((flat == flat[0]).all()) else None


def _spread(constant: Constant, shape: Shape) -> str:
    return "UNIFORM" if _only(constant) is not None else _spread_of(constant.shape, shape)


def _spread_of(part: Shape, shape: Shape) -> str:
    """How a tensor is spread over *shape*: one value for all, for each channel, each picture,
    each element, or otherwise."""
    full = (1,) * (len(shape) - len(part)) + tuple(part)
    if prod(full) == 1:
        return "UNIFORM"
    if full[1:] == tuple(shape[1:]):
        return "ELEMENTWISE"
    if len(full) > 1 and prod(full) == full[1]:
        return "CHANNEL"
    if len(full) > 1 and full[:2] == tuple(shape[:2]) and prod(full[2:]) == 1:
        return "CHANNEL"
    if prod(full) == full[0]:
        return "BATCH"
    return "OTHER"


# --- axes


def _axis(value: int, rank: int) -> int:
    return value + rank if value < 0 else value


@converts("Softmax")
def softmax(call: Call) -> None:
    rank = len(call.input.shape)
    given = call.attribute("axis", -1 if call.version >= 13 else 1)
    axis = _axis(int(given), rank)
    if call.version < 13:  # the axis and all behind it are one
        axis = max((i for i in range(axis, rank) if call.input.shape[i] > 1), default=axis)
    others = prod(size for i, size in enumerate(call.input.shape) if i not in (0, axis))
    size = call.input.shape[axis] if axis < rank else 1
    call.one("SOFTMAX", axis=axis, length=size, others=others)


@converts("Concat")
def concat(call: Call) -> None:
    axis = _axis(int(call.attribute("axis", 1)), len(call.output.shape))
    constants = sum(isinstance(item, Constant) for item in call.inputs)
    call.one("CONCATENATION", axis=axis, count=len(call.inputs), constants=constants)


@converts(*REDUCE)
def reduce(call: Call) -> None:
    rank = len(call.input.shape)
    if call.operator.startswith("Global"):
        axes, keep = list(range(2, rank)), True
    else:
        given = call.constant(1)
        listed = given.ints() if given else call.attribute("axes")
        axes = [_axis(axis, rank) for axis in listed] if listed else list(range(rank))
        keep = bool(call.attribute("keepdims", 1))
    call.add(
        "REDUCE", [call.input], call.outputs, function=REDUCE[call.operator], keep=keep,
        over_batch=0 in axes, axes=",".join(map(str, sorted(axes))),
        length=prod(call.input.shape[axis] for axis in axes if axis < rank),
    )  # fmt: skip


@converts("LRN")
def lrn(call: Call) -> None:
    call.one("LRN", size=int(call.attribute("size", 1)))


# --- arrangement


@converts(*SHUFFLE)
def shuffle(call: Call) -> None:
    before, after = call.input.shape, call.output.shape
    order = list(call.attribute("perm") or range(len(before))[::-1])
    transposed = call.operator == "Transpose"
    moves_batch = order[0] != 0 if transposed else before[:1] != after[:1]
    call.add(
        "SHUFFLE", [call.input], call.outputs, reshape=not transposed, transpose=transposed,
        moves_batch=bool(moves_batch), order=",".join(map(str, order)) if transposed else "",
    )  # fmt: skip


@converts("DepthToSpace", "SpaceToDepth")
def blocks(call: Call) -> None:
    """A reshape to six dimensions, a transposition, a reshape."""
    n, c, h, w = call.input.shape
    block = int(call.attribute("blocksize", 1))
    parts = (
        (n, block, block, c // block**2, h, w)
        if call.operator == "DepthToSpace"
        else (n, c, h // block, block, w // block, block)
    )
    first, second = call.between(parts), Tensor(f"{call.output.name}:6", parts)
    call.add("SHUFFLE", [call.input], [first], reshape=True, transpose=False, moves_batch=False)
    call.add("SHUFFLE", [first], [second], reshape=False, transpose=True, moves_batch=False)
    call.add("SHUFFLE", [second], [call.output], reshape=True, transpose=False, moves_batch=False)


@converts("Slice")
def slice_(call: Call) -> None:
    rank = len(call.input.shape)
    if call.version < 10:
        starts = list(call.attribute("starts") or [])
        axes = list(call.attribute("axes") or range(len(starts)))
        steps, known = [1] * len(starts), True
    else:
        given = [call.constant(i) for i in (1, 2, 3, 4)]
        known = all(given[i - 1] is not None for i in (1, 2, 3, 4) if call.item(i) is not None)
        starts = given[0].ints() if given[0] else []
        axes = given[2].ints() if given[2] else list(range(len(starts)))
        steps = given[3].ints() if given[3] else [1] * len(starts)
    axes = [_axis(axis, rank) for axis in axes]
    full = dict(zip(axes, steps, strict=False))
    call.add(
        "SLICE", [call.input], call.outputs, mode="DEFAULT", constant=known,
        stride=max((abs(step) for step in full.values()), default=1),
        backwards=any(step < 0 for step in full.values()),
        over_batch=call.input.shape[:1] != call.output.shape[:1],
        axes=",".join(str(a) for a in sorted(axes)),
    )  # fmt: skip


@converts("Split")
def split(call: Call) -> None:
    axis = _axis(int(call.attribute("axis", 0)), len(call.input.shape))
    for result in call.outputs:
        call.add(
            "SLICE", [call.input], [result], mode="DEFAULT", constant=True, stride=1,
            backwards=False, over_batch=axis == 0, axes=str(axis),
        )  # fmt: skip


@converts("Pad", "Expand", "Tile")
def slices_beyond(call: Call) -> None:
    """Slices that read beyond their input, or the same again."""
    modes = {"constant": "FILL", "reflect": "REFLECT", "edge": "CLAMP", "wrap": "WRAP"}
    mode = {"Expand": "STRIDE_0", "Tile": "WRAP"}.get(call.operator) or modes.get(
        call.attribute("mode", "constant"), "FILL"
    )
    fill = call.constant(2)
    value = _only(fill) if call.operator == "Pad" else None
    call.add(
        "SLICE", [call.input], call.outputs, mode=mode, stride=1, backwards=False, axes="",
        constant=call.item(1) is None or call.constant(1) is not None,
        over_batch=call.input.shape[:1] != call.output.shape[:1], value=value or 0.0,
    )  # fmt: skip


@converts("Resize", "Upsample")
def resize(call: Call) -> None:
    before, after = call.input.shape, call.output.shape
    names = ("scales",) if call.operator == "Upsample" else ("roi", "scales", "sizes")
    given = {n: call.constant(i) for i, n in enumerate(names, 1)}
    if call.version < 11 and call.operator == "Resize":
        given = {"scales": call.constant(1)}
    scales = given.get("scales")
    found = [float(x) for x in scales.array.reshape(-1)] if scales else []
    found = found or list(call.attribute("scales") or [])
    by_sizes = not found
    if len(found) != len(before):
        found = [b / a if a > 0 else 0.0 for a, b in zip(before, after, strict=False)]
    spatial = [*found, 1.0, 1.0, 1.0, 1.0][2:4]
    mode = str(call.attribute("mode", "nearest")).upper()
    older = call.version < 11
    call.add(
        "RESIZE", [call.input], call.outputs,
        mode="LINEAR" if mode == "BILINEAR" else mode,
        scale_h=spatial[0], scale_w=spatial[1],
        other_scales=all(scale == 1 for scale in found[:2]), by_sizes=by_sizes,
        coordinates=str(call.attribute(
            "coordinate_transformation_mode", "asymmetric" if older else "half_pixel"
        )),
        rounding=str(call.attribute("nearest_mode", "floor" if older else "round_prefer_floor")),
    )  # fmt: skip


@converts("InstanceNormalization", "GroupNormalization", "LayerNormalization")
def normalization(call: Call) -> None:
    call.add("NORMALIZATION", [call.input], call.outputs[:1])


@converts("Gather")
def gather(call: Call) -> None:
    axis = _axis(int(call.attribute("axis", 0)), len(call.input.shape))
    call.one("GATHER", axis=axis, constant=call.constant(1) is not None)


@converts("QuantizeLinear", "DequantizeLinear")
def quantization(call: Call) -> None:
    """*scale* is 0 where it is not one constant."""
    scale = call.constant(1)
    single = scale is not None and scale.array.size == 1
    kind = "QUANTIZE" if call.operator == "QuantizeLinear" else "DEQUANTIZE"
    value = float(scale.array.reshape(-1)[0]) if scale is not None and single else 0.0
    call.add(kind, [call.input], call.outputs, scale=value)


@converts("Cast", "CastLike")
def cast(call: Call) -> None:
    call.add("CAST", [call.input], call.outputs, to=call.output.dtype)


def convert(call: Call) -> None:
    """Makes ``call.layers``."""
    converter = CONVERTERS.get(call.operator)
    if converter is None:
        call.one(OTHERS.get(call.operator, "PLUGIN"))
    else:
        converter(call)
