"""DLA cores and the handles that programs open on them."""

from __future__ import annotations

import itertools
import threading
from functools import cached_property
from time import monotonic
from typing import TYPE_CHECKING, Any

from ..board_table import BOARDS
from ..constants.cudla import cudlaMode as Mode
from ..constants.cudla import cudlaStatus as Status
from ..core.fence import Fence
from ..core.hardware import Part, Step
from ..core.live import Live
from ..core.memory import MemoryFault
from ..core.process import Process
from ..core.queue import Queue
from ..cudart import context as cuda
from ..nvdla.errors import EngineTimeout, NvdlaError
from ..nvdla.settings import Settings as NvdlaSettings
from . import statistics
from .bound import Known
from .errors import CudlaError, unsupported
from .memory import DeviceMemory
from .settings import Settings
from .task import NO_EVENTS, Events

if TYPE_CHECKING:
    from ..boards.checking import check as check_of_boards
    from ..nvdla.dla_core import Core
    from ..nvdla.task_report import LayerRecord, TaskReport
    from ..nvdla.timing.pipeline import TimedOperation
    from .diagnostics import DiagnosticsModule
    from .module import Module
    from .task import Task

_FAULTS = {
    "dla/timeout": Status.cudlaErrorDlaErrEngineTimeout,
    "dla/task": Status.cudlaErrorDlaErrDataMismatch,
}

_numbers = itertools.count(1)

MAX_HANDLES = 16  # cuDLA reference: handles a DLA
DEFAULT_TIMEOUT_MS = 30_000
MAX_TIMEOUT_MS = 1_000_000


class DlaCore:
    """A DLA core and the handles that are open on it. ``nvdla`` serves one task at a time, and
    tasks of the NVDLA driver too."""

    def __init__(self, process: Process, index: int) -> None:
        self.index = index
        self.name = f"DLA{index}"
        self.handles: list[Device] = []
        self._process = process

    @cached_property
    def nvdla(self) -> Core:
        """The engine; made when a module or a program's register access first needs it."""
        from ..nvdla.machine import machine

        return machine(self._process).cores[self.index]


class Dla:
    """The DLA cores of the simulated machine; ``cudla_sim.dla``."""

    if TYPE_CHECKING:
        check = staticmethod(check_of_boards)
    else:

        @staticmethod
        def check(model, board="orin", **options):
            """What TensorRT would put on the DLA of a board; see ``boards.checking.check``."""
            from ..boards.checking import check

            return check(model, board, **options)

    def __init__(self, process: Process) -> None:
        self.process = process
        self.cores = [
            DlaCore(process, index) for index in range(process.config.of(NvdlaSettings).dla_count)
        ]
        self.lock = threading.Lock()
        process.closers.append(self.close)

    @property
    def devices(self) -> list[Device]:
        """The open device handles, in order of creation."""
        open_ones = [d for core in self.cores for d in core.handles]
        when = "one is there from cudlaCreateDevice to cudlaDestroyDevice"
        return Live(open_ones, "devices", when)

    def open(self, index: int, mode: int) -> Device:
        """Raises CudlaError: InvalidParam for a core that is not there, OutOfResources when all
        16 handles of the core are in use."""
        if not 0 <= index < len(self.cores):
            raise CudlaError(
                Status.cudlaErrorInvalidParam,
                f"device is {index}; {self._cores_in_words()}",
            )
        core = self.cores[index]
        with self.lock:
            if len(core.handles) >= MAX_HANDLES:
                raise CudlaError(
                    Status.cudlaErrorOutOfResources,
                    f"{core.name} has {MAX_HANDLES} open handles, its maximum; destroy one first",
                )
            device = Device(self, core, mode)
            core.handles.append(device)
        return device

    def _cores_in_words(self) -> str:
        board = self.process.config.of(Settings).board
        if board and not self.cores:
            return f"{BOARDS[board].title} has no DLA"
        return f"there are {len(self.cores)} DLA core(s), numbered from 0"

    def close(self) -> None:
        for device in self.devices:
            device.queue.drain(1.0)
            device.close()


class Exclusive:
    """A device handle's lock as a context; a generator would cost a microsecond a call."""

    def __init__(self, device: Device) -> None:
        self._device = device

    def __enter__(self) -> Device:
        self._device.lock.acquire()
        try:
            self._device.require_open()
        except CudlaError:
            self._device.lock.release()
            raise
        return self._device

    def __exit__(self, *_: object) -> None:
        self._device.lock.release()


