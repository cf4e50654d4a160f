"""Memories of single DPUs and ranks (dpu_memory.h), and transfer matrices.

Positions: MRAM in bytes, WRAM in words of 32 bits. No copy here is queued: WRAM is copied beside
DPUs that run, MRAM is busy then.
"""

from __future__ import annotations

from typing import Any

from ...constants.dpu_protocol import MRAM_SIZE, WRAM_SIZE
from ...core.pages import accessible
from ...native.dpu_memory import host_addresses, slot_numbers
from ...upmem import transfer
from ...upmem.rank import Dpu, Rank, Selection
from ...upmem.symbols import MRAM, Symbol
from ...upmem.transfer import Copy, place_in
from ..embedding import address, ffi
from .family import Status, error, host_memory, resolve_dpu, resolve_rank, upmem

_MRAM = Symbol(MRAM, MRAM_SIZE)
_WRAM = Symbol(0, WRAM_SIZE)


def _copy(
    memory: Symbol, rank: Rank, pairs: list[tuple[Dpu, int]], offset: int, size: int, to_dpu: bool
) -> None:
    """Copies between each DPU and its host address."""
    # A range past the memory is the memory's own error here, not that of a symbol.
    function = f"dpu_copy_{'to' if to_dpu else 'from'}_{memory.memory}"
    named = f"offset:{offset:#x}, address:{memory.address:#x}"
    where = place_in(Selection([rank]), memory.memory, offset, size, to_dpu, function, named)
    with transfer.admitted([d for d, _ in pairs] or rank.enabled, where):
        if not pairs:
            return
        slots = slot_numbers(d.slot for d, _ in pairs)
        hosts = host_addresses(h for _, h in pairs)
        if size and not all(h for _, h in pairs):
            raise transfer.bad_buffer(0, size, "the buffer", pairs[0][0])
        Copy(where, [d for d, _ in pairs], slots, hosts, "the buffer").run()


def _one(memory: Symbol, dpu: Any, host: Any, offset: int, size: int, to_dpu: bool) -> None:
    found = resolve_dpu(dpu)
    if not found.enabled:
        raise error(Status.DPU_ERR_DPU_DISABLED, f"DPU {found.name} is disabled")
    _copy(memory, found.rank, [(found, address(host))], offset, size, to_dpu)


@upmem.export("dpu_copy_to_mram")
def copy_to_mram(dpu: Any, offset: int, source: Any, size: int) -> None:
    _one(_MRAM, dpu, source, offset, size, to_dpu=True)


@upmem.export("dpu_copy_from_mram")
def copy_from_mram(dpu: Any, destination: Any, offset: int, size: int) -> None:
    _one(_MRAM, dpu, destination, offset, size, to_dpu=False)


@upmem.export("dpu_copy_to_wram_for_dpu")
def copy_to_wram_for_dpu(dpu: Any, offset: int, source: Any, words: int) -> None:
    _one(_WRAM, dpu, source, offset * 4, words * 4, to_dpu=True)


@upmem.export("dpu_copy_from_wram_for_dpu")
def copy_from_wram_for_dpu(dpu: Any, destination: Any, offset: int, words: int) -> None:
    _one(_WRAM, dpu, destination, offset * 4, words * 4, to_dpu=False)


@upmem.export("dpu_copy_to_wram_for_rank")
def copy_to_wram_for_rank(rank: Any, offset: int, source: Any, words: int) -> None:
    found = resolve_rank(rank)
    pairs = [(d, address(source)) for d in found.enabled]
    _copy(_WRAM, found, pairs, offset * 4, words * 4, to_dpu=True)


_DEFAULT_MATRIX, _BLOCKS_MATRIX = 0, 1  # dpu_transfer_matrix_type_t


def _matrix(memory: Symbol, rank: Any, matrix: Any, to_dpu: bool) -> None:
    found = resolve_rank(rank)
    given = checked_matrix(matrix)
    if given.type != _DEFAULT_MATRIX:
        raise error(
            Status.DPU_ERR_INVALID_MEMORY_TRANSFER,
            "UnsupportedOperation: the matrix holds scatter/gather blocks; dpu_push_sg_xfer does "
            "those transfers",
        )
    pairs = [(d, address(given.ptr[d.in_matrix])) for d in found.enabled if given.ptr[d.in_matrix]]
    scale = 4 if memory is _WRAM else 1
    _copy(memory, found, pairs, given.offset * scale, given.size * scale, to_dpu)


@upmem.export("dpu_copy_to_mrams")
def copy_to_mrams(rank: Any, matrix: Any) -> None:
    _matrix(_MRAM, rank, matrix, to_dpu=True)


