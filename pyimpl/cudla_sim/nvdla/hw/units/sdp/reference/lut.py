"""Look-up tables of SDP in numpy."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from .....facts.tables import LE_ENTRIES, LO_ENTRIES
from ....arithmetic import rounding_shift, rounding_shift_int, saturate32
from ...lut.reference import FRACTION, Lookup, exponential, extrapolated, interpolated, linear
from ...lut.tables import Slope
from ..lut import Lut


def find(lut: Lut, values: NDArray[np.float64]) -> tuple[Lookup, Lookup, NDArray[np.bool_]]:
    """Locate values in both tables; the third result is True where LO decides."""
    p = lut.p
    if p.linear:
        le = linear(lut.sum(values, -lut.starts[0]), p.le_select, LE_ENTRIES)
    else:
        le = exponential(lut.sum(values, -lut.starts[0]), p.le_offset, LE_ENTRIES)
    lo = linear(lut.sum(values, -lut.starts[1]), p.lo_select, LO_ENTRIES)
    return le, lo, _choose(lut, le, lo)


def looked_up(lut: Lut, band: NDArray[np.floating[Any]]) -> NDArray[np.floating[Any]]:
    """Look all values of a band up."""
    values = band.astype(np.float64)
    with np.errstate(over="ignore", invalid="ignore"):
        le, lo, use_lo = find(lut, values)
        return np.where(use_lo, _value(lut, values, 1, lo), _value(lut, values, 0, le))


def _choose(lut: Lut, le: Lookup, lo: Lookup) -> NDArray[np.bool_]:
    """True where the LO table decides."""
    p = lut.p
    le_hit, lo_hit = ~(le.under | le.over), ~(lo.under | lo.over)
    use_lo = np.where(le_hit != lo_hit, lo_hit, bool(p.hybrid_priority))
    use_lo = np.where(le.under & lo.under, bool(p.under_priority), use_lo)
    use_lo = np.where(le.over & lo.over, bool(p.over_priority), use_lo)
    counters = lut.counters
    counters.le_hit += int(le_hit.sum())
    counters.lo_hit += int(lo_hit.sum())
    counters.under += int(np.where(use_lo, lo.under, le.under).sum())
    counters.over += int(np.where(use_lo, lo.over, le.over).sum())
    counters.hybrid += int(np.where(use_lo, lo_hit, le_hit).sum())
    return use_lo


def _value(lut: Lut, values: NDArray[np.float64], which: int, found: Lookup) -> NDArray[np.float64]:
    """Interpolate inside a table, extrapolate outside."""
    table = lut.tables[which]
    index = np.clip(found.entry, 0, len(table) - 2)
    one = 2.0**FRACTION
    if lut.floating:
        inside = interpolated(table[index], table[index + 1], found.fraction / one)
    else:
        weight = np.clip(found.fraction, 0, one).astype(np.int64)
        low, high = table[index].astype(np.int64), table[index + 1].astype(np.int64)
        total = low * (np.int64(1 << FRACTION) - weight) + high * weight
        inside = rounding_shift_int(total, FRACTION).astype(np.float64)
    under, over = lut.slopes[which]
    result = np.where(found.under, _outside(lut, values, under, table[0]), inside)
    return np.where(found.over, _outside(lut, values, over, table[-1]), result)


def _outside(lut: Lut, values: NDArray[np.float64], slope: Slope, end: float) -> Any:
    if lut.floating:
        return extrapolated(values, slope, end)
    step = (values - slope.origin) * slope.scale
    return saturate32(saturate32(rounding_shift(step, slope.shift)) + end)
