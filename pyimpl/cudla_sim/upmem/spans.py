"""Which bytes of a DPU the host may copy by a symbol: the limits of each memory, declared here for
the copies of Python and for those of ``shim/library/upmem/fast.c``."""

from __future__ import annotations

from typing import NamedTuple

from ..constants.dpu_protocol import MRAM_SIZE, SLOT_MRAM, SLOT_WRAM, WRAM_SIZE
from .errors import Status
from .symbols import MRAM, Symbol


class Memory(NamedTuple):
    """``size`` bytes from ``start`` of a slot; places and lengths of copies are multiples of
    ``unit``. ``refusal``: the status of a copy that breaks that."""

    start: int
    size: int
    unit: int
    refusal: Status


MEMORIES = {
    "mram": Memory(SLOT_MRAM, MRAM_SIZE, 8, Status.DPU_ERR_INVALID_MRAM_ACCESS),
    "wram": Memory(SLOT_WRAM, WRAM_SIZE, 4, Status.DPU_ERR_INVALID_WRAM_ACCESS),
}


class Span(NamedTuple):
    """A symbol in every slot: its bytes from ``first`` to before ``end``."""

    first: int
    end: int
    unit: int


def span(symbol: Symbol) -> Span | None:
    """None for a symbol that has no byte in MRAM and WRAM."""
    memory = MEMORIES.get(symbol.memory)
    if memory is None:
        return None
    first = memory.start + (symbol.address & ~MRAM)
    end = min(first + symbol.size, memory.start + memory.size)
    return Span(first, end, memory.unit) if first <= end else None
