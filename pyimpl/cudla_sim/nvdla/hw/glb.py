"""Global interrupt controller: status, mask, set.

Source: nvdla/hw manual "GLB"; nvdla/hw ``vmod/nvdla/glb``. Status bits are set whether masked
or not; the line is the OR of the unmasked ones; writing 1 clears.
"""

from __future__ import annotations

from collections.abc import Iterator
from enum import IntEnum


class Interrupt(IntEnum):
    """Bit of register group 0; group 1 is the next bit."""

    SDP = 0
    CDP = 2
    PDP = 4
    BDMA = 6
    RUBIK = 8
    CDMA_DAT = 16
    CDMA_WT = 18
    CACC = 20


def source(bit: int) -> tuple[Interrupt, int]:
    """The unit and the register group of a status bit."""
    unit = max(i for i in Interrupt if i <= bit)
    return unit, bit - unit


def sources(bits: int) -> Iterator[tuple[Interrupt, int]]:
    """The units and register groups of the status bits that are set."""
    return ((unit, group) for unit in Interrupt for group in (0, 1) if bits >> (unit + group) & 1)


ALL_BITS = 0x003F03FF


class Glb:
    """State of S_INTR_MASK and S_INTR_STATUS. *bits*: those that S_INTR_SET can raise."""

    __slots__ = ("bits", "mask", "status")

    def __init__(self, bits: int = ALL_BITS) -> None:
        self.bits = bits
        self.mask = 0
        self.status = 0

    def raise_bit(self, source: Interrupt, group: int) -> None:
        """Set the status bit of a unit's register group."""
        self.status |= 1 << (source + group)

    def set_bits(self, value: int) -> None:
        """Write to S_INTR_SET: raise interrupts by software."""
        self.status |= value & self.bits

    def clear_bits(self, value: int) -> None:
        """Write to S_INTR_STATUS: 1 clears."""
        self.status &= ~value

    @property
    def line(self) -> bool:
        """Level of the interrupt line."""
        return bool(self.status & ~self.mask)
