"""CmdProgram: an executable with its parameters and dataflows."""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING, NamedTuple, TypeVar

from .dataflow.base import DataFlow, Handler, state
from .dataflow.config import ConfigDataFlow
from .dataflow.dynamic import DynamicDataFlow
from .dataflow.tensor import TensorDataFlow
from .dma import VMEM, Descriptors
from .errors import CupvaError, Error, error, invalid
from .executable import Executable, Kind, Symbol
from .memory import L2_SIZE, DeviceMemory
from .pointers import Pointer, address_of

if TYPE_CHECKING:
    from .workers.worker import FlowRequest, LaunchRequest

MAX_TOTAL_PARAM_SIZE = 8192
"""Bytes of all parameter values of one program."""
DESCRIPTORS = 60
"""Descriptors of one VPU's DMA that programs may use (Orin: 64, of which 4 are reserved)."""
TRIGGERS = {"read": 7, "store": 7, "config": 1}
CHANNELS = 15
TENSOR_DRIVER_VERSION = 2006

_EXTERNAL = struct.Struct("<Qq")
_SPACE_SHIFT = 56

D = TypeVar("D", bound=DataFlow)

# What a handler variable must be declared as, by dataflow class.
_HANDLER_KINDS = {
    "StaticDataFlow": (Kind.DATA,),
    "RasterDataFlow": (Kind.RASTER, Kind.RASTER_UNIFIED),
    "TensorDataFlow": (Kind.TENSOR,),
    "SequenceDataFlow": (Kind.SEQUENCE,),
    "GatherScatterDataFlow": (Kind.GATHER_SCATTER,),
    "DynamicDataFlow": (Kind.DYNAMIC, Kind.DATA),
    "ConfigDataFlow": (Kind.CONFIG, Kind.DATA),
}


# Their handlers are plain memory for the compiler of the kernel.
_TABLES = {"DynamicDataFlow": Kind.DYNAMIC, "ConfigDataFlow": Kind.CONFIG}


def _is_open(dataflow: DataFlow) -> bool:
    """True while an offset pointer of it has no base."""
    return any(not pointer.base for pointer in dataflow.offset_pointers)


def _check_handlers_differ(heads: list[Head]) -> None:
    """Raises CupvaError(CUPVA_INVALID_ARGUMENT) for two heads with one handler: it holds the number
    of one dataflow, whose triggers alone the VPU could give."""
    owners: dict[str, DataFlow] = {}
    for head in heads:
        handler = head.dataflow.handler_symbol
        if handler is None:
            continue
        owner = owners.setdefault(handler.symbol, head.dataflow)
        if owner is not head.dataflow:
            raise invalid(
                f"{head.dataflow.name}: handler {handler.symbol!r} is the handler of {owner.name} "
                "already; each dataflow that the VPU triggers needs a variable of its own"
            )


class Flow(NamedTuple):
    """A compiled dataflow as the VPU's DMA works it off."""

    head: DataFlow
    handler: Handler | None
    descriptors: Descriptors


class Head(NamedTuple):
    """``shared``: uses the channel, trigger and descriptors of another head."""

    dataflow: DataFlow
    phase: int
    weight: float
    shared: bool = False


