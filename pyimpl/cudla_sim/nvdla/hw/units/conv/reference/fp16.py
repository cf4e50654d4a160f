"""CMAC and CACC in fp16 in numpy, step by step."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ....floats import is_nan_half
from ..fp16 import ALL, LANES, MAX_STEP, Gather, Halves, Integers, Weights, mantissas

_BLOCK = 1 << 18

_CONSTANT = 0x55550000


class Accumulators(NamedTuple):
    """Mantissas (40 bits, signed) and exponents (bias 63) of accumulators."""

    mantissa: Integers
    exponent: Integers


def multiply(weights: NDArray[np.int32], inputs: Halves) -> tuple[Integers, Integers]:
    """One step: packed weights [pair, kernel], inputs [pixel, pair]; sums and scales."""
    shifted, scales = products(weights, inputs)
    return shifted.sum(axis=1), scales


def products(weights: NDArray[np.int32], inputs: Halves) -> tuple[Integers, Integers]:
    """Products [pixel, pair, kernel] shifted to their common scale, and the scales."""
    fraction = mantissas(inputs)[:, :, None]
    zero = (inputs & 0x7FFF) == 0
    scale = np.where(zero, np.int32(-64), (inputs >> 12 & 7).astype(np.int32))
    flip = np.where(inputs >> 15 != 0, np.int32(ALL), np.int32(0))
    total = scale[:, :, None] + (weights >> 20)
    largest = np.maximum(total.max(axis=1), 0)
    shift = 4 * (largest[:, None] - total)
    bits = (weights & ALL) ^ flip[:, :, None]
    first, second = _rows(bits, fraction)
    by = np.minimum(shift, 31)
    quotient = (first >> by) + (second >> by) - (_CONSTANT >> by)
    quotient = (quotient & 0xFFFFFFFF ^ 0x80000000) - 0x80000000
    return np.where(shift < 32, quotient, 0), largest.astype(np.int64)


def _rows(bits: NDArray[np.int32], fraction: NDArray[np.int32]) -> tuple[Integers, Integers]:
    """Return the two rows that the Booth array leaves of every product."""
    one = bits ^ bits >> 1
    two = (bits >> 1 ^ bits >> 2) & ~one
    negative = bits >> 2 & ~(bits & bits >> 1)
    rows = []
    for digit in range(8):
        place = 2 * digit
        row = np.where(one >> place & 1 != 0, fraction, 0)
        row = np.where(two >> place & 1 != 0, fraction << 1, row)
        row = row ^ np.where(negative >> place & 1 != 0, 0xFFFF, 0x10000)
        rows.append(row.astype(np.int64) << place)
    halves: list[Integers] = []
    for half in (rows[:4], rows[4:]):
        place = 4 * len(halves)  # two rows are left of each half
        carried = [negative & 1 << place + 2 * step for step in range(4)]
        entries = [half[0], *(row | bit for row, bit in zip(half[1:], carried, strict=False))]
        halves.extend(_compress([*entries, carried[3].astype(np.int64)]))
    first, second = _compress(halves)
    return first, second


def _compress(rows: list[Integers]) -> list[Integers]:
    """Reduce rows to two with carry-save adders, modulo 2**32."""
    while len(rows) > 2:
        a, b, c, *rest = rows
        carry = ((a & b) | (c & (a | b))) << 1 & 0xFFFFFFFF
        rows = [a ^ b ^ c, carry, *rest]
    return rows


def _spare(values: Integers) -> Integers:
    """Count the bits after the sign that repeat it."""
    bits = values ^ values >> 63
    length = np.frexp(bits.astype(np.float64))[1].astype(np.int64)
    length -= (bits >> np.maximum(length - 1, 0)) == 0  # float64 rounded up to a power of two
    return 63 - np.where(bits == 0, 0, length)


def accumulate(state: Accumulators, sums: Integers, scales: Integers) -> Accumulators:
    """CACC: add a step to accumulators, rounding to 40 bits, halves away from zero."""
    mantissa, exponent = state
    room = _spare(sums)
    other = np.where(room >= 24, sums << np.maximum(room - 24, 0), 0)
    power = 4 * scales + 75 - room
    swap = exponent < power
    big, small = np.where(swap, other, mantissa), np.where(swap, mantissa, other)
    top, distance = np.maximum(exponent, power), np.abs(exponent - power)
    shift = np.minimum(distance, 40)
    wide = small << 20
    lost = (wide & (np.int64(1) << shift) - 1) != 0
    part = np.where(distance <= 40, wide >> shift | lost, 0)
    total = (big << 20) + part
    drop = 24 - _spare(total)
    right, left = np.maximum(drop, 0), np.maximum(-drop, 0)
    result = (total << left) >> right
    half = np.int64(1) << np.maximum(right - 1, 0)
    rest = total & (np.int64(1) << right) - 1
    result += (right > 0) & np.where(total < 0, rest > half, rest >= half)
    over = result == 1 << 39
    result = np.where(over, result >> 1, result)
    top = top + drop - 20 + over
    empty = mantissa == 0
    result, top = np.where(empty, other, result), np.where(empty, power, top)
    top = np.where(result == 0, 0, top)
    frozen = exponent == 255
    result = np.where(frozen, mantissa >> 29 << 29, result)
    top = np.where(frozen, 255, top)
    same = sums == 0
    return Accumulators(np.where(same, mantissa, result), np.where(same, exponent, top))


def to_single(state: Accumulators) -> NDArray[np.uint32]:
    """FP32 patterns of accumulators, magnitudes rounded half up."""
    mantissa, exponent = state
    size = np.abs(mantissa)
    rounded = (size + (1 << 14)) >> 15
    over = rounded >> 24
    field = exponent + 64 + over
    pattern = field << 23 | (rounded >> over) & 0x7FFFFF
    pattern = np.where(size == 1 << 39, exponent + 65 << 23, pattern)
    pattern = np.where(mantissa == 0, 0, pattern)
    nan = 0x7F800000 | mantissa >> 29 & 0x3FF
    pattern = np.where(exponent == 255, nan, pattern)
    return (pattern | np.where(mantissa < 0, 0x80000000, 0)).astype(np.uint32)


def has_nan(inputs: Halves) -> bool:
    """True if there is a NaN among fp16 patterns."""
    return bool(is_nan_half(inputs).any())


def nan_of(weights: Halves, inputs: Halves) -> Integers:
    """Mantissa [pixel, kernel] that a NaN in the step gives, 0 where there is none.

    The first NaN weight of a kernel is taken, else the first NaN input.
    """
    odd_weights, odd_inputs = is_nan_half(weights), is_nan_half(inputs)
    from_weights = np.take_along_axis(weights, odd_weights.argmax(axis=0)[None], axis=0)
    from_inputs = np.take_along_axis(inputs, odd_inputs.argmax(axis=1)[:, None], axis=1)
    of_weights = np.any(odd_weights, axis=0, keepdims=True)
    of_inputs = np.any(odd_inputs, axis=1, keepdims=True)
    found = np.where(of_weights, from_weights, np.where(of_inputs, from_inputs, 0)).astype(np.int64)
    return ((found & 0x3FF) - (found >> 15 << 10)) << 29


def step(
    state: Accumulators, weights: Weights, number: int, kernels: slice, inputs: Halves
) -> Accumulators:
    """Multiply and accumulate one step for some kernels; inputs are [pixel, pair]."""
    rows = slice(weights.starts[number], weights.starts[number + 1])
    sums, scales = multiply(weights.packed[rows, kernels], inputs)
    found = accumulate(state, sums, scales)
    if weights.odd[number] or has_nan(inputs):
        nan = nan_of(weights.raw[rows, kernels], inputs)
        return with_nan(state, found, nan)
    return found


def with_nan(before: Accumulators, after: Accumulators, nan: Integers) -> Accumulators:
    """Replace results *after* a step by its NaNs; a NaN that was there *before* stays."""
    old = before.exponent == 255
    kept = np.where(old, before.mantissa >> 29 << 29, after.mantissa)
    return Accumulators(
        np.where((nan != 0) & ~old, nan, kept), np.where(nan != 0, 255, after.exponent)
    )


def convolve(where: Gather, weights: Weights) -> NDArray[np.uint32]:
    """FP32 patterns [pixel, kernel]: the numpy implementation."""
    pixels, lanes = len(where.pixels), weights.raw.shape[1]
    result = np.empty((pixels, lanes), np.uint32)
    count = max(1, _BLOCK // (MAX_STEP * LANES))
    for first in range(0, pixels, count):
        base = where.pixels[first : first + count]
        for block in range(0, lanes, LANES):
            kernels = slice(block, block + LANES)
            zero = np.zeros((len(base), LANES), np.int64)
            state = Accumulators(zero, zero)
            for number in range(len(weights.starts) - 1):
                offsets = where.offsets[weights.starts[number] : weights.starts[number + 1]]
                inputs = where.frame[base[:, None] + offsets]
                state = step(state, weights, number, kernels, inputs)
            result[first : first + count, kernels] = to_single(state)
    return result
