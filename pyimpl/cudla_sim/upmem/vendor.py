"""Reads programs as UPMEM's own compiler makes them: ELF32 for the DPU, run by ``shim/dpu_isa``.

Their addresses are the DPU's own: WRAM from 0, MRAM from 0x08000000, IRAM from 0x80000000, and one
address for each atomic bit from 0xf0000000. Segments say what loading writes; sections say what the
host sees, by the rules of ``elf``.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from elftools.elf.elffile import ELFFile
from elftools.elf.sections import SymbolTableSection

from ..constants.dpu_protocol import (
    ATOMIC_BITS,
    INSTRUCTION_BYTES,
    IRAM_BASE,
    IRAM_INSTRUCTIONS,
    MRAM_BASE,
    MRAM_SIZE,
    WRAM_SIZE,
)
from .symbols import HEAP_POINTER, REGS, Segment, Symbol, is_hidden

ATOMIC_BASE = 0xF000_0000
STDOUT_STATE = "__stdout_buffer_state"
STDOUT_SIZE = "__stdout_buffer_size"
_MEMORIES = (
    ("wram", 0, WRAM_SIZE),
    ("mram", MRAM_BASE, MRAM_SIZE),
    ("iram", IRAM_BASE, IRAM_INSTRUCTIONS * INSTRUCTION_BYTES),
    ("atomic", ATOMIC_BASE, ATOMIC_BITS),
    ("regs", REGS, 1 << 28),
)
_WAITING = ("barrier_wait", "sem_take", "handshake_notify", "handshake_wait_for")


class Code(NamedTuple):
    """What running the program needs to know of it beside its segments."""

    waits: tuple[tuple[int, int], ...]
    """Functions of the run-time system in which tasklets wait: index of the first instruction, and
    of the one behind the last."""
    stdout_state: int | None
    """WRAM address of the print buffer's {write offset, has wrapped}."""


class Damaged(Exception):
    """The file cannot be such a program; the text says why, to be put behind its name."""


def read(elf: ELFFile) -> tuple[dict[str, Symbol], list[Segment], Code]:
    """What the host may name, what loading writes, and what running needs.

    Raises Damaged.
    """
    core = elf.header["e_type"] == "ET_CORE"
    if (
        elf.elfclass != 32
        or not elf.little_endian
        or not (core or elf.header["e_type"] == "ET_EXEC")
    ):
        raise Damaged(
            "is an ELF file for the DPU, but no linked program (ELF32, little-endian, ET_EXEC)"
        )
    symbols: dict[str, Symbol] = {}
    hidden: dict[str, Symbol] = {}
    for name, section, symbol in _symbols(elf):
        # Sections of core files are none that symbols know.
        (hidden if is_hidden(section) and not core else symbols).setdefault(name, symbol)
    tasklets = symbols.get("NR_TASKLETS")
    if tasklets is not None and tasklets.address < 1:
        raise Damaged("has NR_TASKLETS = 0")
    functions = [symbols[name] for name in _WAITING if name in symbols]
    state = hidden.get(STDOUT_STATE)
    waits = tuple(
        ((f.address - IRAM_BASE) // INSTRUCTION_BYTES,
         (f.address + f.size - IRAM_BASE) // INSTRUCTION_BYTES)
        for f in functions
        if f.address >= IRAM_BASE
    )  # fmt: skip
    code = Code(waits, state.address if state and state.address + 8 <= WRAM_SIZE else None)
    return symbols, _segments(elf), code


def _symbols(elf: ELFFile) -> Iterator[tuple[str, str, Symbol]]:
    """Name, section and place of each."""
    for table in elf.iter_sections():
        if not isinstance(table, SymbolTableSection):
            continue
        for entry in table.iter_symbols():
            index, kind = entry["st_shndx"], entry["st_info"]["type"]
            if not entry.name or index == "SHN_UNDEF" or kind in ("STT_FILE", "STT_SECTION"):
                continue
            value, size = entry["st_value"], entry["st_size"]
            if entry.name == HEAP_POINTER:
                size = MRAM_BASE + MRAM_SIZE - value
            section = elf.get_section(index).name if isinstance(index, int) else ""
            yield entry.name, section, Symbol(value, size)


def _place(what: str, start: int, size: int) -> tuple[str, int]:
    """Memory and offset of bytes that loading writes."""
    for memory, base, length in _MEMORIES:
        if base <= start < base + length:
            if start + size > base + length:
                raise Damaged(
                    f"has {what} of {size} bytes at {start:#x}, {start + size - base - length} "
                    f"bytes past the end of {memory.upper()}"
                )
            return memory, start - base
    raise Damaged(f"has {what} of {size} bytes at {start:#x}, where a DPU has no memory")


def _pieces(elf: ELFFile) -> Iterator[tuple[str, int, bytes, int]]:
    """What it is called, address, contents and size of each thing to load."""
    loads = [s for s in elf.iter_segments() if s["p_type"] == "PT_LOAD"]
    for number, load in enumerate(loads):
        size = load["p_memsz"]
        if load["p_filesz"] > size:
            raise Damaged(f"has segment {number} of {load['p_filesz']} bytes for {size}")
        yield f"segment {number}", load["p_vaddr"], load.data(), size
    if loads:
        return
    for section in elf.iter_sections():
        if section["sh_type"] == "SHT_PROGBITS" and section["sh_flags"] & 2:  # SHF_ALLOC
            yield section.name, section["sh_addr"], section.data(), section["sh_size"]


def _segments(elf: ELFFile) -> list[Segment]:
    found: list[Segment] = []
    taken: list[tuple[str, int, int, str]] = []
    for what, start, data, size in _pieces(elf):
        if not size:
            continue
        memory, offset = _place(what, start, size)
        _whole(elf, what, start, data, size)
        for other, first, end, name in taken:
            if other == memory and offset < end and first < offset + size:
                raise Damaged(f"has {what} and {name} at the same addresses of {memory.upper()}")
        taken.append((memory, offset, offset + size, what))
        if memory == "iram" and (offset % INSTRUCTION_BYTES or size % INSTRUCTION_BYTES):
            raise Damaged(f"has {what} at {start:#x}, {size} bytes: no whole instructions")
        if memory != "atomic":
            found.append(Segment(memory, offset, data, size))
    if not any(s.memory == "iram" for s in found):
        raise Damaged(f"has no instructions (nothing is to be loaded from {IRAM_BASE:#x} on)")
    return found


def _whole(elf: ELFFile, what: str, start: int, data: Any, size: int) -> None:
    wanted = next(
        (
            s["p_filesz"]
            for s in elf.iter_segments()
            if s["p_type"] == "PT_LOAD" and s["p_vaddr"] == start and s["p_memsz"] == size
        ),
        size,
    )
    if len(data) < wanted:
        raise Damaged(f"ends inside {what}: {len(data)} of {wanted} bytes are there")
