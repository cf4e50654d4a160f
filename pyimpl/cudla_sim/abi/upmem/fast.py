"""Tells shim/library/upmem/fast.c what it may answer without Python."""

from __future__ import annotations

from typing import Any

from ...core import process
from ...native.calls import Calls
from ...native.dpu_memory import DpuCopies
from ...upmem.machine import Machine, machine
from ...upmem.rank import Rank
from ...upmem.spans import span
from ...upmem.symbols import Symbol
from ...upmem.system import System
from ..embedding import address, ffi, lib

_WORD = 8


def publish(sets: dict[int, list[Rank]]) -> None:
    """``sets``: every live set's ranks, by the address of its rank array in C.

    The calls answered there: DPU_FOREACH over a set or a rank, dpu_prepare_xfer, and the copies by
    the name of a symbol that was found before (``learn``).
    """
    members: list[tuple[int, int, int, int]] = []
    entries: list[tuple[int, int, int, int]] = []
    owner: System | None = None
    for base, ranks in sets.items():
        whole = len(members)
        for number, rank in enumerate(ranks):
            first = len(members)
            buffers, words = rank.places.address, rank.seat.words.address
            members += [(d.handle, buffers + _WORD * d.index, words, d.slot) for d in rank.enabled]
            if len(ranks) > 1:
                entries.append((base + _WORD * number, first, 1, len(rank.enabled)))
            owner = rank.machine
        entries.append((base, whole, len(ranks), len(members) - whole))
    lib.sim_dpu_fast_tables(
        ffi.new("struct sim_dpu_fast_member[]", members),
        len(members),
        ffi.new("struct sim_dpu_fast_set[]", entries),
        len(entries),
        owner.store.base if owner else 0,
        ffi.cast("uint64_t *", owner.loads.address) if owner else ffi.NULL,
        ffi.cast("void *", DpuCopies.transfer_address()),
        ffi.cast("void *", Calls.dpu_token_address()),
    )
    watching_changed()


def learn(given: Any, name: Any, symbol: Symbol) -> None:
    """A copy by this name to or from this ``struct dpu_set_t`` was right: the next one needs no
    Python, while its DPUs keep their program. Not where their memory is on another machine."""
    if not machine().store.base:
        return
    allowed = span(symbol)
    if allowed is None:
        return
    if given.kind:
        key, count = address(given.dpu), 0
    else:
        key, count = address(given.list.ranks), given.list.nr_ranks
    lib.sim_dpu_fast_learn(key, count, name, *allowed)


def watching_changed() -> None:
    """Calls must pass the gate while somebody watches them, times them or wants some to fail."""
    current = process._Current.process
    watched = current is None or bool(current.events.subscribers) or current.faults.active
    if current is not None and not watched:
        made = current.families.get("upmem")
        watched = isinstance(made, Machine) and made.timed
    lib.sim_dpu_fast_enable(not watched)


process.on_watching_change(watching_changed)
