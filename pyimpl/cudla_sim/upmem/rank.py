"""Ranks and their DPUs, and the jobs that each rank does in order."""

from __future__ import annotations

import threading
from collections.abc import Callable, Collection, Iterable, Iterator
from functools import cached_property
from typing import TYPE_CHECKING

from .. import lazy
from ..core import threads
from ..core.fence import Fence
from ..core.queue import Job, Queue
from ..core.shortage import shortage
from ..core.text import tell
from ..native.compiled import Words
from ..native.dpu_memory import Numbers, slot_numbers
from . import errors, notices
from .errors import DpuError, Status
from .memory import CIS_PER_RANK, DPUS_PER_CI, DPUS_PER_RANK, MRAM_SIZE, WRAM_OFFSET, WRAM_SIZE
from .profile import Profile
from .program import Program
from .symbols import Symbol
from .turns import LOOK_S as _LOOK_S
from .turns import Seat, Turn

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from .system import System
    from .workers.pool import Outcome
else:
    np = lazy.module("numpy")


class Dpu:
    """One DPU. ``slot`` is its place in the machine's memory, ``index`` its place in the rank."""

    def __init__(self, rank: Rank, index: int) -> None:
        self.rank = rank
        self.index = index
        self.slice, self.member = divmod(index, DPUS_PER_CI)
        self.in_matrix = self.member * CIS_PER_RANK + self.slice
        """Its place in the SDK's transfer matrices, where members of one number are neighbours."""
        self.slot = rank.id * DPUS_PER_RANK + index
        self.enabled = True
        self._program: Program | None = None
        self.fault: Outcome | None = None
        self.goes_on = False
        """A debugger lets it go on, and that is still queued behind other jobs of its rank."""
        self.stopped_by: Outcome | None = None
        """What it goes on from then."""
        self.handle = 0

    @property
    def program(self) -> Program | None:
        """What was loaded."""
        return self._program

    @program.setter
    def program(self, program: Program | None) -> None:
        self._program = program
        self.rank.machine.loads[0] += 1

    @property
    def id(self) -> int:
        """What dpu_get_id answers: rank, slice and member in one number."""
        return self.rank.id << 16 | self.slice << 8 | self.member

    @property
    def name(self) -> str:
        return f"{self.rank.id}.{self.slice}.{self.member}"

    @cached_property
    def alone(self) -> Selection:
        """This DPU as a set."""
        return Selection([self.rank], self)

    def __repr__(self) -> str:
        return f"<DPU {self.name}{'' if self.enabled else ', disabled'}>"

    @property
    def mram(self) -> NDArray[np.uint8]:
        """Its MRAM, 64 MiB, as the DPU has it now (uint8, a view; a read-only copy of a DPU on
        another machine)."""
        return self.bytes(0, MRAM_SIZE)

    @property
    def wram(self) -> NDArray[np.uint8]:
        """Its WRAM, 64 KiB (uint8, as ``mram``)."""
        return self.bytes(WRAM_OFFSET, WRAM_SIZE)

    def bytes(self, offset: int, size: int) -> NDArray[np.uint8]:
        """What lies in its slot, see ``memory``."""
        return self.rank.machine.store.read(self.slot, offset, size)

    @property
    def symbols(self) -> Symbols:
        """The program's symbols by name, as uint8 views of the DPU's memory."""
        return Symbols(self)

    @property
    def log(self) -> str:
        """What the last launch printed. Raises DpuError as dpu_log_read does."""
        from .log import read

        return read(self.name, self.program, self.bytes)


class Symbols:
    """``dpu.symbols["name"]``: the bytes of a symbol, shared with the DPU (a read-only copy of a
    DPU on another machine).

    ``.view(numpy.uint32)`` gives them another type. Raises DpuError: no program
    (DPU_ERR_NO_PROGRAM_LOADED), no such symbol (DPU_ERR_UNKNOWN_SYMBOL), a function
    (DPU_ERR_INVALID_IRAM_ACCESS).
    """

    def __init__(self, dpu: Dpu) -> None:
        self._dpu = dpu

    def _program(self) -> Program:
        if self._dpu.program is None:
            raise errors.error(Status.DPU_ERR_NO_PROGRAM_LOADED, f"{self._dpu!r} has no program")
        return self._dpu.program

    def __getitem__(self, name: str) -> NDArray[np.uint8]:
        symbol = self._program().symbol(name)
        if symbol.memory == "iram":
            raise errors.error(
                Status.DPU_ERR_INVALID_IRAM_ACCESS, f"{name} is code or a constant, not memory"
            )
        in_mram = symbol.memory == "mram"
        start = symbol.address & 0x07FF_FFFF if in_mram else WRAM_OFFSET + symbol.address
        return self._dpu.bytes(start, symbol.size)

    def __iter__(self) -> Iterator[str]:
        return iter(self._program().symbols)

    def __contains__(self, name: str) -> bool:
        return name in self._program().symbols

    def describe(self, name: str) -> Symbol:
        """Address and size in bytes."""
        return self._program().symbol(name)


