"""What the firmware needs from its surroundings (the KMD portability layer).

Source: nvdla/sw ``dla_interface`` portability functions; sw manual "Portability layer".
"""

from __future__ import annotations

from enum import IntEnum
from typing import Protocol

from ..errors import Firmware, KmdError


class Destination(IntEnum):
    """Who uses an address: the processor (a list handle) or the engine's DMA (a bus address)."""

    PROCESSOR = 0
    DMA = 1


class Port(Protocol):
    """Register access, memory access and time."""

    def reg_read(self, address: int, /) -> int:
        """Read a register by CSB byte address."""

    def reg_write(self, address: int, value: int, /) -> None:
        """Write a register by CSB byte address."""

    def data_read(self, source: int, size: int, offset: int, /) -> bytes:
        """Read descriptors: *source* came from ``dma_address(…, PROCESSOR)``."""

    def data_write(self, destination: int, data: bytes, offset: int, /) -> None:
        """Write descriptors back."""

    def dma_address(self, index: int, destination: Destination, /) -> int:
        """Resolve an entry of the task's address list; KmdError if there is none."""

    def time_us(self) -> int:
        """Microseconds of some steady clock."""


def invalid(message: str) -> KmdError:
    """The error for descriptors that the firmware refuses."""
    return KmdError(Firmware.INVALID_INPUT, message)


def require(condition: bool, message: str) -> None:
    """Refuse the task unless *condition* holds."""
    if not condition:
        raise invalid(message)


def check_choice(what: str, value: int, count: int) -> None:
    """Refuse a selector outside 0..count-1."""
    if not 0 <= value < count:
        raise invalid(f"{what} = {value}: 0..{count - 1} expected")
