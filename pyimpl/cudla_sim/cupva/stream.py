"""Streams: submissions in order, each a list of commands, on the VPUs of an engine."""

from __future__ import annotations

import threading
from collections.abc import Callable
from queue import Empty, SimpleQueue
from time import monotonic

from ..core import threads
from ..core.fence import Fence
from ..core.queue import Queue
from ..core.shortage import shortage
from .again import Again
from .batch import Batch
from .carried import CarriedQueue
from .commands import Barrier, Command, Memcpy, RequestFences, RunProgram, WaitOnFences
from .errors import CupvaError, Error, error
from .posted import Ended, Posted, Signal, suits
from .program import Program
from .statuses import Status
from .sync import Help

VPU0, VPU1, VPU_ANY = 0, 1, 2
MAX_OUTSTANDING = 256
"""Submissions that a stream holds; the next one waits for room (submission timeout)."""


class Vpu:
    """One vector processor: runs one program at a time."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.lock = threading.Lock()


class PvaEngine:
    """A PVA with two VPUs."""

    def __init__(
        self,
        number: int,
        run: Callable[[Program, int, float | None], None],
        tell: Callable[[CupvaError], None],
        post: Callable[[Program, int, Ended], Help | None],
    ) -> None:
        self.number = number
        self.tell = tell
        """Hears why a command failed."""
        self.vpus = [Vpu(f"PVA{number} VPU{i}") for i in range(2)]
        self._run = run
        self._post = post
        self._lock = threading.Lock()
        self._free = threading.Condition(self._lock)
        self._waiting = 0
        self._busy: set[int] = set()

    def run(self, program: Program, affinity: int, deadline: float | None) -> None:
        """Runs a program when a VPU that it may use is free.

        Raises CupvaError: what the program ended with, CUPVA_COMMAND_EXECUTION_TIMEOUT.
        """
        allowed = (0, 1) if affinity == VPU_ANY else (affinity,)
        with self._lock:
            while not (idle := [v for v in allowed if v not in self._busy]):
                left = None if deadline is None else deadline - monotonic()
                if left is not None and left <= 0:
                    raise timeout("no VPU became free in time")
                self._waiting += 1
                try:
                    self._free.wait(left)
                finally:
                    self._waiting -= 1
            chosen = idle[0]
            self._busy.add(chosen)
        try:
            self._run(program, chosen, deadline)
        finally:
            self._release(chosen)

    def post(self, program: Program, affinity: int, ended: Ended) -> Help | None:
        """Begins a program if it can begin at once; ``ended`` gets what it ended with, and what
        this returns waits for it. None: it did not begin."""
        chosen = 0 if affinity == VPU_ANY else affinity
        with self._lock:
            if chosen in self._busy:
                chosen = 1
                if affinity != VPU_ANY or chosen in self._busy:
                    return None
            self._busy.add(chosen)

        def freed(failure: CupvaError | None) -> None:
            self._release(chosen)
            ended(failure)

        help_it: Help | None = None
        try:
            help_it = self._post(program, chosen, freed)
        finally:
            if help_it is None:
                self._release(chosen)
        return help_it

    def _release(self, vpu: int) -> None:
        self._lock.acquire()  # twice as fast as ``with``
        try:
            self._busy.discard(vpu)
            if self._waiting:
                self._free.notify_all()
        finally:
            self._lock.release()


def _unforeseen(failure: BaseException) -> CupvaError:
    """What a command ends with that met something nobody foresaw."""
    lacking = shortage(failure)
    if lacking:
        return error(Error.CUPVA_DRIVER_API_ERROR, lacking)
    text = f"internal error: {type(failure).__name__}: {failure}"
    return error(Error.CUPVA_INTERNAL_ERROR, text)


def _nobody(statuses: list[Status]) -> None:
    """The program has them, or does not want them."""


def timeout(explanation: str) -> CupvaError:
    return error(Error.CUPVA_COMMAND_EXECUTION_TIMEOUT, explanation)


class Stream:
    """Submissions begin and end in the order of submission."""

    def __init__(
        self,
        engine: PvaEngine,
        affinity: int,
        name: str = "stream",
        queue: Queue | CarriedQueue | None = None,
    ) -> None:
        self.engine = engine
        self.affinity = affinity
        self.name = name
        self._queue = queue or Queue(name)
        self._room: SimpleQueue[None] = SimpleQueue()  # a place for each that may be queued
        for _ in range(MAX_OUTSTANDING):
            self._room.put(None)
        self._order = threading.Lock()
        self._posted: Posted | None = None
        self.known: list[Again] = []
        """Submissions that may come again, the latest first."""
        self.remembers = queue is None
        """What lies in somebody else's queue does not begin at once."""

    def submit(
        self,
        batch: Batch,
        execution_us: int,
        submission_us: int,
        publish: Callable[[list[Status]], None] = lambda statuses: None,
    ) -> None:
        """Queues a submission. Timeouts in microseconds, negative for none. ``publish`` gives the
        program its statuses; it is called once nothing but its fences can refuse the submission.

        Raises CupvaError(CUPVA_COMMAND_SUBMISSION_TIMEOUT) when there is no room in time,
        MemoryError without a thread to work; then no fence and no status was touched.
        """
        wait_s = None if submission_us < 0 else submission_us / 1e6
        try:
            self._room.get(timeout=wait_s)
        except Empty:
            raise error(
                Error.CUPVA_COMMAND_SUBMISSION_TIMEOUT,
                f"{MAX_OUTSTANDING} submissions are queued and none ended in {submission_us} us",
            ) from None

        try:
            with self._order:
                if suits(batch, execution_us) and self._at_once(batch, publish):
                    return
                self._queue_up(batch, execution_us, publish)
        except BaseException:
            self._room.put(None)
            raise

    def _queue_up(
        self, batch: Batch, execution_us: int, publish: Callable[[list[Status]], None]
    ) -> None:
        before = self._posted

        def work() -> None:
            try:
                if before is not None:
                    before.wait()
                _Execution(self, batch, execution_us).run()
            finally:
                self._room.put(None)

        if not batch.begun:
            self._queue.begin()
            batch.begin()
            publish(batch.statuses)
        self._queue.submit(work)

    def _at_once(self, batch: Batch, publish: Callable[[list[Status]], None]) -> bool:
        """Begins a submission in this thread; False: it has to be queued."""
        program = batch.commands[0]
        assert isinstance(program, RunProgram), "suits() looked"
        done = self._queue.pass_by()
        if done is None:
            return False
        batch.begin()
        publish(batch.statuses)
        signals = [batch.signals.get(n, []) for n in range(1, len(batch.commands))]
        return self._post(program.program, signals, batch.statuses, done)

    def again(self, plan: Again, publish: Callable[[list[Status]], None] | None) -> bool:
        """Submits what was submitted before; no status is made without ``publish``. False: it has
        to be submitted as if it had never been, which then says what is wrong with it."""
        try:
            self._room.get_nowait()
        except Empty:
            return False
        begun = False
        try:
            with self._order:
                done = self._queue.pass_by()
                if done is None:
                    batch = Batch(plan.commands, plan.in_order)
                    self._queue_up(batch, -1, publish or _nobody)
                    begun = True
                    return True
                begun = True
                signals = plan.reserve()
                statuses: list[Status] = []
                if publish is not None:
                    statuses = [Status() for _ in plan.commands]
                    publish(statuses)
                if not self._post(plan.program, signals, statuses, done):
                    self._queue_up(plan.batch(signals, statuses), -1, _nobody)
        finally:
            if not begun:
                self._room.put(None)
        return True

    def _post(
        self, program: Program, signals: list[list[Signal]], statuses: list[Status], done: Fence
    ) -> bool:
        """False: it did not begin, and has to be queued."""
        posted = Posted(signals, statuses, done, self.engine.tell)

        def ended(failure: CupvaError | None) -> None:
            try:
                posted.end(failure)
            finally:
                if self._posted is posted:
                    self._posted = None
                self._queue.passed(done)
                self._room.put(None)

        posted.begin()
        self._posted = posted
        try:
            help_it = self.engine.post(program, self.affinity, ended)
        except Exception:  # the queue meets it again, where it becomes the command's status
            help_it = None
        if help_it is None:
            posted.give_up()
            self._posted = None
            self._queue.passed(done)
            return False
        posted.help = help_it
        return True

    def synchronize(self) -> None:
        posted = self._posted
        if posted is not None:
            posted.help(-1)
        self._queue.drain()

    def close(self) -> None:
        self._queue.close()


