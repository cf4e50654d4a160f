"""Stopping a DPU, executing one instruction, going on."""

from __future__ import annotations

from time import sleep

from ...constants.dpu_protocol import FaultKind, Start
from ..memory import SIDE_OFFSET, SIDE_SIZE
from ..rank import Dpu
from ..store import LocalStore
from ..workers.frame import How
from ..workers.outcome import Outcome, recorded
from .state import State

_POLL_S = 0.001
RESUME = How(Start.RESUME)


def execute(dpu: Dpu, how: How) -> Outcome | None:
    """Runs one DPU as a debugger wants it; what has stopped it, None: it has ended.

    Raises DpuError(DPU_ERR_SYSTEM).
    """
    machine, program = dpu.rank.machine, dpu.program
    store = machine.store
    assert program is not None
    assert isinstance(store, LocalStore)
    ended = store.launch(
        program.path, program.image, [dpu.slot], machine.checks, machine.timed, how
    )
    return ended.faulted[0] if ended.faulted else None


def busy(state: State) -> bool:
    """Whether it runs, or will: other DPUs of its rank may run on when it has stopped."""
    if state.dpu.goes_on:
        return True
    runs = state.store.pool.runs(state.dpu.slot)
    return state.dpu.rank.launches > 0 if runs is None else runs


def stop(state: State) -> None:
    """Stops it before the next instruction, if it runs; then it is in fault.

    A launch that is queued for it begins, and stops before its first instruction.
    """
    dpu = state.dpu
    if dpu.rank.is_own_thread or stays(dpu):
        return
    state.core.stop = 1
    try:
        while busy(state):
            state.store.pool.together([dpu.slot])  # others may hold every worker, without end
            state.store.pool.stop([dpu.slot])
            sleep(_POLL_S)
    finally:
        state.core.stop = 0
    if state.store.pool.runs(dpu.slot) is None:
        dpu.rank.wait()
    elif dpu.fault is None:
        page = dpu.bytes(SIDE_OFFSET, SIDE_SIZE).tobytes()
        outcome = recorded(dpu.slot, page, state.program.image, set())
        dpu.fault = outcome if outcome.status == "fault" else None
    # Where no other DPU of its rank runs, its launch is over: MRAM is the host's at once.
    while dpu.rank.running and not any(state.store.pool.runs(d.slot) for d in dpu.rank.enabled):
        sleep(_POLL_S)


def stays(dpu: Dpu) -> bool:
    """Whether it was to go on and had not begun: then it is where it was."""
    with dpu.rank.lock:
        if not dpu.goes_on:
            return False
        dpu.goes_on, dpu.fault = False, dpu.stopped_by
        return True


def wait(state: State) -> None:
    """Until it does not run."""
    if busy(state):
        state.dpu.rank.wait()


def step(state: State, tasklet: int) -> Outcome | None:
    """One tasklet executes one instruction, the others none. What has stopped it then; None when
    nothing runs any more."""
    return run(state, How(Start.STEP, tasklet))


def go_on(state: State) -> Outcome | None:
    """Until it ends (None) or stops."""
    return run(state, RESUME)


def boot(state: State) -> Outcome | None:
    """As a launch, but it stops before the first instruction."""
    state.core.stop = 1
    try:
        return run(state, How())
    finally:
        state.core.stop = 0


def run(state: State, how: How) -> Outcome | None:
    """A launch as a debugger wants it. Raises DpuError(DPU_ERR_SYSTEM)."""
    dpu = state.dpu
    outcome = execute(dpu, how)
    dpu.fault = outcome
    return outcome


def is_fault(outcome: Outcome | None) -> bool:
    """Whether the program is wrong, rather than stopped by a debugger."""
    if outcome is None or outcome.fault == FaultKind.STOPPED:
        return False
    return not (outcome.fault == FaultKind.PROGRAM and outcome.code == 0)
