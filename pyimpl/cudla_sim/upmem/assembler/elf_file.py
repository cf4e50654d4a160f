"""What an assembler holds, as an ELF32 file: a section for each of its sections, and symbols."""

from __future__ import annotations

import struct

from ...constants.dpu_protocol import IRAM_BASE
from ..isa.fields import EM_DPU
from . import sections
from .assembling import Assembler
from .sections import Section

FLAGS = 0x0280_0000
"""e_flags of all released programs."""
_HEADER = struct.Struct("<16s2H5I6H")
_SEGMENT = struct.Struct("<8I")
_SECTION = struct.Struct("<10I")
_SYMBOL = struct.Struct("<3I2BH")
_PROGBITS, _SYMTAB, _STRTAB, _NOBITS = 1, 2, 3, 8
_WRITE, _ALLOC, _EXECUTE = 1, 2, 4
_READABLE = 4
_KINDS = {"function": 2, "object": 1}
_ABSOLUTE = 0xFFF1


class _Strings:
    def __init__(self) -> None:
        self.data = b"\0"

    def add(self, text: str) -> int:
        at = len(self.data)
        self.data += text.encode() + b"\0"
        return at


class _Body:
    """What follows the segment headers; knows where in the file it ends."""

    def __init__(self, start: int) -> None:
        self._start = start
        self.data = b""

    @property
    def end(self) -> int:
        return self._start + len(self.data)

    def add(self, data: bytes, alignment: int) -> int:
        """Its offset in the file."""
        self.data += b"\0" * (-self.end % alignment)
        at = self.end
        self.data += data
        return at


def _symbols(assembler: Assembler, order: list[Section]) -> tuple[bytes, bytes, int]:
    """Symbols, their names, and how many of them are local."""
    names = _Strings()
    number = {section.name: i for i, section in enumerate(order, start=1)}
    local, shared = [b"\0" * _SYMBOL.size], list[bytes]()
    for symbol in assembler.symbols.values():
        index = number.get(symbol.section.name, 0) if symbol.section else _ABSOLUTE
        if symbol.name.startswith(".L") or not index:
            continue
        info = symbol.shared << 4 | _KINDS.get(symbol.kind, 0)
        name, address = names.add(symbol.name), symbol.address & 0xFFFF_FFFF
        entry = _SYMBOL.pack(name, address, assembler.size_of(symbol), info, 0, index)
        (shared if symbol.shared else local).append(entry)
    return b"".join(local + shared), names.data, len(local)


def write(assembler: Assembler) -> bytes:
    """The file. Raises AsmError."""
    order = list(assembler.sections.values())
    loaded = [s for s in order if s.name not in sections.WITHOUT_CONTENTS and s.size]
    names, body = _Strings(), _Body(_HEADER.size + _SEGMENT.size * len(loaded))
    headers, segments = [b"\0" * _SECTION.size], []
    for section in order:
        empty = section.name in sections.WITHOUT_CONTENTS
        data = b"" if empty else assembler.bytes_of(section)
        at = body.add(data, 8)
        other = _EXECUTE if section.name == sections.TEXT else _WRITE
        kind = _NOBITS if empty else _PROGBITS
        place = section.address, at, section.size
        name = names.add(section.name)
        headers.append(
            _SECTION.pack(name, kind, _ALLOC | other, *place, 0, 0, section.alignment, 0)
        )
        if section in loaded:
            rights = _READABLE | (1 if other == _EXECUTE else 2)
            where = at, section.address, section.address
            segments.append(_SEGMENT.pack(1, *where, len(data), len(data), rights, 8))
    symbols, strings, local = _symbols(assembler, order)
    table = names.add(".symtab"), names.add(".strtab"), names.add(".shstrtab")
    strings_at = len(order) + 2
    for name, kind, data, more in (
        (table[0], _SYMTAB, symbols, (strings_at, local, 4, _SYMBOL.size)),
        (table[1], _STRTAB, strings, (0, 0, 1, 0)),
        (table[2], _STRTAB, names.data, (0, 0, 1, 0)),
    ):
        headers.append(_SECTION.pack(name, kind, 0, 0, body.add(data, 4), len(data), *more))
    end = body.add(b"", 4)
    head = _HEADER.pack(
        b"\x7fELF\1\1\1", 2, EM_DPU, 1, IRAM_BASE, _HEADER.size, end, FLAGS,
        _HEADER.size, _SEGMENT.size, len(segments), _SECTION.size, len(headers), len(headers) - 1,
    )  # fmt: skip
    return head + b"".join(segments) + body.data + b"".join(headers)