class Rank:
    """64 DPUs that share a queue of jobs.

    Asynchronous operations are queued here and done in order; ranks do not wait for each other.
    The first failed job is remembered until dpu_sync asks for it; until then its rank leaves out
    what is queued and takes nothing more, as the SDK's library does (which never takes more again).
    """

    def __init__(self, machine: System, number: int, profile: Profile) -> None:
        self.machine = machine
        self.id = number
        self.profile = profile
        self.dpus = [Dpu(self, i) for i in range(DPUS_PER_RANK)]
        self.places = Words("uint64_t", DPUS_PER_RANK)
        """Host addresses that dpu_prepare_xfer set, by DPU index; 0 for none. The C side of
        dpu_prepare_xfer writes here."""
        self._callback_buffers: memoryview | None = None
        self.handle = 0
        self.place = 0
        """Which rank of its set it is."""
        self.first_dpu = 0
        """Index of its first enabled DPU in the allocated set (``dpu_offset`` of the library)."""
        self.launches = 0
        """Asynchronous launches that did not end yet."""
        self.lock = threading.RLock()
        self._error: tuple[str, DpuError] | None = None
        self._queue = Queue(f"rank {number}", self._failed)
        self._side: Queue | None = None
        """Jobs that need not wait for the DPUs, see ``beside``; made with the first one."""
        self.running = 0
        """Launches whose DPUs run now."""
        self._detached: list[threads.Started] = []
        self._room = threading.Condition()
        self.seat = Seat()
        """Counts its jobs, and the operations that have its DPUs to themselves. The C side copies
        at once while there are none."""
        self._workers: set[int] = set()
        """Threads that do a job of this rank now."""
        self.freed = False
        self.at_end: list[Callable[[], object]] = []
        """What somebody made for it, and gives back when it is freed."""
        """Given back: launches that are still queued are left out."""
        self.abandoned = False
        """The machine ended: what is still queued may not touch the program's memory any more."""
        self.refresh()

    def refresh(self) -> None:
        """To be called when ``enabled`` of a DPU changed."""
        self.enabled = [d for d in self.dpus if d.enabled]
        self.__dict__.pop("indexes", None)

    @cached_property
    def buffers(self) -> memoryview:
        """``places``, 64 bits each."""
        return memoryview(self.places.bytes()).cast("B").cast("Q")

    @cached_property
    def indexes(self) -> list[int]:
        """Of the enabled DPUs in ``buffers``."""
        return [d.index for d in self.enabled]

    def __repr__(self) -> str:
        return f"<rank {self.id}, {len(self.enabled)} DPUs>"

    @property
    def prepared(self) -> memoryview:
        """``buffers``, and others for a callback that the queue waits for: meanwhile the program
        prepares what is queued behind it."""
        if self not in self.machine.held_by_caller:
            return self.buffers
        if self._callback_buffers is None:
            self._callback_buffers = memoryview(bytearray(8 * DPUS_PER_RANK)).cast("Q")
        return self._callback_buffers

    def submit(self, job: str, work: Callable[[], None]) -> None:
        """Queues work; ``job`` is its name in an asynchronous error word.

        Waits while ``nrJobsPerRank`` jobs are queued, except in a callback of this rank.

        Raises DpuError with the word of a job that failed before, until dpu_sync has told it.
        """
        self._reserve()
        self._enqueue(job, work)

    def beside(self) -> None:
        """Waits until a job that runs beside the DPUs may begin: the jobs queued before it are
        over, or the last of them is a launch, and its DPUs run (dpu_thread_job.c of the SDK: such
        a job is ready though DPUs run, all others are not; none overtakes another)."""
        if self.is_own_thread:
            return
        if self._side is not None:
            self._side.drain()
        self._waiting_beside()()

    def settle(self) -> bool:
        """Waits until no job is queued or DPUs run, whichever comes first; True: DPUs run.

        What the SDK's lower layer does is never queued: it happens beside DPUs that run, or is
        refused. A launch that did not begin is waited for, so that its DPUs run for the caller.
        """
        while not (self.running or self.idle or self.is_own_thread):
            self._queue.drain(_LOOK_S)
            if self._side is not None and not self.running:
                self._side.drain(_LOOK_S)
        return self.running > 0

    def _waiting_beside(self) -> Callable[[], object]:
        last = self._queue.last

        def wait() -> None:
            if not last.reached:
                Fence(last.timeline, last.value - 1).wait()
                while not self.running and not last.wait(_LOOK_S):
                    pass

        return wait

    def _reserve(self) -> None:
        with self.lock:
            if self._error is not None:
                job, cause = self._error
                raise DpuError(
                    errors.async_word(job or "launch_rank", cause.status),
                    f"an earlier job of rank {self.id} failed ({job}: {cause.explanation}); its "
                    "queue takes no more until dpu_sync has told it",
                )
        with self._room:
            while self.seat.queued >= self.profile.nr_jobs_per_rank and not self.is_own_thread:
                self._room.wait()
            self.seat.queued += 1

    def _release(self) -> None:
        with self._room:
            self.seat.queued -= 1
            self._room.notify()

    def _enqueue(
        self,
        job: str,
        work: Callable[[], None],
        beside: bool = False,
        always: bool = False,
        calls: bool = False,
        waits: bool = False,
    ) -> None:
        queue = self._queue
        seats = [] if beside or waits else [self.seat]
        ready: Callable[[], object] | None = None
        if beside:
            ready = self._waiting_beside()
            with self.lock:
                if self._side is None:
                    self._side = Queue(f"beside rank {self.id}", self._failed)
            queue = self._side
        elif self._side is not None:
            ready = self._side.last.wait

        def run() -> None:
            if ready is not None:
                ready()
            me = threading.get_ident()
            self._workers.add(me)
            try:
                with self.machine.turns.on(seats, calls=calls):
                    if always or not self.stopped:
                        work()
            except DpuError as error:
                raise _JobFailed(job, error) from None
            finally:
                self._workers.discard(me)
                self._release()

        queue.submit(run)

    @property
    def stopped(self) -> bool:
        """What is queued is left out: a job before it failed, or the machine ended."""
        return self.abandoned or self._error is not None

    @property
    def is_own_thread(self) -> bool:
        """True in a job or callback of this rank: it must not wait for the queue it is in."""
        return threading.get_ident() in self._workers or self in self.machine.held_by_caller

    def detach(self, work: Callable[[], None]) -> None:
        """Runs work beside the queue; ``wait_all`` waits for it. What the program's function
        answers is dropped, as in the SDK's library (dpu_thread_job.c).

        Raises MemoryError when the system gives no thread for it.
        """

        def run() -> None:
            try:
                work()
            except DpuError as error:
                notices.explain(
                    "dpu_callback", f"{error.explanation}; DPU_CALLBACK_NONBLOCKING drops it"
                )
            except BaseException as error:
                self._broke(error)

        thread = threads.start(run, f"callback of rank {self.id}")
        with self.lock:
            self._detached = [t for t in self._detached if not t.ended]
            self._detached.append(thread)

    def wait(self) -> None:
        """Waits for the jobs that are queued now."""
        if not self.idle and not self.is_own_thread:
            self._queue.drain()
            if self._side is not None:
                self._side.drain()

    def drained(self, timeout_s: float) -> bool:
        """True when the jobs that are queued now ended in time."""
        return self.is_own_thread or self._queue.drain(timeout_s)

    def wait_all(self) -> None:
        """The same, for nonblocking callbacks too."""
        self.wait()
        with self.lock:
            pending, self._detached = self._detached, []
        for thread in pending:
            if thread.ident != threading.get_ident():
                thread.join()

    @property
    def idle(self) -> bool:
        return self._queue.idle and (self._side is None or self._side.idle)

    def fail(self, job: str, error: DpuError) -> None:
        with self.lock:
            if self._error is None:
                self._error = (job, error)

    def _failed(self, job: Job, error: BaseException) -> None:
        if isinstance(error, _JobFailed):
            self.fail(error.job, error.error)
        else:
            self._broke(error)

    def _broke(self, error: BaseException) -> None:
        lacking = shortage(error)
        if lacking:
            self.fail("", errors.error(Status.DPU_ERR_SYSTEM, lacking))
        else:
            tell(f"cudla-sim: internal error in a job of rank {self.id}: {error!r}")
            self.fail("", errors.error(Status.DPU_ERR_INTERNAL, repr(error)))

    def take_error(self) -> tuple[str, DpuError] | None:
        """The first failure since the last call."""
        with self.lock:
            found, self._error = self._error, None
        return found

    def close(self) -> None:
        self.freed = True
        self._queue.close()
        if self._side is not None:
            self._side.close()
        while self.at_end:
            self.at_end.pop()()

    def abandon(self) -> None:
        """``close`` without waiting; jobs that did not begin are left out."""
        self.abandoned = True
        self.close()


