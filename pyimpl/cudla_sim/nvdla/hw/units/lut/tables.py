"""What the look-up tables of SDP and CDP share: registers; tables and slopes as numbers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Generic, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from .....constants.native_types import sim_lut
from .....native import ints
from ... import floats
from ...csb import LookupTable
from ...fields import Params, bits
from .counters import Counters


@dataclass(slots=True)
class LutParams(Params):
    """LUT registers (they exist once) that both units have. Starts, ends and selects of the indices
    are theirs."""

    linear: int = bits("S_LUT_CFG.LUT_LE_FUNCTION")
    under_priority: int = bits("S_LUT_CFG.LUT_UFLOW_PRIORITY")
    over_priority: int = bits("S_LUT_CFG.LUT_OFLOW_PRIORITY")
    hybrid_priority: int = bits("S_LUT_CFG.LUT_HYBRID_PRIORITY")
    le_offset: int = bits("S_LUT_INFO.LUT_LE_INDEX_OFFSET", signed=True)
    le_under_scale: int = bits("S_LUT_LE_SLOPE_SCALE.LUT_LE_SLOPE_UFLOW_SCALE", signed=True)
    le_over_scale: int = bits("S_LUT_LE_SLOPE_SCALE.LUT_LE_SLOPE_OFLOW_SCALE", signed=True)
    le_under_shift: int = bits("S_LUT_LE_SLOPE_SHIFT.LUT_LE_SLOPE_UFLOW_SHIFT", signed=True)
    le_over_shift: int = bits("S_LUT_LE_SLOPE_SHIFT.LUT_LE_SLOPE_OFLOW_SHIFT", signed=True)
    lo_under_scale: int = bits("S_LUT_LO_SLOPE_SCALE.LUT_LO_SLOPE_UFLOW_SCALE", signed=True)
    lo_over_scale: int = bits("S_LUT_LO_SLOPE_SCALE.LUT_LO_SLOPE_OFLOW_SCALE", signed=True)
    lo_under_shift: int = bits("S_LUT_LO_SLOPE_SHIFT.LUT_LO_SLOPE_UFLOW_SHIFT", signed=True)
    lo_over_shift: int = bits("S_LUT_LO_SLOPE_SHIFT.LUT_LO_SLOPE_OFLOW_SHIFT", signed=True)


P = TypeVar("P", bound=LutParams)


class Limits(NamedTuple):
    """Where the units' registers differ, for LE and LO: where a table begins and ends, as numbers,
    and the shift of its index."""

    starts: tuple[float, float]
    ends: tuple[float, float]
    selects: tuple[int, int]


class Lut(Generic[P]):
    """The tables and settings of one layer. *bias* lies between the start of LE and the origin of
    its slope."""

    cdp: ClassVar[bool]
    limit: ClassVar[float]
    """The largest result, and one more."""

    def __init__(
        self, p: P, table: LookupTable, floating: bool, limits: Limits, bias: float
    ) -> None:
        self.p = p
        self.floating = floating
        self.counters = Counters()
        if floating:
            self.tables = [fp17_table(entries) for entries in table.tables]
        else:
            raw = [np.array(entries, np.uint16) for entries in table.tables]
            self.tables = [item.view(np.int16).astype(np.float64) for item in raw]
        self.starts, ends, self.selects = limits
        scale: Callable[[int], float] = half_number if floating else float
        self.slopes = (
            (
                Slope(self.sum(self.starts[0], bias), scale(p.le_under_scale), p.le_under_shift),
                Slope(ends[0], scale(p.le_over_scale), p.le_over_shift),
            ),
            (
                Slope(self.starts[1], scale(p.lo_under_scale), p.lo_under_shift),
                Slope(ends[1], scale(p.lo_over_scale), p.lo_over_shift),
            ),
        )
        """Below and above LE, below and above LO."""

    def sum(self, first: Any, second: Any) -> Any:
        """Add: in fp16 as FP32 numbers."""
        if not self.floating:
            return first + second
        return floats.add(np.asarray(first), np.asarray(second), floats.SINGLE)

    def described(self) -> sim_lut:
        """The tables for the compiled function."""
        p, (le_select, lo_select) = self.p, self.selects
        origin, slope = _slope_pairs(self.slopes, self.floating)
        return sim_lut(
            cdp=self.cdp,
            linear=bool(p.linear),
            under=bool(p.under_priority),
            over=bool(p.over_priority),
            hybrid=bool(p.hybrid_priority),
            start=self.starts,
            scale=(2.0**-le_select, 2.0**-lo_select),
            exponent=float(p.le_offset),
            origin=origin,
            slope=slope,
            limit=self.limit,
            **ints.entries(self.tables),
        )


class Slope(NamedTuple):
    """Extrapolation outside a table: origin, scale, shift."""

    origin: float
    scale: float
    shift: int


def _slope_pairs(
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
