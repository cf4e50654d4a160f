"""The floating-point formats of fp16 processing, exact to the bit.

Values travel as float64 arrays: every FP16, FP17 and FP32 number is a float64 number, and a sum or
product that is rounded to 53 bits first rounds to 24 or 11 bits as the exact one does (53 is more
than twice 24 plus 1). What differs from IEEE 754:

* FP17 (6-bit exponent) and FP32 have no denormals: a result below the least normal number becomes
  a zero of the same sign, a pattern with exponent 0 is read as 1.m * 2**-bias;
* overflow gives the largest finite number, infinities of fp16 become it when they are widened;
* a sum that cancels exactly has the sign of the first operand;
* a NaN keeps sign and low mantissa bits; the first NaN operand wins.

A NaN carries its mantissa in the low bits of the float64. Source: nvdla/hw
``cmod/hls/include/nvdla_float.h``.
"""

from __future__ import annotations

from functools import cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..facts.precisions import INT16, RANGES

_LEAST, _MOST = RANGES[INT16]

Real = NDArray[np.float64]

_QUIET = 0x7FF8 << 48
_SIGN = -(1 << 63)


class Format(NamedTuple):
    """Widths of exponent and mantissa."""

    exponent: int
    mantissa: int

    @property
    def bias(self) -> int:
        """What is added to the exponent."""
        return (1 << (self.exponent - 1)) - 1

    @property
    def least(self) -> float:
        """Least positive normal number."""
        return float(2.0 ** (1 - self.bias))

    @property
    def largest(self) -> float:
        """Largest finite number."""
        return float((2.0 - 2.0**-self.mantissa) * 2.0**self.bias)


HALF, FP17, SINGLE = Format(5, 10), Format(6, 10), Format(8, 23)


def _with_nan(values: Real, bits: NDArray[Any], fmt: Format) -> Real:
    """Put sign and mantissa of NaN patterns into float64 NaNs, in place."""
    wide = bits.astype(np.int64)
    mantissa = wide & ((1 << fmt.mantissa) - 1)
    exponent = (wide >> fmt.mantissa) & ((1 << fmt.exponent) - 1)
    nan = (exponent == (1 << fmt.exponent) - 1) & (mantissa != 0)
    if nan.any():
        negative = (wide >> (fmt.mantissa + fmt.exponent)) & 1
        pattern = _QUIET | mantissa | np.where(negative == 1, np.int64(_SIGN), np.int64(0))
        values.view(np.int64)[nan] = pattern[nan]
    return values


def _plain(bits: NDArray[Any], fmt: Format) -> Real:
    """Value of patterns of a format without denormals and infinities."""
    wide = bits.astype(np.int64)
    mantissa = wide & ((1 << fmt.mantissa) - 1)
    exponent = (wide >> fmt.mantissa) & ((1 << fmt.exponent) - 1)
    one = np.ldexp(1.0 + mantissa * 2.0**-fmt.mantissa, exponent - fmt.bias)
    values = np.where((exponent == 0) & (mantissa == 0), 0.0, one)
    negative = (wide >> (fmt.mantissa + fmt.exponent)) & 1
    return _with_nan(np.where(negative == 1, -values, values), bits, fmt)


@cache
def _halves() -> Real:
    """Value of every fp16 pattern, infinities included."""
    bits = np.arange(1 << 16, dtype=np.uint16)
    with np.errstate(invalid="ignore"):
        return _with_nan(bits.view(np.float16).astype(np.float64), bits, HALF)


def half(bits: NDArray[Any]) -> Real:
    """Value of fp16 patterns (uint16 or float16 arrays); infinities stay."""
    values: Real = _halves()[bits.view(np.uint16)]
    return values


def widened(values: Real, fmt: Format) -> Real:
    """FP16 values in a wider format: infinities become its largest number."""
    if np.isinf(values).any():
        infinite = np.isinf(values)
        return np.where(infinite, np.copysign(fmt.largest, values), values)
    return values


def fp17(bits: Any) -> Real:
    """Value of FP17 patterns."""
    return _plain(np.asarray(bits), FP17)


def single(bits: Any) -> Real:
    """Value of FP32 patterns (uint32)."""
    patterns = np.asarray(bits, np.uint32)
    exponent = patterns & 0x7F800000
    if (exponent == 0x7F800000).any() or ((exponent == 0) & (patterns << 1 != 0)).any():
        return _plain(patterns, SINGLE)
    return patterns.view(np.float32).astype(np.float64)


def half_bits(values: Real) -> NDArray[np.uint16]:
    """Fp16 patterns of values, rounded to nearest even, clipped to finite numbers."""
    limit = HALF.largest
    with np.errstate(invalid="ignore"):
        bits = np.clip(values, -limit, limit).astype(np.float16).view(np.uint16)
    nan = np.isnan(values)
    if nan.any():
        wide = values.view(np.int64)
        pattern = 0x7C00 | (wide & 0x3FF) | ((wide < 0) * 0x8000)
        bits = np.where(nan, pattern, bits).astype(np.uint16)
    return bits


