"""The kernel-mode driver's objects: cores, device handles, memory, tasks.

A core is a chip with its own registers. Memory that the driver hands out lies in one address
space for all cores, and its bus address is its host address. ``Core.run`` executes a task with the
built-in firmware; ``Core.begin`` and ``Core.end`` frame a task that somebody else's firmware
executes through the registers. Source: nvdla/sw, Linux port of the kernel driver.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Sequence
from os.path import exists
from time import perf_counter_ns

import numpy as np
from numpy.typing import NDArray

from cudla_sim.core import explain
from cudla_sim.core.memory import AddressSpace, Region
from cudla_sim.core.process import Process
from cudla_sim.nvdla.errors import NvdlaError, Status
from cudla_sim.nvdla.hw import registers
from cudla_sim.nvdla.hw.chip import Chip, Layer
from cudla_sim.nvdla.hw.configs import HardwareConfig, config
from cudla_sim.nvdla.hw.memory import Memory
from cudla_sim.nvdla.kmd.firmware import FirmwareEngine
from cudla_sim.nvdla.kmd.port import Destination, invalid
from cudla_sim.nvdla.umd import run_firmware

_PRECISIONS = ("int8", "int16", "fp16")
_POLLED = ("S_STATUS", "S_INTR_STATUS", "S_POINTER", "STATUS")
_STARTS = ("D_OP_ENABLE", "CFG_LAUNCH0", "CFG_LAUNCH1", "S_INTR_SET", "S_INTR_MASK")


def _registers(hardware: HardwareConfig, names: Sequence[str]) -> frozenset[int]:
    """CSB addresses of the registers with one of *names*, in all blocks."""
    return frozenset(
        block.base + item.offset
        for block in registers.blocks(hardware.line).values()
        for item in block.registers
        if item.name in names
    )


class Entry:
    """One resolved address list entry: a buffer and the offset that the list adds to its base."""

    __slots__ = ("base", "data", "offset", "size")

    def __init__(self, base: int, data: NDArray[np.uint8], offset: int) -> None:
        self.base = base
        self.data = data
        self.size = len(data)
        self.offset = offset


class ListPort:
    """The portability layer over a resolved address list; buffers are named by their position."""

    def __init__(self, chip: Chip, entries: Sequence[Entry]) -> None:
        self._entries = entries
        self.reg_read = chip.read
        self.reg_write = chip.write

    def _bytes(self, buffer: int, size: int, offset: int) -> NDArray[np.uint8]:
        entry = self._entries[buffer]
        if offset < 0 or offset + size > entry.size:
            raise invalid(
                f"address index {buffer} has {entry.size} bytes, the firmware needs"
                f" {offset}..{offset + size}"
            )
        return entry.data[offset : offset + size]

    def data_read(self, source: int, size: int, offset: int) -> bytes:
        """Copy from a buffer (the list's own offset is not added)."""
        return self._bytes(source, size, offset).tobytes()

    def data_write(self, destination: int, data: bytes, offset: int) -> None:
        """Copy to a buffer."""
        self._bytes(destination, len(data), offset)[...] = np.frombuffer(data, np.uint8)

    def dma_address(self, index: int, destination: Destination) -> int:
        """Resolve an entry."""
        if not 0 <= index < len(self._entries):
            raise invalid(f"address index {index}: the task has {len(self._entries)} addresses")
        entry = self._entries[index]
        return index if destination == Destination.PROCESSOR else entry.base + entry.offset

    @staticmethod
    def time_us() -> int:
        """Microseconds of the host's steady clock."""
        return perf_counter_ns() // 1000


class Claim:
    """Exclusive use of something by a thread of the host, which may never say that it is done.

    A thread that claims again what it holds has left its work by an exception or a longjmp, and
    so has one that no longer exists.
    """

    def __init__(self) -> None:
        self.owner: int | None = None
        self._changed = threading.Condition()

    def begin(self) -> bool:
        """Wait and take it; True if an earlier holder left it behind."""
        me = threading.get_native_id()
        with self._changed:
            while self.owner not in (None, me) and exists(f"/proc/self/task/{self.owner}"):
                self._changed.wait(timeout=0.5)
            left_behind = self.owner is not None
            self.owner = me
        return left_behind

    def end(self) -> None:
        """Give it back."""
        with self._changed:
            self.owner = None
            self._changed.notify()


class Core:
    """One core. ``handler`` counts installed interrupt handlers; 0 means there is none."""

    def __init__(self, driver: Driver, index: int, hardware: HardwareConfig) -> None:
        self.driver = driver
        self.index = index
        self.name = f"NVDLA{index}"
        self.config = hardware
        self.context = 0  # the driver_context that C code knows this core by
        self.handler = 0
        self._claim = Claim()
        self._work = threading.Event()
        self._seen = 0  # interrupt status that the handler was last called for
        self._stepping = threading.Lock()
        self._polled = _registers(hardware, _POLLED)
        self._starts = _registers(hardware, _STARTS)
        self.chip = self._new_chip()

    def _new_chip(self) -> Chip:
        chip = Chip(self.config, Memory(self.driver.memory))
        chip.on_layer = self._layer
        self._csb_write = chip.write
        self._csb_read = chip.read
        return chip

    def reset(self) -> None:
        """Put the core into its state after power-on."""
        self.chip = self._new_chip()

    # -- who uses the core --------------------------------------------------------------------

    def begin(self) -> None:
        """Claim the core for a task of this thread; it is reset if a task was left in it."""
        if self._claim.begin():
            self.reset()

    def end(self) -> None:
        """Give the core back."""
        self._claim.end()

    # -- built-in firmware --------------------------------------------------------------------

    def run(self, entries: Sequence[Entry]) -> None:
        """Execute a task. Raises NvdlaError; the core is then reset."""
        self.begin()
        begin = perf_counter_ns()
        try:
            port = ListPort(self.chip, entries)
            run_firmware(self.chip, FirmwareEngine(port, self.config, None), lambda: None)
        except BaseException:
            self.reset()
            raise
        finally:
            self.end()
        self.driver.process.events.emit("task", "task", begin, {}, self.name)

    def _layer(self, layer: Layer) -> None:
        events = self.driver.process.events
        if not events.subscribers:
            return
        shapes = ("x".join(map(str, s)) for s in (layer.input_shape, layer.output_shape))
        details = {
            "shapes": " -> ".join(shapes),
            "precision": "; ".join(layer.notes) or _PRECISIONS[layer.precision],
            "macs": layer.macs,
            "saturated": layer.saturated,
        }
        events.emit_span("layer", layer.chain, layer.start_ns, layer.end_ns, details, self.name)

    # -- registers, for code outside ----------------------------------------------------------

    def write(self, address: int, value: int) -> None:
        """Write a register. What it starts is computed later, never here."""
        self._csb_write(address, value)
        if self.handler and address in self._starts:
            self._work.set()

    def read(self, address: int) -> int:
        """Read a register. Without an interrupt handler time passes while somebody polls."""
        if address in self._polled and not self.handler and self._claim.owner is None:
            self.step()
        return self._csb_read(address)

    def step(self) -> bool:
        """Let the next thing happen; False if nothing is running and nothing can start.

        What the hardware leaves undefined is reported, and the core is reset.
        """
        try:
            return self._step()
        except NvdlaError as error:
            text = f"{self.name}: {error}; the core was reset"
            explain.remember(text)
            sys.stderr.write(f"cudla-sim: {text}\n")
            return False

    def _step(self) -> bool:
        with self._stepping:
            try:
                return self.chip.step()
            except BaseException:
                self.reset()
                raise

    def advance(self) -> bool:
        """Compute until nothing moves or the interrupt line is up; True if anything moved.

        Raises NvdlaError; the core is then reset.
        """
        moved = self._step()
        while self.chip.pending:
            self._step()
        return moved

    # -- interrupts ---------------------------------------------------------------------------

    def install(self, present: bool) -> int:
        """Note that an interrupt handler is there (or no longer); the number of the handler."""
        self.driver.handlers += 1
        self.handler = self.driver.handlers if present else 0
        self._work.set()
        return self.handler

    def wait(self, handler: int) -> bool:
        """Run the core until its interrupt line is up; False when the handler was replaced."""
        while self.handler == handler:
            if not self._work.wait(timeout=0.5):
                continue
            self._work.clear()
            self.chip.touch()
            if self._interrupted(handler):
                self._work.set()  # there may be more to do after the handler
                return True
        self._work.set()
        return False

    def _interrupted(self, handler: int) -> bool:
        """Step until the line is up; False when nothing moves any more."""
        up = self.chip.irq and self.chip.csb.glb.status != self._seen
        while not up and self.handler == handler and self.step():
            up = self.chip.irq
        self._seen = self.chip.csb.glb.status
        return up


class Handle:
    """Kinds of handles."""

    SESSION = "NVDLA session"
    DEVICE = "NVDLA device"
    MEMORY = "NVDLA memory"
    ENGINE = "NVDLA engine"
    CONTEXT = "NVDLA driver context"
    RUNTIME = "NVDLA runtime"


class Driver:
    """All cores and all memory of the simulated machine."""

    def __init__(self, process: Process) -> None:
        self.process = process
        self.memory = AddressSpace("NVDLA memory")
        self.hardware = config(process.config.config)
        self.handlers = 0
        self.outside = Claim()  # a firmware of the program's: there is one, for all cores
        self.cores = [Core(self, i, self.hardware) for i in range(process.config.dla_count)]
        for core in self.cores:
            core.context = process.handles.add(Handle.CONTEXT, core)
        process.closers.append(self.close)

    def core(self, index: int) -> Core:
        """Return a core; NvdlaError (BAD_PARAMETER) if the machine has no such core."""
        if not 0 <= index < len(self.cores):
            raise NvdlaError(
                f"core {index}: the machine has {len(self.cores)} (setting dla_count)",
                Status.BAD_PARAMETER,
            )
        return self.cores[index]

    def allocate(self, size: int) -> Region:
        """Map zero-filled memory; NvdlaError for nothing or too much."""
        if size <= 0:
            raise NvdlaError("size is 0; memory has at least one byte", Status.BAD_PARAMETER)
        try:
            return self.memory.allocate(size, name="NVDLA buffer")
        except MemoryError as error:
            raise NvdlaError(str(error), Status.INSUFFICIENT_MEMORY) from None

    def close(self) -> None:
        """End the threads that serve interrupts."""
        for core in self.cores:
            core.install(False)


def driver(process: Process) -> Driver:
    """The driver of a process."""
    return process.family("nvdla", Driver)
