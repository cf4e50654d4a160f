"""One NVDLA core: a chip, whoever has claimed it, and the event loop around its firmware.

Everything that computes goes through here: tasks of cuDLA and ``nvdla run`` (``run``), tasks of
the NVDLA driver with the built-in firmware (``run_task``) or with somebody else's (``begin`` and
``end`` around register accesses), registers without any driver, and register traces. Whoever
comes first is served first. Source: nvdla/sw, Linux port of the kernel driver.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from time import monotonic, perf_counter_ns
from typing import TYPE_CHECKING

from ..core import explain
from ..core.process import Process
from ..core.text import tell
from . import emu, target, task_report
from .again.layers import Layers
from .again.plan import Operations, Plan, Plans
from .again.segment import Ran
from .again.weights import WeightCache
from .claim import Claim
from .errors import EngineTimeout, NvdlaError, UnsupportedOperation, WrongConfiguration
from .facts import registers
from .facts.configs import HardwareConfig, config
from .hw.chip import Chip
from .hw.doubt import Doubt
from .hw.launch import ComputedLayer
from .hw.memory import Memory, Space, Windows
from .kmd.event_loop import serve
from .kmd.firmware import FirmwareEngine
from .kmd.list_port import Entry, ListPort
from .kmd.port import Port
from .loadable import Interface, Loadable
from .network import LoadedNetwork
from .settings import Settings
from .target import AUTO, DEFAULT
from .task_report import LayerRecord, TaskReport

if TYPE_CHECKING:
    from .cosim.hardware import Hardware
    from .cosim.lockstep import Lockstep

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


class _Task:
    """A task of ours on a core. A class, which is entered and left twice as fast as a generator."""

    __slots__ = ("_begin", "_core", "_space")

    def __init__(self, core: Core, space: Space) -> None:
        self._core = core
        self._space = space

    def __enter__(self) -> None:
        self._core.take(self._space)
        self._begin = perf_counter_ns()

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        core = self._core
        core.release(failed=kind is not None)
        if kind is None and core.process is not None and core.process.events.subscribers:
            core.process.events.emit("task", "task", self._begin, {}, core.name)


class Core:
    """A core of a hardware configuration ("nv_full", "nv_large", "nv_small", ..., or "auto").

    ``memory`` and ``secondary`` are what its DMA reaches outside of networks that it runs.
    *fp16* "exact" computes fp16 convolutions bit for bit, "fast" in float32 (reports then say so).
    *arithmetic* of integers: see ``hw.chip.Chip``; empty: what the process is configured for.
    *behaviour* where a chip does other than its registers seem to say: "strict" raises errors,
    "chip" computes what the chip does; empty: what the process is configured for, else "strict".
    *planned*: what the firmware did with a task is done again when the same task comes again
    (``nvdla.again``), unless the process is configured otherwise.
    *chip*: hardware that is not ours (``nvdla.cosim``): ``cosim:LIB.so,OPTIONS``, or an object
    with the members of ``cosim.Hardware``. The configuration is then the hardware's, tasks run on
    it, and *compare* ("all", "layers", "off") says what of its memory is compared with our model
    after each operation. *limit*: cycles without an interrupt that are a hang (0: by the size of
    the layers).
    *told*: warnings about hardware that were printed; cores that share it print each once.
    ``handler`` counts installed interrupt handlers; 0 means there is none.
    """

    def __init__(
        self,
        hardware: str | HardwareConfig,
        fp16: str = "exact",
        *,
        memory: Space | None = None,
        secondary: Space | None = None,
        process: Process | None = None,
        index: int = 0,
        cache: WeightCache | None = None,
        arithmetic: str = "",
        planned: bool = True,
        behaviour: str = "",
        chip: str | Hardware = "",
        compare: str = "all",
        limit: int = 0,
        told: set[str] | None = None,
    ) -> None:
        if fp16 not in ("exact", "fast"):
            raise ValueError(f"fp16 is {fp16!r}; it is exact or fast")
        self.index = index
        self.name = f"DLA{index}"
        self.process = process
        self.context = 0  # the driver_context that C code knows this core by
        self.handler = 0
        self._beyond: Lockstep | None = None
        self._hardware: Hardware | None = None
        if chip:
            hardware = self._open(chip, hardware)
        self._undecided = hardware == AUTO
        self._exact = fp16 == "exact"
        settings = Settings() if process is None else process.config.of(Settings)
        self._doubt = Doubt((behaviour or settings.hardware) == "strict", self._warn, told)
        self._arithmetic = arithmetic or settings.arithmetic
        self._planned = planned and settings.plan == "on"
        self._home: Space = memory if memory is not None else Windows([])
        self._memory = Memory(self._home)
        self._memory.warn = self._warn
        self._secondary = None if secondary is None else Memory(secondary)
        self._cache = cache if cache is not None else WeightCache()
        self._claim = Claim()
        self._work = threading.Event()
        self._seen = 0  # interrupt status that the handler was last called for
        self._handlers = 0
        self._stepping = threading.Lock()
        self._watch: Callable[[ComputedLayer], None] | None = None
        self._become(
            config(DEFAULT if self._undecided else hardware)
            if isinstance(hardware, str)
            else hardware
        )

        if self._hardware is not None:
            self._beyond = self._beside(self._hardware, compare, limit)

    def _open(self, chip: str | Hardware, wanted: str | HardwareConfig) -> str:
        """Open hardware that is not ours; the configuration that it has."""
        if isinstance(chip, str):
            from .cosim.library import open_library

            chip = open_library(chip)
        self._hardware = chip
        name = wanted if isinstance(wanted, str) else wanted.name
        if name not in (AUTO, chip.configuration):
            raise WrongConfiguration(f"the hardware is {chip.configuration}, {name} is asked for")
        return chip.configuration

    def _beside(self, hardware: Hardware, compare: str, limit: int) -> Lockstep:
        """The hardware, with a core of ours beside it."""
        from .cosim.lockstep import Lockstep
        from .cosim.record import Recorder

        def make(primary: Space, secondary: Space) -> Core:
            return Core(
                self.config,
                "exact" if self._exact else "fast",
                memory=primary,
                secondary=secondary,
                arithmetic=self._arithmetic,
                planned=False,
                behaviour="strict" if self._doubt.strict else "chip",
            )

        return Lockstep(hardware, Recorder(make), compare, limit)

    @property
    def beyond(self) -> Lockstep | None:
        """The hardware that is not ours, with what is known of its runs; None: there is none."""
        return self._beyond

    def close(self) -> None:
        """Let go of hardware that is not ours."""
        if self._hardware is not None:
            self._hardware.close()

    def _become(self, hardware: HardwareConfig) -> None:
        self.config = hardware
        self._polled = _registers(hardware, _POLLED)
        self._starts = _registers(hardware, _STARTS)
        self.reset()

    def settle(self, loadable: Loadable) -> HardwareConfig:
        """The configuration for a loadable: with "auto" the first one decides."""
        if self._undecided:
            self._undecided = False
            chosen = target.choice(loadable)
            if chosen.among:
                self._warn(f"the loadable {chosen}")
            if chosen.name != self.config.name:
                self._become(config(chosen.name))
        return self.config

    def reset(self) -> None:
        """Put the core into its state after power-on."""
        self.chip = Chip(
            self.config,
            self._memory,
            self._secondary,
            self._cache,
            self._exact,
            None if self.process is None else self.process.native,
            self._arithmetic,
            self._doubt,
        )
        self.chip.on_layer = self._layer
        layers = Layers(self.chip)
        self._plans = Plans(layers) if self._planned else None
        self._csb_write = self.chip.write
        self._csb_read = self.chip.read
        self.plain = {} if self._hardware is not None else self.chip.csb.plain
        if self._beyond is not None:
            try:
                self._beyond.reset()
            except NvdlaError as error:  # what failed before is what the caller is told
                self._warn(f"cannot reset the hardware: {error}")

    # -- who uses the core --------------------------------------------------------------------

    def begin(self) -> None:
        """Claim the core for a task of this thread; it is reset if a task was left in it."""
        if self._claim.begin():
            self._memory.space = self._home
            self._watch = None
            self.reset()

    def end(self) -> None:
        """Give the core back."""
        self._claim.end()

    # -- tasks --------------------------------------------------------------------------------

    def take(self, space: Space) -> None:
        """Begin a task of ours, with its view of memory."""
        self.begin()
        self._memory.space = space

    def release(self, failed: bool) -> None:
        """End it; the core is reset when it failed."""
        try:
            if failed:
                self.reset()
        finally:
            self._memory.space = self._home
            self._watch = None
            self.end()

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
        error the core is reset and can be used again. Source: nvdla/sw ``Runtime.cpp`` (submit).
        """
        if network.config.name != self.config.name:
            raise NvdlaError(
                f"the network was loaded for {network.config.name}, the engine is"
                f" {self.config.name}"
            )
        binding = network.bind(inputs, outputs)
        report = TaskReport(self.config.name)

        def check() -> None:
            if deadline is not None and monotonic() > deadline:
                raise EngineTimeout(
                    f"the deadline passed after {report.count} layers of task {report.task}"
                )

        def note(record: LayerRecord) -> None:
            report.add(record)
            self.tell(record)
            if on_layer is not None:
                on_layer(record)

        def watch(layer: ComputedLayer, operations: Operations) -> None:
            note(report.layer(layer, operations.operation_of))

        with _Task(self, binding.windows):
            binding.begin()
            network.reload_graphs()
            report.start_ns = perf_counter_ns()
            new_layout, ran = network.new_layout, report.add_ran if on_layer is None else None
            for number in network.order:
                report.task, task = number, network.loadable.tasks[number]
                check()
                if task.interface == Interface.DLA1:
                    self.execute(network.entries(task, binding), new_layout, check, watch, ran)
                else:
                    resolve = network.resolver(task, binding)
                    for item in emu.run_task(resolve, new_layout, check):
                        note(report.software(*item))
            report.end_ns = perf_counter_ns()
            binding.end()
        return report

    def run_task(self, entries: Sequence[Entry]) -> None:
        """Run a task of the NVDLA driver. Raises NvdlaError; the core is then reset."""
        with _Task(self, self._home):
            self.execute(entries, None, lambda: None)

    def execute(
        self,
        entries: Sequence[Entry],
        new_layout: bool | None,
        check: Callable[[], None],
        watch: Callable[[ComputedLayer, Operations], None] | None = None,
        ran: Callable[[Ran, Plan], None] | None = None,
    ) -> None:
        """Run a task with the built-in firmware, or as it ran before, until it is complete.

        *check* is called between layers and may raise; where nobody wants to know of each layer
        when it is computed, some milliseconds may lie between its calls. *watch* is told of a
        layer, *ran* of layers that were computed together. KmdError if nothing can make progress.
        """

        def firmware(port: Port) -> FirmwareEngine:
            return FirmwareEngine(port, self.config, new_layout)

        def tell(operations: Operations) -> None:
            if watch is not None:
                self._watch = lambda layer: watch(layer, operations)

        try:
            if self._beyond is not None:
                self._beyond.execute(entries, new_layout, check, watch or self._observe)
            elif self._plans is not None:
                quiet = (watch is None or ran is not None) and not self._observed
                self._plans.run(entries, check, firmware, tell, new_layout, quiet, ran)
            else:
                engine = firmware(ListPort(self.chip, entries))
                tell(engine)
                serve(self.chip, engine, check)
        finally:
            self._watch = None

    # -- observers ----------------------------------------------------------------------------

    @property
    def _observed(self) -> bool:
        """Whether somebody besides the task's owner is told of each layer."""
        if self.chip.on_layer != self._layer:
            return True
        return self.process is not None and bool(self.process.events.subscribers)

    def _observe(self, layer: ComputedLayer, operations: Operations) -> None:
        """Hardware that is not ours computed a layer."""
        self._layer(layer)

    def _layer(self, layer: ComputedLayer) -> None:
        """The chip computed a layer."""
        if self._watch is not None:
            self._watch(layer)
        elif self.process is not None and self.process.events.subscribers:
            self.tell(task_report.of_layer(layer, 0, 0, ()))

    def tell(self, record: LayerRecord) -> None:
        """Let observers know of a layer."""
        if self.process is not None and self.process.events.subscribers:
            self.process.events.emit_span(
                "layer", record.unit, record.start_ns, record.end_ns, record.details, self.name
            )

    def _warn(self, text: str) -> None:
        tell(f"cudla-sim: {self.name}: {text}")

    # -- registers, for code outside ----------------------------------------------------------

    def _own_registers(self) -> None:
        """Registers of other hardware are the firmware's: a program's addresses mean nothing."""
        if self._beyond is not None:
            raise UnsupportedOperation(
                self.name, "a program's own register accesses on hardware that is not ours (chip)"
            )

    def write(self, address: int, value: int) -> None:
        """Write a register. What it starts is computed later, never here."""
        self._own_registers()
        self._csb_write(address, value)
        if self.handler and address in self._starts:
            self._work.set()

    def read(self, address: int) -> int:
        """Read a register. Without an interrupt handler time passes while somebody polls."""
        self._own_registers()
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
            tell(f"cudla-sim: {text}")
            return False

    def _step(self) -> bool:
        self._own_registers()
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

    def set_handler(self, present: bool) -> int:
        """Note that an interrupt handler is there (or no longer); the number of the handler."""
        self._handlers += 1
        self.handler = self._handlers if present else 0
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
