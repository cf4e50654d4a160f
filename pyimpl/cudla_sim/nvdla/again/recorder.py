"""Noting what the firmware does with a task."""

from __future__ import annotations

from collections.abc import Sequence

from ..descriptors import OpType
from ..hw.chip import Chip
from ..hw.csb import BlockState
from ..kmd.firmware import FirmwareEngine
from ..kmd.list_port import Entry, ListPort
from ..kmd.port import Destination
from .actions import Actions, Bytes, Registers, joined

Groups = dict[tuple[OpType, int], int]
"""Which operation is in a register group."""


class _Accesses:
    """Accesses as they come; the last value of a register or of bytes is what counts."""

    def __init__(self) -> None:
        self.registers = Registers()
        self.pointers: dict[str, tuple[BlockState, int]] = {}
        self.enables: list[tuple[list[bool], int]] = []
        self.cleared = 0
        self.mask: int | None = None
        self.writes: list[tuple[int, int]] = []
        self.memory: dict[tuple[int, int], bytes] = {}

    def actions(self) -> Actions:
        return Actions(
            self.registers.stores(),
            list(self.pointers.values()),
            self.enables,
            self.cleared,
            self.mask,
            self.writes,
            [(*place, data) for place, data in self.memory.items()],
        )


class Recorder:
    """A port that notes what passes through it. ``sound``: nothing happened that depends on more
    than descriptors, address list and the state at the start."""

    def __init__(self, chip: Chip, entries: Sequence[Entry]) -> None:
        self._chip = chip
        self._port = ListPort(chip, entries)
        self._steps = [_Accesses()]
        self._read: dict[tuple[int, int], bytes] = {}
        self._written: set[tuple[int, int]] = set()
        self.sound = True
        self.firmware: FirmwareEngine | None = None
        self._operations: list[Groups] = []
        self._selected: set[str] = set()
        """Blocks whose producer the task has set."""

    def reg_read(self, address: int) -> int:
        """Read a register. Of S_POINTER, the firmware wants the consumer."""
        self._by_producer(address)
        return self._chip.read(address)

    def _by_producer(self, address: int) -> None:
        """Plans hold whatever producers were before: nothing may be in a group that the task did
        not choose."""
        state = self._chip.csb.selected(address)
        if state is not None and state.name not in self._selected:
            self.sound = False

    def reg_write(self, address: int, value: int) -> None:
        """Write a register."""
        csb, now = self._chip.csb, self._steps[-1]
        self._by_producer(address)
        place = csb.place(address)
        before = csb.rejected[-1] if csb.rejected else None
        self._chip.write(address, value)
        if csb.rejected and csb.rejected[-1] is not before:
            self.sound = False
        if place is not None:
            bank, index = place
            now.registers.put(bank, index, bank[index])
            return
        named = csb.named(address)
        if named is None:
            return
        state, register = named
        if register == "S_POINTER":
            now.pointers[state.name] = state, state.producer
            self._selected.add(state.name)
        elif register == "D_OP_ENABLE" and value & 1:
            now.enables.append((state.enabled, state.producer))
        elif register == "S_INTR_STATUS":
            now.cleared |= value
        elif register == "S_INTR_MASK":
            now.mask = csb.glb.mask
        else:
            now.writes.append((address, value))

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
        self._steps[-1].memory[destination, offset] = data

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
        self._steps.append(_Accesses())

    def noted(self) -> tuple[list[Bytes], Actions, list[Actions], list[Groups]]:
        """What a plan is made of: what was read, what was done before the first step of the chip
        and behind each, and the operations in the register groups at each."""
        found = joined((*place, data) for place, data in self._read.items())
        actions = [accesses.actions() for accesses in self._steps]
        return found, actions[0], actions[1:], self._operations
