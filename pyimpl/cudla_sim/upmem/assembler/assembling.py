"""Statements into sections and symbols, and those into bytes."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import defaultdict

from ..isa.fields import WORD_BYTES
from . import operands, sections
from .expressions import AsmError, Expression, Lookup, parse, unescape
from .macros import Macros
from .sections import END, Data, Item, Origin, Section, Symbol, output_section
from .statements import LineError, Statement, split, statements

_DATA = {
    ".byte": 1, ".2byte": 2, ".short": 2, ".half": 2, ".hword": 2, ".word": 4, ".long": 4,
    ".int": 4, ".4byte": 4, ".quad": 8, ".dword": 8, ".8byte": 8,
}  # fmt: skip
_SPACE = (".space", ".skip", ".zero")
_IGNORED = {
    ".file", ".loc", ".ident", ".addrsig", ".addrsig_sym", ".local", ".weak", ".hidden",
    ".protected", ".internal", ".att_syntax", ".stack_size", ".end",
}  # fmt: skip
_MOST = 1 << 26
_STRING = re.compile(r'"((?:\\.|[^"\\])*)"\Z')


class _NotYet(Exception):
    """A value needs places that are not known yet."""


class Assembler:
    """Takes texts one after the other, and what they define together."""

    def __init__(self) -> None:
        self.sections = {
            name: Section(name, address=sections.memory_of(name)[0]) for name in sections.ORDER
        }
        self.symbols: dict[str, Symbol] = {}
        self._shared: set[str] = set()
        self._kinds: dict[str, str] = {}
        self._sizes: dict[str, tuple[Expression, Section, int]] = {}
        self._numbered: dict[tuple[str, str], list[int]] = defaultdict(list)
        self._dropped = Section("")
        self._current = self.sections[sections.TEXT]
        self._previous = self._current
        self._pushed: list[tuple[Section, Section]] = []
        self._origin = Origin(0, 0)
        self._assigned: dict[str, list[tuple[int, Symbol]]] = defaultdict(list)
        self._macros = Macros(self._now, self._is_defined)

    # -- reading

    def read(self, text: str, file: str) -> None:
        """Raises LineError."""
        self._origin = Origin(self._origin.unit + 1, self._origin.moment)
        self._current = self.sections[sections.TEXT]
        self._previous, self._pushed = self._current, []
        for code, where in self._macros.expand(text, file):
            for statement in statements(code, where):
                try:
                    self._take(statement)
                except LineError:
                    raise
                except AsmError as error:
                    raise LineError(where, str(error)) from None

    def define(self, name: str, value: int) -> None:
        """A symbol that is a number."""
        self.symbols[name] = Symbol(name, None, value, shared=True)

    def place(self, name: str, section: str, size: int, kind: str = "object") -> None:
        """A symbol at the present end of a section, which grows by ``size`` bytes."""
        where = self.sections[section]
        self.symbols[name] = Symbol(name, where, where.size, kind, parse(str(size)), shared=True)
        where.size += size

    def _take(self, s: Statement) -> None:
        if s.kind == "label":
            self._label(s.name)
        elif s.kind == "assignment":
            self._assign(s.name, s.rest)
        elif s.kind == "directive":
            self._directive(s)
        elif self._current.name != sections.TEXT:
            raise AsmError(f"instructions belong into .text, not into {self._current.name}")
        else:
            if self._current.size % WORD_BYTES:
                raise AsmError("an instruction must begin at a multiple of 8 bytes")
            self._current.add(
                operands.match(s.name, split(s.rest)), WORD_BYTES, s.where, self._origin
            )

    def _label(self, name: str) -> None:
        if name.isdigit():
            self._numbered[self._current.name, name].append(self._current.size)
        elif key_of(name, self._origin.unit) in self.symbols:
            raise AsmError(f"the symbol {name!r} is defined twice")
        else:
            symbol = Symbol(name, self._current, self._current.size)
            self.symbols[key_of(name, self._origin.unit)] = symbol

    def _assign(self, name: str, text: str) -> None:
        expression, here = parse(text), (self._current, self._current.size, self._origin)
        key = key_of(name, self._origin.unit)
        now = self.lookup(*here)

        def number(used: str) -> int:
            symbol = self.symbols.get(key_of(used, self._origin.unit))
            if used == "." or symbol is None or symbol.section or symbol.later:
                raise _NotYet
            return now(used)

        made = Symbol(name, None, 0)
        try:
            made.value = expression.value(number)
        except _NotYet:
            made.later = lambda: expression.value(self.lookup(*here))
        self.symbols[key] = made
        moment = self._origin.moment + 1
        self._assigned[key].append((moment, made))
        self._origin = Origin(self._origin.unit, moment)

    def _directive(self, s: Statement) -> None:
        name, words = s.name, split(s.rest)
        if name in (".section", ".pushsection"):
            if name == ".pushsection":
                self._pushed.append((self._current, self._previous))
            self._switch(words[0].strip('"') if words else "")
        elif name == ".popsection":
            if not self._pushed:
                raise AsmError(".popsection without .pushsection")
            self._current, self._previous = self._pushed.pop()
        elif name == ".previous":
            self._current, self._previous = self._previous, self._current
        elif name in (".text", ".data", ".bss"):
            self._switch(name)
        elif name in (".globl", ".global"):
            self._shared.update(words)
        elif name == ".type" and len(words) == 2:
            self._kinds[words[0]] = words[1].lstrip("@%#").strip('"')
        elif name == ".size" and len(words) == 2:
            self._sizes[words[0]] = parse(words[1]), self._current, self._current.size
        elif name in (".set", ".equ") and len(words) == 2:
            self._assign(*words)
        elif name in (".comm", ".lcomm") and len(words) >= 2:
            self._common(words, s)
        elif name in _IGNORED or name.startswith(".cfi_"):
            return
        elif not self._contents(name, words, s):
            raise AsmError(f"the directive {s.name} {s.rest}".rstrip() + " is not known")

    def _switch(self, name: str) -> None:
        section = output_section(name)
        self._previous = self._current
        self._current = self.sections[section] if section else self._dropped

    def _common(self, words: list[str], s: Statement) -> None:
        data = self.sections[sections.DATA]
        data.align(self._number(words[2]) if len(words) > 2 else 8, s.where, self._origin)
        size = self._number(words[1])
        self.symbols[words[0]] = Symbol(words[0], data, data.size, "object", parse(words[1]))
        data.add(b"\0" * size, size, s.where, self._origin)

    def _contents(self, name: str, words: list[str], s: Statement) -> bool:
        here = self._current
        if name in _DATA:
            size = _DATA[name]
            here.add(
                Data(size, [parse(word) for word in words]),
                size * len(words),
                s.where,
                self._origin,
            )
        elif name in (".ascii", ".asciz", ".string"):
            end = b"" if name == ".ascii" else b"\0"
            data = b"".join(_string(word) + end for word in words)
            here.add(data, len(data), s.where, self._origin)
        elif name in _SPACE and 1 <= len(words) <= 2:
            count = self._number(words[0])
            filler = self._number(words[1]) & 0xFF if len(words) > 1 else 0
            here.add(bytes([filler]) * count, count, s.where, self._origin)
        elif name == ".fill" and 1 <= len(words) <= 3:
            count, size, value = (self._number(w) for w in (*words, "1", "0")[:3])
            if len(words) == 2:
                size, value = self._number(words[1]), 0
            data = (value & ((1 << 8 * size) - 1)).to_bytes(size, "little") * count
            here.add(data, len(data), s.where, self._origin)
        elif name in (".p2align", ".align", ".balign") and words:
            boundary = self._number(words[0])
            boundary = 1 << min(boundary, 27) if name == ".p2align" else boundary
            if boundary < 1 or boundary & (boundary - 1) or boundary > _MOST:
                raise AsmError(f"{words[0]} is no alignment")
            here.align(boundary, s.where, self._origin)
        else:
            return False
        return True

    def _now(self, text: str) -> int:
        """A value that must be known at once: a condition's."""
        return parse(text).value(self.lookup(self._current, self._current.size, self._origin))

    def _is_defined(self, name: str) -> bool:
        return key_of(name, self._origin.unit) in self.symbols

    def _number(self, text: str) -> int:
        """The same of sizes and alignments."""
        value = self._now(text)
        if not 0 <= value <= _MOST:
            raise AsmError(f"{text} is {value}: 0 to {_MOST} would be possible")
        return value

    # -- values

    def _symbol(self, name: str, origin: Origin) -> Symbol:
        """What was assigned more than once is what it was there."""
        key = key_of(name, origin.unit)
        symbol = self.symbols.get(key)
        if symbol is None:
            raise AsmError(f"the symbol {name!r} is not defined")
        for moment, made in reversed(self._assigned.get(key, ())):
            if moment <= origin.moment:
                return made
        return symbol

    def lookup(
        self, section: Section, offset: int, origin: Origin, addresses: bool = False
    ) -> Lookup:
        """``addresses``: places in IRAM by their bytes, for sizes."""

        def value(where: Section, at: int) -> int:
            return where.address + at if addresses else sections.seen(where, at)

        def find(name: str) -> int:
            if name == ".":
                return value(section, offset)
            if name[0].isdigit():
                return value(section, self.local(section, offset, name))
            symbol = self._symbol(name, origin)
            if symbol.later is not None:
                return self._later(symbol)
            if symbol.section is None:
                return symbol.value
            return value(symbol.section, symbol.value)

        return find

    def _later(self, symbol: Symbol) -> int:
        """What was said with labels whose places were not known."""
        if symbol.pending or symbol.later is None:
            raise AsmError(f"the symbol {symbol.name!r} is defined by itself")
        symbol.pending = True
        symbol.value = symbol.later()
        symbol.later, symbol.pending = None, False
        return symbol.value

    def local(self, section: Section, offset: int, name: str) -> int:
        places = self._numbered[section.name, name[:-1]]
        if name[-1] == "f":
            at = bisect_right(places, offset)
            if at < len(places):
                return places[at]
        else:
            at = bisect_right(places, offset)
            if at:
                return places[at - 1]
        raise AsmError(f"there is no label {name[:-1]}: {'after' if name[-1] == 'f' else 'before'}")

    def bytes_of(self, section: Section) -> bytes:
        """The contents, addresses being known. Raises LineError."""
        return section.contents(lambda item: self._bytes(section, item))

    def _bytes(self, section: Section, item: Item) -> bytes:
        lookup = self.lookup(section, item.offset, item.origin)
        try:
            if isinstance(item.content, bytes):
                return item.content
            if isinstance(item.content, Data):
                return b"".join(_data(item.content.size, v, lookup) for v in item.content.values)
            return operands.encode(item.content, lookup).to_bytes(WORD_BYTES, "little")
        except LineError:
            raise
        except AsmError as error:
            raise LineError(item.where, str(error)) from None

    def finish(self) -> None:
        """What ``.globl``, ``.type`` and ``.size`` said, to the symbols."""
        for name, symbol in self.symbols.items():
            symbol.shared = symbol.shared or name in self._shared
            symbol.kind = self._kinds.get(name, symbol.kind)
            if symbol.later is not None:
                self._later(symbol)
            if name in self._sizes:
                expression, section, offset = self._sizes[name]
                symbol.size, symbol.size_at = expression, (section, offset)

    def size_of(self, symbol: Symbol) -> int:
        """In bytes, 0 when nothing says so. Raises AsmError."""
        if symbol.size is None:
            return 0
        section, offset = symbol.size_at or (self._current, 0)
        return symbol.size.value(self.lookup(section, offset, END, addresses=True))


def key_of(name: str, unit: int) -> str:
    """What a symbol is kept under: names with .L belong to their text alone."""
    return f"{name}\0{unit}" if name.startswith(".L") else name


def _string(word: str) -> bytes:
    match = _STRING.match(word)
    if match is None:
        raise AsmError(f"{word} is no string")
    return unescape(match[1]).encode("latin-1", errors="replace")


def _data(size: int, value: Expression, lookup: Lookup) -> bytes:
    number = value.value(lookup)
    if not -(1 << (8 * size - 1)) <= number < 1 << 8 * size:
        raise AsmError(f"{number} ({value.text}) does not fit into {size} bytes")
    return (number & ((1 << 8 * size) - 1)).to_bytes(size, "little")
