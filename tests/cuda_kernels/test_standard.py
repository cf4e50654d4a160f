"""Headers of libcu++ that are there in every standard, and its own ones."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from .conftest import PROGRAMS, nvcc

VALUES = (0, 1, 1 << 31, (1 << 32) - 1, 0x00F0A050, 77)


def signed(value: int) -> int:
    return value - (1 << 64) if value >> 63 else value


def rotated(value: int, by: int, width: int) -> int:
    by %= width
    return (value << by | value >> (width - by)) & ((1 << width) - 1)


def expected(value: int, width: int) -> Iterator[int]:
    digits = f"{value:0{width}b}"
    yield digits.count("1")
    yield width - len(digits.lstrip("0"))
    yield width - len(digits.rstrip("0"))
    yield width - len(digits.lstrip("1"))
    yield width - len(digits.rstrip("1"))
    yield value.bit_length()
    yield int(digits.count("1") == 1)
    yield signed(1 << value.bit_length() >> 1)
    for by in (3, -5, -9):
        yield signed(rotated(value, by, width))


@pytest.mark.parametrize("standard", ["c++17", "c++20"])
def test_in_a_kernel(standard: str, tmp_path: Path) -> None:
    done = nvcc(f"-std={standard}", PROGRAMS / "standard.cu", "-o", tmp_path / "standard")
    assert (done.returncode, done.stderr) == (0, "")
    run = subprocess.run([tmp_path / "standard"], capture_output=True, text=True, check=True)
    found = [int(line) for line in run.stdout.split()]
    wanted = [
        number
        for value in VALUES
        for given, width in ((value, 32), (value & 255, 8), (value << 17, 64))
        for number in expected(given, width)
    ]
    assert found[: len(wanted)] == wanted
    bits_of_one_and_a_half = 0x3FC00000
    assert found[len(wanted) :] == [
        bits_of_one_and_a_half,
        4 * 4 * 100 + 6 * 10 + 6,
        16 * 10000 + 12 * 100 + 9 * 10 + 2,
        8 * 1000 // 3,
        7 * 10 + 3,
    ]
