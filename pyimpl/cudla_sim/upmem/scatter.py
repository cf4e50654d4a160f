"""Scatter/gather transfers: many host blocks, one MRAM range of each DPU.

Source of the rules: UPMEM SDK manual, "Scatter Gather Memory Transfer".
"""

from __future__ import annotations

from functools import partial
from typing import Any, NamedTuple

import numpy as np

from ..core.events import warn
from ..native.dpu_memory import Place, SgResult
from . import machine as machines
from .errors import DpuError, Status, error
from .rank import Dpu, Selection, submit_all
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


def check_enabled(selection: Selection) -> int:
    """The most blocks a DPU may have.

    Raises DpuError: DPU_ERR_INVALID_DPU_SET for a single DPU, DPU_ERR_SG_NOT_ACTIVATED unless the
    set was allocated with ``sgXferEnable=true``.
    """
    if selection.dpu is not None:
        raise error(
            Status.DPU_ERR_INVALID_DPU_SET,
            "scatter/gather transfers are for sets of ranks, not for a single DPU",
        )
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
    ``length`` is ignored.

    Raises DpuError: those of ``check_enabled`` and ``transfer.place``,
    DPU_ERR_SG_NOT_MRAM_SYMBOL, DPU_ERR_SG_TOO_MANY_BLOCKS, DPU_ERR_SG_LENGTH_MISMATCH,
    DPU_ERR_INVALID_MEMORY_TRANSFER for a block that is not memory; nothing is copied then.
    """
    asynchronous, check_length = check_flags(flags)
    limit = check_enabled(selection)
    if symbol.memory != "mram":
        raise error(
            Status.DPU_ERR_SG_NOT_MRAM_SYMBOL,
            f"the symbol is in {symbol.memory.upper()}; scatter/gather transfers are for MRAM",
        )
    machine = selection.ranks[0].machine
    where = place(selection, symbol, offset, length, to_dpu, "dpu_push_sg_xfer_symbol")

    called = machine.hardware.now if asynchronous else None

    def part(dpus: list[Dpu], first: int) -> None:
        slots = np.array([d.slot for d in dpus], np.uint32)
        indexes = np.arange(first, first + len(dpus), dtype=np.uint32)
        mode = machine.checks.sg_overlap
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
        )
        if result.other is not None and mode == "warn":
            warn(f"dpu_push_sg_xfer: {_overlap(result, dpus, first)}")
        if result.problem:
            raise _failure(result, where, dpus, first, limit)
        ranks = len({d.rank.id for d in dpus})
        beside = selection.count - len(dpus), len(selection.ranks) - ranks
        note(where, dpus, False, called, beside)

    if not asynchronous:
        selection.wait()
        part(selection.dpus, 0)
        return
    job = "copy_mram_to_matrix" if to_dpu else "copy_mram_from_matrix"
    submit_all(job, [(rank, partial(part, dpus, first)) for rank, first, dpus in selection.each()])


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
    who = f"DPU {result.dpu} of the set ({dpu.name})"
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
