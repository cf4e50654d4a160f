"""What the C++ classes tell a dataflow, property by property."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from inspect import signature
from typing import Any

from ...constants.cupva import cupvaSimProperty_t as Property
from ...cupva.dataflow.base import DataFlow
from ...cupva.dataflow.gather import GatherScatterDataFlow
from ...cupva.errors import CupvaError
from ...cupva.pointers import Pointer
from ..embedding import ffi
from .dataflows import flow_of, real, trans_mode
from .family import cupva, invalid, offset_pointer


def _pointer(value: int, kind: int) -> Pointer:
    if kind:
        pointer = ffi.cast("cupvaOffsetPointer_t *", value)
        return offset_pointer(pointer, "the OffsetPointer") if value else 0
    return value


def _raster_image(reads: bool) -> Callable[..., None]:
    def put_image(
        flow: Any, pointer: int, kind: int, width: int, height: int, pitch: int, bpp: int
    ) -> None:
        flow.image(reads, _pointer(pointer, kind), width, height, pitch, bpp)

    return put_image


def _tensor(reads: bool) -> Callable[..., None]:
    def put_tensor(
        flow: Any, pointer: int, kind: int, w: int, h: int, d: int, row: int, depth: int, bpp: int
    ) -> None:
        flow.tensor(reads, _pointer(pointer, kind), (w, h, d), (row, depth), bpp)

    return put_tensor


def _dst(flow: Any, pointer: int, kind: int, second: int = 0, second_kind: int = 0) -> None:
    if isinstance(flow, GatherScatterDataFlow):
        flow.memory(False, _pointer(pointer, kind))
    else:
        other = _pointer(second, second_kind) or None
        if other is not None:
            real(other, "dst(): the second pointer")
        flow.dst(real(_pointer(pointer, kind), "dst(): the pointer"), other)


def _src(flow: Any, pointer: int, kind: int) -> None:
    if isinstance(flow, GatherScatterDataFlow):
        flow.memory(True, _pointer(pointer, kind))
    else:
        flow.src(real(_pointer(pointer, kind), "src(): the pointer"))


@dataclass(frozen=True)
class Setter:
    """How a property reaches a dataflow: by ``put``, else by its method, behind ``first``."""

    methods: tuple[str, ...]
    """The dataflow has at least one of these, or it has no such property."""
    put: Callable[..., None] | None = None
    first: tuple[Any, ...] = ()

    def __call__(self, flow: DataFlow, *values: int) -> None:
        if self.put is not None:
            self.put(flow, *values)
        else:
            getattr(flow, self.methods[0])(*self.first, *values)

    def takes(self, kind: type[DataFlow], count: int) -> bool:
        """Whether dataflows of that class take so many values."""
        target = self.put or getattr(kind, self.methods[0])
        try:
            signature(target).bind(None, *self.first, *[0] * count)
        except TypeError:
            return False
        return True


def _to(method: str, *first: Any) -> Setter:
    return Setter((method,), first=first)


def _tile_buffer(flow: Any, pointer: int, kind: int) -> None:
    flow.tile_buffer(_pointer(pointer, kind))


_SETTERS: dict[int, Setter] = {
    Property.CUPVA_SIM_BPP: _to("bpp"),
    Property.CUPVA_SIM_TILE: _to("tile"),
    Property.CUPVA_SIM_PAD_DIM: _to("pad_dim"),
    Property.CUPVA_SIM_PAD_VAL: _to("pad_val"),
    Property.CUPVA_SIM_GRANULARITY: _to("granularity"),
    Property.CUPVA_SIM_SRC: Setter(("src", "memory"), _src),
    Property.CUPVA_SIM_DST: Setter(("dst", "memory"), _dst),
    Property.CUPVA_SIM_SRC_LINE_PITCH: _to("line_pitch", "source"),
    Property.CUPVA_SIM_DST_LINE_PITCH: _to("line_pitch", "destination"),
    Property.CUPVA_SIM_SRC_DIM: _to("dim", "source"),
    Property.CUPVA_SIM_DST_DIM: _to("dim", "destination"),
    Property.CUPVA_SIM_SRC_CIRCULAR: _to("circular_buffer", "source"),
    Property.CUPVA_SIM_DST_CIRCULAR: _to("circular_buffer", "destination"),
    Property.CUPVA_SIM_IMAGE_SRC: Setter(("image",), _raster_image(True)),
    Property.CUPVA_SIM_IMAGE_DST: Setter(("image",), _raster_image(False)),
    Property.CUPVA_SIM_TENSOR_SRC: Setter(("tensor",), _tensor(True)),
    Property.CUPVA_SIM_TENSOR_DST: Setter(("tensor",), _tensor(False)),
    Property.CUPVA_SIM_TILE_BUFFER: Setter(("tile_buffer",), _tile_buffer),
    Property.CUPVA_SIM_HALO: _to("halo"),
    Property.CUPVA_SIM_ROI: _to("roi"),
    Property.CUPVA_SIM_SCAN_ORDER: _to("scan_order"),
    Property.CUPVA_SIM_TRANS_MODE: Setter(("scan_order",), trans_mode),
    Property.CUPVA_SIM_TRANSFER_MODE: _to("transfer_mode"),
    Property.CUPVA_SIM_TILES_PER_TRIGGER: _to("tiles_per_trigger"),
    Property.CUPVA_SIM_EXTERNAL: _to("extents"),
    Property.CUPVA_SIM_NODES: _to("set_counts"),
}


@cache
def _wrong(kind: type[DataFlow], which: int, count: int) -> str:
    """Why dataflows of a class do not take a property with so many values, "" when they do."""
    setter = _SETTERS[which]
    if not any(hasattr(kind, method) for method in setter.methods):
        return f"has no property {Property(which).name}"
    return "" if setter.takes(kind, count) else f"takes no {count} values as {Property(which).name}"


_CALLED = {
    Property.CUPVA_SIM_SRC_CIRCULAR: "srcCircularBuffer",
    Property.CUPVA_SIM_DST_CIRCULAR: "dstCircularBuffer",
    Property.CUPVA_SIM_IMAGE_SRC: "src",
    Property.CUPVA_SIM_IMAGE_DST: "dst",
    Property.CUPVA_SIM_TENSOR_SRC: "src",
    Property.CUPVA_SIM_TENSOR_DST: "dst",
    Property.CUPVA_SIM_TRANS_MODE: "tileBuffer",
    Property.CUPVA_SIM_TRANSFER_MODE: "mode",
    Property.CUPVA_SIM_TILES_PER_TRIGGER: "numTilesPerTrigger",
    Property.CUPVA_SIM_EXTERNAL: "extents",
    Property.CUPVA_SIM_NODES: "init",
}
"""Methods of the C++ classes that are not called as their property."""


def _called(which: int, values: Any) -> str:
    """The method of the C++ classes that sets a property, "" when there is no such property."""
    if which not in _SETTERS:
        return ""
    if which in (Property.CUPVA_SIM_SRC_DIM, Property.CUPVA_SIM_DST_DIM) and values:
        return f"{'src' if which == Property.CUPVA_SIM_SRC_DIM else 'dst'}Dim{int(values[0])}"
    first, *rest = Property(which).name.removeprefix("CUPVA_SIM_").lower().split("_")
    return _CALLED.get(Property(which), first + "".join(word.title() for word in rest))


@cupva.export("CupvaSimDataFlowSet")
def set_property(flow: Any, which: int, values: Any, count: int) -> None:
    kind = DataFlow.kind
    try:
        found = flow_of(flow)
        kind = found.kind
        _set(found, which, values, count)
    except CupvaError as failure:
        if method := _called(which, values):  # a program knows its own call, not the header's
            failure.called = f"{kind}::{method}"
        raise


def _set(found: Any, which: int, values: Any, count: int) -> None:
    if which not in _SETTERS or not 1 <= count <= 8 or not values:
        raise invalid(f"{found.name}: property {which} with {count} values")
    kind: type[DataFlow] = type(found)
    if wrong := _wrong(kind, which, count):
        raise invalid(f"{found.name} {wrong}")
    try:
        _SETTERS[which](found, *(int(values[i]) for i in range(count)))
    except CupvaError as failure:
        if found.name in failure.explanation:
            raise
        # A program has many dataflows, and the function that C++ calls is the same for all.
        raise CupvaError(failure.status, f"{found.name}: {failure.explanation}") from None
