"""A task on our own chip, written down: register accesses, interrupts, and what each layer wrote.

The firmware runs as ever. What it did becomes a bench (``nvdla.export``), what the layers wrote is
what other hardware is compared with (:mod:`.lockstep`).
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from ...core.memory import Bytes, address_of
from ..descriptors import OpType
from ..facts.configs import HardwareConfig
from ..hw.chip import Chip
from ..hw.glb import Interrupt
from ..hw.launch import ComputedLayer
from ..hw.memory import Span, Window, Windows
from ..kmd.event_loop import serve
from ..kmd.firmware import FirmwareEngine
from ..kmd.list_port import Entry, ListPort, Registers
from ..task_report import PROCESSORS
from .cube import Cube, written

ANNOUNCED: dict[Interrupt, OpType] = {
    Interrupt.SDP: OpType.SDP,
    Interrupt.CDP: OpType.CDP,
    Interrupt.PDP: OpType.PDP,
    Interrupt.BDMA: OpType.BDMA,
    Interrupt.RUBIK: OpType.RUBIK,
}
"""Interrupts of units that write to memory, and the processor behind each."""


class RegWrite(NamedTuple):
    """The firmware wrote a register."""

    address: int
    value: int


class RegRead(NamedTuple):
    """The firmware read a register."""

    address: int
    value: int


class Interrupts(NamedTuple):
    """Bits of S_INTR_STATUS came up; *layer* (an index of ``TaskLog.layers``) was computed."""

    bits: int
    layer: int


Step = RegWrite | RegRead | Interrupts


class Change(NamedTuple):
    """Bytes of a range that a layer changed: at *address* + *offsets* there are now *values*."""

    address: int
    size: int
    offsets: NDArray[np.int64]
    values: Bytes


@dataclass(slots=True)
class Computed:
    """One layer. *operations* by processor, *last* is the one that writes; *changes* of memory."""

    layer: ComputedLayer
    operations: dict[OpType, int]
    last: tuple[OpType, int]
    cube: Cube | None
    changes: list[Change] = field(default_factory=list)
    running: list[tuple[OpType, int]] = field(default_factory=list)
    """What else was enabled when it was done."""

    def operation_of(self, op_type: OpType, group: int) -> int:
        """As a firmware says it, while the layer is in its register groups."""
        return self.operations.get(op_type, -1)


@dataclass(slots=True)
class TaskLog:
    """What a task did."""

    steps: list[Step] = field(default_factory=list)
    layers: list[Computed] = field(default_factory=list)
    own: list[tuple[int, int, bytes]] = field(default_factory=list)
    """What the firmware wrote to its lists: (entry of the address list, offset, bytes)."""


class Model(Protocol):
    """A core of our own (``nvdla.dla_core.Core``)."""

    config: HardwareConfig
    chip: Chip

    def reset(self) -> None:
        """Into the state after power-on; the chip is another one then."""


class Shelf:
    """Memory of a core that becomes another one's with each task."""

    def __init__(self, watch: Callable[[Window], None] | None = None) -> None:
        self._windows = Windows([])
        self._watch = watch

    def put(self, windows: Windows) -> None:
        """From now on the core sees these."""
        self._windows = windows

    @property
    def signature(self) -> tuple[int, ...]:
        return self._windows.signature

    def find(self, address: int) -> Window | None:
        found = self._windows.find(address)
        if found is not None and self._watch is not None:
            self._watch(found)
        return found

    def explain(self, address: int, size: int) -> str:
        return self._windows.explain(address, size)


class Recorder:
    """A core of our own that keeps its state from task to task.

    *make* makes it around two memory ports (primary, secondary).
    """

    def __init__(self, make: Callable[[Shelf, Shelf], Model]) -> None:
        self.touched: tuple[set[int], set[int]] = set(), set()
        """Bus addresses of the windows that each port has reached."""
        primary, secondary = self.touched
        self._shelves = (
            Shelf(lambda window: primary.add(window.base)),
            Shelf(lambda window: secondary.add(window.base)),
        )
        self._core = make(*self._shelves)

    @property
    def config(self) -> HardwareConfig:
        return self._core.config

    def reset(self) -> None:
        """Into the state after power-on."""
        self._core.reset()

    def run(
        self,
        windows: Sequence[Window],
        entries: Sequence[Entry],
        new_layout: bool | None,
        check: Callable[[], None] = lambda: None,
    ) -> TaskLog:
        """Run a task on *windows*, whose memory then holds its results. Raises NvdlaError; the
        core is then reset."""
        for shelf in self._shelves:
            shelf.put(Windows(windows))
        try:
            return _Run(self._core, windows, entries, new_layout).run(check)
        except BaseException:
            self.reset()
            raise


