"""Names for addresses of a VPU executable: function, file and line; variable in VMEM."""

from __future__ import annotations

import io
import re
from bisect import bisect_right
from functools import lru_cache
from pathlib import PurePath
from typing import Any

from elftools.elf.elffile import ELFFile
from elftools.elf.sections import SymbolTableSection

from .protocol import BANK_STRIDE, VMEM_SIZE, VMEM_WINDOW

# Functions of ours and of the C library's start, in C and in C++ spelling.
_RUNTIME = re.compile(
    r"(_ZN?\w*?\d+)?(pva_|rt_|cupva[A-Z])|_start|main$|_init$|_fini$|frame_dummy|__"
)
_OWN_FOLDERS = ("include/cupva", "cupva/cupva_device", "cupva/vpu_native")
Entry = tuple[int, int, str]


class Places:
    """The symbols and line numbers of one executable (the bytes of it)."""

    def __init__(self, image: bytes) -> None:
        elf = ELFFile(io.BytesIO(image))
        self._functions: list[Entry] = []
        self._variables: list[Entry] = []
        table = elf.get_section_by_name(".symtab")
        for symbol in table.iter_symbols() if isinstance(table, SymbolTableSection) else ():
            value, size, kind = symbol["st_value"], symbol["st_size"], symbol["st_info"]["type"]
            if kind == "STT_FUNC" and size:
                self._functions.append((value, size, symbol.name))
            elif kind == "STT_OBJECT" and VMEM_WINDOW <= value < VMEM_WINDOW + VMEM_SIZE:
                self._variables.append((value, size, _plain(symbol.name)))
        self._functions.sort()
        self._variables.sort()
        self._lines = _read_lines(elf)
        self._line_starts = [line[0] for line in self._lines]

    def code(self, pc: int, chain: tuple[int, ...]) -> str:
        """``function (file:line)``: the kernel's own code that ``pc`` is in or was called from;
        empty when that is not known. ``chain``: return addresses, innermost first."""
        for address in (pc, *(c - 1 for c in chain)):
            function = _find(self._functions, address)
            if function is None or _RUNTIME.match(function[2]):
                continue
            at = bisect_right(self._line_starts, address) - 1
            name = _plain(function[2])
            if at >= 0 and self._lines[at][1] is not None:
                return f"{name} ({self._lines[at][1]}:{self._lines[at][2]})"
            return name
        return ""

    def data(self, address: int) -> str:
        """An address in words: VMEM offset and the variable that it belongs to or lies behind."""
        offset = address - VMEM_WINDOW
        if not 0 <= offset < VMEM_SIZE:
            return f"address {address:#x}, outside VMEM"
        where = f"VMEM offset {offset:#x} (superbank {'ABC'[offset // BANK_STRIDE]})"
        variable = self.before(address)
        if variable is None:
            return where
        start, size, name = variable
        if address < start + size:
            return f"{where}, {name} + {address - start}"
        return f"{where}, {address - start - size} bytes behind the end of {name} ({size} bytes)"

    def before(self, address: int) -> Entry | None:
        """The variable of the same superbank that starts at or before an address."""
        at = bisect_right(self._variables, (address, 1 << 62, "")) - 1
        if at < 0:
            return None
        found = self._variables[at]
        bank = (address - VMEM_WINDOW) // BANK_STRIDE
        return found if (found[0] - VMEM_WINDOW) // BANK_STRIDE == bank else None

    def at(self, offset: int) -> str:
        """The variable at a VMEM offset, empty for none."""
        found = self.before(VMEM_WINDOW + offset)
        return found[2] if found and VMEM_WINDOW + offset < found[0] + max(found[1], 1) else ""


def _plain(name: str) -> str:
    """A function's own name out of a C++ one."""
    if name == "cupva_vpu_main":
        return "CUPVA_VPU_MAIN"
    match = re.match(r"_ZL?(\d+)", name) or re.match(r"_ZN(?:K?\d+\D\w*?)*?L?(\d+)", name)
    if match:
        return name[match.end() : match.end() + int(match[1])]
    return name


def _find(entries: list[Entry], address: int) -> Entry | None:
    at = bisect_right(entries, (address, 1 << 62, "")) - 1
    if at < 0:
        return None
    start, size, _ = entries[at]
    return entries[at] if address < start + max(size, 1) else None


def _own_files(program: Any) -> set[int]:
    """Indices of the device headers: what is inlined from them counts as the line that called."""
    folders = [bytes(d).decode(errors="replace") for d in program.header["include_directory"]]
    if program.header["version"] < 5:
        folders.insert(0, "")
    return {
        index
        for index, file in enumerate(program.header["file_entry"])
        if file.dir_index < len(folders) and folders[file.dir_index].endswith(_OWN_FOLDERS)
    }


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
        own = _own_files(program)
        for entry in program.get_entries():
            state = entry.state
            if state is None:
                continue
            if state.end_sequence:
                rows.append((state.address, None, 0))
            elif 0 <= state.file - base < len(files) and state.file - base not in own:
                name = files[state.file - base].name.decode(errors="replace")
                rows.append((state.address, PurePath(name).name, state.line))
    rows.sort(key=lambda row: (row[0], row[1] is not None))
    return rows


@lru_cache(maxsize=8)
def places(image: bytes) -> Places:
    return Places(image)
