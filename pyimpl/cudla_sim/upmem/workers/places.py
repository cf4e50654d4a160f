"""Names for addresses of a DPU program: function, file and line; variable and index."""

from __future__ import annotations

import io
from bisect import bisect_right
from functools import lru_cache
from pathlib import PurePath

from elftools.elf.elffile import ELFFile
from elftools.elf.sections import SymbolTableSection

from .protocol import MRAM_WINDOW, STACK_STRIDE, STACKS_BASE, STACKS_END, WRAM_SIZE, WRAM_WINDOW


class Places:
    """The symbols and line numbers of one program file (the bytes of it)."""

    def __init__(self, image: bytes) -> None:
        elf = ELFFile(io.BytesIO(image))
        self._functions: list[tuple[int, int, str]] = []
        self._variables: list[tuple[int, int, str]] = []
        self._bits: dict[int, str] = {}
        self.absolute: dict[str, int] = {}
        for table in elf.iter_sections():
            if isinstance(table, SymbolTableSection):
                self._read_symbols(elf, table)
        self._functions.sort()
        self._variables.sort()
        self._lines = _read_lines(elf)
        self._line_starts = [line[0] for line in self._lines]

    def _read_symbols(self, elf: ELFFile, table: SymbolTableSection) -> None:
        for symbol in table.iter_symbols():
            index, value = symbol["st_shndx"], symbol["st_value"]
            if index == "SHN_ABS":
                self.absolute[symbol.name] = value
            if not isinstance(index, int) or not symbol.name:
                continue
            section = elf.get_section(index).name
            entry = (value, symbol["st_size"], symbol.name)
            kind = symbol["st_info"]["type"]
            if section == ".text" and kind == "STT_FUNC":
                self._functions.append(entry)
            elif section == ".atomic":
                self._bits[value & 0xFF] = symbol.name.removeprefix("__atomic_bit_")
            elif kind == "STT_OBJECT" and not section.startswith(".rt."):
                self._variables.append(entry)

    def in_program(self, pc: int) -> bool:
        """True in the program's own code, false in the runtime."""
        return _find(self._functions, pc) is not None

    def code(self, pc: int) -> str:
        """``function (file:line)`` as far as known."""
        function = _find(self._functions, pc)
        at = bisect_right(self._line_starts, pc) - 1
        name = function[2] if function else f"address {pc:#x}"
        if at >= 0 and self._lines[at][1] is not None:
            return f"{name} ({self._lines[at][1]}:{self._lines[at][2]})"
        return name

    def data(self, address: int) -> str:
        """A data address in words: the DPU's own address and the variable that it belongs to."""
        if STACKS_BASE <= address < STACKS_END:
            return f"the stack of tasklet {(address - STACKS_BASE) // STACK_STRIDE}"
        where = f"address {address:#x}"
        if WRAM_WINDOW - (1 << 20) <= address < WRAM_WINDOW + WRAM_SIZE:
            where = f"WRAM address {_signed(address - WRAM_WINDOW)}"
        elif WRAM_WINDOW + WRAM_SIZE <= address < MRAM_WINDOW:
            where = f"WRAM address {address - WRAM_WINDOW:#x}, past the end of WRAM"
        elif MRAM_WINDOW <= address < MRAM_WINDOW + (64 << 20):
            where = f"MRAM address {address:#x}"
        found = _find(self._variables, address)
        if found:
            offset = address - found[0]
            where += f" ({found[2]}{f' + {offset}' if offset else ''})"
        return where

    def bit(self, number: int) -> str:
        """The mutex that is this atomic bit."""
        return self._bits.get(number, f"atomic bit {number}")


def _signed(value: int) -> str:
    return hex(value) if value >= 0 else f"-{-value:#x}"


def _find(entries: list[tuple[int, int, str]], address: int) -> tuple[int, int, str] | None:
    at = bisect_right(entries, (address, 1 << 62, "")) - 1
    if at < 0:
        return None
    start, size, _ = entries[at]
    return entries[at] if address < start + max(size, 1) else None


def _read_lines(elf: ELFFile) -> list[tuple[int, str | None, int]]:
    """Rows (address, file, line) in order; file None: a gap starts there."""
    rows: list[tuple[int, str | None, int]] = []
    if not elf.has_dwarf_info():
        return rows
    dwarf = elf.get_dwarf_info()
    for unit in dwarf.iter_CUs():
        program = dwarf.line_program_for_CU(unit)
        if program is None:
            continue
        files = program.header["file_entry"]
        base = 0 if program.header["version"] >= 5 else 1
        for entry in program.get_entries():
            state = entry.state
            if state is None:
                continue
            if state.end_sequence:
                rows.append((state.address, None, 0))
            elif 0 <= state.file - base < len(files):
                name = files[state.file - base].name.decode(errors="replace")
                rows.append((state.address, PurePath(name).name, state.line))
    rows.sort(key=lambda row: (row[0], row[1] is not None))
    return rows


@lru_cache(maxsize=8)
def places(image: bytes) -> Places:
    return Places(image)
