"""Copies of BDMA in numpy."""

from __future__ import annotations

import numpy as np

from ...memory import Memory
from .registers import Transfer


def copy(transfer: Transfer, memory: tuple[Memory, Memory]) -> int:
    """Execute a descriptor; return the bytes moved."""
    shape = (transfer.surfaces, transfer.lines, transfer.size * 32)
    byte = np.dtype(np.uint8)
    source = memory[transfer.source_mc].strided(
        "BDMA",
        transfer.source,
        byte,
        shape,
        (transfer.source_surface, transfer.source_line, 1),
    )
    memory[transfer.destination_mc].strided(
        "BDMA",
        transfer.destination,
        byte,
        shape,
        (transfer.destination_surface, transfer.destination_line, 1),
        write=True,
    )[...] = source.copy()
    return int(np.prod(shape))
