"""Scatter/gather transfers: many host blocks, one MRAM range of each DPU.

Source of the rules: UPMEM SDK manual, "Scatter Gather Memory Transfer", and api/dpu_memory.c of the
SDK's host library (sg_xfer_rank_handler).
"""

from __future__ import annotations

from functools import partial
from typing import Any, NamedTuple

import numpy as np

from ..core.events import warn
from ..core.text import tell
from ..native.dpu_memory import Place, SgResult
from . import machine as machines
from .errors import DpuError, Status, error
from .rank import Dpu, Rank, Selection, submit_all
from .symbols import Symbol
from .transfer import note, place

_DISABLE_LENGTH_CHECK = 4
_ASYNC = 2
_COMPARED = {"off": 0, "warn": 1 << 16, "fault": (1 << 32) - 1}
"""Blocks up to which a copy is looked through for some that overlap, by the check's mode: sorting
takes longer than copying."""


class Blocks(NamedTuple):
    """How the blocks are found: the addresses of a get_block function and of its arguments;
    ``owner`` is what must stay alive meanwhile."""

    function: int
    arguments: int
    owner: Any


def check_flags(value: int) -> tuple[bool, bool]:
    """(asynchronous, check the length). Raises DpuError for bits that do not exist."""
    if value & ~(_ASYNC | _DISABLE_LENGTH_CHECK):
        raise error(
            Status.DPU_ERR_INVALID_MEMORY_TRANSFER,
            f"flags is {value:#x}; DPU_SG_XFER_ASYNC (2) and DPU_SG_XFER_DISABLE_LENGTH_CHECK (4) "
            "exist",
        )
    return bool(value & _ASYNC), not value & _DISABLE_LENGTH_CHECK


def check_set(selection: Selection) -> None:
    """Raises DpuError(DPU_ERR_INTERNAL) for a set of one DPU, with the library's line on stderr."""
    if selection.dpu is not None:
        tell("scattered xfer to one DPU is not supported ")
        raise error(
            Status.DPU_ERR_INTERNAL,
            f"dpu_set is DPU {selection.dpu.name}; scatter/gather transfers need a set of ranks "
            "(dpu_alloc, DPU_RANK_FOREACH)",
        )


def _block_limit(selection: Selection) -> int:
    """Returns the maximum number of blocks of a DPU; the default is the number of DPUs in the
    allocated set, also for a transfer to one of its ranks.

    Raises DpuError(DPU_ERR_SG_NOT_ACTIVATED) unless the set was allocated with
    ``sgXferEnable=true``.
    """
    profile = selection.ranks[0].profile
    if not profile.sg_enable:
        raise error(
            Status.DPU_ERR_SG_NOT_ACTIVATED,
            'scatter/gather transfers are off; allocate with "sgXferEnable=true" in the profile',
        )
    return profile.sg_max_blocks or allocated_dpus(selection)


def allocated_dpus(selection: Selection) -> int:
    """DPUs of the allocated set that the selection belongs to."""
    rank = selection.ranks[0]
    for dpus in machines.machine(rank.machine.process).sets:
        if rank in dpus.ranks:
            return dpus.count
    return selection.count


