"""The look-up tables of the SDP Y stage.

Two tables are consulted at once: LE (65 entries, exponential or linear index) and LO (257
entries, linear). A value can hit a table, fall below it or above it; priorities choose between
the tables, values outside are extrapolated with a slope.
Source: nvdla/hw ``cmod/hls/sdp/sdp_y_idx.cpp``, ``sdp_y_inp.cpp``, ``sdp_y_lut.cpp``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .....native import ints
from ....facts.tables import LE_ENTRIES, LO_ENTRIES
from ... import floats
from ...arithmetic import rounding_shift, rounding_shift_int, saturate32
from ...csb import LookupTable
from ...fields import Params, bits

_FRACTION = 35


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


class Lookup(NamedTuple):
    """Where values fall in one table: below, above, entry number, fraction (35 bits)."""

    under: NDArray[np.bool_]
    over: NDArray[np.bool_]
    entry: NDArray[np.int64]
    fraction: NDArray[np.float64]


class Slope(NamedTuple):
    """Extrapolation outside a table: origin, scale, shift."""

    origin: float
    scale: float
    shift: int


@dataclass(slots=True)
class Counters:
    """Elements per case, as the status registers count them."""

    under: int = 0
    over: int = 0
    hybrid: int = 0
    le_hit: int = 0
    lo_hit: int = 0

    def add(self, counts: ints.LutCounts) -> None:
        """What compiled code has counted."""
        self.under += counts.under
        self.over += counts.over
        self.hybrid += counts.hybrid
        self.le_hit += counts.le_hit
        self.lo_hit += counts.lo_hit


def exponential(distance: NDArray[np.float64], offset: int, entries: int) -> Lookup:
    """Index of the exponential table: the binary exponent of the distance from its start."""
    positive = distance > 0
    _, exponent = np.frexp(np.where(positive, distance, 1.0))
    power = exponent.astype(np.int64) - 1
    index = power - offset
    under = ~positive | (index < 0)
    over = ~under & (index >= entries - 1)
    fraction = np.floor((np.ldexp(distance, -power) - 1.0) * 2.0**_FRACTION)
    return Lookup(under, over, index, fraction)


def linear(distance: NDArray[np.float64], select: int, entries: int) -> Lookup:
    """Index of a linear table: the distance from its start in steps of 2**select."""
    under = ~(distance > 0)
    steps = distance * 2.0**-select
    whole = np.floor(steps)
    over = ~under & (whole >= entries - 1)
    fraction = np.floor((steps - whole) * 2.0**_FRACTION)
    inside = np.where(under | over, 0.0, whole)
    return Lookup(under, over, inside.astype(np.int64), fraction)


def slope_pairs(
    slopes: Sequence[tuple[Slope, Slope]], floating: bool
) -> tuple[tuple[ints.Pair, ints.Pair], tuple[ints.Pair, ints.Pair]]:
    """Origins, and factors, of the slopes below and above each table; fp16 has no shift."""
    (le, le_over), (lo, lo_over) = slopes

    def origin(slope: Slope) -> float:
        return float(np.asarray(slope.origin).reshape(-1)[0])

    def factor(slope: Slope) -> float:
        return slope.scale if floating else slope.scale * 2.0**-slope.shift

    origins = ((origin(le), origin(le_over)), (origin(lo), origin(lo_over)))
    return origins, ((factor(le), factor(le_over)), (factor(lo), factor(lo_over)))


def single_number(pattern: int) -> float:
    """Value of an FP32 register."""
    return float(floats.single(pattern & 0xFFFFFFFF))


def half_number(pattern: int) -> float:
    """Value of an fp16 register in FP17."""
    return float(fp17_table([pattern])[0])


def fp17_table(patterns: Sequence[int]) -> NDArray[np.float64]:
    """Fp16 patterns as FP17 numbers."""
    bits = (np.array(patterns) & 0xFFFF).astype(np.uint16)
    return floats.widened(floats.half(bits), floats.FP17)


class Lut:
    """The tables and settings of one layer."""

    def __init__(self, single: Sequence[int], table: LookupTable, floating: bool) -> None:
        self.p = p = LutParams.decode(single)
        self.floating = floating
        self.counters = Counters()
        number = single_number if floating else float
        self._le_start, self._lo_start = number(p.le_start), number(p.lo_start)
        if floating:
            self._tables = [fp17_table(entries) for entries in table.tables]
        else:
            raw = [np.array(entries, np.uint16) for entries in table.tables]
            self._tables = [item.view(np.int16).astype(np.float64) for item in raw]
        bias = 0.0
        if not p.linear and (floating or p.le_offset > 0):
            bias = 2.0**p.le_offset
        scale = half_number if floating else float
        self._slopes = (
            (
                Slope(self._sum(self._le_start, bias), scale(p.le_under_scale), p.le_under_shift),
                Slope(number(p.le_end), scale(p.le_over_scale), p.le_over_shift),
            ),
            (
                Slope(self._lo_start, scale(p.lo_under_scale), p.lo_under_shift),
                Slope(number(p.lo_end), scale(p.lo_over_scale), p.lo_over_shift),
            ),
        )

    def _sum(self, first: Any, second: Any) -> Any:
        if not self.floating:
            return first + second
        return floats.add(np.asarray(first), np.asarray(second), floats.SINGLE)

    def described(self) -> ints.Lut:
        """The tables for the compiled function."""
        p = self.p
        return ints.Lut(
            False,
            bool(p.linear),
            bool(p.under_priority),
            bool(p.over_priority),
            bool(p.hybrid_priority),
            (self._le_start, self._lo_start),
            (2.0**-p.le_select, 2.0**-p.lo_select),
            float(p.le_offset),
            *slope_pairs(self._slopes, self.floating),
            2.0**31,
            self._tables,
        )

    def find(self, values: NDArray[np.float64]) -> tuple[Lookup, Lookup, NDArray[np.bool_]]:
        """Locate values in both tables; the third result is True where LO decides."""
        p = self.p
        if p.linear:
            le = linear(self._sum(values, -self._le_start), p.le_select, LE_ENTRIES)
        else:
            le = exponential(self._sum(values, -self._le_start), p.le_offset, LE_ENTRIES)
        lo = linear(self._sum(values, -self._lo_start), p.lo_select, LO_ENTRIES)
        return le, lo, self._choose(le, lo)

    def apply(self, band: NDArray[np.floating[Any]]) -> NDArray[np.floating[Any]]:
        """Look all values of a band up."""
        values = band.astype(np.float64)
        with np.errstate(over="ignore", invalid="ignore"):
            le, lo, use_lo = self.find(values)
            return np.where(use_lo, self._value(values, 1, lo), self._value(values, 0, le))

    def _choose(self, le: Lookup, lo: Lookup) -> NDArray[np.bool_]:
        """True where the LO table decides."""
        p = self.p
        le_hit, lo_hit = ~(le.under | le.over), ~(lo.under | lo.over)
        use_lo = np.where(le_hit != lo_hit, lo_hit, bool(p.hybrid_priority))
        use_lo = np.where(le.under & lo.under, bool(p.under_priority), use_lo)
        use_lo = np.where(le.over & lo.over, bool(p.over_priority), use_lo)
        counters = self.counters
        counters.le_hit += int(le_hit.sum())
        counters.lo_hit += int(lo_hit.sum())
        counters.under += int(np.where(use_lo, lo.under, le.under).sum())
        counters.over += int(np.where(use_lo, lo.over, le.over).sum())
        counters.hybrid += int(np.where(use_lo, lo_hit, le_hit).sum())
        return use_lo

    def _value(self, values: NDArray[np.float64], which: int, found: Lookup) -> NDArray[np.float64]:
        """Interpolate inside a table, extrapolate outside."""
        table = self._tables[which]
        index = np.clip(found.entry, 0, len(table) - 2)
        one = 2.0**_FRACTION
        if self.floating:
            inside = interpolated(table[index], table[index + 1], found.fraction / one)
        else:
            weight = np.clip(found.fraction, 0, one).astype(np.int64)
            low, high = table[index].astype(np.int64), table[index + 1].astype(np.int64)
            total = low * (np.int64(1 << _FRACTION) - weight) + high * weight
            inside = rounding_shift_int(total, _FRACTION).astype(np.float64)
        under, over = self._slopes[which]
        result = np.where(found.under, self._outside(values, under, table[0]), inside)
        return np.where(found.over, self._outside(values, over, table[-1]), result)

    def _outside(self, values: NDArray[np.float64], slope: Slope, end: float) -> Any:
        if self.floating:
            return extrapolated(values, slope, end)
        step = (values - slope.origin) * slope.scale
        return saturate32(saturate32(rounding_shift(step, slope.shift)) + end)


def interpolated(
    low: NDArray[np.float64], high: NDArray[np.float64], share: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Value between two entries in FP17; the share and its complement are rounded to FP17."""
    share = np.clip(np.nan_to_num(share), 0.0, 1.0)
    first = floats.multiply(floats.rounded(1.0 - share, floats.FP17), low, floats.FP17)
    second = floats.multiply(floats.rounded(share, floats.FP17), high, floats.FP17)
    return floats.add(first, second, floats.FP17)


def extrapolated(values: NDArray[np.float64], slope: Slope, end: float) -> NDArray[np.float64]:
    """Value outside a table: the distance in FP32, then FP17; the slope has no shift."""
    distance = floats.subtract(values, np.asarray(slope.origin), floats.SINGLE)
    step = floats.multiply(floats.to_fp17(distance), np.asarray(slope.scale), floats.FP17)
    return floats.add(np.asarray(end), step, floats.FP17)
