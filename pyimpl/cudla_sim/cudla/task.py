"""A submission, step by step: what a task needs, when it starts, and how it ends."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from time import perf_counter_ns
from typing import TYPE_CHECKING, Any, Protocol

from ..constants.cudla import cudlaFenceType as FenceType
from ..constants.cudla import cudlaStatus as Status
from ..core.fence import Fence
from ..core.process import Process
from ..core.shortage import shortage
from .errors import CudlaError, invalid_address, invalid_param, unsupported

if TYPE_CHECKING:
    from ..nvdla.task_report import TaskReport
    from ..nvsci.sync import SyncObj
    from .bound import AnyModule, Bound
    from .memory import DeviceMemory, Registered, Semaphore


class TaskHost(Protocol):
    """What a task needs of the device handle that it was submitted to (``device.Device``)."""

    process: Process
    tasks: list[Task]

    @property
    def name(self) -> str:
        """Its core's name."""

    def execute(self, task: Task) -> TaskReport:
        """Run the task's network. Raises CudlaError."""

    def finished(self, task: Task, begin: int) -> None:
        """The task ended; its fences are signaled next."""

    def timestamp_us(self) -> int | None:
        """What fences that are signaled now get as their time; None: when it is."""


MAX_FENCES = 29  # real driver: pre-fences and EOF fences a submission can carry


@dataclass
class WaitEvent:
    """A fence to wait for; ``sync`` is None when the program's fence is already cleared."""

    sync: SyncObj | None
    fence: Fence | None
    kind: int
    semaphore: Semaphore | None = None


@dataclass
class SignalEvent:
    """A semaphore to signal. ``fill`` writes the program's fence; None when it passed none."""

    device_address: int
    kind: int | None
    fill: Callable[[SyncObj, int], None] | None
    semaphore: Semaphore | None = None
    fence: Fence | None = None

    @property
    def start_of_frame(self) -> bool:
        return self.kind == FenceType.CUDLA_NVSCISYNC_FENCE_SOF


@dataclass(slots=True)
class TaskRequest:
    """One cudlaTask as decoded from C.

    ``inputs`` and ``outputs`` are None for NULL arrays. The counts are what the program says; the
    lists hold at most as many pointers as a task of this module can have.
    """

    module: AnyModule | None
    inputs: Sequence[int] | None
    outputs: Sequence[int] | None
    input_count: int
    output_count: int
    waits: list[WaitEvent] | None
    signals: list[SignalEvent] | None

    @property
    def key(self) -> object:
        """Equal for requests of the same tensors."""
        inputs, outputs = self.inputs, self.outputs
        return (
            self.module,
            self.input_count,
            self.output_count,
            None if inputs is None else tuple(inputs),
            None if outputs is None else tuple(outputs),
        )


@dataclass(slots=True)
class Events:
    """Waits and signals that a submission carries."""

    waits: list[WaitEvent] = field(default_factory=list)
    signals: list[SignalEvent] = field(default_factory=list)

    def check(self, memory: DeviceMemory) -> None:
        """The rules on events (cuDLA reference, cudlaSubmitTask). Raises CudlaError."""
        if not self.waits and not self.signals:
            return
        for index, wait in enumerate(self.waits):
            if wait.kind != FenceType.CUDLA_NVSCISYNC_FENCE:
                raise unsupported(
                    f"waitEvents.preFences[{index}].type is {wait.kind}; only "
                    "CUDLA_NVSCISYNC_FENCE (1) can be waited for"
                )
            if wait.sync is None:
                continue
            wait.semaphore = next(
                (s for s in memory.semaphores.values() if s.sync is wait.sync), None
            )
            if wait.semaphore is None:
                raise invalid_address(
                    f"waitEvents.preFences[{index}] belongs to a sync object that was not "
                    "imported with cudlaImportExternalSemaphore on this device"
                )
        sync_points = 0
        for index, signal in enumerate(self.signals):
            signal.semaphore = memory.semaphores.get(signal.device_address)
            if signal.semaphore is None:
                raise invalid_address(
                    f"signalEvents.devPtrs[{index}] ({signal.device_address:#x}) is no semaphore "
                    "that cudlaImportExternalSemaphore returned on this device"
                )
            sync = signal.semaphore.sync
            if sync.attributes.cpu_signals:
                raise CudlaError(
                    Status.cudlaErrorNvSci,
                    f"signalEvents.devPtrs[{index}]: the sync object's signaler is the CPU; "
                    "reconcile it with cudlaGetNvSciSyncAttributes(CUDLA_NVSCISYNC_ATTR_SIGNAL)",
                )
            if signal.fill is None and sync.is_sync_point:
                raise invalid_param(
                    f"signalEvents.eofFences[{index}] is NULL; only deterministic semaphores "
                    "can be signaled without a fence"
                )
            if signal.kind is not None and signal.kind not in (1, 2):
                raise unsupported(
                    f"signalEvents.eofFences[{index}].type is {signal.kind}; "
                    "CUDLA_NVSCISYNC_FENCE (1) or CUDLA_NVSCISYNC_FENCE_SOF (2)"
                )
            sync_points += sync.is_sync_point
        starts = sum(s.start_of_frame for s in self.signals)
        if len(self.waits) + starts > MAX_FENCES or len(self.signals) - starts > MAX_FENCES:
            raise invalid_param(
                f"{len(self.waits)} waits, {starts} SOF and {len(self.signals) - starts} EOF "
                f"fences; at most {MAX_FENCES} waits and SOF fences and {MAX_FENCES} EOF fences"
            )
        if sync_points > 1:
            raise invalid_param(
                f"the effective signal events hold {sync_points} sync points; one is possible "
                "(deterministic semaphores are not limited)"
            )

    def reserve(self) -> None:
        """Promises the fences to the program: SOF ones come before EOF ones."""
        if not self.signals:
            return
        for signal in sorted(self.signals, key=lambda s: not s.start_of_frame):
            if signal.semaphore is not None and signal.fence is None:
                signal.fence = signal.semaphore.sync.reserve()
                if signal.fill is not None:
                    signal.fill(signal.semaphore.sync, signal.fence.value)


