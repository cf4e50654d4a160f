"""Functions of halves for all of them against numpy, bfloat16 against exact fractions."""

from __future__ import annotations

import subprocess
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from .conftest import PROGRAMS, Run, compiled, nvcc

pairs = compiled("pairs")


@pytest.fixture(scope="module")
def floats(tmp_path_factory: pytest.TempPathFactory) -> Path:
    target = tmp_path_factory.mktemp("floats") / "floats"
    done = nvcc("-O2", PROGRAMS / "floats.cu", "-o", target)
    assert done.returncode == 0, done.stderr
    return target


def words(program: Path, columns: int, *arguments: int) -> np.ndarray:
    command = [str(program), *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, check=False)
    assert done.returncode == 0, done.stderr
    return np.frombuffer(done.stdout, np.uint16).reshape(-1, columns)


def bits_of(values: np.ndarray) -> np.ndarray:
    """Every NaN is the one that CUDA gives."""
    halves = values.astype(np.float16)
    return np.where(np.isnan(halves), 0x7FFF, halves.view(np.uint16))


def below(values: np.ndarray) -> np.ndarray:
    near = values.astype(np.float16)
    return np.where(near > values, np.nextafter(near, np.float16(-np.inf)), near)


def test_functions_of_all_halves(floats: Path) -> None:
    found = words(floats, 12)
    with np.errstate(all="ignore"):
        x = np.arange(65536).astype(np.uint16).view(np.float16)
        wide = x.astype(np.float64)
        saturated = np.clip(np.nan_to_num((wide + 0.25).astype(np.float16), nan=0.0), 0, 1)
        less = x.astype(np.float32) * np.float32(0.3)
        toward_zero = np.where(less < 0, -below(-less), below(less))
        wanted = (
            *(np.sqrt(wide), np.floor(wide), np.ceil(wide), np.trunc(wide), np.rint(wide)),
            *(1 / wide, np.exp2(wide), saturated, np.maximum(wide, 1), below(less), toward_zero),
        )
        for column, values in enumerate(wanted):
            np.testing.assert_array_equal(
                found[:, column], bits_of(np.asarray(values)), str(column)
            )
        whole = np.nan_to_num(np.rint(wide), nan=0.0).clip(0, 65535)
    assert (found[:, 11] == whole).all()


def value(bits: int) -> Fraction:
    """Of a bfloat16 that is finite; of the one behind the last as if there were more."""
    exponent, fraction = bits >> 7 & 0xFF, bits & 0x7F
    size = (
        Fraction(fraction) * Fraction(2) ** -133
        if exponent == 0
        else Fraction(0x80 | fraction) * Fraction(2) ** (exponent - 134)
    )
    return -size if bits & 0x8000 else size


def nearest(exact: Fraction) -> int:
    sign = 0x8000 if exact < 0 else 0
    exact = abs(exact)
    low, high = 0, 0x7F80
    while high - low > 1:  # in the order of their bits
        middle = (low + high) // 2
        low, high = (middle, high) if value(middle) <= exact else (low, middle)
    down, up = exact - value(low), value(high) - exact
    return sign | (low if down < up or (down == up and low % 2 == 0) else high)


FINITE = st.integers(0, 0x7F7F).flatmap(lambda bits: st.sampled_from([bits, bits | 0x8000]))
NEAR = st.integers(0x3F00, 0x4100).flatmap(lambda bits: st.sampled_from([bits, bits | 0x8000]))


@given(x=st.lists(st.one_of(FINITE, NEAR), min_size=3, max_size=80))
@settings(
    max_examples=15, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
def test_bfloat16_rounds_once(floats: Path, x: list[int]) -> None:
    found = words(floats, 8, *x)
    exact = [value(bits) for bits in x]
    n = len(x)
    for i in range(n):
        a, b, c = exact[i], exact[(i + 1) % n], exact[(i + 2) % n]
        wanted = [a + b, a - b, a * b, a / b if b else None, b * b + c]
        for column, result in enumerate(wanted):
            if result is None:
                continue
            bits = int(found[i, column])
            assert bits == nearest(result) or (result == 0 and bits & 0x7FFF == 0), (i, column)
        root = value(int(found[i, 5]))
        near = int(found[i, 5])
        assert (root + value(near - 1 if near else 0)) ** 2 / 4 <= abs(a)
        assert abs(a) <= (root + value(near + 1)) ** 2 / 4
        assert found[i, 7] == (a < b) | (a == b) << 1


def test_operators_of_pairs(pairs: Run) -> None:
    """Numbers that both kinds have exactly."""
    done = pairs()
    assert done.returncode == 0, done.stderr
    *compared, negative, quotient, counted, chain, _ = done.stdout.splitlines()
    assert compared == ["1 0 1 1 0 1"] * 2
    assert negative.split() == ["-1", "-2"] * 2
    assert quotient.split() == ["3", "1"] * 2
    assert counted.split() == ["2", "3"] * 2
    assert chain.split() == [f"{((3 - 1) ** 2 + 1) / 1:g}", f"{((2 - 2) ** 2 + 2) / 2:g}"] * 2
