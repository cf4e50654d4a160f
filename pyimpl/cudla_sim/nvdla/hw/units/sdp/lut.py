"""The look-up tables of SDP.

Two tables are consulted at once: LE (65 entries, exponential or linear index) and LO (257
entries, linear). A value can hit a table, fall below it or above it; priorities choose between
the tables, values outside are extrapolated with a slope.
Source: nvdla/hw ``cmod/hls/sdp/sdp_y_idx.cpp``, ``sdp_y_inp.cpp``, ``sdp_y_lut.cpp``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ...csb import LookupTable
from ...fields import bits
from ..lut import tables
from ..lut.tables import Limits, single_number


@dataclass(slots=True)
class LutParams(tables.LutParams):
    """LUT registers of SDP."""

    _block = "SDP"

    le_select: int = bits("S_LUT_INFO.LUT_LE_INDEX_SELECT", signed=True)
    lo_select: int = bits("S_LUT_INFO.LUT_LO_INDEX_SELECT", signed=True)
    le_start: int = bits("S_LUT_LE_START", signed=True)
    le_end: int = bits("S_LUT_LE_END", signed=True)
    lo_start: int = bits("S_LUT_LO_START", signed=True)
    lo_end: int = bits("S_LUT_LO_END", signed=True)


class Lut(tables.Lut[LutParams]):
    """The tables of SDP: 32-bit inputs and results."""

    cdp = False
    limit = 2.0**31

    def __init__(self, single: Sequence[int], table: LookupTable, floating: bool) -> None:
        p = LutParams.decode(single)
        number = single_number if floating else float
        limits = Limits(
            (number(p.le_start), number(p.lo_start)),
            (number(p.le_end), number(p.lo_end)),
            (p.le_select, p.lo_select),
        )
        bias = 2.0**p.le_offset if not p.linear and (floating or p.le_offset > 0) else 0.0
        super().__init__(p, table, floating, limits, bias)
