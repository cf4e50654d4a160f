"""One instruction's text to a form with operands, and that to a word."""

from __future__ import annotations

import re
from collections import defaultdict
from dataclasses import dataclass
from functools import cache

from ...constants.dpu_protocol import IRAM_BASE
from ..isa import fields as f
from ..isa.aliases import ALIASES
from ..isa.conditions import numbers
from ..isa.disassembler import BIG_ENDIAN, says_false
from ..isa.forms import Destination, Flag, Form, Role
from ..isa.table import FORMS
from .expressions import AsmError, Expression, Lookup, parse

LITTLE_ENDIAN = "!little"
_SOURCES = {name: number for number, name in f.SOURCES.items()}
_PAIRS = {name: number for number, name in f.PAIRS.items()}
_REGISTER = re.compile(r"(?:r|d)\d+\Z")
_PAIR_FIELDS = (f.DC, f.DC_SPLIT, f.DB)
_EITHER_SIGN = {("STORED8", "SB"), ("STORED16", "SH"), ("IMM32", "")}
"""Fields that take the unsigned values of their width, too, and the operations that they do so
in."""


@dataclass(frozen=True)
class Pattern:
    """A way to write a form: the slots that are written, and what the others are."""

    form: Form
    slots: tuple[str, ...]
    fixed: tuple[tuple[str, int], ...] = ()


@dataclass(frozen=True)
class Instruction:
    """A form with its operands; expressions are not evaluated yet."""

    form: Form
    operands: tuple[tuple[str, int | Expression], ...]


def _slots(form: Form, order: str) -> tuple[str, ...]:
    def written(slot: str) -> bool:
        if slot == "dest":
            return True
        field = form.imm if slot == "target" else getattr(form, slot)
        return field is not None

    return tuple(slot for slot in order.split() if written(slot))


@cache
def patterns() -> dict[str, tuple[Pattern, ...]]:
    """Mnemonic -> ways to write it, those to try first in front."""
    found = defaultdict[str, list[Pattern]](list)
    for alias in ALIASES:
        found[alias.mnemonic].append(
            Pattern(alias.form, _slots(alias.form, alias.order), alias.fixed)
        )
    narrow = []
    for form in FORMS:
        if form.flags & Flag.ALIAS:
            continue
        slots = _slots(form, form.order)
        if says_false(form):
            found[form.mnemonic].append(Pattern(form, (*slots, "false")))
            narrow.append(Pattern(form, slots))
        elif form.operation == "RELEASE":
            found[form.mnemonic].append(Pattern(form, ("a", "imm", "nz", "pc")))
        else:
            found[form.mnemonic].append(Pattern(form, slots))
    for pattern in narrow:  # without the word where no other form takes the constant
        found[pattern.form.mnemonic].append(pattern)
    return {mnemonic: tuple(ways) for mnemonic, ways in found.items()}


def is_mnemonic(word: str) -> bool:
    return word.lower() in patterns()


def _register(form: Form, slot: str, text: str) -> int | None:
    if slot == "dest" and form.destination is Destination.NONE:
        return f.ZERO if text == "zero" else None
    field = getattr(form, slot)
    if field in _PAIR_FIELDS:
        return _PAIRS.get(text)
    number = _SOURCES.get(text)
    if number is None or (field is not f.RA and number >= f.REGISTERS):
        return None
    return number


def _operand(form: Form, slot: str, text: str) -> int | Expression | None:
    """None: the text cannot be this operand."""
    word = text.lower()
    if slot in ("dest", "a", "b"):
        return _register(form, slot, word)
    if slot in ("false", "nz"):
        return 0 if word.removeprefix("?") == slot else None
    if slot == "cc":  # also written ?z
        word = word.removeprefix("?")
        fitting = numbers(form.condition_class, word, form.role is Role.SET) & form.conditions
        return min(fitting) if fitting else None
    if word in _SOURCES or _REGISTER.match(word):
        return None
    return parse(text)


