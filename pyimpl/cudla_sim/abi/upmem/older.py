"""Copies that only releases up to 2020.3 had: by DPU, rank or prepared buffers (a matrix).

They are what dpu_copy_to_symbol, dpu_broadcast_to_symbol and dpu_push_xfer_symbol are for a set,
with the same errors. An address is that of a symbol: WRAM from 0, MRAM from 0x08000000.
"""

from __future__ import annotations

from typing import Any

from ...upmem import transfer
from ...upmem.memory import MRAM_SIZE, WRAM_SIZE
from ...upmem.rank import Selection
from ...upmem.symbols import MRAM, Symbol
from ...upmem.transfer import Flags
from ..embedding import address
from .family import Status, error, resolve_dpu, resolve_rank, upmem
from .family import symbol as symbol_of

_NOW = Flags()


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
    transfer.push(_rank(rank), True, symbol_of(symbol), offset, length, _NOW)


@upmem.export("dpu_copy_from_symbol_dpu")
def copy_from_symbol_dpu(dpu: Any, symbol: Any, offset: int, dst: Any, length: int) -> None:
    transfer.fetch(_one(dpu), symbol_of(symbol), offset, address(dst), length)


@upmem.export("dpu_copy_from_symbol_matrix")
def copy_from_symbol_matrix(rank: Any, symbol: Any, offset: int, length: int) -> None:
    transfer.push(_rank(rank), False, symbol_of(symbol), offset, length, _NOW)


@upmem.export("dpu_copy_to_address_dpu")
def copy_to_address_dpu(dpu: Any, at: int, src: Any, length: int) -> None:
    transfer.broadcast(_one(dpu), *_memory(at), address(src), length, _NOW)


@upmem.export("dpu_copy_to_address_rank")
def copy_to_address_rank(rank: Any, at: int, src: Any, length: int) -> None:
    transfer.broadcast(_rank(rank), *_memory(at), address(src), length, _NOW)


@upmem.export("dpu_copy_to_address_matrix")
def copy_to_address_matrix(rank: Any, at: int, length: int) -> None:
    transfer.push(_rank(rank), True, *_memory(at), length, _NOW)


@upmem.export("dpu_copy_from_address_dpu")
def copy_from_address_dpu(dpu: Any, at: int, dst: Any, length: int) -> None:
    transfer.fetch(_one(dpu), *_memory(at), address(dst), length)


@upmem.export("dpu_copy_from_address_matrix")
def copy_from_address_matrix(rank: Any, at: int, length: int) -> None:
    transfer.push(_rank(rank), False, *_memory(at), length, _NOW)


_DEBUG = (
    "UnsupportedOperation: DPU programs run natively, a DPU cannot be stopped, resumed or put in "
    "fault from outside, and has no registers to save"
)
upmem.unsupported(
    "dpu_trigger_fault_on_rank",
    "dpu_trigger_fault_on_dpu",
    "dpu_clear_fault_on_rank",
    "dpu_clear_fault_on_dpu",
    "dpu_resume_dpus_for_rank",
    "dpu_resume_threads_for_dpu",
    "dpu_stop_dpus_for_rank",
    "dpu_stop_threads_for_dpu",
    "dpu_save_slice_context_and_extract_debug_info_from_pid_for_dpu",
    "dpu_serialize_context",
    "dpu_deserialize_context",
    "dpu_get_thread_status_on_rank",
    "dpu_get_thread_status_on_dpu",
    "dpu_get_and_update_notify_status_on_rank",
    "dpu_get_and_update_notify_status_on_dpu",
    because=_DEBUG,
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
