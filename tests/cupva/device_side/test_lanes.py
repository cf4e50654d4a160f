"""Operations on lanes of each width, with values from their whole range, against integers of
Python that wrap where a lane does."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from .bench import Bench
from .conftest import Image

TYPES = {
    "vcharx": (32, 12), "dvcharx": (64, 12), "vshortx": (16, 24), "dvshortx": (32, 24),
    "vintx": (8, 48), "dvintx": (16, 48),
}  # fmt: skip
"""Lanes and bits, in the order of the kernel's `type`."""
Lanes = tuple[list[int], list[int], list[int]]


def wrap(value: int, bits: int) -> int:
    return (value + (1 << bits - 1)) % (1 << bits) - (1 << bits - 1)


def model(a: int, b: int, c: int) -> list[int]:
    """One lane, in the order of the kernel; not wrapped yet."""
    shift = c & 7
    return [
        *(a + b, a - b, a * b, a & b, a | b, a ^ b, ~a, -a, a << shift, a >> shift),
        *(a == b, a != b, a < b, a <= b, a > b, a >= b, a != 0 and b != 0, a != 0 or b != 0),
        *(a == 0, min(a, b), max(a, b), abs(a - b), abs(a), a + b + c, a if c else b),
        min(max(a, min(b, c)), max(b, c)),
        *(a >> shift, a << shift, min(a, 5), a + 1000000, 3 - a, (a + b) << 1),
    ]


@st.composite
def lanes(draw: st.DrawFn) -> tuple[str, Lanes]:
    name = draw(st.sampled_from(list(TYPES)))
    count, bits = TYPES[name]
    low, high = -(1 << bits - 1), (1 << bits - 1) - 1
    value = st.one_of(
        st.integers(low, high), st.sampled_from([low, low + 1, -1, 0, 1, high - 1, high])
    )
    one = st.lists(value, min_size=count, max_size=count)
    return name, (draw(one), draw(one), draw(one))


@pytest.fixture(scope="module")
def bench(image: Image) -> Iterator[Bench]:
    made = Bench(image("lanes"))
    yield made
    made.close()


def extremes(name: str) -> tuple[str, Lanes]:
    count, bits = TYPES[name]
    low, high = -(1 << bits - 1), (1 << bits - 1) - 1
    return name, ([low] * count, [high, low] * (count // 2), [0, -1] * (count // 2))


@pytest.mark.slow
@settings(
    max_examples=120, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(drawn=lanes())
@example(extremes("vcharx"))
@example(extremes("dvcharx"))
@example(extremes("vshortx"))
@example(extremes("dvshortx"))
@example(extremes("vintx"))
@example(extremes("dvintx"))
def test_lanes(bench: Bench, drawn: tuple[str, Lanes]) -> None:
    name, values = drawn
    count, bits = TYPES[name]
    inputs = {
        symbol: np.array(row, np.int64).tobytes() for symbol, row in zip("abc", values, strict=True)
    }
    result = bench.launch(type=list(TYPES).index(name), **inputs)
    assert (result.status, result.text) == ("done", "")
    expected = [model(*lane) for lane in zip(*values, strict=True)]
    rows = len(expected[0])
    assert bench.array(result, "count", np.int32)[0] == rows + 1
    found = bench.array(result, "found", np.int64).reshape(-1, 64)
    for row in range(rows):
        assert found[row, :count].tolist() == [wrap(int(lane[row]), bits) for lane in expected]
    assert int(found[rows, 0]) == wrap(sum(values[0]), 32)
