"""Reads the ELF file of a DPU program: of our compiler here, of the vendor's in ``vendor``.

Sections decide what the host sees (UPMEM SDK 2025.1): ``__host`` variables in .data.__sys_host,
everything in .mram and .mram.noinit, functions; ordinary variables are the program's own.
"""

from __future__ import annotations

import io
import platform
from functools import lru_cache

from elftools.common.exceptions import ELFError
from elftools.elf.elffile import ELFFile
from elftools.elf.sections import NoteSection, SymbolTableSection

from ..constants.dpu_protocol import MRAM_BASE, TEXT_BASE, WRAM_BASE
from .errors import DpuError, Status, error
from .isa.fields import EM_DPU
from .memory import MRAM_SIZE, WRAM_SIZE
from .symbols import HEAP_POINTER, IRAM, MRAM, Segment, Symbol, is_hidden
from .vendor import Code, Damaged
from .vendor import read as read_vendor
from .workers.executable import NATIVE

NOTE_SECTION = ".note.cudla_sim"
NOTE_OWNER = "cudla-sim"


def _invalid(path: str, text: str) -> DpuError:
    return error(Status.DPU_ERR_ELF_INVALID_FILE, f"{path!r} {text}")


@lru_cache(maxsize=16)
def parse(image: bytes, path: str) -> tuple[dict[str, Symbol], list[Segment], Code | None]:
    """What the host may name, what loading writes, and for a program of the vendor's compiler what
    running it needs.

    Raises DpuError(DPU_ERR_ELF_INVALID_FILE), saying what the file is instead.
    """
    if image[:4] != b"\x7fELF":
        raise _invalid(path, "is no ELF file; it begins with " + (image[:4].hex(" ") or "nothing"))
    try:
        elf = ELFFile(io.BytesIO(image))
        if elf.header["e_machine"] in (EM_DPU, "EM_DPU"):
            return read_vendor(elf)
        _recognise(elf, path)
        return _symbols(elf), _segments(elf), None
    except DpuError:
        raise
    except Damaged as cause:
        raise _invalid(path, str(cause)) from None
    except Exception as cause:  # pyelftools answers damage with many kinds of exceptions
        kind = "" if isinstance(cause, ELFError) else f"{type(cause).__name__}: "
        raise _invalid(path, f"is a damaged ELF file: {kind}{cause}") from None


def _recognise(elf: ELFFile, path: str) -> None:
    machine = elf.header["e_machine"]
    note = elf.get_section_by_name(NOTE_SECTION)
    if isinstance(note, NoteSection) and any(n["n_name"] == NOTE_OWNER for n in note.iter_notes()):
        if machine == "EM_X86_64" and platform.machine() != NATIVE:
            raise _invalid(
                path,
                f"holds code of x86-64, this machine is {platform.machine()}; programs of UPMEM's "
                "compiler and of assembly run on any machine",
            )
        return
    what = (
        "a program of this host" if machine == "EM_X86_64" else f"for another machine ({machine})"
    )
    raise _invalid(
        path, f"is {what}, not a DPU program; dpu-upmem-dpurte-clang of cudla-sim makes those"
    )


def host_address(section: str, value: int, text_start: int) -> int | None:
    """A link address in the DPU's own map; None for what lies in no DPU memory."""
    if WRAM_BASE <= value < WRAM_BASE + WRAM_SIZE:
        return value - WRAM_BASE
    if MRAM_BASE <= value < MRAM_BASE + MRAM_SIZE:
        return MRAM + value - MRAM_BASE
    if section.startswith(".text") and value >= text_start:
        return IRAM + value - text_start
    return None


def _symbol_tables(elf: ELFFile) -> list[SymbolTableSection]:
    return [s for s in elf.iter_sections() if isinstance(s, SymbolTableSection)]


def _symbols(elf: ELFFile) -> dict[str, Symbol]:
    texts = [s["sh_addr"] for s in elf.iter_sections() if s.name.startswith(".text")]
    text_start = min(texts, default=TEXT_BASE)
    found: dict[str, Symbol] = {}
    for table in _symbol_tables(elf):
        for entry in table.iter_symbols():
            index, kind = entry["st_shndx"], entry["st_info"]["type"]
            if not entry.name or index == "SHN_UNDEF" or kind in ("STT_FILE", "STT_SECTION"):
                continue
            value, size = entry["st_value"], entry["st_size"]
            if entry.name == HEAP_POINTER:
                offset = value - MRAM_BASE
                found[entry.name] = Symbol(MRAM + offset, MRAM_SIZE - offset)
            elif index == "SHN_ABS":
                found.setdefault(entry.name, Symbol(value & 0xFFFF_FFFF, size))
            elif isinstance(index, int):
                section = elf.get_section(index).name
                address = host_address(section, value, text_start)
                if address is not None and not is_hidden(section):
                    found.setdefault(entry.name, Symbol(address, size))
    return found


@lru_cache(maxsize=4)
def names(image: bytes) -> frozenset[str]:
    """Every symbol of the file, hidden ones too."""
    elf = ELFFile(io.BytesIO(image))
    return frozenset(
        e.name for table in _symbol_tables(elf) for e in table.iter_symbols() if e.name
    )


def _segments(elf: ELFFile) -> list[Segment]:
    found = []
    for section in elf.iter_sections():
        start, size = section["sh_addr"], section["sh_size"]
        if not section["sh_flags"] & 2 or not size:  # SHF_ALLOC
            continue
        data = b"" if section["sh_type"] == "SHT_NOBITS" else section.data()
        if WRAM_BASE <= start < WRAM_BASE + WRAM_SIZE:
            found.append(Segment("wram", start - WRAM_BASE, data, size))
        elif MRAM_BASE <= start < MRAM_BASE + MRAM_SIZE and data:
            found.append(Segment("mram", start - MRAM_BASE, data, size))
    return found