def _fit(pattern: Pattern, texts: list[str]) -> Instruction | None:
    if len(texts) != len(pattern.slots):
        return None
    operands: dict[str, int | Expression] = dict(pattern.fixed)
    for slot, text in zip(pattern.slots, texts, strict=True):
        found = _operand(pattern.form, slot, text)
        if found is None:
            return None
        if slot not in ("false", "nz"):
            operands["imm" if slot == "target" else slot] = found
    word = pattern.form.value
    for slot, value in operands.items():
        field = getattr(pattern.form, slot)
        if field is not None and isinstance(value, int):
            word |= field.write(value)
    if any(word & mask == value for mask, value in pattern.form.never):
        return None
    return Instruction(pattern.form, tuple(operands.items()))


def match(mnemonic: str, texts: list[str]) -> Instruction:
    """The form of an instruction's text. Raises AsmError."""
    ways = patterns().get(mnemonic.lower())
    if ways is None:
        raise AsmError(f"{mnemonic!r} is no DPU instruction")
    endian = Flag(0)
    if texts and texts[0] in (BIG_ENDIAN, LITTLE_ENDIAN):
        endian = Flag.BIG_ENDIAN if texts[0] == BIG_ENDIAN else endian
        texts = texts[1:]
    for pattern in ways:
        if pattern.form.flags & Flag.BIG_ENDIAN == endian:
            found = _fit(pattern, texts)
            if found is not None:
                return found
    shapes = dict.fromkeys(_shape(way) for way in ways if len(way.slots) == len(texts))
    shapes = shapes or dict.fromkeys(_shape(way) for way in ways)
    raise AsmError(
        f"{mnemonic} does not take the operands {', '.join(texts) or '(none)'}; "
        f"known: {' | '.join(list(shapes)[:4])}"
    )


def _shape(pattern: Pattern) -> str:
    names = {"dest": "rc", "a": "ra", "b": "rb"}
    words = []
    for slot in pattern.slots:
        field = getattr(pattern.form, slot, None)
        pair = field in _PAIR_FIELDS
        nowhere = slot == "dest" and pattern.form.destination is Destination.NONE
        name = "zero" if nowhere else names.get(slot, slot)
        words.append(name.replace("r", "d") if pair else name)
    return f"{pattern.form.mnemonic} {', '.join(words)}"


def encode(instruction: Instruction, lookup: Lookup) -> int:
    """The word. Raises AsmError: a value does not fit."""
    form, word = instruction.form, instruction.form.value
    for slot, value in instruction.operands:
        field = getattr(form, slot)
        if field is None:
            continue
        number = value if isinstance(value, int) else value.value(lookup)
        if slot == "pc" or (form.operation == "CALL" and number >= IRAM_BASE):
            number = _index(number)
        if isinstance(value, Expression):
            check(form, field, value, number)
        word |= field.write(number & ((1 << field.width) - 1) << field.shift)
    return word


def _index(number: int) -> int:
    """An address in IRAM as instruction index; indexes stay."""
    if number < IRAM_BASE:
        return number
    if number % f.WORD_BYTES:
        raise AsmError(f"{number:#x} is the address of no instruction")
    return (number - IRAM_BASE) // f.WORD_BYTES


def check(form: Form, field: f.Field, value: Expression, number: int) -> None:
    """Raises AsmError: the number does not fit into the field."""
    least, most = field.least, field.most
    if (field.name, form.operation) in _EITHER_SIGN or (field.name, "") in _EITHER_SIGN:
        least, most = -(1 << (field.width - 1)), (1 << field.width) - 1
    if not least <= number <= most:
        called = "" if value.text == str(number) else f" ({value.text})"
        raise AsmError(f"{number}{called} does not fit: {form.mnemonic} takes {least} to {most}")


def assemble(mnemonic: str, texts: list[str], lookup: Lookup) -> int:
    """The word of an instruction's text. Raises AsmError."""
    return encode(match(mnemonic, texts), lookup)
