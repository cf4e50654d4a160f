"""The look-up tables of CDP."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from .....constants.native_types import sim_lut
from .....native import ints
from ... import floats
from ...csb import LookupTable
from ..lut.counters import Counters
from ..lut.tables import Slope, fp17_table, half_number, single_number, slope_pairs
from .registers import CdpLut, signed


class Lut:
    """The tables of CDP: 16-bit fractions and results."""

    def __init__(self, single: Sequence[int], table: LookupTable, floating: bool) -> None:
        self.p = p = CdpLut.decode(single)
        self.floating = floating
        self.counters = Counters()
        number = single_number if floating else lambda value: float(signed(value, 38))
        scale = half_number if floating else float
        if floating:
            self.tables = [fp17_table(entries) for entries in table.tables]
        else:
            self.tables = [
                np.array(entries, np.uint16).view(np.int16).astype(np.float64)
                for entries in table.tables
            ]
        self.starts = (number(p.le_start), number(p.lo_start))
        bias = 0.0
        if not p.linear and (floating or p.le_offset >= 0):
            bias = 2.0**p.le_offset if p.le_offset > -127 else 0.0
        self.under = (
            Slope(self.sum(self.starts[0], bias), scale(p.le_under_scale), p.le_under_shift),
            Slope(self.starts[1], scale(p.lo_under_scale), p.lo_under_shift),
        )
        self.over = (
            Slope(number(p.le_end), scale(p.le_over_scale), p.le_over_shift),
            Slope(number(p.lo_end), scale(p.lo_over_scale), p.lo_over_shift),
        )

    def sum(self, first: Any, second: Any) -> Any:
        """Add: in fp16 as FP32 numbers."""
        if not self.floating:
            return first + second
        return floats.add(np.asarray(first), np.asarray(second), floats.SINGLE)

    @property
    def select_width(self) -> int:
        """Bits of the index selects."""
        return 8 if self.floating else 6

    def described(self) -> sim_lut:
        """The tables for the compiled function."""
        p, width = self.p, self.select_width
        le, lo = zip(self.under, self.over, strict=True)
        origin, slope = slope_pairs((le, lo), self.floating)
        return sim_lut(
            cdp=True,
            linear=bool(p.linear),
            under=bool(p.under_priority),
            over=bool(p.over_priority),
            hybrid=bool(p.hybrid_priority),
            start=self.starts,
            scale=(2.0 ** -signed(p.le_select, width), 2.0 ** -signed(p.lo_select, width)),
            exponent=float(p.le_offset),
            origin=origin,
            slope=slope,
            limit=2.0**15,
            **ints.entries(self.tables),
        )