def submit_all(
    job: str,
    works: Collection[tuple[Rank, Callable[[], None]]],
    beside: bool = False,
    always: bool = False,
    calls: bool = False,
    waits: bool = False,
) -> None:
    """Queues work on several ranks at once: two such calls have one order, the same on all ranks.

    So jobs that wait for each other across ranks (callbacks with SINGLE_CALL) always can meet. The
    places in the queues are taken before, in the order of the ranks: nobody waits for one while
    others wait for him. ``beside``: work that does not wait for DPUs which
    run, see ``Rank.beside``. ``always``: work that is done though a job before it failed.
    ``calls``: work that runs a function of the program. ``waits``: work that waits for other ranks,
    so it must not have a turn meanwhile.
    """
    reserved: list[Rank] = []
    try:
        for rank in sorted((rank for rank, _ in works), key=lambda rank: rank.id):
            rank._reserve()
            reserved.append(rank)
    except BaseException:
        for rank in reserved:
            rank._release()
        raise
    for machine in {rank.machine for rank, _ in works}:
        with machine.order:
            for rank, work in works:
                if rank.machine is machine:
                    rank._enqueue(job, work, beside, always, calls, waits)


def turn_on(
    ranks: Collection[Rank], *, calls: bool = False, unless: Callable[[], bool] | None = None
) -> Turn:
    """See ``Selection.turn`` and ``Turns.on``."""
    machine = next(iter(ranks)).machine
    me, held = threading.get_ident(), machine.held_by_caller
    seats = [r.seat for r in ranks if me not in r._workers and r not in held]
    return machine.turns.on(seats, calls=calls, inside=bool(held), unless=unless)


