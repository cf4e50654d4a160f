"""The look-up tables of CDP."""

from __future__ import annotations

from collections.abc import Sequence

from ...csb import LookupTable
from ..lut import tables
from ..lut.tables import Limits, single_number
from .registers import CdpLut, signed


class Lut(tables.Lut[CdpLut]):
    """The tables of CDP: 16-bit fractions and results."""

    cdp = True
    limit = 2.0**15

    def __init__(self, single: Sequence[int], table: LookupTable, floating: bool) -> None:
        p = CdpLut.decode(single)
        number = single_number if floating else lambda value: float(signed(value, 38))
        width = 8 if floating else 6
        limits = Limits(
            (number(p.le_start), number(p.lo_start)),
            (number(p.le_end), number(p.lo_end)),
            (signed(p.le_select, width), signed(p.lo_select, width)),
        )
        bias = 0.0
        if not p.linear and (floating or p.le_offset >= 0):
            bias = 2.0**p.le_offset if p.le_offset > -127 else 0.0
        super().__init__(p, table, floating, limits, bias)
