"""Halves and bfloat16 from integers and as integers, in four directions, by exact fractions."""

from __future__ import annotations

import subprocess
from bisect import bisect_right
from fractions import Fraction
from functools import cached_property
from math import ceil, floor, trunc
from pathlib import Path

import numpy as np
import pytest

from .conftest import PROGRAMS, nvcc

INTEGERS = {
    "int": (-(2**31), 2**31 - 1),
    "uint": (0, 2**32 - 1),
    "short": (-(2**15), 2**15 - 1),
    "ushort": (0, 2**16 - 1),
    "ll": (-(2**63), 2**63 - 1),
    "ull": (0, 2**64 - 1),
}


class Format:
    """All numbers of one format in their order; the one behind the last stands for infinity."""

    def __init__(self, exponent_bits: int, fraction_bits: int) -> None:
        self.bias = (1 << (exponent_bits - 1)) - 1
        self.fraction_bits = fraction_bits
        self.infinity = ((1 << exponent_bits) - 1) << fraction_bits

    @cached_property
    def sizes(self) -> list[Fraction]:
        return [self.size(bits) for bits in range(self.infinity + 1)]

    def size(self, bits: int) -> Fraction:
        exponent, fraction = divmod(bits, 1 << self.fraction_bits)
        if exponent == 0:
            exponent = 1
        else:
            fraction += 1 << self.fraction_bits
        return fraction * Fraction(2) ** (exponent - self.bias - self.fraction_bits)

    def value(self, bits: int) -> Fraction | None:
        size = bits & 0x7FFF
        if size >= self.infinity:
            return None
        return -self.sizes[size] if bits & 0x8000 else self.sizes[size]

    def rounded(self, number: Fraction, way: str) -> int:
        size, sign = abs(number), 0x8000 if number < 0 else 0
        low = min(bisect_right(self.sizes, size) - 1, self.infinity - 1)
        if self.sizes[low] == size:
            return sign | low
        over = size - self.sizes[low], self.sizes[low + 1] - size
        up = {
            "rn": over[0] > over[1] or (over[0] == over[1] and low % 2 == 1),
            "rz": False,
            "rd": number < 0,
            "ru": number > 0,
        }[way]
        return sign | (low + up)


HALF, BRAIN = Format(5, 10), Format(8, 7)
WAYS = "rn", "rz", "rd", "ru"


@pytest.fixture(scope="module")
def integers16(tmp_path_factory: pytest.TempPathFactory) -> Path:
    target = tmp_path_factory.mktemp("integers16") / "integers16"
    done = nvcc("-O1", PROGRAMS / "integers16.cu", "-o", target)
    assert done.returncode == 0, done.stderr
    return target


def told(program: Path, lines: list[str]) -> list[list[str]]:
    done = subprocess.run(
        [str(program)], input="\n".join(lines), capture_output=True, text=True, check=True
    )
    return [line.split() for line in done.stdout.splitlines()]


def as_type(number: int, name: str) -> int:
    low, high = INTEGERS[name]
    return (number - low) % (high - low + 1) + low


def test_from_integers(integers16: Path) -> None:
    random = np.random.default_rng(16)
    numbers = [0, 1, 2**64 - 1, 2**63, 65504, 65519, 65520, 65535, 2**31, 2**32 - 1, 2**60 + 2**52]
    numbers += [2**60 + 2**52 + 1, 2**60 + 2**52 - 1, 2**64 - 2**20, 2**15, 4097, 257, 2051, 2049]
    numbers += [int(random.integers(1 << k, 2 << k, dtype=np.uint64)) for k in range(63)]
    found = told(integers16, [f"from {number}" for number in numbers])
    assert len(found) == len(numbers) * len(INTEGERS)
    for (name, *bits), number in zip(found, np.repeat(np.array(numbers, object), 6), strict=True):
        exact = Fraction(as_type(number, name))
        wanted = [form.rounded(exact, way) for form in (HALF, BRAIN) for way in WAYS]
        assert list(map(int, bits)) == wanted, (name, number)


WHOLE = {"rn": round, "rz": trunc, "rd": floor, "ru": ceil}


def test_to_integers(integers16: Path) -> None:
    random = np.random.default_rng(17)
    patterns = [0, 0x8000, 0x3800, 0xB800, 0x3E00, 0x7BFF, 0xFBFF, 0x7F7F, 0xFF7F, 0x3F00, 0x4020]
    patterns += random.integers(0, 0x7C00, 40).tolist()
    found = told(integers16, [f"to {bits}" for bits in patterns])
    for at, bits in enumerate(patterns):
        for name, *numbers in found[7 * at : 7 * at + 6]:
            low, high = INTEGERS[name]
            wanted = []
            for form in (HALF, BRAIN):
                value = form.value(bits)
                for way in WAYS:
                    whole = (low if bits & 0x8000 else high) if value is None else WHOLE[way](value)
                    wanted.append(as_type(min(max(whole, low), high), "ll"))
            shown = [as_type(int(number), "ll") for number in numbers]
            if not (HALF.value(bits) is None and bits & 0x3FF):
                assert shown[:4] == wanted[:4], (name, hex(bits))
            assert shown[4:] == wanted[4:], (name, hex(bits))
        value = BRAIN.value(bits)
        assert value is not None
        assert found[7 * at + 6][3:] == [
            str(min(max(trunc(value), low), high)) for low, high in ((-128, 127), (0, 255))
        ]


def test_floats_in_directions(integers16: Path) -> None:
    values = np.array(
        [1.0, 1.001, -1.001, 3e38, -3e38, 3.4e38, -3.4e38, 1e-40, -1e-45, 0.1, -7.7], np.float32
    )
    found = told(integers16, [f"float {bits}" for bits in values.view(np.uint32)])
    for (_, *bits), value in zip(found, values, strict=True):
        exact = Fraction(float(value))
        assert list(map(int, bits)) == [BRAIN.rounded(exact, way) for way in WAYS], value


def test_complex_products(integers16: Path) -> None:
    random = np.random.default_rng(18)
    rows = random.uniform(-4, 4, (20, 4)).astype(np.float16)
    found = told(integers16, ["complex " + " ".join(map(str, row.view(np.uint16))) for row in rows])

    def step(a: np.float16, b: np.float16, c: Fraction) -> Fraction:
        exact = Fraction(float(a)) * Fraction(float(b)) + c
        value = HALF.value(HALF.rounded(exact, "rn"))
        assert value is not None
        return value

    for (_, real, imaginary), (a, b, c, d) in zip(found, rows, strict=True):
        first = step(-b, d, step(a, c, Fraction(float(b))))
        second = step(b, c, step(a, d, Fraction(float(c))))
        assert HALF.value(int(real)) == first
        assert HALF.value(int(imaginary)) == second
