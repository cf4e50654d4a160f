"""Normalisation layers: by constants, over channels, and by the data's own mean and variance."""

from __future__ import annotations

from collections.abc import Callable
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...errors import Unsupported
from ...graph import Lrn, Value
from ..tensors import Constant, Item, Tensor
from ..views import broadcast_to_value
from .arithmetic import changed, combined, power, with_constant
from .arrangement import reshaped
from .convolutions import picture, placed
from .reductions import reduced
from .registry import Call, axis_of, floats, operator


@operator("BatchNormalization")
def _batch_normalization(call: Call) -> Item:
    x = call.tensor()
    if call.attribute("training_mode", 0) and call.version >= 14:
        if any(call.outputs[1:]):
            raise Unsupported("it is in training mode", "export for inference (model.eval())")
        raise Unsupported(
            "it takes mean and variance from the data (training_mode)",
            "export for inference (model.eval())",
        )
    if x.rank < 2:
        raise Unsupported(f"its input has {x.rank} dimensions", "at least two are needed")
    names = ("scale", "bias", "mean", "variance")
    parts = [floats(call.constant(i + 1, name)).astype(np.float64) for i, name in enumerate(names)]
    scale, bias, mean, variance = parts
    epsilon = call.attribute("epsilon", 1e-5)
    if (variance + epsilon <= 0).any():
        raise Unsupported("a variance is negative", "export the model again")
    factor = scale / np.sqrt(variance + epsilon)
    shape = (-1, *(1,) * (x.rank - 2))
    shift = (bias - mean * factor).reshape(shape)
    factor = factor.reshape(shape)
    result = call.build.affine(
        x.view.value, broadcast_to_value(x.view, factor), broadcast_to_value(x.view, shift)
    )
    return x.viewed(x.view.on(result))


@operator("LRN")
def _lrn(call: Call) -> Item:
    x = call.tensor()
    value, groups = picture(call, x)
    result = call.build.add(
        Lrn,
        [value],
        value.shape,
        size=int(call.attribute("size")),
        alpha=float(call.attribute("alpha", 1e-4)),
        beta=float(call.attribute("beta", 0.75)),
        k=float(call.attribute("bias", 1.0)),
    )
    return placed(x, result, groups)


@operator("LayerNormalization", "RMSNormalization")
def _layer(call: Call) -> Item:
    x = call.tensor()
    first = axis_of(call.attribute("axis", -1), x.rank)
    centred = call.op == "LayerNormalization"
    y = _by_data(call, x, list(range(first, x.rank)), centred)
    return _scaled(call, y, 1, (1,) * first + x.shape[first:])


@operator("SkipLayerNormalization", domain="com.microsoft")
def _skip_layer(call: Call) -> Item:
    if call.wants(1) or call.wants(2) or call.wants(3):
        raise Unsupported("more than its first output is read", "leave it to the host")
    x = combined(call.build, "add", call.tensor(0), call.tensor(1), f"{call.build.target}/sum")
    if call.given(4):
        x = with_constant(call.build, x, call.constant(4, "bias"), _plus(call))
    return _scaled(call, _by_data(call, x, [x.rank - 1], True), 2, x.shape[-1:])


@operator("InstanceNormalization", "MeanVarianceNormalization")
def _instance(call: Call) -> Item:
    x = call.tensor()
    if call.op == "MeanVarianceNormalization":
        axes = [axis_of(axis, x.rank) for axis in call.attribute("axes") or (0, 2, 3)]
        if 0 in axes and x.shape[0] != 1:
            raise Unsupported("it takes means over a batch", "use a batch of one picture")
        return _by_data(call, x, [axis for axis in axes if x.shape[axis] > 1 or axis], True, 1e-9)
    y = _by_data(call, x, list(range(2, x.rank)), True)
    return _scaled(call, y, 1, (x.shape[1],) + (1,) * (x.rank - 2))


@operator("GroupNormalization")
def _group(call: Call) -> Item:
    x, groups = call.tensor(), int(call.attribute("num_groups"))
    if x.rank < 3 or groups < 1 or x.shape[1] % groups:
        raise Unsupported(f"{groups} groups of the channels of {list(x.shape)}", "repair the model")
    n, c, *rest = x.shape
    together = reshaped(call.build, x, (n, groups, c // groups, *rest))
    y = _by_data(call, together, list(range(2, together.rank)), True)
    back = reshaped(call.build, y, x.shape)
    return _scaled(call, back, 1, (c,) + (1,) * len(rest))


@operator("LpNormalization")
@operator("GroupNorm", domain="com.microsoft")
def _refused(call: Call) -> Item:
    raise Unsupported(
        "it divides by a norm of the data at run time",
        "train with BatchNormalization, or leave it to the host with --fallback cpu",
    )


def _by_data(
    call: Call, x: Tensor, axes: list[int], centred: bool, epsilon: float | None = None
) -> Tensor:
    """(x - mean) / sqrt(variance + epsilon) over dimensions, or x / sqrt(mean square + epsilon)."""
    build, target = call.build, call.build.target
    build.precise.add(build.node)
    added = float(call.attribute("epsilon", 1e-5)) if epsilon is None else epsilon
    if centred:
        mean = reduced(build, x, axes, "average", True)
        x = combined(build, "sub", x, mean, f"{target}/centred")
    squares = changed(x, lambda v: power(build, v, 2, f"{target}/squares"))
    variance = reduced(build, squares, axes, "average", True)

    def inverse(value: Value) -> Value:
        above = build.affine(value, 1.0, added, f"{target}/above")
        return build.curve(above, "Pow", f"{target}/inverse", {"exponent": -0.5})

    return combined(build, "mul", x, changed(variance, inverse), f"{target}/normalised")


def _scaled(call: Call, x: Tensor, place: int, shape: tuple[int, ...]) -> Tensor:
    """The tensor times the constant at *place*, plus the one behind it, both of *shape*."""
    build = call.build

    def part(number: int) -> Constant | None:
        if not call.given(number):
            return None
        array = floats(call.constant(number, "scale and bias"))
        if array.size not in (1, prod(shape)):
            raise Unsupported(f"a factor {list(array.shape)} for {list(shape)}", "repair the model")
        return Constant(array if array.size == 1 else array.reshape(shape))

    factor, summand = part(place), part(place + 1)
    if factor is not None:
        x = with_constant(
            build, x, factor, lambda v, k: build.affine(v, k, 0.0, f"{v.name}/scaled")
        )
    if summand is not None:
        x = with_constant(build, x, summand, _plus(call))
    return x


def _plus(call: Call) -> Callable[[Value, NDArray[Any]], Value]:
    return lambda value, array: call.build.affine(value, 1.0, array)
