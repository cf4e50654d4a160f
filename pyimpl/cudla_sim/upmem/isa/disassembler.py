"""Words as text, as the vendor's disassembler writes them."""

from __future__ import annotations

from collections.abc import Callable

from ...constants.dpu_protocol import IRAM_BASE
from . import fields as f
from .aliases import alias_of
from .conditions import name_of
from .forms import Destination, Flag, Form, Role
from .table import decode

BIG_ENDIAN = "!big"
Label = Callable[[int], str | None]
"""Instruction index -> how text names it, None for the address."""

_PAIR_FIELDS = (f.DC, f.DC_SPLIT, f.DB)
_NARROWED = (f.IMM24, f.IMM27, f.IMM28)


def no_label(index: int) -> str | None:
    """For words outside of a program."""
    return None


def target(index: int, label: Label) -> str:
    """An instruction as operands name it."""
    return label(index) or f"{IRAM_BASE + index * f.WORD_BYTES:#x}"


def says_false(form: Form) -> bool:
    """Plain forms with a narrow constant are marked, since others take 32 bits."""
    return (
        form.role is Role.PLAIN and form.imm in _NARROWED and "cc" in form.order
        and form.operation != "CALL"
    )  # fmt: skip


def _signed32(value: int) -> int:
    return value - (value >> 31 << 32)


def _operand(form: Form, slot: str, word: int, label: Label) -> str | None:
    if slot == "dest" and form.destination is Destination.NONE:
        return "zero"
    if slot == "cc" and form.cc is None:
        return "false" if says_false(form) else None
    field = form.imm if slot == "target" else getattr(form, slot)
    if field is None:
        return None
    value = field.read(word)
    if slot in ("dest", "a", "b"):
        return f.PAIRS[value] if field in _PAIR_FIELDS else f.SOURCES[value]
    if slot == "cc":
        return name_of(form.condition_class, value)
    if slot in ("pc", "target"):
        return target(value, label)
    if form.operation == "CALL":
        return f"{value:#x}"
    return str(_signed32(value) if field is f.IMM32 else value)


def disassemble(word: int, label: Label = no_label) -> str | None:
    """The text of a 48-bit word, None for what is no instruction."""
    form = decode(word)
    if form is None:
        return None
    alias = alias_of(form, word)
    mnemonic, order = (alias.mnemonic, alias.order) if alias else (form.mnemonic, form.order)
    operands = [BIG_ENDIAN] if form.flags & Flag.BIG_ENDIAN else []
    for slot in order.split():
        text = _operand(form, slot, word, label)
        if text is not None:
            operands.append(text)
    if form.operation == "RELEASE":
        operands.insert(2, "nz")
    return f"{mnemonic} {', '.join(operands)}".rstrip()
