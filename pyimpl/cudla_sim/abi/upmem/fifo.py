"""WRAM FIFOs (dpu_fifo.h): links that the program holds, and pushes through them.

Where the SDK's library does something that nobody can want, this does what its documentation says:
a push reaches the DPUs that have a buffer, no others, also when the set is one DPU.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...constants.dpu_protocol import WRAM_SIZE
from ...core import explain
from ...upmem import fifo as engine
from ...upmem.fifo import Fifo
from ...upmem.rank import Dpu, Rank, submit_all
from ...upmem.symbols import Symbol
from ...upmem.transfer import Flags, common_program
from ..embedding import address, ffi, lib
from .family import (
    Status,
    allocate,
    error,
    host_memory,
    name,
    resolve_dpu,
    resolve_rank,
    selection,
    upmem,
)
from .memory import checked_matrix

_INPUT, _OUTPUT = 0, 1
_LINK = ffi.sizeof("struct dpu_fifo_link_t")
_RANK_FIFO = ffi.sizeof("struct dpu_fifo_rank_t")


def _link(pointer: Any) -> Any:
    return host_memory(pointer, _LINK, "fifo_link")


def _of_rank(link: Any, rank: Rank) -> Any:
    """The ``struct dpu_fifo_rank_t`` of a rank."""
    return host_memory(_link(link).rank_fifos + rank.place, _RANK_FIFO, "fifo_link->rank_fifos")


def _given(link: Any, one: Any) -> tuple[Any, Dpu]:
    """The FIFO of a rank and the DPU, for functions that take a set of one DPU."""
    dpus = selection(one).dpus
    if len(dpus) != 1:
        raise error(
            Status.DPU_ERR_INVALID_DPU_SET, f"the set has {len(dpus)} DPUs; this asks for one"
        )
    return _of_rank(link, dpus[0].rank), dpus[0]


def _checked(fifo: Any) -> Any:
    return host_memory(fifo, _RANK_FIFO, "fifo")


# ---- links ----


def _create(given: Any, link: Any, fifo_name: Any, direction: int) -> None:
    chosen = selection(given)
    made = host_memory(link, _LINK, "link")
    program = common_program(chosen)
    found = engine.find(program, name(fifo_name, "fifo_name"), chosen.dpus[0], direction == _INPUT)
    size = (1 + max(rank.place for rank in chosen.ranks)) * _RANK_FIFO
    fifos = ffi.cast("struct dpu_fifo_rank_t *", allocate(size))
    for rank in chosen.ranks:
        _fill(fifos[rank.place], rank, found, direction)
    made.direction = direction
    made.fifo_symbol.address = found.symbol.address
    made.fifo_symbol.size = found.symbol.size
    made.rank_fifos = fifos


def _fill(fifo: Any, rank: Rank, found: Fifo, direction: int) -> None:
    fifo.dpu_fifo_ptr_size = found.ptr_size
    fifo.dpu_fifo_address = found.data // 4
    fifo.dpu_fifo_data_size = found.element
    fifo.max_retries = engine.MAX_RETRIES
    fifo.time_for_retry = engine.RETRY_US
    fifo.transfer_matrix.offset = found.data // 4
    words = found.element // 4
    fifo.transfer_matrix.size = words if direction == _INPUT else words << found.ptr_size
    fifo.fifo_pointers_matrix.offset = found.symbol.address // 4
    fifo.fifo_pointers_matrix.size = 4
    for dpu in rank.dpus:
        fifo.fifo_pointers_matrix.ptr[dpu.in_matrix] = fifo.dpu_fifo_pointers + 2 * dpu.index


@upmem.export("dpu_link_input_fifo")
def link_input_fifo(given: Any, link: Any, fifo_name: Any) -> None:
    _create(given, link, fifo_name, _INPUT)


@upmem.export("dpu_link_output_fifo")
def link_output_fifo(given: Any, link: Any, fifo_name: Any) -> None:
    _create(given, link, fifo_name, _OUTPUT)


@upmem.export("dpu_fifo_link_free")
def fifo_link_free(link: Any) -> None:
    found = _link(link)
    lib.free(found.rank_fifos)
    found.rank_fifos = ffi.NULL


@upmem.export("get_rank_fifo", status=False, failure=ffi.NULL)
def get_rank_fifo(link: Any, rank: Any) -> Any:
    return _of_rank(link, resolve_rank(rank))


def _of_ranks(given: Any, link: Any) -> list[Any]:
    return [_of_rank(link, rank) for rank in selection(given).ranks]


@upmem.export("dpu_fifo_set_push_max_retries", status=False)
def set_push_max_retries(link: Any, given: Any, max_retries: int) -> None:
    for fifo in _of_ranks(given, link):
        fifo.max_retries = max_retries


@upmem.export("dpu_fifo_set_time_for_push_retries", status=False)
def set_time_for_push_retries(link: Any, given: Any, time_us: int) -> None:
    for fifo in _of_ranks(given, link):
        fifo.time_for_retry = time_us


# ---- positions, as they were when they were last read ----


def _kept(fifo: Any) -> NDArray[np.uint64]:
    """Read and write positions of a rank's DPUs (64 x 2, the program's own memory)."""
    return np.frombuffer(ffi.buffer(fifo.dpu_fifo_pointers), np.uint64).reshape(-1, 2)


def _read(fifo: Any, dpu: Dpu) -> int:
    return int(fifo.dpu_fifo_pointers[2 * dpu.index])


def _written(fifo: Any, dpu: Dpu) -> int:
    return int(fifo.dpu_fifo_pointers[2 * dpu.index + 1])


def _place(fifo: Any, position: int) -> int:
    return position & (1 << fifo.dpu_fifo_ptr_size) - 1


@upmem.export("get_fifo_rd_ptr", status=False, failure=0)
def get_fifo_rd_ptr(fifo: Any, dpu: Any) -> int:
    return _place(_checked(fifo), _read(fifo, resolve_dpu(dpu))) & 0xFF


@upmem.export("get_fifo_wr_ptr", status=False, failure=0)
def get_fifo_wr_ptr(fifo: Any, dpu: Any) -> int:
    return _place(_checked(fifo), _written(fifo, resolve_dpu(dpu))) & 0xFF


@upmem.export("get_fifo_abs_rd_ptr", status=False, failure=0)
def get_fifo_abs_rd_ptr(fifo: Any, dpu: Any) -> int:
    return _read(_checked(fifo), resolve_dpu(dpu))


@upmem.export("get_fifo_abs_wr_ptr", status=False, failure=0)
def get_fifo_abs_wr_ptr(fifo: Any, dpu: Any) -> int:
    return _written(_checked(fifo), resolve_dpu(dpu))


@upmem.export("set_fifo_rd_ptr", status=False)
def set_fifo_rd_ptr(fifo: Any, dpu: Any, value: int) -> None:
    _checked(fifo).dpu_fifo_pointers[2 * resolve_dpu(dpu).index] = value


@upmem.export("set_fifo_wr_ptr", status=False)
def set_fifo_wr_ptr(fifo: Any, dpu: Any, value: int) -> None:
    _checked(fifo).dpu_fifo_pointers[2 * resolve_dpu(dpu).index + 1] = value


@upmem.export("swap_fifo_rd_wr_ptr", status=False)
def swap_fifo_rd_wr_ptr(fifo: Any) -> None:
    kept = _kept(_checked(fifo))
    kept[:] = kept[:, ::-1].copy()


@upmem.export("incr_fifo_wr_ptr", status=False)
def incr_fifo_wr_ptr(fifo: Any) -> None:
    _kept(_checked(fifo))[:, 1] += np.uint64(1)


@upmem.export("is_fifo_full", status=False, failure=False)
def is_fifo_full(fifo: Any, dpu: Any) -> bool:
    found = resolve_dpu(dpu)
    read, written = _read(_checked(fifo), found), _written(fifo, found)
    return read != written and _place(fifo, read) == _place(fifo, written)


@upmem.export("is_fifo_empty", status=False, failure=True)
def is_fifo_empty(fifo: Any, dpu: Any) -> bool:
    found = resolve_dpu(dpu)
    return _read(_checked(fifo), found) == _written(fifo, found)


@upmem.export("get_fifo_size", status=False, failure=0)
def get_fifo_size(link: Any, one: Any) -> int:
    fifo, dpu = _given(link, one)
    return _written(fifo, dpu) - _read(fifo, dpu) & 0xFFFF


@upmem.export("get_fifo_max_size", status=False, failure=0)
def get_fifo_max_size(rank: Any, fifo: Any) -> int:
    kept = _kept(_checked(fifo))[resolve_rank(rank).indexes]
    return int((kept[:, 1] - kept[:, 0]).max(initial=0)) & 0xFFFF


@upmem.export("get_fifo_elem_index", status=False, failure=0)
def get_fifo_elem_index(link: Any, one: Any, i: int) -> int:
    fifo, dpu = _given(link, one)
    return _place(fifo, _read(fifo, dpu) + i) & 0xFF


@upmem.export("get_fifo_elem", status=False, failure=ffi.NULL)
def get_fifo_elem(link: Any, one: Any, fifo_data: Any, i: int) -> Any:
    fifo, dpu = _given(link, one)
    place = _place(fifo, _read(fifo, dpu) + i)
    return fifo_data + place * fifo.dpu_fifo_data_size


# ---- transfers ----


def _fifo(fifo: Any) -> Fifo:
    """What the engine knows of a rank's FIFO.

    Raises DpuError(DPU_ERR_INVALID_WRAM_ACCESS) when the program changed it to something that
    cannot be.
    """
    at, data = fifo.fifo_pointers_matrix.offset * 4, fifo.dpu_fifo_address * 4
    bits, element = fifo.dpu_fifo_ptr_size, fifo.dpu_fifo_data_size
    if bits > 16 or not element or at + 16 > WRAM_SIZE or data + (element << bits) > WRAM_SIZE:
        raise error(
            Status.DPU_ERR_INVALID_WRAM_ACCESS,
            f"fifo: positions at {at:#x} and {1 << min(bits, 16)} elements of {element} bytes at "
            f"{data:#x} are not in the {WRAM_SIZE} bytes of WRAM; dpu_link_*_fifo fills it in",
        )
    return Fifo(f"FIFO at {at:#x}", Symbol(at, 16), data, bits, element)


def _prepared(matrix: Any, dpus: list[Dpu]) -> tuple[list[Dpu], NDArray[np.uint64]]:
    hosts = [address(matrix.ptr[dpu.in_matrix]) for dpu in dpus]
    chosen = [dpu for dpu, host in zip(dpus, hosts, strict=True) if host]
    return chosen, np.array([host for host in hosts if host], np.uint64)


def _push(fifo: Any, dpus: list[Dpu], hosts: NDArray[np.uint64]) -> None:
    if not dpus:
        explain.remember("dpu_fifo_push_xfer: no DPU of the rank has a buffer; nothing was pushed")
        return
    seen = np.zeros((len(dpus), 2), np.uint64)
    try:
        engine.push(_fifo(fifo), dpus, hosts, seen, fifo.max_retries, fifo.time_for_retry)
    finally:
        _kept(fifo)[[dpu.index for dpu in dpus]] = seen


def _flush(fifo: Any, dpus: list[Dpu], hosts: NDArray[np.uint64], emptied: list[Dpu]) -> None:
    found = engine.flush(_fifo(fifo), dpus, hosts, emptied)
    _kept(fifo)[[dpu.index for dpu in emptied]] = found


@upmem.export("dpu_fifo_prepare_xfer")
def fifo_prepare_xfer(given: Any, link: Any, buffer: Any) -> None:
    for dpu in selection(given).dpus:
        if not dpu.enabled:
            raise error(Status.DPU_ERR_DPU_DISABLED, f"DPU {dpu.name} is disabled")
        _of_rank(link, dpu.rank).transfer_matrix.ptr[dpu.in_matrix] = buffer


@upmem.export("dpu_fifo_push_xfer")
def fifo_push_xfer(given: Any, link: Any, flags: int) -> None:
    chosen = selection(given)
    how = Flags.of(flags)
    flushed = _link(link).direction == _OUTPUT
    works: list[tuple[Rank, Callable[[], None]]] = []
    for rank in chosen.ranks:
        fifo = _of_rank(link, rank)
        _fifo(fifo)
        matrix = fifo.transfer_matrix
        dpus, hosts = _prepared(matrix, chosen.of(rank))
        if flushed:
            works.append((rank, partial(_flush, fifo, dpus, hosts, chosen.of(rank))))
        else:
            works.append((rank, partial(_push, fifo, dpus, hosts)))
        if not how.no_reset:
            for dpu in chosen.of(rank):
                matrix.ptr[dpu.in_matrix] = ffi.NULL
    if how.asynchronous:
        job = "parallel_copy_wram_from_fifo" if flushed else "parallel_copy_wram_to_fifo"
        submit_all(job, works, beside=True)
        return
    chosen.beside()
    for _, work in works:
        work()


@upmem.export("dpu_copy_to_wram_fifo")
def copy_to_wram_fifo(rank: Any, fifo: Any, matrix: Any) -> None:
    found = resolve_rank(rank)
    given = checked_matrix(matrix)
    _push(_checked(fifo), *_prepared(given, found.enabled))


@upmem.export("dpu_copy_from_wram_fifo")
def copy_from_wram_fifo(rank: Any, fifo: Any, matrix: Any) -> None:
    found = resolve_rank(rank)
    given = checked_matrix(matrix)
    _flush(_checked(fifo), *_prepared(given, found.enabled), found.enabled)
