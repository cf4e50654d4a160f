"""Element-wise operators of two or more tensors, of tensors and constants."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...errors import Unsupported
from ...graph import Value
from ..builder import Builder, layouts
from ..tensors import Constant, Item, Tensor
from ..views import View, arranged, broadcast_to_value, grouped
from .arrangement import expanded, own_layout, spread, whole_repeats
from .registry import Call, floats, operator

Change = Callable[[Value], Value]


def changed(x: Tensor, change: Change) -> Tensor:
    """The tensor after an operation on each element of its value."""
    return x.viewed(x.view.on(change(x.view.value)))


def with_constant(
    build: Builder, x: Tensor, constant: Constant, apply: Callable[[Value, NDArray[Any]], Value]
) -> Tensor:
    """``apply(value, array)`` with the constant broadcast to the axes of the tensor's value."""
    array = constant.floats()
    shape = np.broadcast_shapes(x.shape, array.shape)
    x = expanded(build, x, shape)
    return changed(x, lambda value: apply(value, broadcast_to_value(x.view, array)))


@operator("Add", "Sub", "Mul", "Div")
def _arithmetic(call: Call) -> Item:
    a, b = call.item(0), call.item(1)
    if isinstance(a, Tensor) and isinstance(b, Tensor):
        if call.op == "Div":
            b = changed(b, lambda v: call.build.curve(v, "Reciprocal", f"{v.name}/reciprocal"))
            return combined(call.build, "mul", a, b)
        return combined(call.build, call.op.lower(), a, b)
    build = call.build
    if isinstance(b, Constant):
        if not isinstance(a, Tensor):
            raise Unsupported("both its inputs are constant")
        floats(b)
        if call.op == "Div":
            with np.errstate(divide="ignore"):
                b = Constant(np.float32(1) / b.floats())
            if not np.isfinite(b.array).all():
                raise Unsupported("it divides by zero", "repair the model")
        return with_constant(build, a, b, _SECOND[call.op](build))
    assert isinstance(a, Constant)
    floats(a)
    if call.op == "Div":
        b = changed(b, lambda v: build.curve(v, "Reciprocal", f"{build.target}/reciprocal"))
    return with_constant(build, b, a, _FIRST[call.op](build))


Apply = Callable[[Value, NDArray[Any]], Value]
_SECOND: dict[str, Callable[[Builder], Apply]] = {
    "Add": lambda build: lambda x, c: build.affine(x, 1.0, c),
    "Sub": lambda build: lambda x, c: build.affine(x, 1.0, -c),
    "Mul": lambda build: lambda x, c: build.affine(x, c, 0.0),
    "Div": lambda build: lambda x, c: build.affine(x, c, 0.0),
}
_FIRST: dict[str, Callable[[Builder], Apply]] = {
    "Add": _SECOND["Add"],
    "Sub": lambda build: lambda x, c: build.affine(x, -1.0, c),
    "Mul": _SECOND["Mul"],
    "Div": _SECOND["Mul"],
}


@operator("Max", "Min", "Sum", "Mean")
def _many(call: Call) -> Item:
    items = [call.item(i) for i in range(len(call.inputs))]
    tensors = [item for item in items if isinstance(item, Tensor)]
    constants = [item for item in items if isinstance(item, Constant)]
    build, target = call.build, call.build.target
    x = tensors[0]
    function = {"Max": "max", "Min": "min"}.get(call.op, "add")
    for number, other in enumerate(tensors[1:]):
        last = number == len(tensors) - 2 and not constants and call.op != "Mean"
        x = combined(build, function, x, other, target if last else f"{target}/{number}")
    for constant in constants:
        floats_or_infinite = constant.floats()
        if np.isnan(floats_or_infinite).any():
            raise Unsupported("a constant of it holds NaN", "export the model again")
        x = _with_limit(build, call.op, x, constant)
    if call.op == "Mean" and len(items) > 1:
        x = changed(x, lambda value: build.affine(value, 1 / len(items)))
    return x


def _with_limit(build: Builder, op: str, x: Tensor, constant: Constant) -> Tensor:
    if op in ("Sum", "Mean"):
        return with_constant(build, x, constant, lambda value, c: build.affine(value, 1.0, c))

    def limit(value: Value, c: NDArray[Any]) -> Value:
        name = build.target
        low, high = (0.0, np.inf) if op == "Max" else (-np.inf, 0.0)
        if c.size == 1:
            number = float(c.reshape(-1)[0])
            if op == "Max":
                return build.clip(value, number, np.inf)
            return build.clip(value, -np.inf, number)
        below = build.affine(value, 1.0, -c, f"{name}/difference")
        return build.affine(build.clip(below, low, high, f"{name}/limited"), 1.0, c)

    return with_constant(build, x, constant, limit)


@operator("Pow")
def _pow(call: Call) -> Item:
    a, b = call.item(0), call.item(1)
    build = call.build
    if isinstance(a, Constant):
        base = float(a.array.reshape(-1)[0])
        if a.array.size != 1 or base <= 0 or not isinstance(b, Tensor):
            raise Unsupported("its base is no positive number", "use Exp")
        name = f"{build.target}/exponent"
        factor = float(np.log(base))
        return changed(b, lambda v: build.curve(build.affine(v, factor, 0.0, name), "Exp"))
    exponents = call.constant(1, "exponent")
    if np.unique(exponents.array).size != 1:
        raise Unsupported("its exponents differ", "use one exponent")
    exponent = float(exponents.array.reshape(-1)[0])
    assert isinstance(a, Tensor)
    x = expanded(build, a, np.broadcast_shapes(a.shape, exponents.shape))
    return changed(x, lambda value: power(build, value, exponent))


