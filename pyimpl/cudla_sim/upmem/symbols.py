"""Places in a DPU as the host sees them, in the DPU's own map: WRAM from 0, MRAM from 0x08000000,
IRAM from 0x80000000."""

from __future__ import annotations

from typing import NamedTuple

from ..constants.dpu_protocol import MRAM_BASE

MRAM = MRAM_BASE
IRAM = 0x8000_0000
REGS = 0xA000_0000
"""Of core files: a serialized context lies there."""
HEAP_POINTER = "__sys_used_mram_end"


class Symbol(NamedTuple):
    """A place in a DPU as the host names it: ``address`` in the DPU's map, ``size`` in bytes."""

    address: int
    size: int

    @property
    def memory(self) -> str:
        """``wram``, ``mram`` or ``iram``: bit 31 means IRAM, bit 27 MRAM."""
        if self.address & IRAM:
            return "iram"
        return "mram" if self.address & MRAM else "wram"


class Segment(NamedTuple):
    """Bytes that loading writes: ``offset`` inside the memory, ``data`` followed by zeros up to
    ``size``."""

    memory: str
    offset: int
    data: bytes
    size: int


def is_hidden(section: str) -> bool:
    """Ordinary variables are the program's own: the host sees __host and MRAM variables, functions
    and constants."""
    hidden = section.startswith((".data", ".bss", ".rodata", ".rt."))
    return hidden and not section.startswith(".data.__sys_host")
