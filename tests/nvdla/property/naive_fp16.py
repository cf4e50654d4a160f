"""An independent model of fp16 processing: Python integers and fractions, one number at a time.

Written from the hardware rules; it shares no code with the simulator. Formats are named by their
widths; patterns are integers.
"""

from __future__ import annotations

from fractions import Fraction
from functools import cache

HALF, FP17, SINGLE = (5, 10), (6, 10), (8, 23)
Format = tuple[int, int]


def split(pattern: int, fmt: Format) -> tuple[int, int, int]:
    """Sign, exponent field, mantissa field."""
    exponent, mantissa = fmt
    return (
        pattern >> (exponent + mantissa) & 1,
        pattern >> mantissa & ((1 << exponent) - 1),
        pattern & ((1 << mantissa) - 1),
    )


def join(sign: int, exponent: int, mantissa: int, fmt: Format) -> int:
    return (sign << fmt[0] | exponent) << fmt[1] | mantissa


def is_nan(pattern: int, fmt: Format) -> bool:
    _, exponent, mantissa = split(pattern, fmt)
    return exponent == (1 << fmt[0]) - 1 and mantissa != 0


@cache
def power_of_two(exponent: int) -> Fraction:
    return Fraction(2) ** exponent


@cache
def value(pattern: int, fmt: Format) -> Fraction:
    """Exact value; only FP16 has denormals, infinities count as 1.m of the next exponent."""
    sign, exponent, mantissa = split(pattern, fmt)
    bias = (1 << (fmt[0] - 1)) - 1
    if exponent == 0 and (mantissa == 0 or fmt == HALF):
        size = Fraction(mantissa, 1 << fmt[1]) * power_of_two(1 - bias)
    else:
        size = (1 + Fraction(mantissa, 1 << fmt[1])) * power_of_two(exponent - bias)
    return -size if sign else size


def nearest_even(size: Fraction) -> int:
    whole = size.numerator // size.denominator
    rest = size - whole
    return whole + (rest > Fraction(1, 2) or (rest == Fraction(1, 2) and whole & 1 == 1))


def log2_floor(size: Fraction) -> int:
    power = size.numerator.bit_length() - size.denominator.bit_length()
    return power if power_of_two(power) <= size else power - 1


def encode(sign: int, size: Fraction, fmt: Format) -> int:
    """Round a magnitude; too large gives the largest number, too small zero (FP16: denormals)."""
    bias, top = (1 << (fmt[0] - 1)) - 1, (1 << fmt[0]) - 2
    if size == 0:
        return join(sign, 0, 0, fmt)
    power = log2_floor(size)
    if fmt == HALF:
        power = max(power, 1 - bias)
    mantissa = nearest_even(size / power_of_two(power - fmt[1]))
    if mantissa >> (fmt[1] + 1):
        mantissa, power = mantissa >> 1, power + 1
    if power + bias > top:
        return join(sign, top, (1 << fmt[1]) - 1, fmt)
    if mantissa >> fmt[1] == 0:
        return join(sign, 0, mantissa, fmt)
    if power + bias < 1:
        return join(sign, 0, 0, fmt)
    return join(sign, power + bias, mantissa & ((1 << fmt[1]) - 1), fmt)


def add(a: int, b: int, fmt: Format) -> int:
    for pattern in (a, b):
        if is_nan(pattern, fmt):
            return pattern
    total = value(a, fmt) + value(b, fmt)
    sign = split(a, fmt)[0] if total == 0 else int(total < 0)
    return encode(sign, abs(total), fmt)


def negate(a: int, fmt: Format) -> int:
    return a ^ 1 << (fmt[0] + fmt[1])


def multiply(a: int, b: int, fmt: Format) -> int:
    for pattern in (a, b):
        if is_nan(pattern, fmt):
            return pattern
    sign = split(a, fmt)[0] ^ split(b, fmt)[0]
    return encode(sign, abs(value(a, fmt) * value(b, fmt)), fmt)


def convert(a: int, source: Format, target: Format) -> int:
    """Another format; a NaN keeps its low mantissa bits."""
    sign, exponent, mantissa = split(a, source)
    top = (1 << target[0]) - 1
    if is_nan(a, source):
        return join(sign, top, mantissa & ((1 << target[1]) - 1), target)
    if exponent == (1 << source[0]) - 1:
        return join(sign, top - 1, (1 << target[1]) - 1, target)
    size = abs(value(a, source))
    least = Fraction(2) ** (2 - (1 << (target[0] - 1)))
    if source == SINGLE and target == FP17 and size < least:
        # rounded at the place of a denormal; only the least normal number survives
        steps = nearest_even(size / least * (1 << target[1]))
        return join(sign, int(steps == 1 << target[1]), 0, target)
    return encode(sign, size, target)


def _order(pattern: int, fmt: Format) -> tuple[int, int]:
    sign, exponent, mantissa = split(pattern, fmt)
    size = exponent << fmt[1] | mantissa
    return (0, -size) if sign else (1, size)


def maximum(a: int, b: int, fmt: Format) -> int:
    for pattern in (a, b):
        if is_nan(pattern, fmt):
            return pattern
    return a if _order(a, fmt) > _order(b, fmt) else b


