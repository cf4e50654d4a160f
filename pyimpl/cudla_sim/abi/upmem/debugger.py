"""The debugger's functions (dpu_debug.h) and IRAM (dpu_memory.h), for programs that execute the
DPU's own instructions.

As in the SDK: ``dpu_initialize_fault_process_for_dpu`` stops a DPU and says what runs,
``dpu_extract_context_for_dpu`` reads its registers, ``dpu_finalize_fault_process_for_dpu`` lets it
go on, beside the caller; dpu_sync waits for it.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...upmem import launch as launching
from ...upmem.debug import control
from ...upmem.debug.state import State
from ...upmem.rank import Dpu, Rank
from ...upmem.workers.outcome import Outcome
from ..embedding import address, ffi
from . import contexts
from .family import Status, error, host_memory, resolve_dpu, resolve_rank, upmem
from .memory import checked_matrix


def _dpu(pointer: Any) -> Dpu:
    found = resolve_dpu(pointer)
    if not found.enabled:
        raise error(Status.DPU_ERR_DPU_DISABLED, f"DPU {found.name} is disabled")
    return found


def looked_into(pointer: Any) -> State:
    """Of a DPU that may run."""
    return State(_dpu(pointer))


def state_of(pointer: Any) -> State:
    """Of a DPU that does not run any more."""
    state = looked_into(pointer)
    control.wait(state)
    return state


def check_thread(state: State, thread: int) -> None:
    """Raises DpuError(DPU_ERR_INVALID_THREAD_ID)."""
    if thread >= state.threads:
        raise error(
            Status.DPU_ERR_INVALID_THREAD_ID,
            f"thread is {thread}; the DPU has threads 0 to {state.threads - 1}",
        )


@upmem.export("dpu_context_fill_from_rank")
def context_fill_from_rank(context: Any, rank: Any) -> None:
    contexts.fill_from(contexts.checked(context), resolve_rank(rank))


@upmem.export("dpu_free_dpu_context", status=False)
def free_dpu_context(context: Any) -> None:
    if context:
        contexts.free(contexts.checked(context))


@upmem.export("dpu_extract_pcs_for_dpu")
def extract_pcs_for_dpu(dpu: Any, context: Any) -> None:
    contexts.tell_pcs(contexts.checked(context), state_of(dpu))


@upmem.export("dpu_extract_context_for_dpu")
def extract_context_for_dpu(dpu: Any, context: Any) -> None:
    contexts.tell_registers(contexts.checked(context), state_of(dpu))


@upmem.export("dpu_restore_context_for_dpu")
def restore_context_for_dpu(dpu: Any, context: Any) -> None:
    contexts.put_registers(contexts.checked(context), state_of(dpu))


@upmem.export("dpu_initialize_fault_process_for_dpu")
def initialize_fault_process_for_dpu(dpu: Any, context: Any, error_store_addr: int) -> None:
    """The address where the SDK remembers faults that it clears is not needed: faults stay."""
    state = looked_into(dpu)
    into = contexts.checked(context)
    control.stop(state)
    contexts.tell_pcs(into, state)
    contexts.tell_scheduling(into, state)
    contexts.tell_faults(into, state)


@upmem.export("dpu_finalize_fault_process_for_dpu")
def finalize_fault_process_for_dpu(dpu: Any, context: Any) -> None:
    """A DPU that is in fault by its context stays so, as in the SDK."""
    state = state_of(dpu)
    given = contexts.checked(context)
    state.schedule(contexts.order_of(given))
    fault = contexts.fault_of(given)
    if fault is not None:
        kind, thread, code = fault
        text = "a debugger left it in fault"
        made = Outcome(state.dpu.slot, "fault", kind, code, thread, text=text)
        state.dpu.fault = state.dpu.fault or made
    elif state.order:
        launching.resume_later(state.dpu)
    else:
        state.dpu.fault = None


@upmem.export("dpu_execute_thread_step_in_fault_for_dpu")
def execute_thread_step_in_fault_for_dpu(dpu: Any, thread: int, context: Any) -> None:
    state = state_of(dpu)
    into = contexts.checked(context)
    check_thread(state, thread)
    order = contexts.order_of(into)
    if thread not in order:
        raise error(
            Status.DPU_ERR_INTERNAL,
            f"thread {thread} does not run: context->scheduling[{thread}] is 0xff",
        )
    state.schedule(order)
    control.step(state, thread)
    contexts.tell_pcs(into, state)
    contexts.tell_scheduling(into, state)
    contexts.tell_faults(into, state)


# Ranks have no control interface here whose registers a debugger would disturb: nothing to keep.
@upmem.export("dpu_save_context_for_rank")
def save_context_for_rank(rank: Any) -> None:
    resolve_rank(rank)


@upmem.export("dpu_restore_context_for_rank")
def restore_context_for_rank(rank: Any) -> None:
    resolve_rank(rank)


@upmem.export("dpu_restore_mux_context_for_rank")
def restore_mux_context_for_rank(rank: Any) -> None:
    resolve_rank(rank)


@upmem.export("dpu_set_debug_slice_info")
def set_debug_slice_info(
    rank: Any, slice_id: int, structure: int, target: int, host_mux_mram_state: int
) -> None:
    resolve_rank(rank)


# ---- IRAM: positions and sizes count instructions ----


def _check_iram(rank: Rank, first: int, count: int) -> bool:
    """Whether there is something to copy. Raises DpuError(DPU_ERR_INVALID_IRAM_ACCESS)."""
    most = rank.profile.chip_iram
    if count and first + count > most:
        raise error(
            Status.DPU_ERR_INVALID_IRAM_ACCESS,
            f"{count} instructions at {first} end past the {most} of IRAM",
        )
    return bool(count)


def _iram(dpu: Dpu, first: int, count: int) -> NDArray[np.uint64]:
    """The DPU may run: as in the SDK nothing waits for it. A launch has its instructions from the
    moment when it began."""
    dpu.rank.settle()
    return State(dpu).iram[first : first + count]


def _host(buffer: Any, count: int) -> NDArray[np.uint64]:
    size = count * ffi.sizeof("dpuinstruction_t")
    return np.frombuffer(ffi.buffer(host_memory(buffer, size, "the buffer"), size), np.uint64)


def _write(dpus: list[Dpu], first: int, source: Any, count: int) -> None:
    if dpus and _check_iram(dpus[0].rank, first, count):
        for dpu in dpus:
            _iram(dpu, first, count)[:] = _host(source, count)


@upmem.export("dpu_copy_to_iram_for_dpu")
def copy_to_iram_for_dpu(dpu: Any, first: int, source: Any, count: int) -> None:
    _write([_dpu(dpu)], first, source, count)


@upmem.export("dpu_copy_to_iram_for_rank")
def copy_to_iram_for_rank(rank: Any, first: int, source: Any, count: int) -> None:
    _write(resolve_rank(rank).enabled, first, source, count)


@upmem.export("dpu_copy_from_iram_for_dpu")
def copy_from_iram_for_dpu(dpu: Any, destination: Any, first: int, count: int) -> None:
    found = _dpu(dpu)
    if _check_iram(found.rank, first, count):
        _host(destination, count)[:] = _iram(found, first, count)


def _matrix(rank: Any, matrix: Any) -> list[tuple[Dpu, Any]]:
    found: Rank = resolve_rank(rank)
    given = checked_matrix(matrix)
    if not _check_iram(found, given.offset, given.size):
        return []
    return [
        (dpu, ffi.cast("dpuinstruction_t *", given.ptr[dpu.in_matrix]))
        for dpu in found.enabled
        if address(given.ptr[dpu.in_matrix])
    ]


@upmem.export("dpu_copy_to_iram_for_matrix")
def copy_to_iram_for_matrix(rank: Any, matrix: Any) -> None:
    for dpu, buffer in _matrix(rank, matrix):
        _iram(dpu, matrix.offset, matrix.size)[:] = _host(buffer, matrix.size)


@upmem.export("dpu_copy_from_iram_for_matrix")
def copy_from_iram_for_matrix(rank: Any, matrix: Any) -> None:
    for dpu, buffer in _matrix(rank, matrix):
        _host(buffer, matrix.size)[:] = _iram(dpu, matrix.offset, matrix.size)
