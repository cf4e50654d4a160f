"""Names for addresses of a VPU executable: function, file and line; variable in VMEM."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Any

from elftools.elf.elffile import ELFFile

from ...constants.pva_protocol import BANK_STRIDE, VMEM_SIZE, VMEM_WINDOW
from ...workers import places as base
from ...workers.places import Entry, around, starting_before

# Functions of ours and of the C library's start, in C and in C++ spelling.
_RUNTIME = re.compile(
    r"(_ZN?\w*?\d+)?(pva_|rt_|cupva[A-Z])|_start|main$|_init$|_fini$|frame_dummy|__"
)
_OWN_FOLDERS = ("include/cupva", "cupva/cupva_device", "cupva/vpu_native")


class Places(base.Places):
    """The variables are those in VMEM."""

    def _take(self, elf: ELFFile, symbol: Any) -> None:
        value, size, kind = symbol["st_value"], symbol["st_size"], symbol["st_info"]["type"]
        if kind == "STT_FUNC" and size:
            self._functions.append(Entry(value, size, symbol.name))
        elif kind == "STT_OBJECT" and VMEM_WINDOW <= value < VMEM_WINDOW + VMEM_SIZE:
            self._variables.append(Entry(value, size, _plain(symbol.name)))

    def _left_out(self, program: Any) -> set[int]:
        """The device headers: what is inlined from them counts as the line that called."""
        folders = [bytes(d).decode(errors="replace") for d in program.header["include_directory"]]
        if program.header["version"] < 5:
            folders.insert(0, "")
        return {
            index
            for index, file in enumerate(program.header["file_entry"])
            if file.dir_index < len(folders) and folders[file.dir_index].endswith(_OWN_FOLDERS)
        }

    def code(self, pc: int, chain: tuple[int, ...]) -> str:
        """``function (file:line)``: the kernel's own code that ``pc`` is in or was called from;
        empty when that is not known. ``chain``: return addresses, innermost first."""
        for address in (pc, *(c - 1 for c in chain)):
            function = around(self._functions, address)
            if function and not _RUNTIME.match(function.name):
                return _plain(function.name) + self._lines.at(address)
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
        found = starting_before(self._variables, address)
        bank = (address - VMEM_WINDOW) // BANK_STRIDE
        same = found is not None and (found.address - VMEM_WINDOW) // BANK_STRIDE == bank
        return found if same else None

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


@lru_cache(maxsize=8)
def places(image: bytes) -> Places:
    return Places(image)
