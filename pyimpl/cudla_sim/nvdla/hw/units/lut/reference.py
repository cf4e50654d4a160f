"""Where values fall in a look-up table, and what lies outside, in numpy."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ... import floats
from .tables import Slope

FRACTION = 35


class Lookup(NamedTuple):
    """Where values fall in one table: below, above, entry number, fraction (35 bits)."""

    under: NDArray[np.bool_]
    over: NDArray[np.bool_]
    entry: NDArray[np.int64]
    fraction: NDArray[np.float64]


def exponential(distance: NDArray[np.float64], offset: int, entries: int) -> Lookup:
    """Index of the exponential table: the binary exponent of the distance from its start."""
    positive = distance > 0
    _, exponent = np.frexp(np.where(positive, distance, 1.0))
    power = exponent.astype(np.int64) - 1
    index = power - offset
    under = ~positive | (index < 0)
    over = ~under & (index >= entries - 1)
    fraction = np.floor((np.ldexp(distance, -power) - 1.0) * 2.0**FRACTION)
    return Lookup(under, over, index, fraction)


def linear(distance: NDArray[np.float64], select: int, entries: int) -> Lookup:
    """Index of a linear table: the distance from its start in steps of 2**select."""
    under = ~(distance > 0)
    steps = distance * 2.0**-select
    whole = np.floor(steps)
    over = ~under & (whole >= entries - 1)
    fraction = np.floor((steps - whole) * 2.0**FRACTION)
    inside = np.where(under | over, 0.0, whole)
    return Lookup(under, over, inside.astype(np.int64), fraction)


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