def minimum(a: int, b: int, fmt: Format) -> int:
    for pattern in (a, b):
        if is_nan(pattern, fmt):
            return pattern
    return b if _order(a, fmt) > _order(b, fmt) else a


# --- CMAC -------------------------------------------------------------------------------------

WORD = (1 << 32) - 1


def _reduce(rows: list[int]) -> list[int]:
    """Full triples become sum and carry, in place, until two rows are left."""
    while len(rows) >= 3:
        done, index = [], 0
        while index + 3 <= len(rows):
            x, y, z = rows[index : index + 3]
            done += [x ^ y ^ z, ((x & y | x & z | y & z) << 1) & WORD]
            index += 3
        rows = done + rows[index:]
    return rows


def booth(negative: int, weight: int, data: int, shift: int) -> int:
    """Shifted product of two mantissas as the multiplier array gives it."""
    if shift >= 32:
        return 0
    rest, partial, carry = weight << 1, [], []
    for _ in range(8):
        code = (rest & 7) ^ (7 if negative else 0)
        rest >>= 2
        carry.append(int(code in (4, 5, 6)))
        if code in (0, 7):
            partial.append(0x10000)
        elif code in (1, 2):
            partial.append(data | 0x10000)
        elif code == 3:
            partial.append(2 * data | 0x10000)
        else:
            partial.append(~(2 * data if code == 4 else data) & 0xFFFF)
    halves = []
    for base in (0, 4):
        rows = []
        for digit in range(base, base + 4):
            row = partial[digit] << (2 * digit)
            if digit > base:
                row |= carry[digit - 1] << (2 * (digit - 1))
            rows.append(row & WORD)
        rows.append(carry[base + 3] << (2 * (base + 3)))
        halves += _reduce(rows)
    first, second = _reduce(halves)
    constant = {
        0: 0xAAAB0000, 4: 0xFAAAB000, 8: 0xFFAAAB00, 12: 0xFFFAAAB0,
        16: 0xFFFFAAAB, 20: 0xFFFFFAAB, 24: 0xFFFFFFAB, 28: 0xFFFFFFFB,
    }[shift]  # fmt: skip
    result = (first >> shift) + (second >> shift) + constant & WORD
    return result - (1 << 32) if result >> 31 else result


def _factor(pattern: int) -> tuple[int, int]:
    """Mantissa and scale of a factor."""
    _, exponent, mantissa = split(pattern, HALF)
    if exponent:
        return (mantissa | 1 << 10) << (exponent & 3), exponent >> 2
    return mantissa << 1, 0


def products(data: list[int], weights: list[int]) -> tuple[list[int], int]:
    """Shifted products of a step, and their scale."""
    pairs = []
    for d, w in zip(data, weights, strict=True):
        if d & 0x7FFF == 0 or w & 0x7FFF == 0:
            pairs.append(None)
            continue
        (mant_d, q_d), (mant_w, q_w) = _factor(d), _factor(w)
        pairs.append(((d ^ w) >> 15, mant_w, mant_d, q_d + q_w))
    largest = max([pair[3] for pair in pairs if pair is not None], default=0)
    return [
        0 if pair is None else booth(*pair[:3], 4 * (largest - pair[3])) for pair in pairs
    ], largest


def find_nan(data: list[int], weights: list[int]) -> int | None:
    for pattern in (*weights, *data):
        if is_nan(pattern, HALF):
            return pattern
    return None


# --- CACC -------------------------------------------------------------------------------------


class Accumulator:
    """Exact value of a 40-bit accumulator, or a NaN."""

    def __init__(self) -> None:
        self.total = Fraction(0)
        self.nan: int | None = None

    def add(self, total: int, scale: int) -> None:
        """Add a step, rounding to 40 bits (39 and a sign), halves away from zero."""
        exact = self.total + Fraction(total) * power_of_two(4 * scale - 50)
        if exact == 0:
            self.total = exact
            return
        # two's complement: -2**39 is a mantissa, +2**39 is not
        power = log2_floor(abs(exact)) - 38
        if exact < 0 and abs(exact) == power_of_two(power + 38):
            power -= 1
        size = abs(exact) / Fraction(2) ** power
        whole = size.numerator // size.denominator
        whole += size - whole >= Fraction(1, 2)
        self.total = whole * Fraction(2) ** power * (1 if exact > 0 else -1)

    def put_nan(self, pattern: int) -> None:
        if self.nan is None:
            self.nan = pattern

    def single(self) -> int:
        if self.nan is not None:
            sign, _, mantissa = split(self.nan, HALF)
            return join(sign, 255, mantissa, SINGLE)
        if self.total == 0:
            return 0
        size = abs(self.total)
        power = log2_floor(size)
        scaled = size / power_of_two(power - 23) + Fraction(1, 2)
        whole = scaled.numerator // scaled.denominator
        return encode(int(self.total < 0), whole * power_of_two(power - 23), SINGLE)


def accumulate(steps: list[tuple[list[int], list[int]]]) -> int:
    """FP32 result of the steps (data, weights) of one output."""
    state = Accumulator()
    for data, weights in steps:
        nan = find_nan(data, weights)
        if nan is not None:
            state.put_nan(nan)
            continue
        shifted, scale = products(data, weights)
        state.add(sum(shifted), scale)
    return state.single()
