"""``struct dpu_context_t``: its memory, which C frees, and what it says of a DPU."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...constants.dpu_protocol import ATOMIC_BITS, MAX_TASKLETS, NR_REGISTERS, FaultKind
from ...core.pages import accessible
from ...upmem.debug.state import DMA_FAULTS, MEMORY_FAULTS, State
from ...upmem.rank import Rank
from ..embedding import address, ffi, lib
from .family import Status, allocate, error

NOT_RUNNING = 0xFF
"""In ``scheduling``: the thread does not run; else its place in the order of those that do."""
MEMORIES = ("iram", "mram", "wram")
_ARRAYS = ("registers", "pcs", "atomic_register", "zero_flags", "carry_flags", "scheduling")


def checked(context: Any) -> Any:
    """Raises DpuError(DPU_ERR_INTERNAL) when the pointer is none to a context."""
    if not accessible(address(context), ffi.sizeof("struct dpu_context_t")):
        raise error(Status.DPU_ERR_INTERNAL, f"context {address(context):#x} is no dpu_context_t")
    return context


def fill(context: Any, threads: int, registers: int, bits: int, sizes: dict[str, int]) -> None:
    """Makes the arrays of a context; ``sizes`` are those of its memories, which are left out."""
    ffi.memmove(context, bytes(ffi.sizeof(context[0])), ffi.sizeof(context[0]))
    info = context.info
    info.nr_threads, info.nr_registers, info.nr_atomic_bits = threads, registers, bits
    info.iram_size, info.mram_size, info.wram_size = (sizes[name] for name in MEMORIES)
    for name in _ARRAYS:
        kind = ffi.typeof(getattr(context, name))
        setattr(
            context, name, ffi.cast(kind, allocate(count(context, name) * width(context, name)))
        )
    array(context, "scheduling")[:] = NOT_RUNNING


def fill_from(context: Any, rank: Rank) -> None:
    """As the description of the rank says."""
    profile = rank.profile
    sizes = {
        "iram": profile.iram_size,
        "mram": profile.mram_size,
        "wram": profile.wram_size // ffi.sizeof("dpuword_t"),
    }
    fill(context, profile.max_tasklets, NR_REGISTERS, ATOMIC_BITS, sizes)


def free(context: Any) -> None:
    for name in (*MEMORIES, *_ARRAYS):
        lib.free(ffi.cast("void *", getattr(context, name)))
        setattr(context, name, ffi.NULL)


def count(context: Any, name: str) -> int:
    """Elements of one of its arrays."""
    info = context.info
    if name == "registers":
        return int(info.nr_threads * info.nr_registers)
    if name == "atomic_register":
        return int(info.nr_atomic_bits)
    return int(getattr(info, f"{name}_size") if name in MEMORIES else info.nr_threads)


def width(context: Any, name: str) -> int:
    """Bytes of one element."""
    return int(ffi.sizeof(ffi.typeof(getattr(context, name)).item))


def array(context: Any, name: str) -> NDArray[Any]:
    """One of its arrays, shared with C. Raises DpuError(DPU_ERR_INTERNAL) when it has none."""
    pointer, elements, bytes_each = (
        getattr(context, name),
        count(context, name),
        width(context, name),
    )
    if elements and not accessible(address(pointer), elements * bytes_each):
        raise error(
            Status.DPU_ERR_INTERNAL,
            f"context->{name} has no room for {elements} elements; dpu_context_fill_from_rank "
            "makes the arrays of a context",
        )
    data = ffi.buffer(pointer, elements * bytes_each) if elements else b""
    return np.frombuffer(data, f"u{bytes_each}")


def _threads(context: Any) -> int:
    info = context.info
    if info.nr_registers != NR_REGISTERS or info.nr_atomic_bits > ATOMIC_BITS:
        raise error(
            Status.DPU_ERR_INTERNAL,
            f"the context is for {info.nr_registers} registers and {info.nr_atomic_bits} atomic "
            f"bits; a DPU has {NR_REGISTERS} and {ATOMIC_BITS}",
        )
    return min(int(info.nr_threads), MAX_TASKLETS)


def tell_pcs(context: Any, state: State) -> None:
    threads = _threads(context)
    array(context, "pcs")[:threads] = state.pcs[:threads]


def tell_scheduling(context: Any, state: State) -> None:
    """Which threads run, and in which order."""
    scheduling = array(context, "scheduling")
    scheduling[:] = NOT_RUNNING
    order = [n for n in state.order if n < len(scheduling)]
    scheduling[order] = range(len(order))
    context.nr_of_running_threads = len(order)


def tell_faults(context: Any, state: State) -> None:
    """What has stopped it; a fault that the context has already stays there."""
    stopped_at = state.breakpoint
    if stopped_at is not None:
        context.bkp_fault = True
        context.bkp_fault_thread_index, context.bkp_fault_id = stopped_at
    dma, memory = state.faulted(*DMA_FAULTS), state.faulted(*MEMORY_FAULTS)
    if dma is not None:
        context.dma_fault, context.dma_fault_thread_index = True, dma
    if memory is not None:
        context.mem_fault, context.mem_fault_thread_index = True, memory


def tell_registers(context: Any, state: State) -> None:
    threads = _threads(context)
    array(context, "registers")[: threads * NR_REGISTERS] = state.registers[:threads].ravel()
    array(context, "zero_flags")[:threads] = state.zero[:threads]
    array(context, "carry_flags")[:threads] = state.carry[:threads]
    bits = array(context, "atomic_register")
    bits[:] = state.atomic[: len(bits)] != 0


def put_registers(context: Any, state: State) -> None:
    """The other way round: into the DPU, with the program counters."""
    threads = _threads(context)
    given = array(context, "registers")[: threads * NR_REGISTERS]
    state.registers[:threads] = given.reshape(threads, NR_REGISTERS)
    state.pcs[:threads] = array(context, "pcs")[:threads]
    state.zero[:threads] = array(context, "zero_flags")[:threads] != 0
    state.carry[:threads] = array(context, "carry_flags")[:threads] != 0
    bits = array(context, "atomic_register")
    state.atomic[: len(bits)] = bits != 0


def order_of(context: Any) -> list[int]:
    """The threads that shall run, in their order."""
    places = array(context, "scheduling")[: _threads(context)].tolist()
    order = sorted((n for n, at in enumerate(places) if at != NOT_RUNNING), key=places.__getitem__)
    return order[: context.nr_of_running_threads]


def fault_of(context: Any) -> tuple[FaultKind, int, int] | None:
    """Kind, thread and number of a fault that keeps a DPU from going on."""
    if context.bkp_fault and context.bkp_fault_id != 0:
        return FaultKind.PROGRAM, context.bkp_fault_thread_index, context.bkp_fault_id
    if context.dma_fault:
        return FaultKind.DMA_WRAM, context.dma_fault_thread_index, 0
    if context.mem_fault:
        return FaultKind.MEMORY, context.mem_fault_thread_index, 0
    return None