class _JobFailed(Exception):
    def __init__(self, job: str, error: DpuError) -> None:
        super().__init__(job)
        self.job = job
        self.error = error


class Selection:
    """The DPUs that a ``struct dpu_set_t`` stands for: whole ranks, or one DPU."""

    def __init__(self, ranks: list[Rank], dpu: Dpu | None = None) -> None:
        self.ranks = ranks
        self.dpu = dpu

    @cached_property
    def dpus(self) -> list[Dpu]:
        """Enabled DPUs, in the order in which DPU_FOREACH counts them."""
        if self.dpu is not None:
            return [self.dpu]
        return [d for r in self.ranks for d in r.enabled]

    def indexes(self, rank: Rank) -> list[int]:
        """Of the DPUs in ``rank.buffers``."""
        return rank.indexes if self.dpu is None else [self.dpu.index]

    def of(self, rank: Rank) -> list[Dpu]:
        return [self.dpu] if self.dpu is not None else rank.enabled

    @property
    def count(self) -> int:
        return len(self.dpus)

    @cached_property
    def slots(self) -> Numbers:
        """The places of the DPUs in the machine's memory."""
        return slot_numbers(d.slot for d in self.dpus)

    def wait(self) -> None:
        """Waits until no job of these ranks is queued."""
        for rank in self.ranks:
            rank.wait()

    def turn(self, *, calls: bool = False) -> Turn:
        """A context in which the caller has the DPUs of these ranks to itself (``Turns.on``);
        nothing in a job or callback of these ranks, which has it already."""
        return turn_on(self.ranks, calls=calls)

    def beside(self) -> None:
        """``Rank.beside`` of these ranks."""
        for rank in self.ranks:
            rank.beside()

    def each(self) -> Iterable[tuple[Rank, int, list[Dpu]]]:
        """Each rank with the number of its first DPU in this set, and its DPUs."""
        first = 0
        for rank in self.ranks:
            dpus = self.of(rank)
            yield rank, first, dpus
            first += len(dpus)
