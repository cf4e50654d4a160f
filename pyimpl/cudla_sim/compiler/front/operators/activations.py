"""Functions of one variable."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ...errors import Unsupported
from ...graph import PRelu, Softmax, Value
from ..builder import usual_layout
from ..tensors import Constant, Item, Tensor
from ..views import arranged, broadcast_to_value, grouped
from .arithmetic import changed, power
from .arrangement import expanded, own_layout, reshaped
from .registry import Call, axis_of, floats, operator

_CURVES: dict[str, dict[str, float]] = {
    "Sigmoid": {},
    "Tanh": {},
    "Elu": {"alpha": 1.0},
    "Selu": {"alpha": 1.67326319217681884765625, "gamma": 1.05070102214813232421875},
    "Celu": {"alpha": 1.0},
    "Softplus": {},
    "Softsign": {},
    "Mish": {},
    "ThresholdedRelu": {"alpha": 1.0},
    "HardSigmoid": {"alpha": 0.2, "beta": 0.5},
    "HardSwish": {},
    "Exp": {},
    "Log": {},
    "Sqrt": {},
    "Reciprocal": {},
    "Erf": {},
    "Sin": {},
    "Cos": {},
    "Floor": {},
    "Ceil": {},
    "Round": {},
}
"""Curves by the operator's name, with its attributes and their defaults (ONNX)."""


@operator(*_CURVES)
def _curve(call: Call) -> Item:
    parameters = {
        name: float(call.attribute(name, default)) for name, default in _CURVES[call.op].items()
    }
    return changed(call.tensor(), lambda x: call.build.curve(x, call.op, parameters=parameters))


@operator("Gelu")
@operator("Gelu", "FastGelu", "QuickGelu", domain="com.microsoft")
def _gelu(call: Call) -> Item:
    tanh = call.op == "FastGelu" or call.attribute("approximate", "none") == "tanh"
    if call.op == "QuickGelu":
        alpha = float(call.attribute("alpha", 1.702))
        return changed(
            call.tensor(), lambda x: call.build.curve(x, "SiLU", parameters={"beta": alpha})
        )
    if call.op == "FastGelu" and call.given(1):
        raise Unsupported("it adds a bias", "export Add and Gelu")
    name = "GELUTanh" if tanh else "GELU"
    return changed(call.tensor(), lambda x: call.build.curve(x, name))


@operator("Swish")
def _swish(call: Call) -> Item:
    beta = float(call.attribute("alpha", 1.0))
    parameters = {} if beta == 1 else {"beta": beta}
    return changed(call.tensor(), lambda x: call.build.curve(x, "SiLU", parameters=parameters))


@operator("Relu")
def _relu(call: Call) -> Item:
    return changed(call.tensor(), lambda x: call.build.clip(x, 0.0, np.inf))


@operator("Clip")
def _clip(call: Call) -> Item:
    low, high = call.number("min", 1), call.number("max", 2)
    low = -np.inf if low is None or low <= -3.4e38 else low
    high = np.inf if high is None or high >= 3.4e38 else high
    if np.isnan(low) or np.isnan(high):
        raise Unsupported("a limit is NaN", "export the model again")
    if low == -np.inf and high == np.inf:
        return call.tensor()
    low = min(low, high)  # ONNX: min above max makes everything max
    return changed(call.tensor(), lambda x: call.build.clip(x, low, high))


@operator("LeakyRelu")
def _leaky(call: Call) -> Item:
    slope = np.full((1, 1, 1, 1), call.attribute("alpha", 0.01), np.float32)
    return changed(call.tensor(), lambda x: _prelu_node(call, x, slope))


@operator("Abs")
def _abs(call: Call) -> Item:
    slope = np.full((1, 1, 1, 1), -1, np.float32)  # needs no table
    return changed(call.tensor(), lambda x: _prelu_node(call, x, slope))


@operator("PRelu")
def _prelu(call: Call) -> Item:
    x = call.tensor()
    slope = floats(call.constant(1, "slope"))
    if slope.ndim == 1 and x.rank > 2 and slope.shape[0] == x.shape[1] != x.shape[-1]:
        slope = slope.reshape(-1, *(1,) * (x.rank - 2))  # opset 7 says per channel
    x = expanded(call.build, x, np.broadcast_shapes(x.shape, slope.shape))
    return changed(x, lambda v: _prelu_node(call, v, broadcast_to_value(x.view, slope)))


def _prelu_node(call: Call, x: Value, slope: np.ndarray) -> Value:
    return call.build.add(PRelu, [x], x.shape, slope=slope)


@operator("Softmax")
def _softmax(call: Call) -> Item:
    x = call.tensor()
    if call.version >= 13:
        axis = axis_of(call.attribute("axis", -1), x.rank)
        return _softmax_along(call, x, axis)
    # before: everything from the axis on is one vector
    axis = axis_of(call.attribute("axis", 1), x.rank)
    if all(size == 1 for size in x.shape[axis + 1 :]):
        return _softmax_along(call, x, axis)
    flat = reshaped(call.build, x, (*x.shape[:axis], int(np.prod(x.shape[axis:]))))
    return reshaped(call.build, _softmax_along(call, flat, axis), x.shape)


def _softmax_along(call: Call, x: Tensor, axis: int) -> Tensor:
    at = x.view.axis_of(axis)
    if at:
        return changed(x, lambda v: call.build.add(Softmax, [v], v.shape, axis=at))
    for groups in (own_layout(x), usual_layout(x.shape)):
        place = next((i for i, g in enumerate(groups or []) if axis in g), 0)
        if groups and place and all(x.shape[d] == 1 for d in groups[place] if d != axis):
            break
    else:
        others = [d for d in range(x.rank) if d != axis]
        groups, place = [[], [axis], others[:-1], others[-1:]], 1
    value = call.build.plain(arranged(x.view, groups))
    result = call.build.add(Softmax, [value], value.shape, axis=place)
    return x.viewed(grouped(result, x.shape, groups))


@operator("Square")
def _square(call: Call) -> Item:
    return changed(call.tensor(), lambda x: power(call.build, x, 2))


@operator("Greater", "GreaterOrEqual", "Less", "LessOrEqual")
def _compare(call: Call) -> Item:
    """A comparison with a number, as 0 and 1: the selections of activations (Softplus with its
    threshold) are recognised by what they compute; what is left of it is refused."""
    a, b = call.item(0), call.item(1)
    limit, x = (a, b) if isinstance(a, Constant) else (b, a)
    if isinstance(x, Constant) or not isinstance(limit, Constant) or limit.array.size != 1:
        raise Unsupported(*NO_COMPARISON)
    above = call.op.startswith("Greater") == (limit is b)
    build, threshold = call.build, float(limit.array.reshape(-1)[0])
    x = expanded(build, x, np.broadcast_shapes(x.shape, limit.shape))

    def compare(value: Value) -> Value:
        name = build.target if above else f"{build.target}/greater"
        greater = build.curve(value, "Greater", name, {"threshold": threshold})
        return greater if above else build.affine(greater, -1.0, 1.0)

    return replace(changed(x, compare), dtype="bool")


NO_COMPARISON = "comparisons and logic at run time have no hardware", "leave it to the host"


@operator("IsNaN", "IsInf", "Sign", "Not", "Equal", "And", "Or", "Xor", "Mod", "BitShift")
def _logic(call: Call) -> Item:
    raise Unsupported(*NO_COMPARISON)
