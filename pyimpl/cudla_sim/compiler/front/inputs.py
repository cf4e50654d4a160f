"""Inputs and outputs of the network as ports."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod
from typing import TYPE_CHECKING

import numpy as np

from cudla_sim.nvdla.facts.limits import LARGEST

from ..errors import CompileError, Unsupported
from ..graph import Port, Shape
from . import moving
from .builder import Builder, layouts
from .tensors import Tensor
from .views import Digit, View, grouped

if TYPE_CHECKING:
    import onnx

PIXEL_ZERO = 128
"""Pixels count from 0, int8 from here."""
_REAL = ("float32", "float16", "float64", "bfloat16", "int8", "uint8", "int16", "uint16")
_INDEX = ("int32", "int64", "bool")


@dataclass(frozen=True, slots=True)
class Layout:
    """Which dimensions of an input make up n, c, h and w of its value."""

    groups: tuple[tuple[int, ...], ...]

    @staticmethod
    def choices(shape: Sequence[int]) -> list[Layout]:
        """The likeliest first."""
        return [Layout(tuple(tuple(g) for g in groups)) for groups in layouts(shape)]

    def value_shape(self, shape: Sequence[int]) -> Shape:
        """[n, c, h, w] of a tensor of *shape*."""
        n, c, h, w = (prod(shape[d] for d in group) for group in self.groups)
        return n, c, h, w

    def view(self, build: Builder, name: str, shape: Sequence[int]) -> View:
        """The tensor as a view of a new value."""
        n, c, h, w = self.value_shape(shape)
        if c > LARGEST and (h, w) == (1, 1):
            # more channels than hardware counts: the inner part of them becomes width
            widths = range(-(-c // LARGEST), min(c // 2, LARGEST + 1))
            w = next((d for d in widths if c % d == 0), 1)
            flat = View.of(build.value(name, (n, c // w, 1, w))).reshape((n, c))
            view = flat.reshape(shape) if flat else None
            if view is not None:
                return view
        return grouped(build.value(name, (n, c, h, w)), shape, self.groups)


def element_type(port: onnx.ValueInfoProto) -> str:
    """numpy's name of an input's element type. Raises CompileError for strings and the like."""
    from onnx import helper

    code = port.type.tensor_type.elem_type
    try:
        name = np.dtype(helper.tensor_dtype_to_np_dtype(code)).name
    except (KeyError, TypeError, ValueError):
        name = "unknown"
    if name not in (*_REAL, *_INDEX):
        raise CompileError(
            f"input {port.name!r} has elements of type {name}; numbers are needed "
            f"({', '.join(_REAL)})"
        )
    return name


def bind(build: Builder, name: str, shape: Sequence[int], layout: Layout, dtype: str) -> Tensor:
    """An input of the network."""
    view = layout.view(build, name, shape)
    value = view.value
    order, split = _storage(view)
    port = Port(name=name, shape=tuple(shape), value=value, order=order, dtype=dtype, split=split)
    build.inputs.append(port)
    if dtype not in ("int8", "uint8"):
        return Tensor(view, dtype)
    port.scale = value.scale = 1.0  # integers as such; a DequantizeLinear behind it says better
    if dtype == "uint8":
        # all 8 bits as int8: 128 less, which is added again (in the bias of a convolution)
        port.zero_point = PIXEL_ZERO
        build.node = build.target = name
        pixels = build.affine(value, 1.0, PIXEL_ZERO, f"{name}/unsigned")
        build.unsigned[pixels] = port
        view = view.on(pixels)
    return Tensor(view, dtype)


def _storage(view: View) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Order and split of a port for *view*; the split is empty where whole axes do."""
    if all(len(view.axis_digits(axis)) <= 1 for axis in range(4)):
        order = [digit.axis for digit in view.digits()]
        for axis in range(4):  # axes of one position lie anywhere
            if axis not in order:
                order.insert(min(axis, len(order)), axis)
        return tuple(order), ()
    stored = [d for axis in range(4) for d in (view.axis_digits(axis) or (Digit(axis, 1, 1),))]
    places = {(d.axis, d.stride, d.size): i for i, d in enumerate(stored)}
    order = [places[d.axis, d.stride, d.size] for d in view.digits()]
    order = [i for i, d in enumerate(stored) if d.size == 1] + order
    return tuple(order), tuple(d.size for d in stored)


def output(build: Builder, name: str, tensor: Tensor, dtype: str) -> Port:
    """An output of the network; rearranges what hardware should rather than the host."""
    build.node = build.target = name
    view = tensor.view
    order, split = _storage(view)
    if split:
        view = _better(build, tensor) or view
        order, split = _storage(view)
    if split:
        build.note(
            f"output {name!r}: its elements are rearranged by whoever reads the output "
            "(nvdla run --real does), hardware has no operation for it"
        )
    port = Port(
        name=name, shape=tensor.shape, value=view.value, order=order, dtype=dtype, split=split
    )
    if tensor.quantized is not None:
        port.dtype = tensor.quantized.dtype
        port.scale, port.zero_point = tensor.quantized.scale, tensor.quantized.zero
    return port


def _better(build: Builder, tensor: Tensor) -> View | None:
    """Pixel and channel shuffles at an output are the hardware's work."""
    if tensor.rank != 4:
        return None
    for order in ((0, 1, 2, 3), (0, 3, 1, 2)):
        view = tensor.view.transpose(order)
        if moving.is_cheap(view):
            try:
                return View.of(build.plain(view)).transpose(tuple(np.argsort(order)))
            except Unsupported:
                return None
    return None
