"""Constant expressions of assembly as C: numbers, and sums of a number and symbols' addresses."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from ...assembler.assembling import Assembler, key_of
from ...assembler.expressions import AsmError, Expression
from ...assembler.sections import TEXT, Origin, Section
from ...isa.fields import WORD_BYTES

DATA_START = "__asm_data"
"""What the start of a section's data is called in the object: this, and the section's number."""
_PROBE = 1 << 40


@dataclass(frozen=True)
class Sum:
    """``number`` and addresses: (symbol, how often, negative for those taken away)."""

    number: int
    symbols: tuple[tuple[str, int], ...] = ()

    def c(self) -> str:
        """An unsigned number in C."""
        parts = [f"{self.number & 0xFFFFFFFF:#x}u"]
        for name, count in self.symbols:
            sign = "+" if count > 0 else "-"
            parts.append(f"{sign} {abs(count)}u * (unsigned int)(unsigned long){name}")
        return parts[0] if len(parts) == 1 else f"({' '.join(parts)})"

    def directive(self) -> str:
        """Text for an assembler of this machine."""
        parts = []
        for name, count in self.symbols:
            if abs(count) != 1:
                raise AsmError(f"{name} is taken {count} times in one value")
            parts.append(f"{'+' if count > 0 else '-'}{name}")
        return f"{self.number}{''.join(parts)}"


class Values:
    """What the names of one text stand for."""

    def __init__(self, assembler: Assembler) -> None:
        self.assembler = assembler
        self.addresses: set[str] = set()
        """Symbols that C has to declare."""
        self.code_labels: set[int] = set()
        """Instructions whose number somebody may jump to."""
        self._numbers = {name: n for n, name in enumerate(assembler.sections)}

    def base(self, section: Section) -> str:
        return f"{DATA_START}{self._numbers[section.name]}"

    def of(self, expression: Expression, section: Section, offset: int, origin: Origin) -> Sum:
        """What an expression is at a place. Raises AsmError: it is no sum."""
        found: dict[str, int] = {}

        def terms(name: str) -> tuple[str, int]:
            return self._terms(name, section, offset, origin, expression)

        def value(chosen: str, amount: int) -> Callable[[str], int]:
            def lookup(name: str) -> int:
                symbol, number = terms(name)
                if symbol:
                    found.setdefault(symbol, 0)
                return number + (amount if symbol and symbol == chosen else 0)

            return lookup

        number = expression.value(value("", 0))
        for symbol in found:
            more = expression.value(value(symbol, _PROBE)) - number
            if more % _PROBE or abs(more // _PROBE) > 8:
                raise AsmError(f"{expression.text} is no sum of {symbol} and a number")
            found[symbol] = more // _PROBE
        kept = tuple((name, count) for name, count in found.items() if count)
        self.addresses.update(name for name, _ in kept)
        return Sum(number, kept)

    def label(self, expression: Expression, offset: int, origin: Origin) -> int | None:
        """The instruction of this text that a jump names; None for what is elsewhere."""
        name = expression.name
        symbols = self.assembler.symbols
        text = self.assembler.sections[TEXT]
        if name and name != "." and not name[0].isdigit():
            symbol = symbols.get(key_of(name, origin.unit))
            if symbol is None:
                return None
            if symbol.section is not text and symbol.section is not None:
                raise AsmError(f"{name} is no instruction")
        return expression.value(self.assembler.lookup(text, offset, origin))

    def _terms(
        self, name: str, section: Section, offset: int, origin: Origin, expression: Expression
    ) -> tuple[str, int]:
        """(symbol or "", number) of a name."""
        assembler = self.assembler
        text = assembler.sections[TEXT]
        if name == ".":
            return self._place(section, offset)
        if name[0].isdigit():
            return self._place(section, assembler.local(section, offset, name))
        symbol = assembler.symbols.get(key_of(name, origin.unit))
        if symbol is None:
            return name, 0
        if symbol.section is text and symbol.shared and expression.name:
            return name, 0  # a function's address may go to C
        if symbol.section is None:
            return "", assembler.lookup(section, offset, origin)(name)
        return self._place(symbol.section, symbol.value)

    def _place(self, section: Section, offset: int) -> tuple[str, int]:
        if section.name == TEXT:
            self.code_labels.add(offset // WORD_BYTES)
            return "", offset // WORD_BYTES
        return self.base(section), offset
