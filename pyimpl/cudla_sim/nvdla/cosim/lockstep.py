"""Tasks on hardware that is not ours, in step with our own chip.

The firmware runs over the hardware's registers. Before that the same task runs on our chip, with
the same addresses; whenever an operation of the hardware is done, memory must be what our chip made
of it. Operations that have been started and are not done may write meanwhile: what they will write
is not looked at before they are done.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from time import perf_counter_ns

import numpy as np
from numpy.typing import NDArray

from ...core.memory import Bytes
from ..again.plan import Operations
from ..errors import NvdlaError
from ..facts import registers
from ..facts.configs import HardwareConfig
from ..hw.launch import ComputedLayer
from ..hw.memory import Window
from ..kmd.event_loop import serve
from ..kmd.firmware import FirmwareEngine
from ..kmd.list_port import Entry
from ..settings import COMPARE
from . import explain
from .errors import CosimDifference, CosimHang
from .hardware import Hardware
from .placement import BEHIND, Buffer, Placement
from .record import ANNOUNCED, Computed, NotingPort, Recorder, TaskLog

_CHUNK = 100_000
_PATIENCE, _FACTOR = 2_000_000, 50
_UNKNOWN = 1_000_000_000


@dataclass(frozen=True, slots=True)
class Done:
    """An operation of the hardware was done: its number in the task, and the cycle."""

    task: int
    operation: int
    unit: str
    cycle: int


class Lockstep:
    """One core that is not ours. *recorder* is our own beside it, *compare* one of ``COMPARE``.

    *limit*: cycles without an interrupt that are a hang; 0: fifty times what the multiplications of
    the operations that run need at the least, and two million more.
    """

    def __init__(
        self, hardware: Hardware, recorder: Recorder, compare: str = "all", limit: int = 0
    ) -> None:
        if compare not in COMPARE:
            raise ValueError(f"compare is {compare!r}; it is {', '.join(COMPARE)}")
        self.hardware = hardware
        self.recorder = recorder
        self.compare = compare
        self.limit = limit
        self.done: list[Done] = []
        self.tasks = 0
        self._placement = Placement(hardware.memory_base, hardware.memory_size)
        self._known: dict[int, Bytes] = {}

    def reset(self) -> None:
        """Both cores into their state after reset."""
        self._known.clear()
        self.recorder.reset()
        self.hardware.reset()

    def execute(
        self,
        entries: Sequence[Entry],
        new_layout: bool | None,
        check: Callable[[], None],
        watch: Callable[[ComputedLayer, Operations], None] | None = None,
    ) -> None:
        """Run a task until it is complete; its buffers then hold what the hardware wrote.

        *check* is called while the hardware works and may raise; *watch* is told of each layer.
        Raises CosimDifference, CosimHang, CosimError and what our own chip raises.
        """
        buffers, moved = self._placement.place(entries)
        log = None
        expected = {b.bus: b.data.copy() for b in buffers}
        if self.compare != "off":
            copies = {b.bus: b.data.copy() for b in buffers}
            log = self.recorder.run(
                [Window(b.bus, copies[b.bus], b.name) for b in buffers],
                [_over(entry, copies, buffers) for entry in moved],
                new_layout,
                check,
            )
        for buffer in buffers:
            known = self._known.get(buffer.bus)
            if known is None or not np.array_equal(known, buffer.data):
                behind = np.zeros(BEHIND, np.uint8)
                self.hardware.mem_write(buffer.bus, np.concatenate([buffer.data, behind]))
        self._known.clear()
        run = _Run(self, buffers, moved, expected, log, new_layout, watch, check)
        run.run()
        if log is not None:
            self._known = expected
        self.tasks += 1


def _over(entry: Entry, copies: dict[int, Bytes], buffers: Sequence[Buffer]) -> Entry:
    """An entry whose bytes are those of the copy."""
    for buffer in buffers:
        if not entry.missing and buffer.bus <= entry.base < buffer.bus + len(buffer.data):
            start = entry.base - buffer.bus
            return entry._replace(data=copies[buffer.bus][start : start + len(entry.data)])
    return entry


class _Run:
    """One task: the hardware as the event loop wants a chip, and what is expected of it."""

    def __init__(
        self,
        lockstep: Lockstep,
        buffers: Sequence[Buffer],
        entries: Sequence[Entry],
        expected: dict[int, Bytes],
        log: TaskLog | None,
        new_layout: bool | None,
        watch: Callable[[ComputedLayer, Operations], None] | None,
        check: Callable[[], None],
    ) -> None:
        self._lockstep = lockstep
        self._hardware = lockstep.hardware
        self._config: HardwareConfig = lockstep.recorder.config
        self._buffers = buffers
        self._expected = expected
        self._log = log
        self._left = [] if log is None else list(log.layers)
        self._watch = watch
        self._check = check
        self._port = NotingPort(self, entries)
        self._firmware = FirmwareEngine(self._port, self._config, new_layout)
        self._status = registers.block(self._config.line, "GLB").address("S_INTR_STATUS")
        self._told = 0
        self._since = perf_counter_ns()

    def run(self) -> None:
        serve(self, self._firmware, self._check)
        self._finish()

    # -- what the event loop and the port want of a chip ---------------------------------------

    def write(self, address: int, value: int) -> None:
        """Write a register."""
        if address == self._status:
            self._told &= ~value
        self._hardware.reg_write(address, value)

    def read(self, address: int) -> int:
        """Read a register; what comes up in the interrupt status is done."""
        value = self._hardware.reg_read(address)
        if address == self._status:
            new = value & ~self._told
            self._told |= value
            self._announced(new)
        return value

    @property
    def irq(self) -> bool:
        """Level of the interrupt line."""
        return self._hardware.interrupt()

    def waiting(self) -> list[str]:
        """Units that are not idle."""
        return explain.registers_of(self._hardware, self._config)

    def advance(self) -> bool:
        """Wait for an interrupt. Raises CosimHang when none comes."""
        if self._firmware.notified:
            return True
        if not self._firmware.running:
            return self._hardware.interrupt()
        limit = self._limit()
        start, left = self._hardware.cycles(), limit
        while left > 0:
            if self._hardware.advance(min(left, _CHUNK)):
                return True
            left -= _CHUNK
            self._check()
        spent = self._hardware.cycles() - start or limit
        raise CosimHang(self._hang(spent))

    def _limit(self) -> int:
        if self._lockstep.limit:
            return self._lockstep.limit
        if self._log is None:
            return _UNKNOWN
        config = self._config
        work = sum(
            layer.layer.macs // (config.atomic_c * config.atomic_k)
            + sum(change.size for change in layer.changes)
            for layer in self._left
            if layer.last in self._firmware.running
        )
        return _PATIENCE + _FACTOR * work

    # -- operations that are done --------------------------------------------------------------

    def _announced(self, bits: int) -> None:
        """Interrupt bits came up: the operations behind them are done."""
        finished: list[Computed] = []
        cycle = self._hardware.cycles()
        for source, kind in ANNOUNCED.items():
            for group in (0, 1):
                if not bits >> (source + group) & 1:
                    continue
                number = self._firmware.operation_of(kind, group)
                self._lockstep.done.append(Done(self._lockstep.tasks, number, kind.name, cycle))
                found = next((c for c in self._left if c.last == (kind, number)), None)
                if found is not None:
                    finished.append(found)
        for computed in finished:
            self._left.remove(computed)
            self._take(computed)
        for computed in finished:
            self._compare_after(computed)
        for computed in finished:
            self._tell(computed)

    def _take(self, computed: Computed) -> None:
        """From now on memory is expected to hold what the operation wrote."""
        for change in computed.changes:
            target = self._view(self._expected, change.address, change.size)
            target[change.offsets] = change.values

    def _view(self, images: dict[int, Bytes], address: int, size: int) -> Bytes:
        for buffer in self._buffers:
            if buffer.bus <= address < buffer.bus + len(buffer.data):
                start = address - buffer.bus
                return images[buffer.bus][start : start + size]
        raise NvdlaError(f"{address:#x} is in no buffer of the task")

    def _compare_after(self, computed: Computed) -> None:
        everything = self._lockstep.compare == "all"
        spans = (
            [(b.bus, len(b.data)) for b in self._buffers]
            if everything
            else [(c.address, c.size) for c in computed.changes]
        )
        running = self._firmware.running
        busy = [c for c in self._left if c.last in running]
        self._compare(spans, busy, computed)

    def _compare(
        self, spans: Sequence[tuple[int, int]], busy: list[Computed], computed: Computed | None
    ) -> None:
        """Raises CosimDifference unless memory is as expected, apart from what *busy* write."""
        first, count = -1, 0
        found = wanted = 0
        for address, size in spans:
            there = np.empty(size, np.uint8)
            self._hardware.mem_read(address, there)
            expected = self._view(self._expected, address, size)
            different = there != expected
            if not different.any():
                continue
            self._excuse(different, address, busy)
            places = np.flatnonzero(different)
            if not len(places):
                continue
            count += len(places)
            place = self._first(places, address, computed)
            inside = first >= 0 and computed is not None and self._in_cube(computed, first)
            if first < 0 or (not inside and self._in_cube(computed, address + place)):
                first = address + place
                found, wanted = int(there[place]), int(expected[place])
        if count:
            number = -1 if computed is None else computed.last[1]
            text = explain.difference(
                self._config, self._log, self._buffers, computed, first, found, wanted, count
            )
            raise CosimDifference(text, self._lockstep.tasks, number, first, count)

    @staticmethod
    def _in_cube(computed: Computed | None, address: int) -> bool:
        cube = None if computed is None else computed.cube
        return cube is not None and cube.coordinate(address) is not None

    def _first(self, places: NDArray[np.int64], address: int, computed: Computed | None) -> int:
        """The first place inside the cube of the operation, else the first one."""
        if computed is not None and computed.cube is not None:
            for place in places[:4096]:
                if self._in_cube(computed, address + int(place)):
                    return int(place)
        return int(places[0])

    @staticmethod
    def _excuse(different: NDArray[np.bool_], address: int, busy: list[Computed]) -> None:
        """Operations that run may have written some of their bytes."""
        for computed in busy:
            for change in computed.changes:
                offsets = change.offsets + (change.address - address)
                inside = offsets[(offsets >= 0) & (offsets < len(different))]
                different[inside] = False

    def _tell(self, computed: Computed) -> None:
        for buffer in self._buffers:  # who watches looks at the program's memory
            for change in computed.changes:
                if buffer.bus <= change.address < buffer.bus + len(buffer.data):
                    start = change.address - buffer.bus
                    buffer.data[start + change.offsets] = change.values
        now = perf_counter_ns()
        computed.layer.start_ns, computed.layer.end_ns = self._since, now
        self._since = now
        if self._watch is not None:
            self._watch(computed.layer, computed)

    # -- the end -------------------------------------------------------------------------------

    def _finish(self) -> None:
        """Compare everything, and give the program what the hardware wrote."""
        if self._log is not None:
            for computed in self._left:
                self._take(computed)
            self._compare([(b.bus, len(b.data)) for b in self._buffers], [], None)
        for buffer in self._buffers:
            if self._log is None and buffer.data.flags.writeable:
                there = np.empty(len(buffer.data), np.uint8)
                self._hardware.mem_read(buffer.bus, there)
                buffer.data[...] = there
            elif buffer.data.flags.writeable:
                buffer.data[...] = self._expected[buffer.bus]
        self._port.again()

    def _hang(self, cycles: int) -> str:
        parts = []
        running = self._firmware.running
        for computed in self._left:
            if computed.last not in running:
                continue
            right = total = 0
            for change in computed.changes:
                there = np.empty(change.size, np.uint8)
                self._hardware.mem_read(change.address, there)
                right += int(np.count_nonzero(there[change.offsets] == change.values))
                total += len(change.offsets)
            parts.append(explain.unfinished(computed, right, total))
        return explain.hang(
            cycles,
            self._hardware.reg_read(self._status),
            parts or [f"{kind.name} operation {number} runs" for kind, number in running],
            self.waiting(),
        )
