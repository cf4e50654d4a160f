"""Real factors and offsets as the 16-bit operands and shifts of SDP.

Source: nvdla hardware manual "SDP"; facts on rounding and widths of the stages.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil, floor, log2
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cudla_sim.nvdla.descriptors import CvtParam
from cudla_sim.nvdla.facts.precisions import INT16_TOP

_DEEPEST = 31


@dataclass(frozen=True, slots=True)
class Fixed:
    """Integers and their common shift: real = values / 2**shift (factors), * 2**shift (sums)."""

    values: NDArray[np.int16]
    shift: int


def factors(real: NDArray[Any] | float) -> Fixed:
    """Represent real factors with one right shift of 0..31."""
    array = np.atleast_1d(np.asarray(real, np.float64))
    largest = float(np.max(np.abs(array)))
    if largest == 0.0:
        return Fixed(np.zeros(array.shape, np.int16), 0)
    shift = min(max(floor(log2(INT16_TOP / largest)), 0), _DEEPEST)
    values = np.clip(np.rint(array * 2.0**shift), -INT16_TOP, INT16_TOP)
    return Fixed(values.astype(np.int16), shift)


def converter(real: float) -> CvtParam:
    """Multiply with a real factor, round."""
    factor = factors(real)
    return CvtParam(int(factor.values[0]), factor.shift, 1, 0)


def sums(real: NDArray[Any] | float) -> Fixed:
    """Represent integers of any size as 16-bit values with one left shift."""
    array = np.atleast_1d(np.asarray(real, np.float64))
    largest = float(np.max(np.abs(array)))
    shift = max(ceil(log2(largest / INT16_TOP)), 0) if largest > 0 else 0
    values = np.clip(np.rint(array / 2.0**shift), -INT16_TOP, INT16_TOP)
    return Fixed(values.astype(np.int16), min(shift, 31))
