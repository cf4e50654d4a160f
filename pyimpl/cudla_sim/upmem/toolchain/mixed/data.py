"""The data of an assembly text as directives for the assembler of this machine."""

from __future__ import annotations

from ...assembler import sections
from ...assembler.expressions import AsmError
from ...assembler.sections import Data, Section, Symbol
from .values import Values

_DIRECTIVES = {1: ".byte", 2: ".short", 4: ".long", 8: ".quad"}
_FLAGS = {
    sections.DATA: '"aw",@progbits',
    sections.HOST: '"aw",@progbits',
    sections.ATOMIC: '"aw",@nobits',
    sections.MRAM: '"aw",@progbits',
    sections.MRAM_NOINIT: '"aw",@nobits',
}
_NO_OBJECT = (sections.TEXT, sections.STACKS, sections.HEAP)


def directives(values: Values) -> list[str]:
    """All sections that hold something, each symbol where it is. Raises AsmError."""
    lines: list[str] = []
    for section in values.assembler.sections.values():
        if section.name in _NO_OBJECT or not (section.size or _symbols(values, section)):
            continue
        lines += [f".pushsection {section.name},{_FLAGS[section.name]}"]
        lines += [f".balign {section.alignment}", f"{values.base(section)}:"]
        lines += _contents(values, section)
        lines.append(".popsection")
    return lines


def _symbols(values: Values, section: Section) -> list[Symbol]:
    found = [s for s in values.assembler.symbols.values() if s.section is section]
    return [s for s in found if not s.name.startswith(".L")]


def _contents(values: Values, section: Section) -> list[str]:
    empty = section.name in (sections.ATOMIC, sections.MRAM_NOINIT)
    at: dict[int, list[str]] = {}
    for symbol in _symbols(values, section):
        lines = at.setdefault(symbol.value, [])
        if symbol.shared:
            lines.append(f".globl {symbol.name}")
        lines += [f".type {symbol.name},@object", f"{symbol.name}:"]
        size = values.assembler.size_of(symbol)
        if size:
            lines.append(f".size {symbol.name},{size}")
    lines, offset = [], 0

    def until(end: int) -> None:
        """Symbols up to a place; those within an item are said from the section's start."""
        for place in sorted(p for p in at if p <= end):
            for text in at.pop(place):
                inside = text.endswith(":") and place != offset
                lines.append(f"{text[:-1]} = {values.base(section)} + {place}" if inside else text)

    for item in section.items:
        offset = item.offset
        until(offset)
        if empty:
            lines.append(f".zero {_size(item.content)}")
        elif isinstance(item.content, bytes):
            lines += _bytes(item.content)
        elif isinstance(item.content, Data):
            name = _DIRECTIVES[item.content.size]
            for value in item.content.values:
                found = values.of(value, section, item.offset, item.origin)
                lines.append(f"{name} {found.directive()}")
        else:
            raise AsmError("an instruction outside of .text")
    offset = section.size
    until(offset)
    return lines


def _size(content: object) -> int:
    if isinstance(content, bytes):
        return len(content)
    if isinstance(content, Data):
        return content.size * len(content.values)
    raise AsmError("an instruction outside of .text")


def _bytes(content: bytes) -> list[str]:
    if not any(content):
        return [f".zero {len(content)}"]
    return [f".byte {','.join(str(byte) for byte in content[n:n + 64])}"
            for n in range(0, len(content), 64)]  # fmt: skip