@upmem.export("dpu_copy_from_mrams")
def copy_from_mrams(rank: Any, matrix: Any) -> None:
    _matrix(_MRAM, rank, matrix, to_dpu=False)


@upmem.export("dpu_copy_to_wram_for_matrix")
def copy_to_wram_for_matrix(rank: Any, matrix: Any) -> None:
    _matrix(_WRAM, rank, matrix, to_dpu=True)


@upmem.export("dpu_copy_from_wram_for_matrix")
def copy_from_wram_for_matrix(rank: Any, matrix: Any) -> None:
    _matrix(_WRAM, rank, matrix, to_dpu=False)


def checked_matrix(matrix: Any) -> Any:
    """Raises DpuError(DPU_ERR_INVALID_MEMORY_TRANSFER)."""
    return host_memory(matrix, ffi.sizeof("struct dpu_transfer_matrix"), "transfer_matrix")


@upmem.export("dpu_transfer_matrix_add_dpu", status=False)
def matrix_add_dpu(dpu: Any, matrix: Any, buffer: Any) -> None:
    checked_matrix(matrix).ptr[resolve_dpu(dpu).in_matrix] = buffer


def _room(pointer: Any, size: int, what: str) -> None:
    """Raises DpuError(DPU_ERR_INVALID_MEMORY_TRANSFER) for what cannot be written."""
    if not accessible(address(pointer), size, write=True):
        raise error(
            Status.DPU_ERR_INVALID_MEMORY_TRANSFER,
            f"{what} {address(pointer):#x} has no room for {size} bytes in this process",
        )


@upmem.export("dpu_transfer_matrix_add_dpu_block")
def matrix_add_dpu_block(dpu: Any, matrix: Any, buffer: Any, length: int) -> None:
    given, at = checked_matrix(matrix), resolve_dpu(dpu).in_matrix
    if given.type != _BLOCKS_MATRIX:
        raise error(
            Status.DPU_ERR_INTERNAL,
            f"the matrix is of type {given.type}, one buffer for each DPU; blocks are for "
            "DPU_SG_XFER_MATRIX (1)",
        )
    blocks = given.sg_ptr[at]
    _room(blocks, ffi.sizeof("struct sg_xfer_buffer"), "the matrix's sg_xfer_buffer of this DPU")
    count = blocks.nr_blocks
    if count >= blocks.max_nr_blocks:
        raise error(
            Status.DPU_ERR_INTERNAL, f"the sg_xfer_buffer holds {count} blocks, its maximum"
        )
    _room(blocks.blocks_addr, (count + 1) * ffi.sizeof("uint8_t *"), "blocks_addr")
    _room(blocks.blocks_length, (count + 1) * ffi.sizeof("uint32_t"), "blocks_length")
    blocks.blocks_addr[count] = ffi.cast("uint8_t *", buffer)
    blocks.blocks_length[count] = length
    blocks.nr_blocks = count + 1


@upmem.export("dpu_transfer_matrix_set_all", status=False)
def matrix_set_all(rank: Any, matrix: Any, buffer: Any) -> None:
    given = checked_matrix(matrix)
    for dpu in resolve_rank(rank).dpus:
        given.ptr[dpu.in_matrix] = buffer if dpu.enabled else ffi.NULL


@upmem.export("dpu_transfer_matrix_clear_dpu", status=False)
def matrix_clear_dpu(dpu: Any, matrix: Any) -> None:
    checked_matrix(matrix).ptr[resolve_dpu(dpu).in_matrix] = ffi.NULL


@upmem.export("dpu_transfer_matrix_clear_all", status=False)
def matrix_clear_all(rank: Any, matrix: Any) -> None:
    resolve_rank(rank)
    given = checked_matrix(matrix)
    ffi.memmove(given, bytes(ffi.sizeof(given[0])), ffi.sizeof(given[0]))


@upmem.export("dpu_transfer_matrix_copy", status=False)
def matrix_copy(target: Any, source: Any) -> None:
    size = ffi.sizeof("struct dpu_transfer_matrix")
    ffi.memmove(checked_matrix(target), checked_matrix(source), size)


@upmem.export("dpu_transfer_matrix_get_ptr", status=False, failure=ffi.NULL)
def matrix_get_ptr(dpu: Any, matrix: Any) -> Any:
    given, found = checked_matrix(matrix), resolve_dpu(dpu)
    if not found.enabled:
        raise error(Status.DPU_ERR_DPU_DISABLED, f"DPU {found.name} is disabled; it has no buffer")
    return given.ptr[found.in_matrix]
