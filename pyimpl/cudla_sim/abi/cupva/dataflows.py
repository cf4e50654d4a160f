"""Making dataflows, and telling them what to do all at once, as C does; for C++ properties.py."""

from __future__ import annotations

from typing import Any

from ...core import process
from ...cupva.dataflow.base import DataFlow, state
from ...cupva.dataflow.config import ConfigDataFlow
from ...cupva.dataflow.dynamic import DynamicDataFlow
from ...cupva.dataflow.gather import GatherScatterDataFlow
from ...cupva.dataflow.raster import RasterDataFlow
from ...cupva.dataflow.sequence import SequenceDataFlow, Transfer
from ...cupva.dataflow.static import StaticDataFlow
from ...cupva.dataflow.tensor import TensorDataFlow
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


def real(pointer: Pointer, what: str) -> Pointer:
    """The pointer, when something lies where it points. Raises CupvaError."""
    is_open = isinstance(pointer, OffsetPointer) and not pointer.base  # bound before it is used
    if not is_open:
        machine().memory.locate(address_of(pointer, what))
    return pointer


def trans_mode(flow: Any, mode: int) -> None:
    if mode:
        raise error(
            Error.CUPVA_UNSUPPORTED_FEATURE,
            f"UnsupportedOperation: {flow.name}: transposition mode {mode}; how transposed tiles "
            "lie in VMEM is not documented publicly",
        )


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
        found.src(real(source, "ptrSrc"))
    if target is not None:
        found.dst(real(target, "ptrDst"))


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
    trans_mode(found, params.transMode)


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
    found.src(real(int(ffi.cast("uintptr_t", params.vpuConfigTable)), "vpuConfigTable"))
