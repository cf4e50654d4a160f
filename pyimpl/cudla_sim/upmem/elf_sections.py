"""What a program's file holds, section by section, for tools that look into it (dpu_elf.h)."""

from __future__ import annotations

import io
from functools import cached_property
from typing import NamedTuple

from elftools.elf.elffile import ELFFile
from elftools.elf.sections import Section, SymbolTableSection

from ..constants.upmem import EM_DPU
from .elf import host_address

ABSOLUTE = "ABS"
"""Where symbols stand that are numbers."""


class Named(NamedTuple):
    """A symbol: its address in the DPU's map, its size in bytes."""

    name: str
    value: int
    size: int


class Sections:
    """Of one file, which was read before without an error."""

    def __init__(self, image: bytes) -> None:
        self._elf = ELFFile(io.BytesIO(image))
        self._sections: list[Section] = list(self._elf.iter_sections())
        self.names = [section.name for section in self._sections]

    def data(self, name: str) -> bytes | None:
        """The contents of a section; None: there is no such one."""
        for section in self._sections:
            if section.name == name:
                return b"" if section["sh_type"] == "SHT_NOBITS" else bytes(section.data())
        return None

    @cached_property
    def symbols(self) -> dict[str, list[Named]]:
        """Those of each section, and of ``ABSOLUTE``. Of a program for this machine without what is
        in none of the DPU's memories."""
        found: dict[str, list[Named]] = {name: [] for name in (*self.names, ABSOLUTE)}
        vendor = self._elf.header["e_machine"] in (EM_DPU, "EM_DPU")
        texts = [s["sh_addr"] for s in self._sections if s.name.startswith(".text")]
        for table in self._sections:
            if not isinstance(table, SymbolTableSection):
                continue
            for entry in table.iter_symbols():
                index, value = entry["st_shndx"], entry["st_value"]
                if not entry.name:
                    continue
                if index == "SHN_ABS":
                    found[ABSOLUTE].append(Named(entry.name, value, entry["st_size"]))
                elif isinstance(index, int) and index < len(self.names):
                    section = self.names[index]
                    at = value if vendor else host_address(section, value, min(texts, default=0))
                    if section and at is not None:
                        found[section].append(Named(entry.name, at, entry["st_size"]))
        return found