class Device:
    """One device handle: its mode, modules, memory, and the tasks submitted through it."""

    def __init__(self, dla: Dla, core: DlaCore, mode: int) -> None:
        self.process = dla.process
        self.core = core
        self.mode = mode
        self.hybrid = mode == Mode.CUDLA_CUDA_DLA
        self.context = cuda.current() if self.hybrid else None
        """Whose streams tasks take their turn on, in hybrid mode."""
        self.memory = DeviceMemory(
            dla.process,
            f"the memory of handle {next(_numbers)} on {core.name}",
            lambda: [d.memory for d in dla.devices if d is not self],
        )
        self.known = Known(self.memory.space, dla.process.memory)
        self.modules: list[Module | DiagnosticsModule] = []
        self.queue = Queue(f"{core.name} queue")
        self.timeout_ms = DEFAULT_TIMEOUT_MS
        self.pending: Events = NO_EVENTS
        """What an event-only submission stored for the next task."""
        self.tasks: list[Task] = []  # submitted and not ended
        self.last_status = int(Status.cudlaSuccess)
        self.last_explanation = ""
        self._unreported: CudlaError | None = None
        self.lock = threading.RLock()
        self._exclusive = Exclusive(self)
        """Held by every call that changes the handle; see ``exclusive``."""
        self._results_lock = threading.Lock()  # tasks and their results, which the worker changes
        self.closed = False

    @property
    def name(self) -> str:
        return self.core.name

    def __repr__(self) -> str:
        return f"<{self.core.name} handle, {'hybrid' if self.hybrid else 'standalone'}>"

    def exclusive(self) -> Exclusive:
        """Locks the handle for a call that changes it, so that such calls run one after the other.

        The cuDLA reference describes one lock for all handles; one for each has the same results.
        Entering it raises CudlaError (InvalidDevice) when another thread destroyed the handle.
        """
        return self._exclusive

    def require_open(self) -> None:
        """Raises CudlaError (InvalidDevice) when the handle was destroyed."""
        if self.closed:
            raise CudlaError(
                Status.cudlaErrorInvalidDevice,
                "the device handle was destroyed by another thread during this call",
            )

    # --- modules ---

    def load(self, image: bytes | None) -> Module | DiagnosticsModule:
        """Loads a loadable, a network in parts, or for None the diagnostics module. Raises
        CudlaError."""
        if self.modules and not self.process.config.of(Settings).multi_module:
            raise unsupported(
                "this device handle holds a module already; unload it first, or set "
                "CUDLA_SIM_MULTI_MODULE=1 for the behaviour of newer releases"
            )
        module: Module | DiagnosticsModule
        if image is None:
            from .diagnostics import DiagnosticsModule

            module = DiagnosticsModule(self.memory, self.core.nvdla.config.name)
        else:
            from ..nvdla import load_warnings
            from ..nvdla.loadable import PACKAGE
            from .module import Module

            kind = Module
            if image.startswith(PACKAGE):
                from .parts import PartsModule

                kind = PartsModule
            margin = self.process.config.general.margin
            module = kind(image, self.memory, self.core.nvdla.settle, margin)
            for loadable, hardware in module.loadables:
                load_warnings.warn(loadable, hardware, self.process.config.of(NvdlaSettings).checks)
        module.owner = self
        self.modules.append(module)
        return module

    def unload(self, module: Module | DiagnosticsModule) -> None:
        """Raises CudlaError (Umd) while a submitted task still needs the module."""
        self.reap()
        if module.uses:
            raise CudlaError(
                Status.cudlaErrorUmd,
                f"{module.uses} submitted task(s) still need this module; wait for them first",
            )
        self.modules.remove(module)
        self.known.forget()
        module.unload()

    # --- tasks ---

    def enqueue(self, task: Task) -> Fence:
        """Standalone mode: runs the task after all earlier ones and its waits."""
        self.tasks.append(task)
        task.submitted = self.queue.submit(task.run, task.waits, trivial=task.noop)
        return task.submitted

    def enqueue_on(self, stream: Any, task: Task) -> None:
        """Hybrid mode: the task takes its turn on the CUDA stream."""
        self.tasks.append(task)
        task.stream = stream
        task.submitted = stream.enqueue(task.run, trivial=task.noop)

    def reap(self) -> None:
        """Forgets tasks that a ruined CUDA context threw away before they started."""
        with self._results_lock:
            for task in list(self.tasks):
                if task.state == "queued" and task.submitted and task.submitted.reached:
                    self.tasks.remove(task)
                    task.cancel()

    def execute(self, task: Task) -> Any:
        """Runs a task's network on the core. Raises CudlaError with the engine's status."""
        module = task.module
        if self.process.faults.active:
            self._check_faults()
        deadline = monotonic() + self.timeout_ms / 1000
        try:
            if module.diagnostics:
                report = module.run(self.core.nvdla, task.outputs, deadline)
            elif module.run is not None:
                report = module.run(self.core.nvdla, task.inputs, task.outputs, deadline)
            else:
                report = self.core.nvdla.run(module.network, task.inputs, task.outputs, deadline)
        except EngineTimeout as error:
            raise CudlaError(Status.cudlaErrorDlaErrEngineTimeout, str(error)) from None
        except MemoryError as error:
            raise CudlaError(Status.cudlaErrorDlaErrNoMem, str(error)) from None
        except (NvdlaError, MemoryFault) as error:
            raise CudlaError(Status.cudlaErrorDlaErrInvalidInput, str(error)) from None
        for entry, descriptor in zip(task.statistics, module.statistics, strict=False):
            cycles = self.process.config.general.time == "hardware"
            times = self._hardware_times(module, report) if cycles else _host_times(report)
            statistics.write(entry.array[: descriptor.size], times, cycles)
        if self.process.timed:
            self._note(module)
        return report

    def _hardware_times(
        self, module: Module | DiagnosticsModule, report: TaskReport
    ) -> list[statistics.LayerTime]:
        """The cycles that the layers would take."""
        from ..nvdla.timing.parameters import Surroundings

        timed = module.timed(Surroundings.of(self.process.config))
        operations = timed.of_layers([layer.unit for layer in report.layers])
        return [
            statistics.LayerTime(layer_name(layer), operation.start, operation.end)
            for layer, operation in zip(report.layers, operations, strict=True)
            if operation is not None
        ]

    def timestamp_us(self) -> int | None:
        """Hardware time of its core, if programs are to see that."""
        if self.process.config.general.time != "hardware":
            return None
        return self.process.timeline.clock_us(self.core.nvdla.name)

    def _note(self, module: Module | DiagnosticsModule) -> None:
        """Adds a task to the hardware time of its core."""
        from ..nvdla.timing.parameters import Surroundings

        around = Surroundings.of(self.process.config)
        timed = module.timed(around)
        hertz = around.clock_mhz * 1e6
        step = Step(self.core.nvdla.name, "task", timed.cycles / hertz, timed.cycles)
        parts = [
            Part(o.unit, f"operation {o.index}", o.start / hertz, o.end / hertz, _details(o))
            for o in timed.operations
        ]
        self.process.timeline.add(step, parts=parts)

    def _check_faults(self) -> None:
        fault = self.process.faults.chosen(_FAULTS)
        if fault is not None:
            point, status = fault
            raise CudlaError(status, f"the task was made to fail by the injected fault {point}")

    def finished(self, task: Task, begin: int) -> None:
        """Called in the worker when a task ended, before its fences are signaled."""
        with self._results_lock:
            self.tasks.remove(task)
            if not task.noop:  # hardware did not execute it
                self.last_status = task.status
                self.last_explanation = task.explanation
            if task.state == "failed":
                self._unreported = CudlaError(task.status, task.explanation)
        if task.state == "failed" and self.hybrid:
            cuda.report_external_fault(task.stream, task.explanation)

    def raise_earlier_fault(self) -> None:
        """Calls marked so in the reference report the fault of an earlier task, once."""
        if self._unreported is not None:
            with self._results_lock:
                error, self._unreported = self._unreported, None
            if error is None:  # another thread reported it
                return
            raise CudlaError(error.status, f"an earlier task failed: {error.explanation}")

    def last_error(self) -> tuple[int, str]:
        """Status and explanation of the task that the hardware executed last."""
        with self._results_lock:
            self._unreported = None
            return self.last_status, self.last_explanation

    # --- end ---

    def destroy(self) -> None:
        """cudlaDestroyDevice. Raises CudlaError (Umd) while submitted tasks have not ended."""
        self.reap()
        if self.tasks:
            raise CudlaError(
                Status.cudlaErrorUmd,
                f"{len(self.tasks)} submitted task(s) have not ended; wait for their fences or "
                "their stream first",
            )
        self.close()

    def close(self) -> None:
        with self.lock:
            if self.closed:
                return
            self.closed = True
        self.queue.close()
        for module in list(self.modules):
            self.modules.remove(module)
            module.unload()
        self.known.forget()
        self.memory.release_all()
        if self in self.core.handles:
            self.core.handles.remove(self)


def _host_times(report: TaskReport) -> list[statistics.LayerTime]:
    return [
        statistics.LayerTime(layer_name(layer), layer.start_ns, layer.end_ns)
        for layer in report.layers
    ]


def _details(o: TimedOperation) -> dict[str, Any]:
    """What a trace says of an operation in hardware time."""
    return {
        "shapes": o.shapes,
        "precision": o.precision,
        "cycles": o.end - o.start,
        "bound": o.bound,
        "bytes_read": o.bytes_read,
        "bytes_written": o.bytes_written,
        "macs": o.macs,
        "mac_utilization": o.mac_utilization,
    }


def layer_name(layer: LayerRecord) -> str:
    """The name of a layer in statistics: units, numbers of its operations, shapes."""
    units = layer.unit.split("+")
    if len(units) == len(layer.operations):
        units = [f"{unit}_{op}" for unit, op in zip(units, layer.operations, strict=True)]
    return f"{' + '.join(units)} [{layer.shapes}]"


def dla(process: Process) -> Dla:
    """The DLA cores of a process."""
    return process.family("dla", Dla)