class NotingPort(ListPort):
    """Notes what the firmware writes to its lists."""

    def __init__(self, chip: Registers, entries: Sequence[Entry]) -> None:
        super().__init__(chip, entries)
        self.own: list[tuple[int, int, bytes]] = []

    def data_write(self, destination: int, data: bytes, offset: int) -> None:
        """Copy to a buffer."""
        super().data_write(destination, data, offset)
        self.own.append((destination, offset, data))

    def again(self) -> None:
        """Write all of it once more, over what the buffers hold now."""
        for destination, offset, data in self.own:
            super().data_write(destination, data, offset)


class _Run:
    """The chip of a core as the event loop wants it, with everything noted."""

    def __init__(
        self,
        core: Model,
        windows: Sequence[Window],
        entries: Sequence[Entry],
        new_layout: bool | None,
    ) -> None:
        self._core = core
        self._chip = core.chip
        self._entries = list(entries)
        self._images = _Images(windows)
        self.log = TaskLog()
        self._port = NotingPort(self, entries)
        self._firmware = FirmwareEngine(self._port, core.config, new_layout)
        self._spans: list[Span] = []

    def run(self, check: Callable[[], None]) -> TaskLog:
        chip = self._chip
        before, chip.on_layer = chip.on_layer, self._computed
        try:
            with chip.noting_writes() as self._spans:
                serve(self, self._firmware, check)
        finally:
            chip.on_layer = before
        self.log.own = self._port.own
        return self.log

    # -- what the event loop and the port want of a chip ---------------------------------------

    def write(self, address: int, value: int) -> None:
        self.log.steps.append(RegWrite(address, value))
        self._chip.write(address, value)

    def read(self, address: int) -> int:
        value = self._chip.read(address)
        self.log.steps.append(RegRead(address, value))
        return value

    @property
    def irq(self) -> bool:
        return self._chip.irq

    def waiting(self) -> list[str]:
        return self._chip.waiting()

    def advance(self) -> bool:
        """One layer, and the interrupts that follow from it."""
        glb = self._chip.csb.glb
        before, known = glb.status, len(self.log.layers)
        moved = self._chip.advance()
        bits = glb.status & ~before & ~glb.mask
        if len(self.log.layers) > known:
            self._changed(self.log.layers[-1])
        if bits:
            self.log.steps.append(Interrupts(bits, len(self.log.layers) - 1))
        return moved

    # -- layers --------------------------------------------------------------------------------

    def _computed(self, layer: ComputedLayer) -> None:
        firmware = self._firmware
        groups = {PROCESSORS[b]: g for b, g in layer.groups.items() if b in PROCESSORS}
        operations = {kind: firmware.operation_of(kind, group) for kind, group in groups.items()}
        kind = list(groups)[-1]
        found = firmware.descriptors_of(kind, groups[kind])
        cube = None if found is None else written(self._core.config, *found, self._entries)
        last = kind, operations[kind]
        others = [item for item in firmware.running if operations.get(item[0]) != item[1]]
        self.log.layers.append(Computed(layer, operations, last, cube, running=others))

    def _changed(self, computed: Computed) -> None:
        for span in _merged(self._spans):
            computed.changes.append(self._images.change(span))
        self._spans.clear()


class _Images:
    """What memory held before the layer that was just computed."""

    def __init__(self, windows: Sequence[Window]) -> None:
        placed = sorted((address_of(w.data), w.base, w.data) for w in windows if len(w.data))
        self._hosts = [host for host, _, _ in placed]
        self._placed = [(host, base, data, data.copy()) for host, base, data in placed]

    def change(self, span: Span) -> Change:
        """What became of a span of host addresses."""
        host, base, data, before = self._placed[bisect_right(self._hosts, span[0]) - 1]
        first, last = span[0] - host, min(span[1] - host, len(data))
        now, then = data[first:last], before[first:last]
        offsets = np.flatnonzero(now != then)
        values = now[offsets]
        then[...] = now
        return Change(base + first, last - first, offsets, values)


def _merged(spans: Sequence[Span]) -> list[Span]:
    found: list[Span] = []
    for first, last in sorted(spans):
        if found and first <= found[-1][1]:
            found[-1] = found[-1][0], max(found[-1][1], last)
        else:
            found.append((first, last))
    return found
