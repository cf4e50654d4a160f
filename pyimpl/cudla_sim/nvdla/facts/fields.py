"""What a register field can hold.

Source: the register maps (:mod:`cudla_sim.nvdla.facts.maps`); most sizes are stored minus 1.
"""

from __future__ import annotations

from functools import cache

from . import registers
from .configs import HardwareConfig


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
