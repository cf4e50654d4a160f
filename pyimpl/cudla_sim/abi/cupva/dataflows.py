"""Making dataflows and telling them what to do: one by one for C++, all at once for C."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from inspect import signature
from typing import Any

from ...constants.cupva import cupvaSimProperty_t as Property
from ...core import process
from ...cupva.dataflow.base import DataFlow, state
from ...cupva.dataflow.config import ConfigDataFlow
from ...cupva.dataflow.dynamic import DynamicDataFlow
from ...cupva.dataflow.gather import GatherScatterDataFlow
from ...cupva.dataflow.raster import RasterDataFlow
from ...cupva.dataflow.sequence import SequenceDataFlow, Transfer
from ...cupva.dataflow.static import StaticDataFlow
from ...cupva.dataflow.tensor import TensorDataFlow
from ...cupva.errors import CupvaError
from ...cupva.pointers import OffsetPointer, Pointer, address_of
from ..embedding import address, ffi
from .commands import the_program
from .family import (
    Error,
    cupva,
    error,
    invalid,
    machine,
    object_of,
    offset_pointer,
    pointer_or_offset,
    put,
    put_part,
    result,
)
from .programs import bound

_KIND = "dataflow"

_CLASSES: dict[int, type[DataFlow]] = {
    1: StaticDataFlow,
    2: ConfigDataFlow,
    3: DynamicDataFlow,
    4: RasterDataFlow,
    5: SequenceDataFlow,
    6: GatherScatterDataFlow,
    7: TensorDataFlow,
}


def _make(kind: int) -> DataFlow:
    if kind not in _CLASSES:
        raise invalid(f"dataflow type {kind}; CUPVA_STATIC_DATAFLOW (1) to TENSOR (7) exist")
    return _CLASSES[kind]()


def flow_of(value: Any, argument: str = "dataFlow") -> Any:
    if not value:
        raise state(f"{argument} was not created with addDataFlow() or addDataFlowHead()")
    return object_of(value, _KIND, argument)


@cupva.export("CupvaCmdProgramAddDataFlowHead")
def add_head(cmd: Any, target: Any, kind: int, phase: int, weight: float) -> None:
    result(target, "dataFlow")
    program = the_program(cmd)
    made = program.add_head(_make(kind), phase, weight)
    put_part(target, "cupvaDataFlow_t", _KIND, made, program)


@cupva.export("CupvaCmdProgramAddDataFlowHeadShared")
def add_head_shared(cmd: Any, target: Any, kind: int, shared: Any) -> None:
    result(target, "dataFlow")
    other = flow_of(shared, "shared")
    program = the_program(cmd)
    made = program.add_shared_head(_make(kind), other)
    put_part(target, "cupvaDataFlow_t", _KIND, made, program)


@cupva.export("CupvaCmdProgramAddDataFlow")
def add(cmd: Any, target: Any, kind: int) -> None:
    result(target, "dataFlow")
    program = the_program(cmd)
    put_part(target, "cupvaDataFlow_t", _KIND, program.add(_make(kind)), program)


def _list(first: Any) -> StaticDataFlow:
    found = flow_of(first, "df1")
    if not isinstance(found, StaticDataFlow) or not found.primitive:
        raise invalid(f"{found.name} has no list; StaticDataFlow can be linked and appended to")
    return found


@cupva.export("CupvaDataFlowLink")
def link(first: Any, following: Any) -> None:
    _list(first).link(flow_of(following, "df2"))


@cupva.export("CupvaDataFlowAppend")
def append(first: Any, following: Any) -> None:
    _list(first).append(flow_of(following, "df2"))


@cupva.export("CupvaDataFlowGetId")
def get_id(flow: Any, number: Any) -> None:
    result(number, "id")
    found = flow_of(flow)
    if found.compiled_id is None:
        raise state(f"{found.name} has no id before compileDataFlows()")
    number[0] = found.compiled_id


@cupva.export("CupvaSimDataFlowSetHandler")
def set_handler(flow: Any, parameter: Any) -> None:
    found = bound(parameter, "handler")
    flow_of(flow).handler(found.program.handler(found.name))


@cupva.export("CupvaSimDataFlowCreate")
def create(target: Any, kind: int) -> None:
    result(target, "dataFlow")
    put(target, "cupvaDataFlow_t", _KIND, _make(kind))


@cupva.export("CupvaSimDataFlowDestroy")
def destroy(flow: Any) -> None:
    if flow:
        process.current().handles.remove(address(flow), _KIND, "CupvaSimDataFlowDestroy")


@cupva.export("CupvaSimDataFlowCopy")
def copy(flow: Any, source: Any) -> None:
    target, origin = flow_of(flow), flow_of(source, "source")
    if type(target) is not type(origin) or not isinstance(target, StaticDataFlow):
        raise invalid(f"{origin.name} cannot be copied into {target.name}")
    target.copy(origin)


@cupva.export("CupvaSimSequenceAddTransfer")
def add_transfer(flow: Any, target: Any) -> None:
    result(target, "transfer")
    found = flow_of(flow)
    if not isinstance(found, SequenceDataFlow):
        raise invalid(f"{found.name} has no transfers; SequenceDataFlow has")
    put_part(target, "cupvaDataFlow_t", _KIND, found.add_transfer(), found)


@cupva.export("CupvaSimDynamicNode")
def dynamic_node(flow: Any, number: int, lane: int, target: Any) -> None:
    result(target, "node")
    found = flow_of(flow)
    if not isinstance(found, DynamicDataFlow):
        raise invalid(f"{found.name} has no nodes; DynamicDataFlow has")
    put_part(target, "cupvaDataFlow_t", _KIND, found.node(number, lane), found)


def _pointer(value: int, kind: int) -> Pointer:
    if kind:
        pointer = ffi.cast("cupvaOffsetPointer_t *", value)
        return offset_pointer(pointer, "the OffsetPointer") if value else 0
    return value


def _real(pointer: Pointer, what: str) -> Pointer:
    """The pointer, when something lies where it points. Raises CupvaError."""
    is_open = isinstance(pointer, OffsetPointer) and not pointer.base  # bound before it is used
    if not is_open:
        machine().memory.locate(address_of(pointer, what))
    return pointer


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
            _real(other, "dst(): the second pointer")
        flow.dst(_real(_pointer(pointer, kind), "dst(): the pointer"), other)


def _src(flow: Any, pointer: int, kind: int) -> None:
    if isinstance(flow, GatherScatterDataFlow):
        flow.memory(True, _pointer(pointer, kind))
    else:
        flow.src(_real(_pointer(pointer, kind), "src(): the pointer"))


def _trans_mode(flow: Any, mode: int) -> None:
    if mode:
        raise error(
            Error.CUPVA_UNSUPPORTED_FEATURE,
            f"UnsupportedOperation: {flow.name}: transposition mode {mode}; how transposed tiles "
            "lie in VMEM is not documented publicly",
        )


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
    Property.CUPVA_SIM_TRANS_MODE: Setter(("scan_order",), _trans_mode),
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


# --- the C interface: everything in one structure ---

_PAD_SIDES = {0: 0, 1: 0, 2: 1, 3: 2, 4: 4, 5: 5, 6: 6, 7: 8, 8: 9, 9: 10}


def _params(flow: Any, params: Any, kind: type[DataFlow]) -> Any:
    found = flow_of(flow)
    if not isinstance(found, kind):
        raise invalid(f"{found.name} is no {kind.kind}")
    if not params:
        raise invalid("params is NULL")
    if hasattr(params, "handler") and params.handler:
        set_handler_of(found, params.handler)
    return found


def set_handler_of(flow: DataFlow, parameter: Any) -> None:
    found = bound(parameter, "handler")
    flow.handler(found.program.handler(found.name))


def _sides(found: StaticDataFlow, params: Any) -> None:
    source = pointer_or_offset(params.ptrSrc, params.opSrc, "Src")
    target = pointer_or_offset(params.ptrDst, params.opDst, "Dst")
    if source is not None:
        found.src(_real(source, "ptrSrc"))
    if target is not None:
        found.dst(_real(target, "ptrDst"))


def _padding(found: StaticDataFlow, params: Any) -> None:
    if params.padMode:
        found.pad_val(params.padMode, params.padVal)
    if params.padDir not in _PAD_SIDES:
        raise invalid(f"padDir is {params.padDir}; CUPVA_PAD_NONE (1) to BOTTOM_RIGHT (9) exist")
    if sides := _PAD_SIDES[params.padDir]:
        found.pad_dim(sides, params.padDim)


def _walks(found: StaticDataFlow, params: Any) -> None:
    for side, end in (("source", "Src"), ("destination", "Dst")):
        if pitch := getattr(params, f"linePitch{end}"):
            found.line_pitch(side, pitch)
        for number in (1, 2, 3):
            niter = getattr(params, f"niter{end}Dim{number}")
            adv = getattr(params, f"adv{end}Dim{number}")
            if niter or adv:
                found.dim(side, number, niter, adv)
    _sides(found, params)


@cupva.export("CupvaStaticDataFlowSetParams")
def static_params(flow: Any, params: Any) -> None:
    found: StaticDataFlow = _params(flow, params, StaticDataFlow)
    found.bpp(params.bpp or 1)
    found.tile(params.tileWidth, params.tileHeight)
    if params.GranularityType:
        found.granularity(params.GranularityType)
    _padding(found, params)
    _walks(found, params)
    second = pointer_or_offset(params.ptrDst2, params.opDst2, "Dst2")
    if second is not None:
        found.second_target = second
    for side, start, length in (
        ("source", params.cbStartSrc, params.cbLenSrc),
        ("destination", params.cbStartDst, params.cbLenDst),
    ):
        if length:
            found.circular_buffer(side, start, length)


def _way(params: Any) -> tuple[bool, Pointer]:
    source = pointer_or_offset(params.ptrSrc, params.opSrc, "Src")
    target = pointer_or_offset(params.ptrDst, params.opDst, "Dst")
    if (source is None) == (target is None):
        raise invalid("exactly one of ptrSrc, opSrc, ptrDst and opDst is set")
    return (True, source) if source is not None else (False, target or 0)


@cupva.export("CupvaRasterDataFlowSetParams")
def raster_params(flow: Any, params: Any) -> None:
    found: RasterDataFlow = _params(flow, params, RasterDataFlow)
    reads, pointer = _way(params)
    bpp = params.bpp or 1
    found.image(reads, pointer, params.width, params.height, params.linePitch, bpp)
    found.tile(params.tileWidth, params.tileHeight)
    found.halo(params.haloX, params.haloY, params.padMode or 1, params.padVal)
    found.roi(params.roiX, params.roiY, params.roiWidth, params.roiHeight)
    found.scan_order(params.scanOrder)
    found.tile_buffer(int(ffi.cast("uintptr_t", params.ptrTileBuffer)))
    _trans_mode(found, params.transMode)


@cupva.export("CupvaTensorDataFlowSetParams")
def tensor_params(flow: Any, params: Any) -> None:
    found: TensorDataFlow = _params(flow, params, TensorDataFlow)
    reads, pointer = _way(params)
    extent = (params.width, params.height, params.depth)
    strides = (params.rowStride, params.depthStride)
    found.tensor(reads, pointer, extent, strides, params.bpp or 1)
    found.tile(params.tileWidth, params.tileHeight, params.tileDepth)
    found.halo(params.haloX, params.haloY, params.padMode or 1, params.padVal)
    found.roi(params.roiX, params.roiY, params.roiWidth, params.roiHeight)
    found.tile_buffer(int(ffi.cast("uintptr_t", params.ptrTileBuffer)))


@cupva.export("CupvaSequenceDataFlowSetParams")
def sequence_params(flow: Any, params: Any) -> None:
    _params(flow, params, SequenceDataFlow)


@cupva.export("CupvaSequenceDataFlowAddTransfer")
def sequence_transfer(flow: Any, params: Any) -> None:
    found: SequenceDataFlow = _params(flow, params, SequenceDataFlow)
    transfer: Transfer = found.add_transfer()
    transfer.bpp(params.bpp or 1)
    transfer.tile(params.tileWidth, params.tileHeight)
    if params.transferMode:
        transfer.transfer_mode(params.transferMode)
    _walks(transfer, params)


@cupva.export("CupvaGatherScatterDataFlowSetParams")
def gather_params(flow: Any, params: Any) -> None:
    found: GatherScatterDataFlow = _params(flow, params, GatherScatterDataFlow)
    found.memory(*_way(params))
    found.bpp(params.bpp or 1)
    found.tiles_per_trigger(params.numTilesPerTrigger or 1)
    found.extents(params.extWidth, params.extHeight, params.extLinePitch or params.extWidth)
    if params.tileWidth or params.tileHeight:
        found.tile(params.tileWidth, params.tileHeight)
    if params.padMode:
        found.pad_val(params.padMode, params.padVal)


@cupva.export("CupvaDynamicDataFlowSetParams")
def dynamic_params(flow: Any, params: Any) -> None:
    found: DynamicDataFlow = _params(flow, params, DynamicDataFlow)
    found.set_counts(params.nodeCount, params.laneCount)


@cupva.export("CupvaSetNodeParams")
def node_params(flow: Any, node: int, lane: int, params: Any) -> None:
    found: DynamicDataFlow = _params(flow, params, DynamicDataFlow)
    made = found.node(node, lane)
    made.bpp(params.bpp or 1)
    made.tile(params.tileWidth, params.tileHeight)
    _padding(made, params)
    for side, pitch in (("source", params.linePitchSrc), ("destination", params.linePitchDst)):
        if pitch:
            made.line_pitch(side, pitch)
    _sides(made, params)


@cupva.export("CupvaConfigDataFlowSetParams")
def config_params(flow: Any, params: Any) -> None:
    found: ConfigDataFlow = _params(flow, params, ConfigDataFlow)
    found.src(_real(int(ffi.cast("uintptr_t", params.vpuConfigTable)), "vpuConfigTable"))
