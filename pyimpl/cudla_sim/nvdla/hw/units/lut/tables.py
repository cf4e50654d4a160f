"""Tables and slopes of look-up tables as numbers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from .....native import ints
from ... import floats


class Slope(NamedTuple):
    """Extrapolation outside a table: origin, scale, shift."""

    origin: float
    scale: float
    shift: int


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
