"""Copies that only releases up to 2020.3 had: by DPU, rank or prepared buffers (a matrix).

They are what dpu_copy_to_symbol, dpu_broadcast_to_symbol and dpu_push_xfer_symbol are for a set,
with the same errors. They do not wait for DPUs that run: WRAM is copied beside them, MRAM is busy.
An address is that of a symbol: WRAM from 0, MRAM from 0x08000000.
"""

from __future__ import annotations

from typing import Any

from ...upmem import transfer
from ...upmem.debug import control
from ...upmem.memory import MRAM_SIZE, WRAM_SIZE
from ...upmem.rank import Selection
from ...upmem.symbols import MRAM, Symbol
from ...upmem.transfer import Flags
from ..embedding import address
from . import checkpoints, debugger
from .family import Status, error, resolve_dpu, resolve_rank, result, upmem
from .family import symbol as symbol_of

_NOW = Flags(direct=True)
_TO_DPU, _FROM_DPU = 0, 1


def _one(dpu: Any) -> Selection:
    found = resolve_dpu(dpu)
    if not found.enabled:
        raise error(Status.DPU_ERR_DPU_DISABLED, f"DPU {found.name} is disabled")
    return found.alone


def _rank(rank: Any) -> Selection:
    return Selection([resolve_rank(rank)])


def _memory(at: int) -> tuple[Symbol, int]:
    """The memory that holds an address as a symbol, and the offset in it."""
    if at & MRAM:
        return Symbol(MRAM, MRAM_SIZE), at & ~MRAM
    return Symbol(0, WRAM_SIZE), at


@upmem.export("dpu_copy_to_symbol_dpu")
def copy_to_symbol_dpu(dpu: Any, symbol: Any, offset: int, src: Any, length: int) -> None:
    transfer.broadcast(_one(dpu), symbol_of(symbol), offset, address(src), length, _NOW)


@upmem.export("dpu_copy_to_symbol_rank")
def copy_to_symbol_rank(rank: Any, symbol: Any, offset: int, src: Any, length: int) -> None:
    transfer.broadcast(_rank(rank), symbol_of(symbol), offset, address(src), length, _NOW)


@upmem.export("dpu_copy_to_symbol_matrix")
def copy_to_symbol_matrix(rank: Any, symbol: Any, offset: int, length: int) -> None:
    transfer.push(_rank(rank), _TO_DPU, symbol_of(symbol), offset, length, _NOW)


@upmem.export("dpu_copy_from_symbol_dpu")
def copy_from_symbol_dpu(dpu: Any, symbol: Any, offset: int, dst: Any, length: int) -> None:
    transfer.fetch(_one(dpu), symbol_of(symbol), offset, address(dst), length, _NOW)


@upmem.export("dpu_copy_from_symbol_matrix")
def copy_from_symbol_matrix(rank: Any, symbol: Any, offset: int, length: int) -> None:
    transfer.push(_rank(rank), _FROM_DPU, symbol_of(symbol), offset, length, _NOW)


@upmem.export("dpu_copy_to_address_dpu")
def copy_to_address_dpu(dpu: Any, at: int, src: Any, length: int) -> None:
    transfer.broadcast(_one(dpu), *_memory(at), address(src), length, _NOW)


@upmem.export("dpu_copy_to_address_rank")
def copy_to_address_rank(rank: Any, at: int, src: Any, length: int) -> None:
    transfer.broadcast(_rank(rank), *_memory(at), address(src), length, _NOW)


@upmem.export("dpu_copy_to_address_matrix")
def copy_to_address_matrix(rank: Any, at: int, length: int) -> None:
    transfer.push(_rank(rank), _TO_DPU, *_memory(at), length, _NOW)


@upmem.export("dpu_copy_from_address_dpu")
def copy_from_address_dpu(dpu: Any, at: int, dst: Any, length: int) -> None:
    transfer.fetch(_one(dpu), *_memory(at), address(dst), length, _NOW)


@upmem.export("dpu_copy_from_address_matrix")
def copy_from_address_matrix(rank: Any, at: int, length: int) -> None:
    transfer.push(_rank(rank), _FROM_DPU, *_memory(at), length, _NOW)


# What debuggers called, for programs in the DPU's own instructions.


@upmem.export("dpu_stop_threads_for_dpu")
def stop_threads_for_dpu(dpu: Any, context: Any) -> None:
    debugger.initialize_fault_process_for_dpu(dpu, context, 0)


@upmem.export("dpu_resume_threads_for_dpu")
def resume_threads_for_dpu(dpu: Any, context: Any) -> None:
    debugger.finalize_fault_process_for_dpu(dpu, context)


@upmem.export("dpu_trigger_fault_on_dpu")
def trigger_fault_on_dpu(dpu: Any) -> None:
    control.stop(debugger.looked_into(dpu))


@upmem.export("dpu_clear_fault_on_dpu")
def clear_fault_on_dpu(dpu: Any) -> None:
    debugger.state_of(dpu).dpu.fault = None


@upmem.export("dpu_get_thread_status_on_dpu")
def get_thread_status_on_dpu(dpu: Any, thread: int, thread_is_running: Any) -> None:
    result(thread_is_running, "thread_is_running")
    state = debugger.looked_into(dpu)
    debugger.check_thread(state, thread)
    thread_is_running[0] = bool(state.core.run[thread])


@upmem.export("dpu_serialize_context")
def serialize_context(rank: Any, context: Any, data: Any, size: Any) -> None:
    resolve_rank(rank)
    checkpoints.serialize(context, data, size)


@upmem.export("dpu_deserialize_context")
def deserialize_context(rank: Any, context: Any, data: Any, size: int) -> None:
    resolve_rank(rank)
    checkpoints.deserialize(data, size, context)


upmem.unsupported(
    "dpu_trigger_fault_on_rank",
    "dpu_clear_fault_on_rank",
    "dpu_resume_dpus_for_rank",
    "dpu_stop_dpus_for_rank",
    "dpu_get_thread_status_on_rank",
    because="UnsupportedOperation: debugging is for single DPUs; the function of the same name for "
    "a DPU does it, for programs in the DPU's own instructions",
)
upmem.unsupported(
    "dpu_save_slice_context_and_extract_debug_info_from_pid_for_dpu",
    "dpu_get_and_update_notify_status_on_rank",
    "dpu_get_and_update_notify_status_on_dpu",
    because="UnsupportedOperation: there is no control interface, and no other process whose DPUs "
    "could be taken over; CUDLA_SIM_UPMEM_GDB lets a debugger into a host program",
)
upmem.unsupported(
    "dpu_dma_config",
    "dpu_dma_shuffling_box_config",
    "dpu_wavegen_config",
    "dpu_wavegen_read_status",
    "dpu_switch_mux_for_dpu_line",
    "dpu_switch_mux_for_rank",
    because="UnsupportedOperation: there is no chip whose DMA engine, waveforms or MRAM "
    "multiplexers could be set; MRAM is the host's whenever no program runs",
)