def power(build: Builder, x: Value, exponent: float, name: str = "") -> Value:
    """x to a constant power by the cheapest means."""
    if exponent == 1:
        return x
    if exponent == 2:
        return build.binary("mul", x, x, name)
    functions = {0.5: "Sqrt", -1.0: "Reciprocal"}
    if exponent in functions:
        return build.curve(x, functions[exponent], name)
    return build.curve(x, "Pow", name, {"exponent": exponent})


@operator("Neg")
def _neg(call: Call) -> Item:
    return changed(call.tensor(), lambda value: call.build.affine(value, -1.0))


@operator("Where", integers=True)
def _where(call: Call) -> Item:
    condition = call.item(0)
    build = call.build
    shape = np.broadcast_shapes(*(call.item(i).shape for i in range(3)))
    if isinstance(condition, Constant):
        mask = condition.array.astype(bool)
        parts = [_masked(call, i, Constant(m), shape) for i, m in ((1, mask), (2, ~mask))]
    else:  # of 0 and 1
        condition = replace(condition, dtype="float32")
        below = changed(condition, lambda v: build.affine(v, -1.0, 1.0, f"{build.target}/else"))
        parts = [_masked(call, 1, condition, shape), _masked(call, 2, below, shape)]
    first, second = parts
    if isinstance(first, Constant):
        first, second = second, first
    if isinstance(second, Constant):
        if isinstance(first, Constant):  # with a graph for an attribute: not folded
            return Constant(first.floats() + second.floats())
        return with_constant(build, first, second, lambda v, c: build.affine(v, 1.0, c))
    assert isinstance(first, Tensor)
    return combined(build, "add", first, second)


def _masked(call: Call, index: int, mask: Item, shape: tuple[int, ...]) -> Item:
    """An input times a mask of zeros and ones."""
    item = call.item(index)
    build = call.build
    name = f"{build.target}/{index}"
    if isinstance(item, Constant) and isinstance(mask, Constant):
        chosen = np.where(mask.array, item.floats(), np.float32(0))
        return Constant(np.broadcast_to(chosen, shape))
    if isinstance(item, Tensor) and isinstance(mask, Tensor):
        return combined(build, "mul", item, mask, name)
    tensor, constant = (item, mask) if isinstance(item, Tensor) else (mask, item)
    assert isinstance(tensor, Tensor)
    assert isinstance(constant, Constant)
    floats(constant)
    tensor = expanded(build, tensor, shape)
    return with_constant(build, tensor, constant, lambda v, c: build.affine(v, c, 0.0, name))


def combined(build: Builder, function: str, a: Tensor, b: Tensor, name: str = "") -> Tensor:
    """Two tensors, element by element, with broadcasting."""
    shape = np.broadcast_shapes(a.shape, b.shape)
    a, b = (_of_rank(x, len(shape)) for x in (a, b))
    swapped = a.shape != shape and b.shape == shape
    first, second = (b, a) if swapped else (a, b)
    if first.shape != shape:
        first = expanded(build, first, shape)
    frame, x, y = _aligned(build, first, second)
    y = _allowed(build, x, y)
    if not (swapped and function == "sub"):
        return first.viewed(frame.on(build.binary(function, x, y, name)))
    negative = build.binary(function, x, y, f"{build.target}/negative")
    return first.viewed(frame.on(build.affine(negative, -1.0, 0.0, name)))


def _of_rank(x: Tensor, rank: int) -> Tensor:
    return x.viewed(View(x.view.value, ((),) * (rank - x.rank) + x.view.dims))


def _aligned(build: Builder, first: Tensor, second: Tensor) -> tuple[View, Value, Value]:
    """The arrangement in which both are computed, and both values in it."""
    if second.shape == first.shape and first.view.value is not second.view.value:
        there = _in_frame(second, first)
        if there is not None and there.is_plain():
            return second.view, build.plain(there), second.view.value
    here = _in_frame(first, second)
    if here is not None:
        return first.view, first.view.value, build.plain(here)
    for groups in [own_layout(first), *layouts(first.shape)]:
        if groups is None or not whole_repeats(first.shape, second.shape, groups):
            continue
        x, y = (build.plain(arranged(t.view, groups)) for t in (first, second))
        return grouped(x, first.shape, groups), x, y
    raise Unsupported("its inputs lie too differently")


def _in_frame(frame: Tensor, other: Tensor) -> View | None:
    """*other* as [n, c, h, w] of the frame's value; None where it does not fall apart so."""
    sizes = []
    digits = []
    for dim, size in zip(frame.view.dims, other.shape, strict=True):
        for digit in dim:
            digits.append(digit)
            sizes.append(digit.size if size > 1 else 1)
    split = other.view.reshape(sizes)
    if split is None:
        return None
    order = sorted(range(len(digits)), key=lambda i: (digits[i].axis, -digits[i].stride))
    groups = [[i for i in order if digits[i].axis == axis] for axis in range(4)]
    for group in groups:
        if len({sizes[i] > 1 for i in group}) > 1:
            return None  # a part of an axis is repeated
    return arranged(split, groups)


def _allowed(build: Builder, x: Value, y: Value) -> Value:
    """*y* repeated where a Binary node could not broadcast it itself."""
    n, c, h, w = x.shape
    if y.shape[0] != n:
        raise Unsupported("it repeats along the batch", "use a batch of one picture")
    forms = ((n, c, h, w), (n, c, 1, 1), (n, 1, h, w), (n, 1, 1, 1))
    if y.shape in forms:
        return y
    per_channel = y.shape[1] == c and c > 1
    return spread(build, y, [n, c if per_channel else 1, h, w])


__all__ = ["changed", "combined", "power", "with_constant"]
