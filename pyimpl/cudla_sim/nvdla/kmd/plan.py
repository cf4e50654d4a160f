"""Plans: what the firmware did with a task, to be done again without it.

The firmware's register and memory accesses follow from the descriptors of a task, its address list
and the state of the register file when it starts. A :class:`Recorder` notes them while the firmware
runs; a :class:`Plan` repeats them as long as all of these are what they were, byte by byte. The
chip computes in between as ever: launches, layers, interrupts and registers are the same.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from ..descriptors import OpType
from ..hw.chip import Chip
from ..hw.csb import BlockState
from .event_loop import serve
from .firmware import FirmwareEngine
from .list_port import Entry, ListPort
from .port import Destination

_Store = tuple[list[int], int, int, list[int]]
_Bytes = tuple[int, int, bytes]
"""Number of the buffer, offset in it, contents."""

_Groups = dict[tuple[OpType, int], int]
"""Which operation is in a register group."""

LIMIT = 8
"""Plans that a core keeps."""


class Operations(Protocol):
    """Who knows which operation is in a register group."""

    def operation_of(self, op_type: OpType, group: int, /) -> int:
        """Index of the operation, -1 if there is none."""


@dataclass(slots=True)
class Actions:
    """What happens between two steps of the chip: plain registers, pointers, interrupts, other
    special registers, memory, groups that become enabled."""

    stores: list[_Store] = field(default_factory=list)
    pointers: list[tuple[BlockState, int]] = field(default_factory=list)
    enables: list[tuple[list[bool], int]] = field(default_factory=list)
    cleared: int = 0
    mask: int | None = None
    writes: list[tuple[int, int]] = field(default_factory=list)
    memory: list[_Bytes] = field(default_factory=list)

    def apply(self, chip: Chip, entries: Sequence[Entry]) -> None:
        for bank, first, last, values in self.stores:
            bank[first:last] = values
        for state, producer in self.pointers:
            state.producer = producer
        if self.enables:
            for enabled, group in self.enables:
                enabled[group] = True
            chip.touch()
        glb = chip.csb.glb
        glb.clear_bits(self.cleared)
        if self.mask is not None:
            glb.mask = self.mask
        for address, value in self.writes:
            chip.write(address, value)
        for buffer, offset, data in self.memory:
            _bytes(entries, buffer)[offset : offset + len(data)] = data


def _bytes(entries: Sequence[Entry], buffer: int) -> memoryview:
    return entries[buffer].data.data


class _Segment:
    """Accesses as they come; the last value of a register or of bytes is what counts."""

    def __init__(self) -> None:
        self.plain: dict[tuple[int, int], int] = {}
        self.banks: dict[int, list[int]] = {}
        self.pointers: dict[str, tuple[BlockState, int]] = {}
        self.enables: list[tuple[list[bool], int]] = []
        self.cleared = 0
        self.mask: int | None = None
        self.writes: list[tuple[int, int]] = []
        self.memory: dict[tuple[int, int], bytes] = {}

    def actions(self) -> Actions:
        result = Actions(
            pointers=list(self.pointers.values()),
            enables=self.enables,
            cleared=self.cleared,
            mask=self.mask,
            writes=self.writes,
            memory=[(*place, data) for place, data in self.memory.items()],
        )
        for (bank, index), value in sorted(self.plain.items()):
            last = result.stores[-1] if result.stores else None
            if last is not None and last[0] is self.banks[bank] and last[2] == index:
                last[3].append(value)
                result.stores[-1] = (last[0], last[1], index + 1, last[3])
            else:
                result.stores.append((self.banks[bank], index, index + 1, [value]))
        return result


class Recorder:
    """A port that notes what passes through it. ``sound``: nothing happened that depends on more
    than descriptors, address list and the state at the start."""

    def __init__(self, chip: Chip, entries: Sequence[Entry]) -> None:
        self._chip = chip
        self._port = ListPort(chip, entries)
        self._segments = [_Segment()]
        self._read: dict[tuple[int, int], bytes] = {}
        self._written: set[tuple[int, int]] = set()
        self.sound = True
        self.firmware: FirmwareEngine | None = None
        self._operations: list[_Groups] = []
        self.reg_read = chip.read

    def reg_write(self, address: int, value: int) -> None:
        """Write a register."""
        csb, segment = self._chip.csb, self._segments[-1]
        place = csb.place(address)
        before = csb.rejected[-1] if csb.rejected else None
        self._chip.write(address, value)
        if csb.rejected and csb.rejected[-1] is not before:
            self.sound = False
        if place is not None:
            bank, index = place
            segment.banks[id(bank)] = bank
            segment.plain[id(bank), index] = bank[index]
            return
        state, register = csb.named(address)
        if register == "S_POINTER":
            segment.pointers[state.name] = state, state.producer
        elif register == "D_OP_ENABLE" and value & 1:
            segment.enables.append((state.enabled, state.producer))
        elif register == "S_INTR_STATUS":
            segment.cleared |= value
        elif register == "S_INTR_MASK":
            segment.mask = csb.glb.mask
        else:
            segment.writes.append((address, value))

    def data_read(self, source: int, size: int, offset: int) -> bytes:
        """Copy from a buffer of the task."""
        data = self._port.data_read(source, size, offset)
        if (source, offset) not in self._written:
            known = self._read.get((source, offset), b"")
            if len(known) < len(data):
                self._read[source, offset] = data
        return data

    def data_write(self, destination: int, data: bytes, offset: int) -> None:
        """Copy to a buffer of the task."""
        self._port.data_write(destination, data, offset)
        self._written.add((destination, offset))
        self._segments[-1].memory[destination, offset] = data

    def dma_address(self, index: int, destination: Destination) -> int:
        """Resolve an entry."""
        return self._port.dma_address(index, destination)

    def time_us(self) -> int:
        """Microseconds; statistics hold them, so they cannot be repeated."""
        self.sound = False
        return self._port.time_us()

    def step(self) -> None:
        """The chip takes its next step, which computes one layer at most."""
        assert self.firmware is not None
        known = self.firmware.operation_of
        self._operations.append({(kind, i): known(kind, i) for kind in OpType for i in (0, 1)})
        self._segments.append(_Segment())

    def plan(self) -> Plan:
        """What was noted."""
        actions = [segment.actions() for segment in self._segments]
        return Plan(_merged(self._read), actions[0], actions[1:], self._operations)


def _merged(found: dict[tuple[int, int], bytes]) -> list[_Bytes]:
    """Join neighbours."""
    result: list[tuple[int, int, bytearray]] = []
    for (buffer, offset), data in sorted(found.items()):
        if result and result[-1][0] == buffer and result[-1][1] + len(result[-1][2]) == offset:
            result[-1][2].extend(data)
        else:
            result.append((buffer, offset, bytearray(data)))
    return [(buffer, offset, bytes(data)) for buffer, offset, data in result]


@dataclass(slots=True)
class Plan:
    """A recorded task: the ``descriptors`` it holds for, what to do before the first step of the
    chip and behind each, and the operations in the register groups at each step."""

    descriptors: list[_Bytes]
    first: Actions
    rest: list[Actions]
    operations: list[_Groups]
    _step: int = 0

    def holds(self, entries: Sequence[Entry]) -> bool:
        """Whether the descriptors are those that were recorded."""
        # bytes are compared as a block, views number by number
        return all(
            _bytes(entries, buffer)[offset : offset + len(data)].tobytes() == data
            for buffer, offset, data in self.descriptors
        )

    def operation_of(self, op_type: OpType, group: int) -> int:
        """As the firmware would say it of the layer that was just computed."""
        return self.operations[self._step][op_type, group]

    def run(self, chip: Chip, entries: Sequence[Entry], check: Callable[[], None]) -> None:
        """Do everything again; *check* is called between layers and may raise."""
        self.first.apply(chip, entries)
        for number, actions in enumerate(self.rest):
            self._step = number
            check()
            chip.advance()
            actions.apply(chip, entries)


class Plans:
    """The plans of one chip. Tasks are told apart by address list and state of the register file;
    the second equal one is recorded."""

    def __init__(self) -> None:
        self._plans: OrderedDict[Any, Plan | None] = OrderedDict()

    def run(
        self,
        chip: Chip,
        entries: Sequence[Entry],
        check: Callable[[], None],
        firmware: Callable[[Any], FirmwareEngine],
        tell: Callable[[Operations], None],
        kind: Any = None,
    ) -> None:
        """Run a task, by its plan where there is one.

        *firmware* makes the one for a port, always the same for the same *kind*. *tell* is told
        before the first layer who knows the operations.
        """
        state = None if chip.pending else chip.csb.idle_state()
        key = (kind, state, tuple((e.base, e.offset, len(e.data), e.missing) for e in entries))
        plan = self._plans.get(key)
        if plan is not None and plan.holds(entries):
            self._plans.move_to_end(key)
            tell(plan)
            plan.run(chip, entries, check)
        elif state is None or key not in self._plans:
            engine = firmware(ListPort(chip, entries))
            tell(engine)
            serve(chip, engine, check)
            if state is not None:
                self._keep(key, None)
        else:
            self._keep(key, self._recorded(chip, entries, check, firmware, tell))

    @staticmethod
    def _recorded(
        chip: Chip,
        entries: Sequence[Entry],
        check: Callable[[], None],
        firmware: Callable[[Any], FirmwareEngine],
        tell: Callable[[Operations], None],
    ) -> Plan | None:
        recorder = Recorder(chip, entries)
        engine = recorder.firmware = firmware(recorder)
        tell(engine)

        def step() -> None:
            check()
            recorder.step()

        serve(chip, engine, step)
        return recorder.plan() if recorder.sound else None

    def _keep(self, key: Any, plan: Plan | None) -> None:
        self._plans[key] = plan
        self._plans.move_to_end(key)
        while len(self._plans) > LIMIT:
            self._plans.popitem(last=False)
