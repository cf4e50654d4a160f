"""Instructions by the names of their forms in the instruction table."""

from __future__ import annotations

from cudla_sim.upmem.isa.table import BY_NAME

ZERO, ID, ID4, ID8 = 24, 28, 30, 31
TRUE, Z, NZ = 1, 2, 3


def word(name: str, **operands: int) -> int:
    form = BY_NAME[name]
    value = form.value
    for operand, number in operands.items():
        field = getattr(form, operand)
        value |= field.write(number & ((1 << 40) - 1) if number < 0 else number) & field.mask
    assert form.matches(value), (name, operands)
    return value


def move(to: int, value: int) -> int:
    return word("OR_WORD_WIDE_PLAIN", dest=to, a=ZERO, imm=value)


def add(to: int, a: int, value: int) -> int:
    return word("ADD_WORD_I_PLAIN", dest=to, a=a, imm=value)


def branch(condition: int, a: int, value: int, pc: int) -> int:
    """Where a - value fulfils it."""
    return word("SUB_NONE_I_BRANCH", a=a, imm=value, cc=condition, pc=pc)


def load(to: int, a: int, offset: int) -> int:
    return word("LW", dest=to, a=a, imm=offset)


def store(a: int, offset: int, value: int) -> int:
    return word("SW_R", a=a, offset=offset, b=value)


def stop_at(pc: int) -> int:
    return word("STOP_BRANCH", cc=TRUE, pc=pc)


STOP = word("STOP_PLAIN")