class _Execution:
    """A submission while it is worked off."""

    def __init__(self, stream: Stream, batch: Batch, execution_us: int) -> None:
        self.stream = stream
        self.batch = batch
        self.execution_us = execution_us
        self.deadline: float | None = None
        self._running: list[threads.Started] = []

    def _start_clock(self) -> None:
        if self.deadline is None and self.execution_us >= 0:
            self.deadline = monotonic() + self.execution_us / 1e6

    def run(self) -> None:
        # Waiting at the very beginning is not execution: the clock starts after it.
        if not isinstance(self.batch.commands[0], WaitOnFences):
            self._start_clock()
        try:
            for number, command in enumerate(self.batch.commands):
                self._one(number, command)
                self._start_clock()
        finally:
            self._join()

    def _one(self, number: int, command: Command) -> None:
        status = self.batch.statuses[number]
        if isinstance(command, RunProgram) and not self.batch.in_order:
            try:
                self._running.append(
                    threads.start(
                        lambda: self._guarded(status, lambda: self._program(command)),
                        f"{self.stream.name} program",
                    )
                )
            except MemoryError:  # the system has no more threads: one after the other, then
                self._guarded(status, lambda: self._program(command))
            return
        self._guarded(status, lambda: self._perform(number, command))

    def _guarded(self, status: Status, work: Callable[[], None]) -> None:
        try:
            work()
        except CupvaError as failure:
            status.end(failure)
            self.stream.engine.tell(failure)
        except BaseException as failure:
            status.end(_unforeseen(failure))
            if not shortage(failure):
                raise
        else:
            status.end(None)

    def _perform(self, number: int, command: Command) -> None:
        if isinstance(command, RunProgram):
            self._program(command)
        elif isinstance(command, RequestFences):
            self._join()
            for sync, value in self.batch.signals[number]:
                sync.signal(value)
        elif isinstance(command, WaitOnFences):
            self._wait(self.batch.waits[number])
        elif isinstance(command, Barrier):
            self._join()
        elif isinstance(command, Memcpy):
            command.run()

    def _program(self, command: RunProgram) -> None:
        self.stream.engine.run(command.program, self.stream.affinity, self.deadline)

    def _wait(self, fences: list[Fence]) -> None:
        for fence in fences:
            left = None if self.deadline is None else max(0.0, self.deadline - monotonic())
            if not fence.wait(left):
                raise timeout(f"a fence was not reached in {self.execution_us} us")

    def _join(self) -> None:
        for thread in self._running:
            thread.join()
        self._running.clear()
