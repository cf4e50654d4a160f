"""Functions of the program that run in the order of a set's jobs (dpu_callback)."""

from __future__ import annotations

import threading
from collections.abc import Callable
from functools import partial
from typing import NamedTuple

from .errors import Status, error
from .rank import Rank, Selection, submit_all

Function = Callable[[Selection, int, list[Rank]], None]
"""Called with a set, its number, and the ranks whose queues wait for it; raises DpuError when the
program's function failed."""

ASYNC, NONBLOCKING, SINGLE_CALL, PARALLEL = 1, 2, 4, 8

_SINGLE = 0xFFFF_FFFF
"""``rank_id`` of a call that is not for one rank of several: -1 in the SDK's library."""

_LOOK_S = 1.0
"""How often a rank that waits for the others' call looks whether its machine ended."""


class Flags(NamedTuple):
    """The bits of ``dpu_callback_flags_t``."""

    asynchronous: bool
    nonblocking: bool
    single_call: bool
    parallel: bool
    """It does not wait for DPUs that run, see ``Rank.beside``."""

    @staticmethod
    def of(value: int) -> Flags:
        """Raises DpuError: DPU_ERR_NONBLOCKING_SYNC_CALLBACK, DPU_ERR_INTERNAL for other bits."""
        if value & ~(ASYNC | NONBLOCKING | SINGLE_CALL | PARALLEL):
            raise error(
                Status.DPU_ERR_INTERNAL,
                f"flags is {value:#x}; DPU_CALLBACK_ASYNC (1), NONBLOCKING (2), SINGLE_CALL (4) "
                "and PARALLEL (8) exist",
            )
        flags = Flags(*(bool(value & bit) for bit in (ASYNC, NONBLOCKING, SINGLE_CALL, PARALLEL)))
        if flags.nonblocking and not flags.asynchronous:
            raise error(
                Status.DPU_ERR_NONBLOCKING_SYNC_CALLBACK,
                "DPU_CALLBACK_NONBLOCKING needs DPU_CALLBACK_ASYNC: a synchronous call waits",
            )
        return flags


def call(selection: Selection, function: Function, flags: Flags) -> None:
    """Default: once a rank, the ranks side by side, and waits. ASYNC queues it. SINGLE_CALL: once,
    when every rank has come to it. NONBLOCKING: the queues go on meanwhile, dpu_sync does not wait
    for it, and what the function answers is dropped.

    The number is that of the rank; ``_SINGLE`` for a set of one DPU and for SINGLE_CALL, except an
    asynchronous one on one rank, which the library takes for a call of that rank.

    Raises DpuError: what the function failed with (synchronous), DPU_ERR_NO_THREAD_PER_RANK.
    """
    if any(rank.profile.nr_threads_per_rank == 0 for rank in selection.ranks):
        raise error(
            Status.DPU_ERR_NO_THREAD_PER_RANK,
            "the set was allocated with nrThreadsPerRank=0; callbacks run on the ranks' threads",
        )
    if flags.asynchronous:
        _queue(selection, function, flags)
    elif flags.single_call or len(selection.ranks) == 1:
        whole = flags.single_call or selection.dpu is not None
        number = _SINGLE if whole else 0
        if flags.parallel:
            selection.beside()
            function(selection, number, selection.ranks)
        else:
            selection.wait()
            with selection.turn(calls=True):
                function(selection, number, selection.ranks)
    else:
        _side_by_side(selection, function, flags)


def _side_by_side(selection: Selection, function: Function, flags: Flags) -> None:
    failures: list[BaseException] = []
    ended = threading.Semaphore(0)

    def work(rank: Rank, number: int) -> None:
        try:
            function(Selection([rank]), number, [rank])
        except BaseException as failure:
            failures.append(failure)
        finally:
            ended.release()

    works = [(r, partial(work, r, n)) for n, r in enumerate(selection.ranks)]
    submit_all("callback", works, beside=flags.parallel, always=True, calls=True)
    for _ in selection.ranks:
        ended.acquire()
    if failures:
        raise failures[0]


def _queue(selection: Selection, function: Function, flags: Flags) -> None:
    if flags.single_call and len(selection.ranks) > 1:
        _queue_single(selection, function, flags)
        return
    works: list[tuple[Rank, Callable[[], None]]] = []
    for number, rank in enumerate(selection.ranks):
        part = Selection([rank])
        if selection.dpu is not None:
            part, number = selection, _SINGLE
        held = [] if flags.nonblocking else part.ranks
        work = partial(function, part, number, held)
        works.append((rank, partial(rank.detach, work) if flags.nonblocking else work))
    submit_all("callback", works, beside=flags.parallel, calls=True)


def _queue_single(selection: Selection, function: Function, flags: Flags) -> None:
    """The rank that comes last makes the call; the others wait for its end unless nonblocking."""
    lock = threading.Lock()
    left = len(selection.ranks)
    over = threading.Event()

    def call_once() -> None:
        held = [] if flags.nonblocking else selection.ranks
        alone = bool(held) and not flags.parallel
        seats = [rank.seat for rank in held] if alone else []
        try:
            with selection.ranks[0].machine.turns.on(seats, calls=True):
                if not any(rank.stopped for rank in selection.ranks):
                    function(selection, _SINGLE, held)
        finally:
            over.set()

    def arrive(rank: Rank) -> None:
        nonlocal left
        with lock:
            left -= 1
            last = left == 0
        if last and flags.nonblocking:
            rank.detach(call_once)
        elif last:
            call_once()
        elif not flags.nonblocking:
            while not over.wait(_LOOK_S) and not rank.abandoned:
                pass

    # Ranks whose jobs are left out arrive, too: others wait for them.
    works = [(rank, partial(arrive, rank)) for rank in selection.ranks]
    submit_all("callback", works, beside=flags.parallel, always=True, waits=True)
