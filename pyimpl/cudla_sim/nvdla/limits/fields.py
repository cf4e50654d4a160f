"""What a register field can hold.

Source: the register maps (:mod:`..hw.maps`); most sizes are stored minus 1.
"""

from __future__ import annotations

from functools import cache

from ..hw import registers
from ..hw.configs import HardwareConfig

LARGEST = 8192
"""Width, height and channels of a cube, and kernels: 13 bits, minus 1."""

POOLING_KERNEL, POOLING_STRIDE, POOLING_PAD = 8, 8, 7
"""Limits of PDP; its registers have room for a stride of 16, the firmware refuses more than 8."""

MOST_ADDRESSES = 6144
"""Entries of a task's address list. Source: nvdla/sw ``nvdla_inf.h``."""

MOST_OPERATIONS = 32767
"""Operations of a task: consumers name them by signed 16-bit numbers."""


@cache
def _bits(line: registers.MapName, block: str, register: str, field: str) -> int:
    found = registers.block(line, block).by_name[register].field(field)
    return found.msb - found.lsb + 1


def most(config: HardwareConfig, place: str, minus: int = 0) -> int:
    """Return the largest number that fits into a field.

    *place* is ``BLOCK.REGISTER.FIELD``; the register stores the number minus *minus*.
    """
    block, register, field = place.split(".")
    return (1 << _bits(config.line, block, register, field)) - 1 + minus
