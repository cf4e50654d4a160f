"""ONNX tensors as views of values: transposes and reshapes that move nothing.

A value [n, c, h, w] is a mixed-radix number: each axis falls into digits. A tensor of any rank is
an order of those digits, grouped into dimensions. Transpose, Reshape, Flatten, Squeeze, depth to
space and channel shuffles only regroup digits; data moves when an operation needs the tensor as
[n, c, h, w] again (:mod:`.moving`).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import gcd, prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..graph import Shape, Value


@dataclass(frozen=True, slots=True)
class Digit:
    """*size* positions of a value's *axis*, *stride* apart."""

    axis: int
    stride: int
    size: int


Dims = tuple[tuple[Digit, ...], ...]


def _merged(digits: Iterable[Digit]) -> tuple[Digit, ...]:
    """Neighbours that make one digit together are one; those of one position vanish."""
    found: list[Digit] = []
    for digit in digits:
        if digit.size == 1:
            continue
        last = found[-1] if found else None
        if last and last.axis == digit.axis and last.stride == digit.stride * digit.size:
            found[-1] = Digit(digit.axis, digit.stride, last.size * digit.size)
        else:
            found.append(digit)
    return tuple(found)


def whole(shape: Shape, axis: int) -> tuple[Digit, ...]:
    """A whole axis of a value of *shape* as one digit (none for one position)."""
    return (Digit(axis, 1, shape[axis]),) if shape[axis] > 1 else ()


@dataclass(frozen=True, slots=True)
class View:
    """A tensor: its dimensions, outermost first, as digits of *value*, most significant first.

    Every element of the value occurs exactly once.
    """

    value: Value
    dims: Dims

    @staticmethod
    def of(value: Value) -> View:
        """The value as it is, [n, c, h, w]."""
        return View(value, tuple(whole(value.shape, axis) for axis in range(4)))

    @property
    def shape(self) -> tuple[int, ...]:
        """Sizes of the dimensions."""
        return tuple(prod(digit.size for digit in dim) for dim in self.dims)

    @property
    def rank(self) -> int:
        """Number of dimensions."""
        return len(self.dims)

    def on(self, value: Value) -> View:
        """The same arrangement of another value of the same shape."""
        return View(value, self.dims)

    def transpose(self, order: Sequence[int]) -> View:
        """Dimension i of the result is dimension ``order[i]``."""
        return View(self.value, tuple(self.dims[axis] for axis in order))

    def reshape(self, shape: Sequence[int]) -> View | None:
        """Other dimensions of the same elements in the same order.

        None where a new dimension would begin inside of a digit that it does not divide.
        """
        rest = [digit for dim in self.dims for digit in dim][::-1]
        dims = []
        for size in shape:
            dim = []
            while size > 1:
                if not rest:
                    return None
                digit = rest.pop()
                inner = digit.size // gcd(digit.size, size)
                outer = digit.size // inner
                if outer == 1 or (inner > 1 and outer != size):
                    return None
                dim.append(Digit(digit.axis, digit.stride * inner, outer))
                if inner > 1:
                    rest.append(Digit(digit.axis, digit.stride, inner))
                size //= outer
            dims.append(_merged(dim))
        return None if rest else View(self.value, tuple(dims))

    def without(self, *axes: int) -> View:
        """Drops dimensions of one position."""
        return View(self.value, tuple(d for i, d in enumerate(self.dims) if i not in axes))

    def digits(self) -> tuple[Digit, ...]:
        """All digits in the order of the tensor."""
        return tuple(digit for dim in self.dims for digit in dim)

    def axis_digits(self, axis: int) -> tuple[Digit, ...]:
        """The digits of one axis of the value, most significant first."""
        mine = [digit for digit in self.digits() if digit.axis == axis]
        return tuple(sorted(mine, key=lambda digit: -digit.stride))

    def is_plain(self) -> bool:
        """The tensor is [n, c, h, w] itself."""
        return self.rank == 4 and all(
            dim == whole(self.value.shape, axis) for axis, dim in enumerate(self.dims)
        )

    def axis_of(self, dimension: int) -> int | None:
        """The axis of the value that *dimension* is exactly; None for parts or for one position."""
        dim = self.dims[dimension]
        if len(dim) == 1 and dim == whole(self.value.shape, dim[0].axis):
            return dim[0].axis
        return None

    def from_value(self, array: NDArray[Any]) -> NDArray[Any]:
        """An array of the value's shape in the tensor's shape."""
        stored, order = self._storage()
        return array.reshape([digit.size for digit in stored]).transpose(order).reshape(self.shape)

    def to_value(self, array: NDArray[Any]) -> NDArray[Any]:
        """An array of the tensor's shape in the value's shape (the inverse of from_value)."""
        stored, order = self._storage()
        split = array.reshape([stored[at].size for at in order])
        return split.transpose(np.argsort(order)).reshape(self.value.shape)

    def _storage(self) -> tuple[list[Digit], list[int]]:
        """Digits as they lie in the value, and where each of the tensor's is among them."""
        stored = [digit for axis in range(4) for digit in self.axis_digits(axis)]
        at = {(digit.axis, digit.stride): i for i, digit in enumerate(stored)}
        return stored, [at[digit.axis, digit.stride] for digit in self.digits()]


def grouped(value: Value, shape: Sequence[int], groups: Sequence[Sequence[int]]) -> View:
    """A tensor of *shape* whose dimensions *groups* make up the four axes of *value*."""
    dims: list[tuple[Digit, ...]] = [()] * len(shape)
    for axis, group in enumerate(groups):
        stride = value.shape[axis]
        for d in group:
            stride //= shape[d]
            dims[d] = (Digit(axis, stride, shape[d]),) if shape[d] > 1 else ()
    return View(value, tuple(dims))


def arranged(view: View, groups: Sequence[Sequence[int]]) -> View:
    """The view with the given dimensions joined to n, c, h and w."""
    joined = (tuple(digit for d in group for digit in view.dims[d]) for group in groups)
    return View(view.value, tuple(_merged(dim) for dim in joined))


def broadcast_to_value(view: View, array: NDArray[Any]) -> NDArray[Any]:
    """A constant that broadcasts to *view*'s shape, as it broadcasts to the value's.

    Axes along which it does not change have size 1.
    """
    if array.size == 1:
        return array.reshape(1, 1, 1, 1)
    array = array.reshape((1,) * (view.rank - array.ndim) + array.shape)
    # digits of dimensions that the constant has; the others stay 1
    stored, order = view._storage()
    sizes = []
    position = 0
    for dimension, dim in enumerate(view.dims):
        for _ in dim:
            sizes.append(stored[order[position]].size if array.shape[dimension] > 1 else 1)
            position += 1
    moved = array.reshape(sizes).transpose(np.argsort(order))
    at = 0
    for axis in range(4):
        digits = view.axis_digits(axis)
        mine = moved.shape[at : at + len(digits)]
        if prod(mine) > 1 and prod(mine) != view.value.shape[axis]:
            full = list(moved.shape)
            full[at : at + len(digits)] = [digit.size for digit in digits]
            moved = np.broadcast_to(moved, full)
        at += len(digits)
    at = 0
    shape = []
    for axis in range(4):
        count = len(view.axis_digits(axis))
        shape.append(prod(moved.shape[at : at + count]))
        at += count
    return narrowed(moved.reshape(shape))


def narrowed(array: NDArray[Any]) -> NDArray[Any]:
    """Axes along which all elements are equal shrink to 1."""
    for axis in range(array.ndim):
        first = array.take([0], axis)
        if array.shape[axis] > 1 and bool((array == first).all()):
            array = first
    return array
