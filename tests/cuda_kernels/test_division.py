"""Integers divided by zero: a GPU does not stop, its quotient and remainder have all bits."""

from __future__ import annotations

import os

import numpy as np
import pytest

from .conftest import Run, compiled

division = compiled("division")

pytestmark = pytest.mark.skipif(
    os.uname().machine != "x86_64",
    reason="an arm64 processor divides an integer by zero without a trap: it is 0",
)


def _expected(a: int, b: int, kind: str) -> tuple[int, int]:
    """As seen on GPUs: of 64 bits the upper half is zero where that of the dividend is."""
    bits = np.iinfo(kind).bits
    if b:
        quotient = abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)
        remainder = a - b * quotient
    else:
        short = bits == 64 and a % 2**64 < 2**32
        quotient = remainder = 2**32 - 1 if short else 2**64 - 1
    words = np.array([quotient % 2**64, remainder % 2**64], np.uint64).astype(kind)
    return int(words[0]), int(words[1])


def test_a_division_by_zero_goes_on(division: Run) -> None:
    done = division()
    *lines, known, shared = done.stdout.splitlines()
    assert known == "-1"
    assert shared == "cudaSuccess -1"
    assert len(lines) == 8
    for line in lines:
        kind, error, *words = line.split()
        assert error == "cudaSuccess"
        wrapped = [int(word) % 2**64 for word in words]
        numbers = [int(n) for n in np.array(wrapped, np.uint64).astype(kind)]
        for at in range(0, len(numbers), 4):
            a, b, *found = numbers[at : at + 4]
            assert tuple(found) == _expected(a, b, kind), (kind, a, b)
    said = done.stderr.splitlines()
    assert all("an integer was divided by zero" in line for line in said)
    told = {line.split("division.cu:")[1].split(":")[0] for line in said}
    assert told in (
        {"8", "16", "25"},
        {"8", "9", "16", "25"},
    )  # one instruction may give both results
