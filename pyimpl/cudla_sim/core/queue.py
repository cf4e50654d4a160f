"""An in-order worker: what an engine or a stream is, seen from the host."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Iterable
from time import sleep

from . import threads
from .fence import Fence, Timeline

Work = Callable[[], None]


class Job:
    """Work that starts when its ``waits`` are reached; ``done`` is reached when it ended."""

    __slots__ = ("done", "error", "waits", "work")

    def __init__(self, work: Work, waits: tuple[Fence, ...], done: Fence) -> None:
        self.work = work
        self.waits = waits
        self.done = done
        self.error: BaseException | None = None


class Queue:
    """Runs jobs one after the other in a thread of its own. Submitting never blocks.

    The thread starts with the first job and is a daemon: a process may end while it works. A job
    that raises is recorded (``on_error``) and does not stop the queue. ``progress`` counts ended
    jobs, so a fence on it says that everything submitted up to a point is over.
    """

    def __init__(
        self, name: str, on_error: Callable[[Job, BaseException], None] | None = None
    ) -> None:
        self.name = name
        self.progress = Timeline(f"progress of {name}")
        self._on_error = on_error
        self._jobs: deque[Job] = deque()
        self._lock = threading.Lock()
        self._wakeup = threading.Lock()  # held while the worker has nothing to do
        self._wakeup.acquire()
        self._sleeping = False
        self._thread: threads.Started | None = None
        self._closed = False

    def submit(self, work: Work, waits: Iterable[Fence] = (), *, trivial: bool = False) -> Fence:
        """Appends work; the fence is reached when it (and all before it) ended.

        ``trivial`` work does not compute or wait: with nothing before it, it is done at once, in
        the calling thread, which saves waking the worker. Raises MemoryError when the system gives
        no thread; the queue is then as it was.
        """
        lock = self._lock
        lock.acquire()  # twice as fast as ``with``
        try:
            if self._closed:
                raise RuntimeError(f"{self.name} is closed")
            needed = tuple(waits)
            at_once = trivial and self.progress.settled
            if at_once and (not needed or all(fence.reached for fence in needed)):
                job = Job(work, needed, self.progress.reserve())
                self._perform(job)
                return job.done
            self._begin()
            job = Job(work, needed, self.progress.reserve())
            self._jobs.append(job)
            if self._sleeping:
                self._sleeping = False
                self._wakeup.release()
            return job.done
        finally:
            lock.release()

    def pass_by(self) -> Fence | None:
        """For work that is done elsewhere while the queue has none: it is not idle until ``passed``
        gets this fence, and jobs that come meanwhile must wait for it. None: it has work.

        What is not done elsewhere after all can be submitted without failing. Raises MemoryError.
        """
        lock = self._lock
        lock.acquire()
        try:
            if self._closed:
                return None
            if self._thread is None:
                self._begin()
            return self.progress.reserve_settled()
        finally:
            lock.release()

    def passed(self, done: Fence) -> None:
        """The work ended."""
        try:
            self.progress.advance(done.value)
        except MemoryError:
            self._reach(done.value)

    def begin(self) -> None:
        """Makes sure that there is a worker, so that ``submit`` cannot fail. Raises MemoryError."""
        with self._lock:
            self._begin()

    def _begin(self) -> None:
        if self._thread is None:
            self._thread = threads.start(self._run, self.name)

    @property
    def last(self) -> Fence:
        """Reached when everything submitted so far ended."""
        return Fence(self.progress, self.progress.reserved)

    @property
    def idle(self) -> bool:
        return self.progress.settled

    def drain(self, timeout_s: float | None = None) -> bool:
        """Waits until everything submitted so far ended; False after ``timeout_s``."""
        return self.last.wait(timeout_s)

    def close(self) -> None:
        """Ends the worker after the jobs it still has. Does not wait."""
        with self._lock:
            self._closed = True
            if self._sleeping:
                self._sleeping = False
                self._wakeup.release()

    def _next(self) -> Job | None:
        while True:
            with self._lock:
                if self._jobs:
                    return self._jobs.popleft()
                if self._closed:
                    return None
                self._sleeping = True
            self._wakeup.acquire()

    def _run(self) -> None:
        while True:
            try:
                job = self._next()
            except MemoryError:  # nothing was taken
                continue
            if job is None:
                return
            self._perform(job)
            del job

    def _perform(self, job: Job) -> None:
        try:
            for fence in job.waits:
                fence.wait()
            job.work()
        except BaseException as error:  # a worker must survive whatever a job does
            job.error = error
            if self._on_error is not None:
                self._on_error(job, error)
        finally:
            self._reach(job.done.value)

    def _reach(self, value: int) -> None:
        """Whatever happens: somebody waits for it."""
        while True:
            try:
                self.progress.advance(value)
                return
            except MemoryError:  # the counter is there; its waiters are told with the next try
                sleep(0.001)
