"""Fields of the 48-bit instruction word, and registers.

An instruction is 8 little-endian bytes of which the top 16 bits are 0. Bit numbers are those of
the 48-bit word.
"""

from __future__ import annotations

from dataclasses import dataclass

EM_DPU = 245
"""e_machine of ELF files with these instructions."""
WORD_BITS = 48
WORD_BYTES = 8
REGISTERS = 24
"""Registers that can be written; numbers above are constants of a tasklet."""

CONSTANT_REGISTERS = {
    24: "zero", 25: "one", 26: "lneg", 27: "mneg", 28: "id", 29: "id2", 30: "id4", 31: "id8",
}  # fmt: skip
"""Read-only: 0, 1, 0xffffffff, 0x80000000, and the tasklet's number times 1, 2, 4, 8."""

ZERO, ALL_ONES, TASKLET = 24, 26, 28

SOURCES = {**{number: f"r{number}" for number in range(REGISTERS)}, **CONSTANT_REGISTERS}
"""What a first source may be: number -> name."""
PAIRS = {number: f"d{number}" for number in range(0, REGISTERS, 2)}
"""64-bit pairs by their even register, which holds the high word."""


@dataclass(frozen=True)
class Field:
    """Where the bits of an operand are, lowest bits first."""

    name: str
    pieces: tuple[tuple[int, int], ...]
    """(lowest bit in the word, how many), from the operand's lowest bit upwards."""
    signed: bool = False
    shift: int = 0
    """How far the operand is shifted left after reading: pairs are stored halved."""

    @property
    def width(self) -> int:
        """Bits of the operand that the word holds."""
        return sum(count for _, count in self.pieces)

    @property
    def mask(self) -> int:
        """The bits of the word."""
        return sum(((1 << count) - 1) << low for low, count in self.pieces)

    @property
    def least(self) -> int:
        return -(1 << (self.width - 1)) if self.signed else 0

    @property
    def most(self) -> int:
        """The greatest value; of shifted fields, the greatest multiple."""
        return ((1 << (self.width - self.signed)) - 1) << self.shift

    def read(self, word: int) -> int:
        value = position = 0
        for low, count in self.pieces:
            value |= (word >> low & ((1 << count) - 1)) << position
            position += count
        if self.signed and value >> (position - 1):
            value -= 1 << position
        return value << self.shift

    def write(self, value: int) -> int:
        """The bits of the word that hold ``value``, which must fit."""
        value >>= self.shift
        word = position = 0
        for low, count in self.pieces:
            word |= (value >> position & ((1 << count) - 1)) << low
            position += count
        return word


def _field(name: str, *pieces: tuple[int, int], signed: bool = False, shift: int = 0) -> Field:
    return Field(name, pieces, signed, shift)


# Registers
RA = _field("RA", (34, 5))
RB = _field("RB", (17, 3), (32, 2))
DB = _field("DB", (18, 2), (32, 2), shift=1)
RC = _field("RC", (39, 5))
DC = _field("DC", (40, 4), shift=1)
RC_SPLIT = _field("RC_SPLIT", (39, 3), (44, 2))
DC_SPLIT = _field("DC_SPLIT", (40, 2), (44, 2), shift=1)

# Immediates. The bits of a wide one stand in reverse order between bit 8 and bit 11.
_LOW8 = ((20, 4), (16, 4))
_LOW24 = (*_LOW8, (15, 1), (14, 1), (13, 1), (12, 1), (0, 12))
IMM32 = _field("IMM32", *_LOW24, (24, 8))
IMM24 = _field("IMM24", *_LOW24, signed=True)
IMM27 = _field("IMM27", *_LOW24, (39, 3), signed=True)
IMM28 = _field("IMM28", *_LOW24, (39, 3), (44, 1), signed=True)
IMM8 = _field("IMM8", *_LOW8, signed=True)
IMM11 = _field("IMM11", *_LOW8, (39, 3), signed=True)
IMM12 = _field("IMM12", *_LOW8, (39, 3), (44, 1), signed=True)
FAULT8 = _field("FAULT8", *_LOW8)
SHIFT5 = _field("SHIFT5", (20, 4), (28, 1))
ATOMIC16 = _field("ATOMIC16", *_LOW8, (26, 5), (39, 3), signed=True)
DMA8 = _field("DMA8", (24, 8))

# Stores: the offset beside a register, beside a constant, and the constant
_STORE12 = ((20, 4), (39, 3), (24, 1), (15, 1), (14, 1), (13, 1), (12, 1))
OFFSET24 = _field("OFFSET24", *_STORE12, (0, 12), signed=True)
OFFSET12 = _field("OFFSET12", *_STORE12, signed=True)
STORED16 = _field("STORED16", (16, 4), (0, 12), signed=True)
STORED8 = _field("STORED8", (16, 4), (0, 4), signed=True)

PC16 = _field("PC16", (0, 16))

# Condition numbers: of group A, of group S, of shifts, of acquire
CC5 = _field("CC5", (24, 5))
CC4 = _field("CC4", (24, 4))
CC_SHIFT = _field("CC_SHIFT", (24, 4), (29, 1))
CC2 = _field("CC2", (24, 2))

FIELDS = (
    RA, RB, DB, RC, DC, RC_SPLIT, DC_SPLIT,
    IMM32, IMM24, IMM27, IMM28, IMM8, IMM11, IMM12, FAULT8, SHIFT5, ATOMIC16, DMA8,
    OFFSET24, OFFSET12, STORED16, STORED8, PC16, CC5, CC4, CC_SHIFT, CC2,
)  # fmt: skip
