"""Running loaded networks on an engine.

``Engine`` is one core: chip, firmware and a lock. ``run`` executes the tasks of a network in
submission order, DLA tasks through the register file, EMU tasks on the host. Several engines may
run side by side; one engine runs one network at a time.
Source: nvdla/sw ``Runtime.cpp`` (submit) and the Linux port of the kernel driver (event loop).
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from time import monotonic, perf_counter_ns

import numpy as np
from numpy.typing import NDArray

from cudla_sim.nvdla import emu
from cudla_sim.nvdla.descriptors import OpType
from cudla_sim.nvdla.errors import EngineTimeout, Firmware, KmdError, NvdlaError
from cudla_sim.nvdla.hw.chip import Chip, Layer
from cudla_sim.nvdla.hw.configs import HardwareConfig, config
from cudla_sim.nvdla.hw.memory import Memory, Windows
from cudla_sim.nvdla.hw.units.weights import WeightCache
from cudla_sim.nvdla.kmd.firmware import FirmwareEngine
from cudla_sim.nvdla.kmd.port import Destination, invalid
from cudla_sim.nvdla.loadable import Interface, TaskEntry
from cudla_sim.nvdla.network import Binding, LoadedNetwork

__all__ = ["Engine", "LayerRecord", "LoadedNetwork", "TaskReport"]

_PRECISIONS = ("int8", "int16", "fp16")
_PROCESSORS = {
    "CACC": OpType.CONV,
    "SDP": OpType.SDP,
    "PDP": OpType.PDP,
    "CDP": OpType.CDP,
    "RBK": OpType.RUBIK,
    "BDMA": OpType.BDMA,
}


@dataclass(frozen=True, slots=True)
class LayerRecord:
    """One executed layer. Shapes are (channels, height, width); times in nanoseconds.

    ``saturated`` counts output elements that were clipped to the output precision.
    """

    index: int
    task: int
    unit: str
    operations: tuple[int, ...]
    input_shape: tuple[int, int, int]
    output_shape: tuple[int, int, int]
    precision: str
    note: str
    start_ns: int
    end_ns: int
    macs: int
    saturated: int

    @property
    def milliseconds(self) -> float:
        """Time the layer took here."""
        return (self.end_ns - self.start_ns) / 1e6


@dataclass(slots=True)
class TaskReport:
    """What one run did."""

    config: str
    layers: list[LayerRecord] = field(default_factory=list)
    start_ns: int = 0
    end_ns: int = 0

    @property
    def macs(self) -> int:
        """Multiply-accumulates of all layers."""
        return sum(layer.macs for layer in self.layers)

    @property
    def note(self) -> str:
        """Remarks of all layers, each once ("fp16: float32")."""
        return "; ".join(dict.fromkeys(layer.note for layer in self.layers if layer.note))


class TaskPort:
    """The portability layer of the built-in stack: list handles are address list indices."""

    __slots__ = ("_binding", "_network", "_task", "reg_read", "reg_write")

    def __init__(
        self, chip: Chip, network: LoadedNetwork, task: TaskEntry, binding: Binding
    ) -> None:
        self._network = network
        self._task = task
        self._binding = binding
        self.reg_read = chip.read
        self.reg_write = chip.write

    def _bytes(self, handle: int, size: int, offset: int) -> NDArray[np.uint8]:
        window, _ = self._network.task_memory(self._task, handle, self._binding)
        if offset < 0 or offset + size > window.size:
            raise invalid(
                f"address index {handle} ({window.name}) has {window.size} bytes, the firmware"
                f" needs {offset}..{offset + size}"
            )
        return window.data[offset : offset + size]

    def data_read(self, source: int, size: int, offset: int) -> bytes:
        """Read from the buffer behind an address list entry (its own offset is not added)."""
        return self._bytes(source, size, offset).tobytes()

    def data_write(self, destination: int, data: bytes, offset: int) -> None:
        """Write to the buffer behind an address list entry."""
        self._bytes(destination, len(data), offset)[...] = np.frombuffer(data, np.uint8)

    def dma_address(self, index: int, destination: Destination) -> int:
        """Resolve an address list entry."""
        try:
            window, offset = self._network.task_memory(self._task, index, self._binding)
        except NvdlaError as error:
            raise invalid(str(error)) from None
        return index if destination == Destination.PROCESSOR else window.base + offset

    @staticmethod
    def time_us() -> int:
        """Microseconds of the host's steady clock."""
        return perf_counter_ns() // 1000


def run_firmware(chip: Chip, firmware: FirmwareEngine, check: Callable[[], None]) -> None:
    """Start the task behind a firmware's port and serve interrupts until it is complete.

    *check* is called between layers and may raise. KmdError if nothing can make progress.
    """
    complete = firmware.execute_task()
    while not complete:
        check()
        progress = chip.step()
        while chip.pending:
            chip.step()
        if chip.irq:
            firmware.isr_handler()
        before = firmware.progress
        complete = firmware.process_events()
        if not (progress or complete or firmware.progress != before):
            raise KmdError(
                Firmware.INVALID_TASK,
                "the scheduler makes no progress: "
                + "; ".join([firmware.stuck(), *chip.waiting()]),
            )
    firmware.clear_task()