def single_bits(values: Real) -> NDArray[np.uint32]:
    """FP32 patterns of FP32 values."""
    with np.errstate(invalid="ignore"):
        bits = values.astype(np.float32).view(np.uint32)
    nan = np.isnan(values)
    if nan.any():
        wide = values.view(np.int64)
        pattern = 0x7F800000 | (wide & 0x7FFFFF) | ((wide < 0) * 0x80000000)
        bits = np.where(nan, pattern, bits).astype(np.uint32)
    return bits


def rounded(values: Real, fmt: Format) -> Real:
    """Round to nearest even in a format; small results become zeros, large ones its largest."""
    if fmt is SINGLE:
        with np.errstate(over="ignore", invalid="ignore"):
            short = values.astype(np.float32)
        size = np.abs(short)
        # anything but zeros and ordinary numbers takes the long way
        if not ((size > np.float32(2e-38)) & (size < np.float32(3.4e38)) | (values == 0)).all():
            return _limited(_cut(values, fmt), fmt)
        return short.astype(np.float64)
    return _limited(_cut(values, fmt), fmt)


def _cut(values: Real, fmt: Format) -> Real:
    """Round the mantissa to nearest even; the exponent has no limits."""
    drop = 52 - fmt.mantissa
    bits = np.ascontiguousarray(values).view(np.int64)
    carry = ((bits >> drop) & 1) + ((1 << (drop - 1)) - 1)
    return ((bits + carry) & -(1 << drop)).view(np.float64)


def _limited(values: Real, fmt: Format) -> Real:
    size = np.abs(values)
    if (size > fmt.largest).any():
        values = np.where(size > fmt.largest, np.copysign(fmt.largest, values), values)
    if (size < fmt.least).any():
        values = np.where(size < fmt.least, np.copysign(0.0, values), values)
    return values


def _first_nan(result: Real, first: Real, second: Real) -> Real:
    """Replace the result by the NaN operand where there is one."""
    if np.isnan(first).any() or np.isnan(second).any():
        return np.where(np.isnan(first), first, np.where(np.isnan(second), second, result))
    return result


def add(first: Real, second: Real, fmt: Format) -> Real:
    """Sum in a format."""
    total = np.asarray(first + second)
    zero = total == 0
    if zero.any():
        total = np.where(zero, np.copysign(0.0, first), total)
    return _first_nan(rounded(total, fmt), first, second)


def subtract(first: Real, second: Real, fmt: Format) -> Real:
    """Difference in a format."""
    return add(first, np.negative(second), fmt)


def multiply(first: Real, second: Real, fmt: Format) -> Real:
    """Product in a format."""
    return _first_nan(rounded(np.asarray(first * second), fmt), first, second)


def greater(first: Real, second: Real) -> NDArray[np.bool_]:
    """True where the first is greater; -0 is less than +0."""
    result: NDArray[np.bool_] = (first > second) | (
        (first == second) & ~np.signbit(first) & np.signbit(second)
    )
    return result


def larger(first: Real, second: Real) -> Real:
    """Maximum; a NaN wins, that of the first operand before that of the second."""
    return _first_nan(np.where(greater(first, second), first, second), first, second)


def smaller(first: Real, second: Real) -> Real:
    """Minimum; a NaN wins, that of the first operand before that of the second."""
    return _first_nan(np.where(greater(first, second), second, first), first, second)


def to_fp17(values: Real) -> Real:
    """FP32 values in FP17."""
    edge = FP17.least
    # below the least normal number, rounding happens at the position of a denormal
    rescued = np.abs(values) >= edge - 2.0**-41
    small = np.abs(values) < edge
    result = rounded(values, FP17)
    if small.any():
        result = np.where(small, np.copysign(np.where(rescued, edge, 0.0), values), result)
    return _first_nan(result, values, values)


def half_to_int16(bits: NDArray[np.uint16]) -> Real:
    """Fp16 patterns as integers: halves away from zero, saturated, NaN is the least number."""
    values = half(bits)
    nan = np.isnan(values)
    if nan.any():
        values = np.where(nan, float(_LEAST), values)
    return np.clip(np.trunc(values + np.copysign(0.5, values)), _LEAST, _MOST)


def integers_to_half(values: Real) -> NDArray[np.float16]:
    """Integers in fp16, rounded to nearest even and clipped; there is no negative zero."""
    return half_bits(values + 0.0).view(np.float16)


def is_nan_half(bits: NDArray[np.uint16]) -> NDArray[np.bool_]:
    """True where an fp16 pattern is a NaN."""
    result: NDArray[np.bool_] = (bits & 0x7FFF) > 0x7C00
    return result


def is_infinite_half(bits: NDArray[np.uint16]) -> NDArray[np.bool_]:
    """True where an fp16 pattern is an infinity."""
    result: NDArray[np.bool_] = (bits & 0x7FFF) == 0x7C00
    return result
