"""Q/DQ pairs: they disappear and leave their scale on the value between them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from ...errors import Unsupported
from ...graph import Port, Value
from ..constants import dequantized
from ..tensors import Constant, Item, Quantization, Several, Tensor
from ..views import broadcast_to_value
from .activations import _curve
from .arithmetic import _arithmetic, changed
from .arrangement import _concat
from .convolutions import conv, gemm, matmul
from .pooling import _average_pool, _global
from .registry import CONVERTERS, Call, axis_of, floats, operator

_DTYPES = ("int8", "uint8")


def marked(call: Call, x: Tensor, quantization: Quantization) -> Tensor:
    """*x* with its value's scale set; another scale than an earlier one needs a copy."""
    value = x.view.value
    step = quantization.step()
    low, high = quantization.limits()
    if (low, high) != (-np.inf, np.inf) and x.quantized is None:
        inner, value = value, call.build.clip(value, low, high)
        if _input_port(call, inner) is None:  # the name is that of what is stored
            value.name, inner.name = inner.name, f"{inner.name}/unsaturated"
    if value.scale is None:
        value.scale = step
    elif not np.isclose(value.scale, step, rtol=1e-6, atol=0):
        value = call.build.affine(value, 1.0, 0.0, f"{call.build.target}/requantized")
        value.scale = step
    if step != quantization.scale:
        call.build.zero_points.append(call.name)
    return replace(x, view=x.view.on(value))


@operator("QuantizeLinear", domain="")
@operator("QuantizeLinear", domain="com.microsoft")
def _quantize(call: Call) -> Item:
    x = call.tensor()
    scale = floats(call.constant(1, "y_scale"))
    zero = call.optional(2, "y_zero_point")
    dtype = "uint8" if zero is None else zero.array.dtype.name
    if zero is None and call.attribute("output_dtype", 0):
        import onnx

        code = call.attribute("output_dtype")
        dtype = np.dtype(onnx.helper.tensor_dtype_to_np_dtype(code)).name
    _check_dtype(dtype)
    _check_scale(scale)
    if call.attribute("block_size", 0):
        raise Unsupported("blocked quantisation", "quantise per tensor")
    if scale.size == 1:
        quantization = Quantization(_scalar(scale), 0 if zero is None else zero.ints()[0], dtype)
        return replace(marked(call, x, quantization), quantized=quantization, dtype=dtype)
    axis = axis_of(call.attribute("axis", 1), x.rank)
    shape = [-1 if d == axis else 1 for d in range(x.rank)]
    offset = np.zeros(scale.size) if zero is None else zero.array.astype(np.float64)
    view = x.view
    value = call.build.affine(
        view.value,
        broadcast_to_value(view, (1 / scale.astype(np.float64)).reshape(shape)),
        broadcast_to_value(view, offset.reshape(shape)),
    )
    whole = Quantization(1.0, 0, dtype)
    return replace(marked(call, x.viewed(view.on(value)), whole), quantized=whole, dtype=dtype)


@operator("DequantizeLinear", integers=True)
@operator("DequantizeLinear", domain="com.microsoft", integers=True)
def _dequantize(call: Call) -> Item:
    x = call.item(0)
    if isinstance(x, Constant):
        return _dequantized_constant(call)
    scale = floats(call.constant(1, "x_scale"))
    zero = call.optional(2, "x_zero_point")
    _check_scale(scale)
    if call.attribute("block_size", 0):
        raise Unsupported("blocked quantisation", "quantise per tensor")
    before = x.quantized
    if scale.size == 1:
        offset = 0 if zero is None else zero.ints()[0]
        meant = Quantization(_scalar(scale), offset, x.dtype)
        if before is not None:
            return _real(call, x, before, meant)
        found = _input_tensor(call, x, meant)
        if found is not None:
            return found
    elif before is not None and before != Quantization(1.0, 0, x.dtype):
        raise Unsupported("it takes other scales than its QuantizeLinear", "repair the model")
    _check_dtype(x.dtype)
    axis = axis_of(call.attribute("axis", 1), x.rank) if scale.size > 1 else 0
    shape = [-1 if d == axis and scale.size > 1 else 1 for d in range(x.rank)]
    array = scale.astype(np.float64)
    offsets = np.zeros(1) if zero is None else zero.array.astype(np.float64)
    shift = np.broadcast_to(-offsets * array, array.shape)
    value = call.build.affine(
        x.view.value,
        broadcast_to_value(x.view, array.reshape(shape)),
        broadcast_to_value(x.view, shift.reshape(shape)),
    )
    return replace(x, view=x.view.on(value), quantized=None, dtype="float32")


