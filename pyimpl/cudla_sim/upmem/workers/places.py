"""Names for addresses of a DPU program: function, file and line; variable and index."""

from __future__ import annotations

import io
from functools import lru_cache

from elftools.elf.elffile import ELFFile
from elftools.elf.sections import SymbolTableSection

from ...core.elf_places import Entry, Lines, around
from .protocol import MRAM_WINDOW, STACK_STRIDE, STACKS_BASE, STACKS_END, WRAM_SIZE, WRAM_WINDOW


class Places:
    """The symbols and line numbers of one program file (the bytes of it)."""

    def __init__(self, image: bytes) -> None:
        elf = ELFFile(io.BytesIO(image))
        self._functions: list[Entry] = []
        self._variables: list[Entry] = []
        self._bits: dict[int, str] = {}
        self.absolute: dict[str, int] = {}
        for table in elf.iter_sections():
            if isinstance(table, SymbolTableSection):
                self._read_symbols(elf, table)
        self._functions.sort()
        self._variables.sort()
        self._lines = Lines(elf)

    def _read_symbols(self, elf: ELFFile, table: SymbolTableSection) -> None:
        for symbol in table.iter_symbols():
            index, value = symbol["st_shndx"], symbol["st_value"]
            if index == "SHN_ABS":
                self.absolute[symbol.name] = value
            if not isinstance(index, int) or not symbol.name:
                continue
            section = elf.get_section(index).name
            entry = Entry(value, symbol["st_size"], symbol.name)
            kind = symbol["st_info"]["type"]
            if section == ".text" and kind == "STT_FUNC":
                self._functions.append(entry)
            elif section == ".atomic":
                self._bits[value & 0xFF] = symbol.name.removeprefix("__atomic_bit_")
            elif kind == "STT_OBJECT" and not section.startswith(".rt."):
                self._variables.append(entry)

    def in_program(self, pc: int) -> bool:
        """True in the program's own code, false in the runtime."""
        return around(self._functions, pc) is not None

    def code(self, pc: int) -> str:
        """``function (file:line)`` as far as known."""
        function = around(self._functions, pc)
        name = function.name if function else f"address {pc:#x}"
        return name + self._lines.at(pc)

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
        found = around(self._variables, address)
        if found:
            offset = address - found.address
            where += f" ({found.name}{f' + {offset}' if offset else ''})"
        return where

    def bit(self, number: int) -> str:
        """The mutex that is this atomic bit."""
        return self._bits.get(number, f"atomic bit {number}")


def _signed(value: int) -> str:
    return hex(value) if value >= 0 else f"-{-value:#x}"


@lru_cache(maxsize=8)
def places(image: bytes) -> Places:
    return Places(image)
