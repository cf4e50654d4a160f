"""The pieces of a program that dpu_elf_load writes, and the functions that may change them first.

Positions and sizes count instructions of IRAM, words of 32 bits of WRAM and bytes of MRAM, as the
program's functions and the counts of a ``struct _dpu_loader_context_t`` do.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from ...constants.dpu_protocol import INSTRUCTION_BYTES
from ...core import process
from ...upmem.program import Program
from ...upmem.symbols import Segment
from ..embedding import address, ffi
from .family import DpuError

_UNITS = {
    "iram": ("nr_of_instructions", INSTRUCTION_BYTES),
    "wram": ("nr_of_wram_words", ffi.sizeof("dpuword_t")),
    "mram": ("nr_of_mram_bytes", 1),
}
"""The count of what is loaded, and the bytes of one."""


class Loading(NamedTuple):
    """What ``shim/library/upmem/loader.c`` gives instead of a context."""

    context: Any
    change: int
    """Address of the C function that calls a function of the program, with a ``struct piece``."""
    unchanged: int
    """Address of the function that changes nothing."""

    @staticmethod
    def of(pointer: Any) -> Loading:
        words = ffi.cast("uintptr_t *", pointer)
        return Loading(ffi.cast("dpu_loader_context_t", words[0]), words[1], words[2])


def changed(program: Program, loading: Loading) -> list[Segment]:
    """The program's segments as its functions leave them; the context counts them.

    Raises DpuError: what a function answers.
    """
    return [
        _changed(segment, loading) if segment.memory in _UNITS else segment
        for segment in program.segments
    ]


def _changed(segment: Segment, loading: Loading) -> Segment:
    count, unit = _UNITS[segment.memory]
    name = f"patch_{segment.memory}"
    context, function = loading.context, address(getattr(loading.context, name))
    # Sections of natively compiled programs may begin and end inside a word.
    first, skipped = divmod(segment.offset, unit)
    size = -(-(skipped + segment.size) // unit)
    loaded = getattr(context, count)
    if function and function != loading.unchanged:
        content = ffi.new("uint64_t[]", -(-size * unit // 8))
        ffi.memmove(ffi.cast("char *", content) + skipped, segment.data, len(segment.data))
        env = address(ffi.addressof(context, "env"))
        piece = ffi.new("int64_t[7]", [function, env, address(content), first, size, not loaded])
        process.current().native.calls.host_function(loading.change, address(piece))
        if piece[6]:
            what = f"{count.removeprefix('nr_of_').replace('_', ' ')} from {first} on"
            text = f"context->{name} answered {piece[6]} for the {size} {what}; nothing is loaded"
            raise DpuError(piece[6], text)
        whole = bytes(ffi.buffer(content))
        segment = segment._replace(data=whole[skipped : skipped + segment.size])
    setattr(context, count, loaded + size & 0xFFFF_FFFF)
    return segment