class Program:
    """A VPU program that streams can run many times.

    Parameters are written to VMEM at each launch, after VMEM was set up from the executable.
    """

    def __init__(self, memory: DeviceMemory, executable: Executable | None) -> None:
        self.memory = memory
        self.executable = executable
        self.values: dict[str, bytes] = {}
        self.pointers: dict[str, Pointer] = {}
        self.handles: list[tuple[str, int]] = []
        """Kind and value of the handles that C has for its parts: they end with it."""
        self.parameters: dict[str, int] = {}
        """The handle of each parameter that was asked for."""
        self.heads: list[Head] = []
        self.others: list[DataFlow] = []
        self.l2_size = 0
        self.compiled = False
        self.number = 0
        self._flows: list[Flow] = []
        self._bound: tuple[int, ...] = ()
        self._requests: list[FlowRequest] = []
        self._requests_of: list[Flow] | None = None
        self.launch: tuple[tuple[object, ...], LaunchRequest] | None = None
        """Of a program that was ``taken``: what was asked of a worker for it, and for whom."""
        self.is_taken = False
        symbols = executable.vmem_symbols if executable else []
        self.vmem_base = memory.publish(symbols)

    # --- parameters ---

    def symbol(self, name: str) -> Symbol:
        if self.executable is None:
            raise invalid(f"symbol {name!r}: the program was created without an executable")
        return self.executable.symbol(name)

    def set_value(self, name: str, value: bytes) -> None:
        """Keeps a copy for each launch.

        Raises CupvaError(CUPVA_INVALID_ARGUMENT): more bytes than the variable has, or than all
        parameters of a program may have.
        """
        symbol = self.symbol(name)
        if len(value) > symbol.size:
            raise invalid(f"{len(value)} bytes for {name!r}, which has {symbol.size}")
        total = sum(len(v) for n, v in self.values.items() if n != name) + len(value)
        if total > MAX_TOTAL_PARAM_SIZE:
            raise invalid(
                f"{name!r} with {len(value)} bytes makes {total} bytes of parameters; a program "
                f"has at most {MAX_TOTAL_PARAM_SIZE}"
            )
        self.values = {**self.values, name: value}  # submissions keep what they were given

    def set_pointer(self, name: str, pointer: Pointer) -> None:
        """Of an exported ExtMemPointer."""
        self.pointers = {**self.pointers, name: pointer}

    def vmem_pointer(self, name: str) -> int:
        """The device address of an exported variable."""
        return self.vmem_base + self.symbol(name).offset

    def handler(self, name: str) -> Handler:
        return Handler(name, self.symbol(name).offset)

    # --- dataflows ---

    def add_shared_head(self, dataflow: D, other: DataFlow) -> D:
        """A head that shares what ``other``, a head of this program, uses."""
        owner = next((h for h in self.heads if h.dataflow is other), None)
        if owner is None:
            raise invalid(f"{other.name} is no head of this program, so nothing can be shared")
        self._name(dataflow)
        self.heads.append(Head(dataflow, owner.phase, owner.weight, shared=True))
        self.compiled = False
        return dataflow

    def add_head(self, dataflow: D, phase: int = 0, weight: float = 1.0) -> D:
        if weight <= 0:
            raise invalid(f"weight is {weight}; it is more than 0")
        self._name(dataflow)
        self.heads.append(Head(dataflow, phase, weight))
        self.compiled = False
        return dataflow

    def add(self, dataflow: D) -> D:
        self._name(dataflow)
        self.others.append(dataflow)
        self.compiled = False
        return dataflow

    def _name(self, dataflow: DataFlow) -> None:
        same = [d for d in self.dataflows if d.kind == dataflow.kind]
        dataflow.name = f"{dataflow.kind} {len(same)}"
        dataflow.handles = self.handles

    @property
    def dataflows(self) -> list[DataFlow]:
        return [h.dataflow for h in self.heads] + self.others

    def set_l2_size(self, size: int) -> None:
        if not 0 <= size <= L2_SIZE:
            raise invalid(f"L2SRAM of {size} bytes; it is 0 to {L2_SIZE}")
        self.l2_size = size

    def compile_dataflows(self, driver_version: int) -> None:
        """Checks all dataflows and their use of the hardware together.

        Raises CupvaError: CUPVA_INVALID_ARGUMENT with the rule, CUPVA_INSUFFICIENT_DRIVER_VERSION
        for a TensorDataFlow with an old driver, CUPVA_INVALID_STATE when nothing is there.
        """
        for dataflow in self.dataflows:
            if isinstance(dataflow, TensorDataFlow) and driver_version < TENSOR_DRIVER_VERSION:
                raise error(
                    Error.CUPVA_INSUFFICIENT_DRIVER_VERSION,
                    f"TensorDataFlow needs driver version {TENSOR_DRIVER_VERSION}; this one is "
                    f"{driver_version}",
                )
        self._check_lists()
        # A pointer whose base is not known yet is checked when the program is submitted.
        known = [h for h in self.heads if not _is_open(h.dataflow)]
        packed = {id(h.dataflow): self._descriptors(h.dataflow) for h in known}
        self._check_resources(packed)
        _check_handlers_differ(self.heads)
        # Lists have consecutive numbers, as the descriptors of a channel have.
        nodes = (node for head in self.heads for node in head.dataflow.chain())
        for number, dataflow in enumerate(nodes):
            dataflow.compiled_id = number
        self._flows = [
            Flow(h.dataflow, h.dataflow.handler_symbol, packed[id(h.dataflow)]) for h in known
        ]
        self._bound = self._addresses()
        self.compiled = True

    def update_dataflows(self) -> None:
        """Takes over the addresses that offset pointers have now; nothing else is compiled again.

        Raises CupvaError: CUPVA_INVALID_STATE before compileDataFlows(), CUPVA_INVALID_ARGUMENT for
        a pointer without a base, or one whose memory the dataflow would leave.
        """
        if self.heads and not self.compiled:
            raise state("updateDataFlows() before compileDataFlows(): there is nothing to update")
        addresses = self._addresses()
        if addresses != self._bound or len(self._flows) != len(self.heads):
            self._flows, self._bound = self._pack(), addresses

    def _check_lists(self) -> None:
        """Every dataflow that is no head hangs in exactly one head's list."""
        seen: dict[int, str] = {}
        for head in self.heads:
            for node in head.dataflow.chain():
                if id(node) in seen:
                    raise invalid(
                        f"{node.name} is in the lists of {seen[id(node)]} and "
                        f"{head.dataflow.name}; a dataflow has one place"
                    )
                seen[id(node)] = head.dataflow.name
        for node in self.others:
            if id(node) not in seen:
                raise invalid(
                    f"{node.name} was made with addDataFlow() and is linked to no head; "
                    "addDataFlowHead() makes one that runs by itself"
                )

    def _check_resources(self, packed: dict[int, Descriptors]) -> None:
        for phase in {h.phase for h in self.heads}:
            heads = [h for h in self.heads if h.phase == phase and not h.shared]
            if len(heads) > CHANNELS:
                raise invalid(f"{len(heads)} dataflow heads in phase {phase}; {CHANNELS} channels")
            self._check_triggers(heads, packed)
            # Raster patterns are one or two descriptors in hardware, sequenced there.
            used = sum(len(h.dataflow.chain()) for h in heads)
            if used > DESCRIPTORS:
                raise invalid(
                    f"phase {phase} needs {used} descriptors; programs may use {DESCRIPTORS}"
                )
        for head in self.heads:
            self._check_handler(head.dataflow)

    def _check_triggers(self, heads: list[Head], packed: dict[int, Descriptors]) -> None:
        used = {"read": 0, "store": 0, "config": 0}
        for head in heads:
            if head.dataflow.handler_symbol is None or id(head.dataflow) not in packed:
                continue
            if isinstance(head.dataflow, ConfigDataFlow):
                used["config"] += 1
                continue
            first = packed[id(head.dataflow)][0]
            used["read" if first["dst"]["space"] == VMEM else "store"] += 1
        for way, count in used.items():
            if count > TRIGGERS[way]:
                raise invalid(f"{count} {way} dataflows with handlers; the VPU has {TRIGGERS[way]}")

    def _check_handler(self, dataflow: DataFlow) -> None:
        handler = dataflow.handler_symbol
        if handler is None:
            return
        symbol = self.symbol(handler.symbol)
        allowed = _HANDLER_KINDS.get(dataflow.kind, (Kind.DATA,))
        if symbol.kind not in allowed:
            names = " or ".join(k.name for k in allowed)
            raise invalid(
                f"{dataflow.name}: handler {handler.symbol!r} is declared as {symbol.kind.name}, "
                f"a {dataflow.kind} needs {names}"
            )
        if isinstance(dataflow, DynamicDataFlow) and symbol.kind is Kind.DATA:
            nodes, lanes = dataflow.counts
            if symbol.size < dataflow.table_bytes:
                raise invalid(
                    f"{dataflow.name}: table {handler.symbol!r} has {symbol.size} bytes; {nodes} "
                    f"nodes in each of {lanes} lanes need {dataflow.table_bytes} "
                    f"(DDF_TBL_SIZE, DDF_PARALLEL_TBL_SIZE)"
                )

    def _descriptors(self, dataflow: DataFlow) -> Descriptors:
        """Raises CupvaError that names the dataflow, its handler and the way it moves data."""
        try:
            return dataflow.descriptors(self.memory.locate)
        except CupvaError as failure:
            words = failure.explanation.removeprefix(f"{dataflow.name}: ")
            text = f"{dataflow.title}: {words}"
            raise error(Error(failure.status), text) from None

    def _pack(self) -> list[Flow]:
        return [
            Flow(h.dataflow, h.dataflow.handler_symbol, self._descriptors(h.dataflow))
            for h in self.heads
        ]

    def _addresses(self) -> tuple[int, ...]:
        return tuple(p.address for h in self.heads for p in h.dataflow.offset_pointers)

    @property
    def flows(self) -> list[Flow]:
        """The descriptors, for the addresses that offset pointers had when the dataflows were
        compiled or updated last.

        Raises CupvaError(CUPVA_INVALID_STATE) before compileDataFlows(), and while a pointer has no
        base.
        """
        if self.heads and not self.compiled:
            raise state("the program has dataflows that were not compiled (compileDataFlows())")
        if len(self._flows) != len(self.heads):
            bound = [flow.head for flow in self._flows]
            name = next(h.dataflow.name for h in self.heads if h.dataflow not in bound)
            raise state(
                f"{name}: its OffsetPointer had no base when the dataflows were compiled; "
                "updateDataFlows() takes over a base that was set since"
            )
        return self._flows

    @property
    def outdated(self) -> str:
        """A dataflow whose offset pointer has another address than the one it runs with; ""."""
        at = 0
        for head in self.heads:
            count = len(head.dataflow.offset_pointers)
            now = tuple(p.address for p in head.dataflow.offset_pointers)
            if now != self._bound[at : at + count]:
                return head.dataflow.name
            at += count
        return ""

    def parameter_bytes(self) -> list[tuple[int, bytes]]:
        """(VMEM offset, bytes) of every parameter that was set."""
        if not self.values and not self.pointers:
            return []
        values = [(self.symbol(n).offset, v) for n, v in self.values.items()]
        for name, pointer in self.pointers.items():
            symbol = self.symbol(name)
            values.append((symbol.offset, self._external(pointer)[: symbol.size]))
        return values

    def _external(self, pointer: Pointer) -> bytes:
        """An ExtMemPointer: the start of the memory as the VPU knows it, and an offset in bytes."""
        place = self.memory.locate(address_of(pointer, "the parameter's pointer"))
        first = place.limits[0]
        return _EXTERNAL.pack(place.space << _SPACE_SHIFT | first, place.at - first)

    def flow_requests(self) -> list[FlowRequest]:
        """The compiled dataflows as the worker takes them; the same objects while they are the
        same."""
        flows = self.flows
        if self._requests_of is not flows:
            self._requests = [self._flow_request(flow) for flow in flows]
            self._requests_of = flows
        return self._requests

    def _flow_request(self, flow: Flow) -> FlowRequest:
        from .workers.worker import FlowRequest

        kind = self.symbol(flow.handler.symbol).kind if flow.handler else Kind.DATA
        kind = _TABLES.get(flow.head.kind, kind)
        offset = flow.handler.offset if flow.handler else -1
        info = flow.head.device_info(self.memory.locate)
        return FlowRequest(int(kind), offset, flow.descriptors, info)

    def taken(self) -> Program:
        """The program as it is now: what a submission runs, whatever is set while it waits.

        Raises CupvaError as ``flows``.
        """
        if self.heads and self.executable is not None:
            self.flow_requests()  # once for all that run the same dataflows
        copied = Program.__new__(Program)  # a third of what copy() costs, for each submission
        copied.__dict__.update(self.__dict__)
        copied.launch, copied.is_taken = None, True
        return copied

    def still(self, taken: Program) -> bool:
        """Whether ``taken()`` would give just that."""
        return (
            taken.values is self.values
            and taken.pointers is self.pointers
            and taken._flows is self._flows
            and taken.compiled is self.compiled
            and (self.compiled or not self.heads)
        )

    @property
    def pointed(self) -> bool:
        """Whether memory, or an offset pointer, has to be looked at with each submission."""
        return bool(self.pointers or self._bound)

    def close(self) -> None:
        self.memory.retire(self.vmem_base)
