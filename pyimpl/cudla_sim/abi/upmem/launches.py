"""Running programs, waiting for them, and functions in the order of a set's jobs."""

from __future__ import annotations

import threading
from time import sleep
from typing import Any

from ...upmem import callback as callbacks
from ...upmem import launch as launching
from ...upmem.rank import Rank, Selection
from ..embedding import address
from .family import (
    DpuError,
    Status,
    dpu_set,
    error,
    ranks_set,
    result,
    selection,
    set_of,
    state,
    upmem,
)

_ASYNCHRONOUS, _SYNCHRONOUS = 0, 1


@upmem.export("dpu_launch")
def launch(given: Any, policy: int) -> None:
    chosen = selection(given)
    if policy not in (_ASYNCHRONOUS, _SYNCHRONOUS):
        raise error(
            Status.DPU_ERR_INVALID_LAUNCH_POLICY,
            f"policy is {policy}; DPU_ASYNCHRONOUS (0) and DPU_SYNCHRONOUS (1) exist",
        )
    launching.launch(chosen, asynchronous=policy == _ASYNCHRONOUS)


@upmem.export("dpu_status")
def status(given: Any, done: Any, fault: Any) -> None:
    result(done, "done")
    result(fault, "fault")
    done[0], fault[0] = launching.ask(selection(given))


@upmem.export("dpu_sync")
def sync(given: Any) -> None:
    launching.sync(selection(given))


def _as_set(chosen: Selection) -> Any:
    """The ``struct dpu_set_t`` that a callback is given."""
    if chosen.dpu is not None:
        return dpu_set(chosen.dpu)
    if len(chosen.ranks) == 1:
        return set_of(chosen.ranks[0])
    current = state()
    for base, (ranks, index) in current.places.items():
        if ranks[index : index + len(chosen.ranks)] == chosen.ranks:
            return ranks_set(base, len(chosen.ranks))
    return ranks_set(0, 0)


_CALLER_FIRST_S = 100e-6
"""What a queued call with nothing before it leaves the caller to come back from dpu_callback."""


@upmem.export("dpu_callback")
def callback(given: Any, function: Any, args: Any, flags: int) -> None:
    chosen = selection(given)
    if not function:
        raise error(Status.DPU_ERR_INTERNAL, "callback is NULL; there is nothing to call")
    where = address(function)
    machine = chosen.ranks[0].machine
    options = callbacks.Flags.of(flags)
    returning = threading.Lock()
    idle = options.asynchronous and all(rank.idle for rank in chosen.ranks)

    def call(part: Selection, number: int, held: list[Rank]) -> None:
        with returning:  # programs count on it that a queued call begins behind dpu_callback
            if idle:
                sleep(_CALLER_FIRST_S)
        chosen_set = _as_set(part)  # alive until the call is over
        with machine.holding(held) as token:
            answer = machine.native.calls.dpu_callback(
                where, address(chosen_set), number, address(args), token
            )
        if answer:
            raise DpuError(answer, f"the callback at {where:#x} answered {answer}")

    if options.asynchronous:
        with returning:
            callbacks.call(chosen, call, options)
    else:
        callbacks.call(chosen, call, options)
