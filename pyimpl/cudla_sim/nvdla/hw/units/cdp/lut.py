"""The look-up tables of CDP."""

from __future__ import annotations

from collections.abc import Sequence

from ....facts.configs import HardwareConfig
from ....facts.limits import CDP_SHIFT_LEFT, CDP_START_BITS
from ....facts.precisions import INT8
from ...csb import LookupTable
from ..lut import tables
from ..lut.tables import Limits, single_number
from .registers import CdpLut, signed


class Lut(tables.Lut[CdpLut]):
    """The tables of CDP: 16-bit fractions and results."""

    cdp = True
    limit = 2.0**15

    def __init__(
        self, single: Sequence[int], table: LookupTable, floating: bool, narrow: bool = False
    ) -> None:
        """*narrow*: indices are those of a chip for int8 (:func:`out_of_reach`)."""
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
        if narrow:
            le, lo = self.starts
            self.starts = float(_low(le)), float(_low(lo))
            le_select, lo_select = self.selects
            self.selects = le_select, 0 if lo_select < -CDP_SHIFT_LEFT else lo_select


def _low(start: float) -> int:
    """What a chip takes of the start of a table, for its index."""
    return signed(int(start), CDP_START_BITS)


def out_of_reach(single: Sequence[int], precision: int, config: HardwareConfig) -> str:
    """Say which start of a table, or shift of an index, has more bits than a chip takes of it; ""
    if none has."""
    if precision != INT8 or config.line != "master":
        return ""
    p = CdpLut.decode(single)
    half = 1 << (CDP_START_BITS - 1)
    for name, pattern in (("LE", p.le_start), ("LO", p.lo_start)):
        start = signed(pattern, 38)
        if not -half <= start < half:
            return (
                f"S_LUT_{name}_START is {start}; must be in {-half}..{half - 1}, the chip takes"
                f" {CDP_START_BITS} bits for the index"
            )
    select = signed(p.lo_select, 6)
    if select < -CDP_SHIFT_LEFT:
        return f"LUT_LO_INDEX_SELECT is {select}; must be in -{CDP_SHIFT_LEFT}..31"
    return ""