def _real(call: Call, x: Tensor, before: Quantization, meant: Quantization) -> Tensor:
    real = replace(x, quantized=None, dtype="float32")
    if np.isclose(before.scale, meant.scale, rtol=1e-6) and before.zero == meant.zero:
        return real
    # other numbers are meant than were written: (q - z2) * s2 with q = x / s1 + z1
    factor = meant.scale / before.scale
    shift = (before.zero - meant.zero) * meant.scale
    return changed(real, lambda value: call.build.affine(value, factor, shift))


def _input_tensor(call: Call, x: Tensor, meant: Quantization) -> Tensor | None:
    """An input of the network that is dequantised first of all: its port knows the scale."""
    value = x.view.value
    port = call.build.unsigned.get(value) or _input_port(call, value)
    if port is None or x.dtype not in _DTYPES or port.scale != 1.0:
        return None
    zero = port.zero_point  # what is 0 in the integers of the hardware
    if not zero:
        port.zero_point = zero = meant.zero
    port.scale = meant.scale
    port.value.scale = meant.scale if x.dtype == "uint8" else meant.step()
    real = replace(x, view=x.view.on(port.value), dtype="float32")
    shift = (zero - meant.zero) * meant.scale
    return changed(real, lambda v: call.build.affine(v, 1.0, shift)) if shift else real


def _input_port(call: Call, value: Value) -> Port | None:
    return next((port for port in call.build.inputs if port.value is value), None)


def _dequantized_constant(call: Call) -> Constant:
    """For the domains that constant folding does not look at."""
    inputs = [call.constant(i, "input") if call.given(i) else None for i in range(len(call.inputs))]
    return dequantized(call.attributes, inputs)


def _check_dtype(dtype: str) -> None:
    if dtype not in _DTYPES:
        raise Unsupported(f"quantised activations of type {dtype}", "use int8 or uint8")


def _check_scale(scale: np.ndarray[Any, Any]) -> None:
    if not (scale > 0).all():
        raise Unsupported("a scale is zero or negative", "calibrate the model again")


def _scalar(array: np.ndarray[Any, Any]) -> float:
    return float(array.reshape(-1)[0])


# --- operators on integers, with their scales as inputs: DequantizeLinear, the operator on real
# numbers, QuantizeLinear


def _real_input(call: Call, index: int, axis: int = 0) -> Item:
    """Inputs index, index + 1, index + 2: integers, scale and zero point, as real numbers."""
    inputs = [call.inputs[i] if call.given(i) else None for i in range(index, index + 3)]
    inner = replace(call, op="DequantizeLinear", inputs=inputs, attributes={"axis": axis})
    item = _dequantize(inner)
    assert isinstance(item, Constant | Tensor)
    return item


def _quantized_output(call: Call, real: Item, scale: int) -> Item:
    if isinstance(real, Constant):
        raise Unsupported("its result is constant")
    inputs: list[Item | Several | None] = [real, call.item(scale)]
    if call.given(scale + 1):
        inputs.append(call.item(scale + 1))
    result = _quantize(replace(call, op="QuantizeLinear", inputs=inputs, attributes={}))
    assert isinstance(result, Constant | Tensor)
    return result


