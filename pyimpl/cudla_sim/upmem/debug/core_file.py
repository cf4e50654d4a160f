"""Core files of DPUs: all memories and registers in one ELF file, with the program's symbols.

As the SDK's library writes them: sections and segments ``.data`` (WRAM), ``.text`` (IRAM),
``.regs`` (a serialized context, at an address of its own) and ``.mram``, then what the program's
file has besides those.
"""

from __future__ import annotations

import io
import struct
from collections.abc import Mapping
from typing import NamedTuple

from elftools.common.exceptions import ELFError
from elftools.elf.elffile import ELFFile

from ..symbols import REGS

_ADDRESSES = {".data": 0, ".text": 0x8000_0000, ".regs": REGS, ".mram": 0x0800_0000}
SECTIONS = tuple(_ADDRESSES)
_HEAD = struct.Struct("<16sHHIIIIIHHHHHH")
_SEGMENT = struct.Struct("<8I")
_SECTION = struct.Struct("<10I")
_CORE, _DPU, _LOAD, _PROGBITS, _STRTAB = 4, 245, 1, 1, 3
_WRITE, _ALLOC, _CODE, _STRINGS = 1, 2, 4, 0x20
_ALIGN = 4


class NoProgram(Exception):
    """The file cannot be that of a program; the text says why."""


class _Section(NamedTuple):
    name: str
    kind: int
    flags: int
    address: int
    data: bytes
    entry: int = 0


def write(program: bytes, contents: Mapping[str, bytes]) -> bytes:
    """The file. ``contents``: of each of ``SECTIONS``; ``program``: the program's file.

    Raises NoProgram.
    """
    sections = [
        _Section(
            name,
            _PROGBITS,
            _ALLOC | (_CODE if name == ".text" else _WRITE),
            _ADDRESSES[name],
            contents[name],
        )
        for name in SECTIONS
    ]
    sections += _copied(program)
    return _file(sections)


def _copied(program: bytes) -> list[_Section]:
    """Sections of the program that are none of a core file's own, by the beginning of their
    names."""
    own = (*SECTIONS, ".shstrtab")
    try:
        found = [
            _Section(
                s.name, _KINDS.get(s["sh_type"], _PROGBITS), s["sh_flags"], 0, s.data(),
                s["sh_entsize"],
            )
            for s in ELFFile(io.BytesIO(program)).iter_sections()
            if s["sh_type"] != "SHT_NULL" and not s.name.startswith(own)
        ]  # fmt: skip
    except (ELFError, KeyError, ValueError) as cause:
        raise NoProgram(f"is no ELF file that can be read: {cause}") from None
    if not any(s.name.startswith(".symtab") for s in found):
        raise NoProgram("has no symbols")
    return found


_KINDS = {"SHT_SYMTAB": 2, "SHT_STRTAB": 3, "SHT_NOTE": 7, "SHT_NOBITS": 8}


def _file(sections: list[_Section]) -> bytes:
    names = bytearray(b"\0")
    at: list[int] = []
    for section in (*sections, _Section(".shstrtab", 0, 0, 0, b"")):
        at.append(len(names))
        names += section.name.encode() + b"\0"
    sections = [
        *sections, _Section(".shstrtab", _STRTAB, _STRINGS | _ALLOC, 0, bytes(names))
    ]  # fmt: skip
    strings = next((n for n, s in enumerate(sections, 1) if s.name.startswith(".strtab")), 0)
    out = bytearray(_HEAD.size + len(SECTIONS) * _SEGMENT.size)
    headers, segments = bytearray(_SECTION.size), bytearray()
    for name, section in zip(at, sections, strict=True):
        out += bytes(-len(out) % _ALIGN)
        symbols = section.name.startswith(".symtab")
        headers += _SECTION.pack(
            name, section.kind, section.flags, section.address, len(out), len(section.data),
            strings if symbols else 0, 0, _ALIGN, section.entry,
        )  # fmt: skip
        if section.name in SECTIONS:
            size = len(section.data)
            segments += _SEGMENT.pack(
                _LOAD, len(out), section.address, section.address, size, size, 0, 0
            )
        out += section.data
    out += bytes(-len(out) % _ALIGN)
    identity = b"\x7fELF\1\1\1".ljust(16, b"\0")
    out[: _HEAD.size] = _HEAD.pack(
        identity, _CORE, _DPU, 1, 0, _HEAD.size, len(out), 0, _HEAD.size, _SEGMENT.size,
        len(SECTIONS), _SECTION.size, len(sections) + 1, len(sections),
    )  # fmt: skip
    out[_HEAD.size : _HEAD.size + len(segments)] = segments
    return bytes(out + headers)
