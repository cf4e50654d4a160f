"""Names for addresses of a program of the vendor's compiler, which are the DPU's own."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from elftools.elf.elffile import ELFFile

from ...constants.dpu_protocol import INSTRUCTION_BYTES, IRAM_BASE, MRAM_BASE, MRAM_SIZE, WRAM_SIZE
from ...workers import places as base
from ...workers.places import around


class Places(base.Places):
    """``named``: where symbols lie that the run-time system has for the host, by name."""

    def __init__(self, image: bytes) -> None:
        self.named: dict[str, int] = {}
        super().__init__(image)

    def _take(self, elf: ELFFile, symbol: Any) -> None:
        index, kind = symbol["st_shndx"], symbol["st_info"]["type"]
        if not symbol.name or kind in ("STT_FILE", "STT_SECTION"):
            return
        self.named.setdefault(symbol.name, symbol["st_value"])
        if not isinstance(index, int):
            return
        entry = base.Entry(symbol["st_value"], symbol["st_size"], symbol.name)
        if kind == "STT_FUNC":
            self._functions.append(entry)
        elif kind == "STT_OBJECT":
            self._variables.append(entry)

    def code(self, address: int) -> str:
        """``0x80000010 in function (file:line)`` as far as known."""
        function = around(self._functions, address)
        index = (address - IRAM_BASE) // INSTRUCTION_BYTES
        text = f"{address:#x} (instruction {index})"
        return f"{text} in {function.name}{self._lines.at(address)}" if function else text

    def data(self, address: int) -> str:
        """A data address in words, with the variable that it belongs to."""
        if MRAM_BASE <= address < MRAM_BASE + MRAM_SIZE:
            where = f"MRAM address {address:#x}"
        elif address < WRAM_SIZE:
            where = f"WRAM address {address:#x}"
        else:
            return f"address {address:#x}"
        found = around(self._variables, address)
        if found:
            offset = address - found.address
            where += f" ({found.name}{f' + {offset}' if offset else ''})"
        return where

    def stack(self, tasklet: int) -> tuple[int, int] | None:
        """First address and bytes of a tasklet's stack."""
        start = self.named.get(f"__sys_stack_thread_{tasklet}")
        size = self.named.get(f"STACK_SIZE_TASKLET_{tasklet}")
        return (start, size) if start is not None and size else None


@lru_cache(maxsize=8)
def places(image: bytes) -> Places:
    return Places(image)
