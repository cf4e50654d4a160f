"""The look-up tables of SDP.

Two tables are consulted at once: LE (65 entries, exponential or linear index) and LO (257
entries, linear). A value can hit a table, fall below it or above it; priorities choose between
the tables, values outside are extrapolated with a slope.
Source: nvdla/hw ``cmod/hls/sdp/sdp_y_idx.cpp``, ``sdp_y_inp.cpp``, ``sdp_y_lut.cpp``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from .....constants.native_types import sim_lut
from .....native import ints
from ... import floats
from ...csb import LookupTable
from ...fields import Params, bits
from ..lut.counters import Counters
from ..lut.tables import Slope, fp17_table, half_number, single_number, slope_pairs


@dataclass(slots=True)
class LutParams(Params):
    """LUT registers of SDP (they exist once)."""

    _block = "SDP"

    linear: int = bits("S_LUT_CFG.LUT_LE_FUNCTION")
    under_priority: int = bits("S_LUT_CFG.LUT_UFLOW_PRIORITY")
    over_priority: int = bits("S_LUT_CFG.LUT_OFLOW_PRIORITY")
    hybrid_priority: int = bits("S_LUT_CFG.LUT_HYBRID_PRIORITY")
    le_offset: int = bits("S_LUT_INFO.LUT_LE_INDEX_OFFSET", signed=True)
    le_select: int = bits("S_LUT_INFO.LUT_LE_INDEX_SELECT", signed=True)
    lo_select: int = bits("S_LUT_INFO.LUT_LO_INDEX_SELECT", signed=True)
    le_start: int = bits("S_LUT_LE_START", signed=True)
    le_end: int = bits("S_LUT_LE_END", signed=True)
    lo_start: int = bits("S_LUT_LO_START", signed=True)
    lo_end: int = bits("S_LUT_LO_END", signed=True)
    le_under_scale: int = bits("S_LUT_LE_SLOPE_SCALE.LUT_LE_SLOPE_UFLOW_SCALE", signed=True)
    le_over_scale: int = bits("S_LUT_LE_SLOPE_SCALE.LUT_LE_SLOPE_OFLOW_SCALE", signed=True)
    le_under_shift: int = bits("S_LUT_LE_SLOPE_SHIFT.LUT_LE_SLOPE_UFLOW_SHIFT", signed=True)
    le_over_shift: int = bits("S_LUT_LE_SLOPE_SHIFT.LUT_LE_SLOPE_OFLOW_SHIFT", signed=True)
    lo_under_scale: int = bits("S_LUT_LO_SLOPE_SCALE.LUT_LO_SLOPE_UFLOW_SCALE", signed=True)
    lo_over_scale: int = bits("S_LUT_LO_SLOPE_SCALE.LUT_LO_SLOPE_OFLOW_SCALE", signed=True)
    lo_under_shift: int = bits("S_LUT_LO_SLOPE_SHIFT.LUT_LO_SLOPE_UFLOW_SHIFT", signed=True)
    lo_over_shift: int = bits("S_LUT_LO_SLOPE_SHIFT.LUT_LO_SLOPE_OFLOW_SHIFT", signed=True)


class Lut:
    """The tables and settings of one layer."""

    def __init__(self, single: Sequence[int], table: LookupTable, floating: bool) -> None:
        self.p = p = LutParams.decode(single)
        self.floating = floating
        self.counters = Counters()
        number = single_number if floating else float
        self.le_start, self.lo_start = number(p.le_start), number(p.lo_start)
        if floating:
            self.tables = [fp17_table(entries) for entries in table.tables]
        else:
            raw = [np.array(entries, np.uint16) for entries in table.tables]
            self.tables = [item.view(np.int16).astype(np.float64) for item in raw]
        bias = 0.0
        if not p.linear and (floating or p.le_offset > 0):
            bias = 2.0**p.le_offset
        scale = half_number if floating else float
        self.slopes = (
            (
                Slope(self.sum(self.le_start, bias), scale(p.le_under_scale), p.le_under_shift),
                Slope(number(p.le_end), scale(p.le_over_scale), p.le_over_shift),
            ),
            (
                Slope(self.lo_start, scale(p.lo_under_scale), p.lo_under_shift),
                Slope(number(p.lo_end), scale(p.lo_over_scale), p.lo_over_shift),
            ),
        )

    def sum(self, first: Any, second: Any) -> Any:
        """Add: in fp16 as FP32 numbers."""
        if not self.floating:
            return first + second
        return floats.add(np.asarray(first), np.asarray(second), floats.SINGLE)

    def described(self) -> sim_lut:
        """The tables for the compiled function."""
        p = self.p
        origin, slope = slope_pairs(self.slopes, self.floating)
        return sim_lut(
            cdp=False,
            linear=bool(p.linear),
            under=bool(p.under_priority),
            over=bool(p.over_priority),
            hybrid=bool(p.hybrid_priority),
            start=(self.le_start, self.lo_start),
            scale=(2.0**-p.le_select, 2.0**-p.lo_select),
            exponent=float(p.le_offset),
            origin=origin,
            slope=slope,
            limit=2.0**31,
            **ints.entries(self.tables),
        )