def _run(
    function: Callable[[Call], Any], call: Call, op: str, inputs: list[Item | Several | None]
) -> Item:
    result = function(replace(call, op=op, inputs=inputs))
    assert isinstance(result, Constant | Tensor)
    return result


@operator("QLinearConv", integers=True)
def _qlinear_conv(call: Call) -> Item:
    inputs: list[Item | Several | None] = [_real_input(call, 0), _real_input(call, 3, axis=0)]
    if call.given(8):
        step_x = floats(call.constant(1, "x_scale")).astype(np.float64)
        step_w = floats(call.constant(4, "w_scale")).astype(np.float64)
        bias = call.constant(8, "bias").array.astype(np.float64)
        inputs.append(Constant((bias * step_x.reshape(-1)[0] * step_w).astype(np.float32)))
    return _quantized_output(call, _run(conv, call, "Conv", inputs), 6)


@operator("QLinearMatMul", integers=True)
def _qlinear_matmul(call: Call) -> Item:
    inputs: list[Item | Several | None] = [_real_input(call, 0), _real_input(call, 3, axis=1)]
    return _quantized_output(call, _run(matmul, call, "MatMul", inputs), 6)


@operator("QGemm", domain="com.microsoft", integers=True)
def _qgemm(call: Call) -> Item:
    flip = bool(call.attribute("transB", 0))
    inputs: list[Item | Several | None] = [
        _real_input(call, 0),
        _real_input(call, 3, 0 if flip else 1),
    ]
    if call.given(6):
        step_a = floats(call.constant(1, "a_scale")).astype(np.float64)
        step_b = floats(call.constant(4, "b_scale")).astype(np.float64)
        bias = call.constant(6, "bias").array.astype(np.float64)
        inputs.append(Constant((bias * step_a.reshape(-1)[0] * step_b).astype(np.float32)))
    real = _run(gemm, call, "Gemm", inputs)
    return _quantized_output(call, real, 7) if call.given(7) else real


@operator("QLinearAdd", "QLinearMul", domain="com.microsoft", integers=True)
def _qlinear_binary(call: Call) -> Item:
    inputs: list[Item | Several | None] = [_real_input(call, 0), _real_input(call, 3)]
    real = _run(_arithmetic, call, call.op.removeprefix("QLinear"), inputs)
    return _quantized_output(call, real, 6)


@operator("QLinearSigmoid", "QLinearLeakyRelu", domain="com.microsoft", integers=True)
@operator("QLinearGlobalAveragePool", "QLinearAveragePool", domain="com.microsoft", integers=True)
def _qlinear_unary(call: Call) -> Item:
    inputs: list[Item | Several | None] = [_real_input(call, 0)]
    op = call.op.removeprefix("QLinear")
    if call.attribute("channels_last", 0):
        raise Unsupported("its channels are last", "export channels first")
    functions = {
        "Sigmoid": _curve,
        "LeakyRelu": CONVERTERS["", "LeakyRelu"],
        "GlobalAveragePool": _global,
        "AveragePool": _average_pool,
    }
    return _quantized_output(call, _run(functions[op], call, op, inputs), 3)


@operator("QLinearSoftmax", domain="com.microsoft", integers=True)
def _qlinear_softmax(call: Call) -> Item:
    version = int(call.attribute("opset", 13))
    inner = replace(call, domain="", version=version)
    real = _run(CONVERTERS["", "Softmax"], inner, "Softmax", [_real_input(call, 0)])
    return _quantized_output(call, real, 3)


@operator("QLinearConcat", domain="com.microsoft", integers=True)
def _qlinear_concat(call: Call) -> Item:
    inputs: list[Item | Several | None] = [
        _real_input(call, i) for i in range(2, len(call.inputs), 3)
    ]
    return _quantized_output(call, _run(_concat, call, "Concat", inputs), 0)