NO_EVENTS = Events()
"""What most tasks have; nothing is ever put into it."""

_SUCCESS = int(Status.cudlaSuccess)


class Task:
    """One task on its way through a device. ``state``: queued, running, done or failed."""

    __slots__ = (
        "_held",
        "bound",
        "device",
        "events",
        "explanation",
        "noop",
        "report",
        "state",
        "status",
        "stream",
        "submitted",
    )

    def __init__(self, device: TaskHost, bound: Bound, noop: bool, events: Events) -> None:
        self.device = device
        self.bound = bound
        self.events = events
        self.noop = noop
        self.state = "queued"
        self.status = _SUCCESS
        self.explanation = ""
        self.report: Any = None
        self.stream: Any = None
        self.submitted: Fence | None = None
        held = bound.held
        if events is not NO_EVENTS:
            used: list[Any] = [*events.waits, *events.signals]
            held = [*held, *(e.semaphore for e in used if e.semaphore is not None)]
        self._held = held
        for entry in held:
            entry.uses += 1

    @property
    def module(self) -> AnyModule:
        return self.bound.module

    @property
    def inputs(self) -> Sequence[int]:
        """Engine addresses of its input tensors."""
        return self.bound.inputs

    @property
    def outputs(self) -> Sequence[int]:
        """Engine addresses of its output tensors."""
        return self.bound.outputs

    @property
    def statistics(self) -> Sequence[Registered]:
        """Where its statistics go."""
        return self.bound.statistics

    @property
    def waits(self) -> list[Fence]:
        return [w.fence for w in self.events.waits if w.fence is not None]

    def run(self) -> None:
        """Runs in the worker, after all waits. Fences are signaled whatever happens."""
        self.state = "running"
        if self.events is not NO_EVENTS:
            self._signal(start_of_frame=True)
        begin = perf_counter_ns()
        try:
            if not self.noop:
                self.report = self.device.execute(self)
            self.state = "done"
        except CudlaError as error:
            self._failed(error.status, error.explanation)
        except BaseException as error:
            lacking = shortage(error)
            if lacking:
                self._failed(Status.cudlaErrorOutOfResources, lacking)
            else:
                self._failed(Status.cudlaErrorUnknown, f"internal error: {error!r}")
                raise
        finally:
            # Everything is given back before anybody can see the end of the task: a program
            # unregisters its memory as soon as a fence lets it.
            for entry in self._held:
                entry.uses -= 1
            self.device.finished(self, begin)
            if self.events is not NO_EVENTS:
                self._signal(start_of_frame=False)

    def promise(self) -> None:
        """Lets whoever waits for a fence of this task learn what keeps it."""
        for signal in self.events.signals:
            if signal.semaphore is not None and signal.fence is not None:
                signal.semaphore.sync.timeline.promise(signal.fence.value, self.describe)

    def describe(self) -> str:
        """``a task on DLA0 is queued; it waits for ...``."""
        who = f"a task on {self.device.name} is {self.state}"
        for index, wait in enumerate(self.events.waits):
            if wait.fence is not None and not wait.fence.reached:
                timeline, value = wait.fence
                return (
                    f"{who}; it waits for waitEvents.preFences[{index}] itself, value {value} of "
                    f"{timeline!r}: {timeline.pending(value)}"
                )
        earlier = [t for t in list(self.device.tasks) if t is not self]
        if self.state == "queued" and earlier and earlier[0].submitted is not self.submitted:
            return f"{who} behind {len(earlier)} other(s) of its handle; {earlier[0].describe()}"
        return who

    def cancel(self) -> None:
        """The task will never start: gives back what it holds."""
        self.state = "cancelled"
        for entry in self._held:
            entry.uses -= 1

    def _failed(self, status: int, explanation: str) -> None:
        self.state = "failed"
        self.status = int(status)
        self.explanation = explanation

    def _signal(self, *, start_of_frame: bool) -> None:
        for signal in self.events.signals:
            if signal.start_of_frame == start_of_frame and signal.semaphore and signal.fence:
                if self.device.process.faults.check("fence/never") is not None:
                    continue
                signal.semaphore.sync.signal(
                    signal.fence.value,
                    failed=not start_of_frame and self.state == "failed",
                    at_us=self.device.timestamp_us(),
                )
