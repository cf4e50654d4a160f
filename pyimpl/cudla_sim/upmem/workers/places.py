"""Names for addresses of a DPU program: function, file and line; variable and index."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from elftools.elf.elffile import ELFFile

from ...constants.dpu_protocol import (
    MRAM_BASE,
    MRAM_SIZE,
    STACK_STRIDE,
    STACKS_BASE,
    STACKS_END,
    WRAM_BASE,
    WRAM_SIZE,
)
from ...workers import places as base
from ...workers.places import around


class Places(base.Places):
    """``absolute``: symbols that are numbers (NR_TASKLETS, stack sizes)."""

    def __init__(self, image: bytes) -> None:
        self._bits: dict[int, str] = {}
        self.absolute: dict[str, int] = {}
        super().__init__(image)

    def _take(self, elf: ELFFile, symbol: Any) -> None:
        index, value = symbol["st_shndx"], symbol["st_value"]
        if index == "SHN_ABS":
            self.absolute[symbol.name] = value
        if not isinstance(index, int) or not symbol.name:
            return
        section = elf.get_section(index).name
        entry = base.Entry(value, symbol["st_size"], symbol.name)
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
        if WRAM_BASE - (1 << 20) <= address < WRAM_BASE + WRAM_SIZE:
            where = f"WRAM address {_signed(address - WRAM_BASE)}"
        elif WRAM_BASE + WRAM_SIZE <= address < MRAM_BASE:
            where = f"WRAM address {address - WRAM_BASE:#x}, past the end of WRAM"
        elif MRAM_BASE <= address < MRAM_BASE + MRAM_SIZE:
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
