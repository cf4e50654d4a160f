"""Integer arithmetic of the pipelines, on float64 arrays that hold exact integers.

All operands are at most 33 bits wide and all factors at most 16, so that products stay below
2^53 and float64 represents them exactly; it is also what numpy computes fastest. Wider products
(SDP Y stage) use int64. Source: nvdla/hw ``cmod/hls/include/nvdla_int.h``.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Real = NDArray[np.float64]

INT32_MIN, INT32_MAX = -(1 << 31), (1 << 31) - 1


def round_half_away(values: Real) -> Real:
    """Round to the nearest integer, halves away from zero, in place."""
    half = np.copysign(0.5, values)
    values += half
    return np.trunc(values, out=values)


def rounding_shift(values: Real, shift: int) -> Real:
    """Divide by 2**shift and round half away from zero, in place (|values| < 2^52)."""
    if shift == 0:
        return values
    values *= 2.0**-shift
    return round_half_away(values)


def saturate32(values: Real) -> Real:
    """Clip to signed 32 bits, in place."""
    return np.clip(values, INT32_MIN, INT32_MAX, out=values)


def scaled(values: NDArray[Any], offset: int, scale: int, shift: int) -> Real:
    """Return RS((values - offset) * scale, shift), the form of every converter, as a new array."""
    result = np.subtract(values, offset, dtype=np.float64)
    factor = scale * 2.0**-shift
    if factor != 1.0:
        result *= factor
    return round_half_away(result) if shift > 0 else result


def rounding_shift_int(values: NDArray[np.int64], shift: int) -> NDArray[np.int64]:
    """RS for int64 arrays; negative shifts multiply. |values| <= 2^62."""
    if shift <= 0:
        return values << -shift
    if shift >= 63:  # only exactly +-2^62 at shift 63 still rounds to 1
        full = 1 << 62
        return np.sign(values) * (np.abs(values) == full) * (shift == 63)
    half = np.int64(1) << np.int64(shift - 1)
    return (values + half + (values >> np.int64(63))) >> np.int64(shift)