class Engine:
    """One DLA core of a hardware configuration ("nv_full", "nv_large", "nv_small", …).

    *fp16* "exact" computes fp16 convolutions bit for bit, "fast" in float32 (reports then say so).
    """

    def __init__(self, hardware: str | HardwareConfig, fp16: str = "exact") -> None:
        if fp16 not in ("exact", "fast"):
            raise ValueError(f"fp16 is {fp16!r}; it is exact or fast")
        self.fp16 = fp16
        self.config = config(hardware) if isinstance(hardware, str) else hardware
        self.lock = threading.Lock()
        self._cache = WeightCache()
        self._memory = Memory(Windows([]))
        self.chip = self._new_chip()

    def _new_chip(self) -> Chip:
        return Chip(self.config, self._memory, cache=self._cache, exact=self.fp16 == "exact")

    def run(
        self,
        network: LoadedNetwork,
        inputs: Sequence[int],
        outputs: Sequence[int],
        deadline: float | None = None,
        on_layer: Callable[[LayerRecord], None] | None = None,
    ) -> TaskReport:
        """Run a network once; *inputs* and *outputs* are the addresses of its tensors.

        *deadline* is a ``time.monotonic()`` value, checked between layers. Raises EngineTimeout,
        KmdError, another NvdlaError, or MemoryFault for a tensor outside mapped memory. After an
        error the core is reset and can be used again.
        """
        if network.config.name != self.config.name:
            raise NvdlaError(
                f"the network was loaded for {network.config.name}, the engine is"
                f" {self.config.name}"
            )
        with self.lock:
            run = _Run(self, network, network.bind(inputs, outputs), deadline, on_layer)
            try:
                return run.execute()
            except BaseException:
                self.chip = self._new_chip()
                raise
            finally:
                self._memory.space = Windows([])
                self.chip.on_layer = None


class _Run:
    """One execution of a network on an engine that is locked."""

    def __init__(
        self,
        engine: Engine,
        network: LoadedNetwork,
        binding: Binding,
        deadline: float | None,
        on_layer: Callable[[LayerRecord], None] | None,
    ) -> None:
        self.chip = engine.chip
        self.network = network
        self.binding = binding
        self.deadline = deadline
        self.on_layer = on_layer
        self.report = TaskReport(engine.config.name)
        self.task = 0
        self.firmware: FirmwareEngine | None = None
        engine._memory.space = binding.windows
        self.chip.on_layer = self._layer

    def execute(self) -> TaskReport:
        """Run all tasks in submission order."""
        loadable = self.network.loadable
        self.network.reload_graphs()
        self.report.start_ns = perf_counter_ns()
        for submit in loadable.submits:
            for number in submit.task_id:
                self.task = number
                task = loadable.tasks[number]
                self._check_deadline()
                if task.interface == Interface.DLA1:
                    self._run_dla(task)
                else:
                    self._run_emu(task)
        self.report.end_ns = perf_counter_ns()
        return self.report

    def _check_deadline(self) -> None:
        if self.deadline is not None and monotonic() > self.deadline:
            raise EngineTimeout(
                f"the deadline passed after {len(self.report.layers)} layers of task {self.task}"
            )

    def _record(self, record: LayerRecord) -> None:
        self.report.layers.append(record)
        if self.on_layer is not None:
            self.on_layer(record)

    def _layer(self, layer: Layer) -> None:
        """Take note of a layer that the chip has computed."""
        assert self.firmware is not None
        operations = tuple(
            self.firmware.operation_of(_PROCESSORS[block], group)
            for block, group in layer.groups.items()
            if block in _PROCESSORS
        )
        self._record(
            LayerRecord(
                len(self.report.layers),
                self.task,
                layer.chain,
                operations,
                layer.input_shape,
                layer.output_shape,
                _PRECISIONS[layer.precision],
                "; ".join(layer.notes),
                layer.start_ns,
                layer.end_ns,
                layer.macs,
                layer.saturated,
            )
        )

    def _run_dla(self, task: TaskEntry) -> None:
        """Start the firmware on a task and serve interrupts until it is complete."""
        chip = self.chip
        port = TaskPort(chip, self.network, task, self.binding)
        loadable = self.network.loadable
        firmware = FirmwareEngine(port, self.network.config, loadable.new_layout)
        self.firmware = firmware
        run_firmware(chip, firmware, self._check_deadline)

    def _run_emu(self, task: TaskEntry) -> None:
        """Run a software task."""

        def resolve(position: int) -> NDArray[np.uint8]:
            window, offset = self.network.task_memory(task, position, self.binding)
            return window.data[offset:]

        for number, operation in enumerate(
            emu.operations(resolve, self.network.loadable.new_layout)
        ):
            self._check_deadline()
            start = perf_counter_ns()
            emu.run(operation, resolve)
            src, dst = operation.src, operation.dst
            self._record(
                LayerRecord(
                    len(self.report.layers),
                    self.task,
                    f"EMU {emu.EmuOp(operation.op_type).name.lower()}",
                    (number,),
                    (src.channel, src.height, src.width),
                    (dst.channel, dst.height, dst.width),
                    "fp16" if src.format == emu.EmuFormat.FF16 else "int8",
                    "",
                    start,
                    perf_counter_ns(),
                    0,
                    0,
                )
            )
