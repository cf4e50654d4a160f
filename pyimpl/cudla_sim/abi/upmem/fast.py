"""Tells shim/upmem_fast.c what it may answer without Python."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ...core import process
from ...upmem.rank import Rank
from ..native import ffi, lib

_WORD = 8


def _pointer(array: NDArray[np.uint64]) -> object:
    return ffi.from_buffer("uint64_t[]", array)


def publish(sets: dict[int, list[Rank]]) -> None:
    """``sets``: every live set's ranks, by the address of its rank array in C.

    The calls answered there are DPU_FOREACH over a set or a rank, and dpu_prepare_xfer.
    """
    ranks = [rank for members in sets.values() for rank in members]
    handles = np.array([d.handle for r in ranks for d in r.enabled], np.uint64)
    buffers = np.array(
        [r.buffers.ctypes.data + _WORD * d.index for r in ranks for d in r.enabled], np.uint64
    )
    entries: list[tuple[int, int, int, int]] = []
    first = 0
    for base, members in sets.items():
        whole = first
        for number, rank in enumerate(members):
            if len(members) > 1:
                entries.append((base + _WORD * number, first, 1, len(rank.enabled)))
            first += len(rank.enabled)
        entries.append((base, whole, len(members), first - whole))
    listed = ffi.new("struct sim_dpu_fast_set[]", entries)
    lib.sim_dpu_fast_tables(
        _pointer(handles), _pointer(buffers), len(handles), listed, len(entries),
        _pointer(handles), len(handles),
    )  # fmt: skip
    watching_changed()


def watching_changed() -> None:
    """Calls must pass the gate while somebody watches them or wants some to fail."""
    current = process._Current.process
    watched = current is None or bool(current.events.subscribers) or current.faults.active
    lib.sim_dpu_fast_enable(not watched)
