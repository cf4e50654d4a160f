"""Forms that compute: each with all its destinations, plain, setting and branching."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from . import fields as f
from .conditions import CLASSES, SETTING
from .forms import (
    NEVER_RB,
    NEVER_RC,
    NEVER_RC_SPLIT,
    NO_FLAG,
    SUFFIXES,
    Bits,
    Destination,
    Flag,
    Form,
    Role,
)

WORD, NONE = Destination.WORD, Destination.NONE
PAIR, PAIR_S, PAIR_U = Destination.PAIR, Destination.PAIR_S, Destination.PAIR_U
COMPUTED = (WORD, NONE, PAIR_S, PAIR_U)


@dataclass(frozen=True)
class Group:
    """How a group of instructions says its destination."""

    name: str
    fixed: dict[Destination, Bits]
    dest: dict[Destination, f.Field]
    never: tuple[int, int]
    high_bits: Bits
    """What stands in place of a destination where no immediate does."""
    wide: f.Field
    """The immediate of plain and setting forms without destination."""
    narrow: f.Field
    """The immediate of branching forms without destination."""


GROUP_A = Group(
    "A",
    {
        WORD: Bits({(47, 46): 0, (43, 42): 3}),
        NONE: Bits({(47, 46): 0, (45, 42): 0b1111}),
        PAIR_S: Bits({(47, 46): 1, (43, 42): 3, 39: 1}),
        PAIR_U: Bits({(47, 46): 1, (43, 42): 3, 39: 0}),
    },
    {WORD: f.RC_SPLIT, PAIR_S: f.DC_SPLIT, PAIR_U: f.DC_SPLIT},
    NEVER_RC_SPLIT,
    Bits({(41, 39): 0}),
    f.IMM27,
    f.IMM11,
)
GROUP_S = Group(
    "S",
    {
        WORD: Bits({(47, 44): 8}),
        NONE: Bits({(47, 45): 4, (43, 42): 3}),
        PAIR: Bits({(47, 44): 8, 39: 0}),
        PAIR_S: Bits({(47, 44): 9, 39: 1}),
        PAIR_U: Bits({(47, 44): 9, 39: 0}),
    },
    {WORD: f.RC, PAIR: f.DC, PAIR_S: f.DC, PAIR_U: f.DC},
    NEVER_RC,
    Bits({44: 0, (41, 39): 0}),
    f.IMM28,
    f.IMM12,
)


@dataclass(frozen=True)
class Operation:
    """An instruction as its forms share it."""

    mnemonic: str
    name: str
    """Of the semantic operation, in capitals."""
    condition_class: str
    cc: f.Field
    destinations: tuple[Destination, ...] = COMPUTED
    roles: tuple[Role, ...] = (Role.PLAIN, Role.SET, Role.BRANCH)
    order: str = "dest a b imm cc pc"
    flags: Flag = NO_FLAG
    setting: frozenset[int] = frozenset(SETTING)
    tag: str = ""
    """Makes the names of forms unique where an operation has two encodings."""


def _name(operation: Operation, destination: Destination, operands: str, role: Role) -> str:
    parts = [operation.name, operation.tag, destination.name, operands, role.name]
    return "_".join(p for p in parts if p)


def _form(
    operation: Operation,
    group: Group,
    destination: Destination,
    role: Role,
    fixed: Bits,
    operands: dict[str, f.Field],
    kind: str,
) -> Form:
    places = dict(operands)
    if destination is not NONE:
        places["dest"] = group.dest[destination]
    if role is Role.BRANCH:
        places["pc"] = f.PC16
    if role is not Role.PLAIN:
        places["cc"] = operation.cc
    conditions: frozenset[int] = frozenset()
    if role is Role.SET:
        conditions = operation.setting
    elif role is Role.BRANCH:
        conditions = frozenset(CLASSES[operation.condition_class])
    bits = (group.fixed[destination] | fixed).filled(tuple(places.values()))
    never: tuple[tuple[int, int], ...] = () if destination is NONE else (group.never,)
    if "b" in places:
        never += (NEVER_RB,)
    return Form(
        name=_name(operation, destination, kind, role),
        mnemonic=operation.mnemonic + SUFFIXES.get(destination, ""),
        operation=operation.name,
        mask=bits.mask,
        value=bits.value,
        role=role,
        destination=destination,
        condition_class=operation.condition_class if role is not Role.PLAIN else "NONE",
        conditions=conditions,
        never=never,
        flags=operation.flags,
        order=operation.order,
        **places,
    )


def of_registers(
    operation: Operation,
    group: Group,
    fixed: Bits,
    operands: dict[str, f.Field],
    kind: str = "R",
) -> Iterator[Form]:
    """Forms without an immediate that changes its width."""
    for destination in operation.destinations:
        rest = group.high_bits if destination is NONE else Bits()
        for role in operation.roles:
            yield _form(operation, group, destination, role, fixed | rest, operands, kind)


def of_immediates(operation: Operation, group: Group, fixed: Bits) -> Iterator[Form]:
    """Forms ``ra, imm``, whose immediate is as wide as the other operands leave it."""
    for destination in operation.destinations:
        for role in operation.roles:
            branch = role is Role.BRANCH
            if destination is NONE:
                imm = group.narrow if branch else group.wide
            else:
                imm = f.IMM8 if branch else f.IMM24
            operands = {"a": f.RA, "imm": imm}
            immediate = fixed | Bits({(33, 32): 3})
            yield _form(operation, group, destination, role, immediate, operands, "I")