def push(
    selection: Selection,
    to_dpu: bool,
    symbol: Symbol,
    offset: int,
    length: int,
    blocks: Blocks,
    flags: int,
) -> None:
    """Gathers host blocks into each DPU's MRAM, or scatters the MRAM range into them.

    The blocks of a DPU must have ``length`` bytes together. With DISABLE_LENGTH_CHECK a short sum
    is filled up with zeros (to the DPU) or ends the copy early (from it), and what is beyond
    ``length`` is ignored. get_block is called with the index of a DPU in the allocated set, also
    for a transfer to some ranks of it (``Rank.first_dpu``).

    Raises DpuError: those of ``check_set``, ``_block_limit`` and ``transfer.place``,
    DPU_ERR_SG_NOT_MRAM_SYMBOL, DPU_ERR_SG_TOO_MANY_BLOCKS, DPU_ERR_SG_LENGTH_MISMATCH,
    DPU_ERR_INVALID_MEMORY_TRANSFER for a block that is not memory; nothing is copied then.
    """
    asynchronous, check_length = check_flags(flags)
    check_set(selection)
    memory = Symbol(symbol.address + offset & 0xFFFF_FFFF, symbol.size).memory
    if memory != "mram":
        raise error(
            Status.DPU_ERR_SG_NOT_MRAM_SYMBOL,
            f"the symbol is in {memory.upper()}; scatter/gather transfers are for MRAM",
        )
    limit = _block_limit(selection)
    machine = selection.ranks[0].machine
    where = place(selection, symbol, offset, length, to_dpu, "dpu_push_sg_xfer_symbol")

    called = machine.hardware.now if asynchronous else None

    def part(dpus: list[Dpu], ranks: list[Rank]) -> None:
        first = ranks[0].first_dpu
        slots = np.array([d.slot for d in dpus], np.uint32)
        indexes = np.arange(first, first + len(dpus), dtype=np.uint32)
        mode = machine.checks.sg_overlap
        with machine.holding(ranks) as token:
            result = machine.store.scatter_gather(
                where,
                slots,
                indexes,
                blocks.function,
                blocks.arguments,
                limit,
                check_length,
                _COMPARED[mode],
                mode == "fault",
                token,
            )
        if result.other is not None and mode == "warn":
            warn(f"dpu_push_sg_xfer: {_overlap(result, dpus, first)}")
        if result.problem:
            raise _failure(result, where, dpus, first, limit)
        beside = selection.count - len(dpus), len(selection.ranks) - len(ranks)
        note(where, dpus, False, called, beside)

    if not asynchronous:
        selection.wait()
        with selection.turn(calls=True):
            part(selection.dpus, selection.ranks)
        return
    job = "copy_mram_to_matrix" if to_dpu else "copy_mram_from_matrix"
    works = [(rank, partial(part, selection.of(rank), [rank])) for rank in selection.ranks]
    submit_all(job, works, calls=True)


def _overlap(result: SgResult, dpus: list[Dpu], first: int) -> str:
    assert result.other is not None
    dpu, block = result.other
    return (
        f"block {result.block} of DPU {dpus[result.dpu - first].name} at {result.found:#x} shares "
        f"bytes with block {block} of DPU {dpus[dpu - first].name}; which of them remains is not "
        "said by the manual (check sg_overlap)"
    )


def _failure(result: SgResult, where: Place, dpus: list[Dpu], first: int, limit: int) -> DpuError:
    if result.problem in ("memory", "thread"):
        what = "memory for the blocks" if result.problem == "memory" else "thread for get_block"
        return error(
            Status.DPU_ERR_SYSTEM,
            f"the system gives no {what} of {len(dpus)} DPUs; nothing was copied",
        )
    dpu = dpus[result.dpu - first]
    who = f"DPU {result.dpu} of the allocated set ({dpu.name})"
    if result.problem == "overlap":
        return error(Status.DPU_ERR_INVALID_MEMORY_TRANSFER, _overlap(result, dpus, first))
    if result.problem == "blocks":
        return error(
            Status.DPU_ERR_SG_TOO_MANY_BLOCKS,
            f"get_block gave {who} more than {limit} blocks; sgXferMaxBlocksPerDpu=N in the "
            "profile allows more, and get_block must answer false after the last one",
        )
    if result.problem == "length":
        return error(
            Status.DPU_ERR_SG_LENGTH_MISMATCH,
            f"the blocks of {who} have {result.found} bytes up to block {result.block}; length is "
            f"{where.size} (DPU_SG_XFER_DISABLE_LENGTH_CHECK allows a difference)",
        )
    return error(
        Status.DPU_ERR_INVALID_MEMORY_TRANSFER,
        f"block {result.block} of {who} is at {result.found:#x}, which is not memory of this "
        "process",
    )
