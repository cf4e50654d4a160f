"""What a form of an instruction is, and how forms are written down."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum, IntFlag

from .fields import WORD_BITS, Field


class Role(IntEnum):
    """What the condition of a form does."""

    PLAIN = 0
    """There is none: the destination gets the result."""
    SET = 1
    """The destination gets 1 where it holds, else 0."""
    BRANCH = 2
    """The destination gets the result; where it holds, the next instruction is at pc."""


class Destination(IntEnum):
    """What is written."""

    NONE = 0
    WORD = 1
    PAIR = 2
    """All 64 bits."""
    PAIR_S = 3
    """The 32-bit result to the odd register, its sign to the even one."""
    PAIR_U = 4
    """The 32-bit result to the odd register, 0 to the even one."""


SUFFIXES = {Destination.PAIR_S: ".s", Destination.PAIR_U: ".u"}


class Flag(IntFlag):
    """What else there is to know of a form."""

    BIG_ENDIAN = 1
    """Bytes in memory are the other way round."""
    SAFE = 2
    """The variant that is called safe; what hardware does with it is not known."""
    UNKNOWN = 4
    """What hardware computes is not known: nothing may run it."""
    ALIAS = 8
    """Another form does the same, and assemblers write that one."""


NO_FLAG = Flag(0)


@dataclass(frozen=True)
class Form:
    """One way in which words of an instruction are made.

    A word has the form when ``word & mask == value``, for none of ``never`` ``word & m == v``, and
    its condition number is among ``conditions``.
    """

    name: str
    """Operation, destination, operands and role: unique."""
    mnemonic: str
    operation: str
    mask: int
    value: int
    role: Role
    destination: Destination
    dest: Field | None = None
    a: Field | None = None
    b: Field | None = None
    imm: Field | None = None
    """Takes the place of b where there is no b; otherwise a shift amount or what is stored."""
    offset: Field | None = None
    pc: Field | None = None
    cc: Field | None = None
    condition_class: str = "NONE"
    conditions: frozenset[int] = frozenset()
    never: tuple[tuple[int, int], ...] = ()
    flags: Flag = NO_FLAG
    order: str = "dest a b imm cc pc"
    """Operands as assembly text lists them."""

    @property
    def fields(self) -> tuple[Field, ...]:
        every = (self.dest, self.a, self.b, self.imm, self.offset, self.pc, self.cc)
        return tuple(f for f in every if f is not None)

    def matches(self, word: int) -> bool:
        if word & self.mask != self.value:
            return False
        if self.cc is not None and self.cc.read(word) not in self.conditions:
            return False
        return all(word & mask != value for mask, value in self.never)


class Bits:
    """The fixed bits of a form, given by places: ``Bits({(47, 44): 7, 16: 1})``."""

    def __init__(self, places: dict[tuple[int, int] | int, int] | None = None) -> None:
        self.mask = self.value = 0
        for place, number in (places or {}).items():
            high, low = place if isinstance(place, tuple) else (place, place)
            width = high - low + 1
            if number >> width:
                raise ValueError(f"{number:#x} has more than the bits {high}-{low}")
            mask = ((1 << width) - 1) << low
            if self.mask & mask:
                raise ValueError(f"bits {high}-{low} are given twice")
            self.mask |= mask
            self.value |= number << low

    def __or__(self, other: Bits) -> Bits:
        if self.mask & other.mask:
            raise ValueError(f"bits {self.mask & other.mask:#x} are given twice")
        both = Bits()
        both.mask, both.value = self.mask | other.mask, self.value | other.value
        return both

    def filled(self, fields: tuple[Field, ...]) -> Bits:
        """With 0 wherever neither a fixed bit nor a field is."""
        taken = self.mask
        for field in fields:
            if taken & field.mask:
                raise ValueError(f"{field.name} lies over bits that are taken")
            taken |= field.mask
        rest = Bits()
        rest.mask = ((1 << WORD_BITS) - 1) & ~taken
        return self | rest


# Register numbers of destinations and second sources end at 23: both high bits set is another form.
NEVER_RC = (3 << 42, 3 << 42)
NEVER_RC_SPLIT = (3 << 44, 3 << 44)
NEVER_RB = (3 << 32, 3 << 32)
