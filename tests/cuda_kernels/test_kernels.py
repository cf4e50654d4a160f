"""Kernels on the CPU: what programs print, against numpy and plain loops."""

from __future__ import annotations

from fractions import Fraction
from math import ceil, floor, trunc

import numpy as np
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from .conftest import Run

FEW = settings(
    max_examples=6,
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)


def test_launches_of_every_form(values: Run) -> None:
    done = values()
    assert done.returncode == 0, done.stderr
    found = {
        line.split()[0]: [float(w) for w in line.split()[1:]] for line in done.stdout.splitlines()
    }
    x = np.arange(1024) % 37
    assert found["default"] == [x[999] * 2 * 1.5 + 4, 0]
    assert found["stream"] == [x[10] * 2 * 2 + 4]
    assert found["sums"] == x.reshape(4, 256).sum(axis=1).tolist()
    assert found["deduced"] == [7.5] * 5
    assert found["macro"] == [3, 3]
    assert found["places"] == [12 * 24, 12 * 24]
    assert found["lambdas"] == [44, 44]
    assert found["children"] == [2, 2, 1, 1, 0]
    assert found["address"] == [3, 3, 2, 1, 0]
    assert found["instance"] == [2.5, 2.5, 2.5, 7.5]
    # cudaErrorInvalidConfiguration is 9; taken, it is gone
    assert found["status"] == [0, 9, 0, 9]


def numbers(done: object) -> list[int]:
    assert done.returncode == 0, done.stderr  # type: ignore[attr-defined]
    return [int(word) for word in done.stdout.split()]  # type: ignore[attr-defined]


@FEW
@given(
    width=st.integers(1, 40),
    height=st.integers(1, 3),
    data=st.data(),
)
def test_a_barrier_counts_who_is_still_there(
    meetings: Run, width: int, height: int, data: st.DataObject
) -> None:
    size = width * height
    rounds = data.draw(st.lists(st.integers(0, 5), min_size=size, max_size=size))
    found = np.array(numbers(meetings("leaving", width, height, *rounds))).reshape(3, size)
    # in its last round a thread sees the arrivals of all rounds up to it
    arrivals = [sum(r > turn for r in rounds) for turn in range(5)]
    wanted = [sum(arrivals[:r]) for r in rounds]
    assert (found == wanted).all()


@FEW
@given(x=st.lists(st.integers(-3, 120), min_size=1, max_size=100))
def test_barriers_that_vote(meetings: Run, x: list[int]) -> None:
    count = sum(v > 2 for v in x)
    wanted = count * 100 + (min(x) >= 0) * 10 + (max(x) > 100)
    assert numbers(meetings("votes", 1, 1, *x)) == [wanted] * len(x)


@FEW
@given(warps=st.integers(1, 3), data=st.data())
def test_shuffles_and_votes(meetings: Run, warps: int, data: st.DataObject) -> None:
    n = 32 * warps
    x = np.array(data.draw(st.lists(st.integers(-50, 50), min_size=n, max_size=n)))
    found = np.array(numbers(meetings("shuffles", 1, 1, *x))).reshape(5, n)
    lane = np.arange(n) % 32
    base = np.arange(n) - lane
    assert (found[0] == x[base + (lane & ~15) + 5]).all()
    assert (found[1] == np.where(lane >= 3, x[np.maximum(np.arange(n) - 3, 0)], x)).all()
    inside = (lane % 8) + 2 < 8
    assert (found[2] == np.where(inside, x[np.minimum(np.arange(n) + 2, n - 1)], x)).all()
    assert (found[3] == x[np.arange(n) ^ 1]).all()
    ballots = [sum(int(v & 1) << i for i, v in enumerate(w)) for w in x.reshape(-1, 32)]
    as_int = np.array(ballots, np.uint32).astype(np.int32).repeat(32)
    assert (found[4] == as_int).all()


def test_who_waits_for_ever_is_told(meetings: Run) -> None:
    done = meetings("nobody", 1, 1)
    assert done.returncode != 0
    said = "block (0, 0, 0), thread (0, 0, 0): deadlock: 0 of 4 threads have ended, 4 wait"
    assert said in done.stderr


def _half(value: Fraction) -> int:
    """The bits of the half nearest to an exact value, ties to even; the sign of 0 is +."""
    if value == 0:
        return 0
    sign, left = (0x8000, -value) if value < 0 else (0, value)
    if left >= 65520:  # half a step above the largest
        return sign | 0x7C00
    low, high = 0, 0x7C00
    while high - low > 1:  # halves are in the order of their bits
        middle = (low + high) // 2
        low, high = (middle, high) if _value(middle) <= left else (low, middle)
    down, up = left - _value(low), _value(high) - left
    nearer = low if down < up or (down == up and low % 2 == 0) else high
    return sign | nearer


def _value(bits: int) -> Fraction:
    """Of a half that is finite; what would follow the largest for infinity."""
    exponent, fraction = bits >> 10 & 31, bits & 0x3FF
    if exponent == 0:
        return Fraction(fraction, 1 << 24)
    return Fraction(0x400 | fraction) * Fraction(2) ** (exponent - 25)


def _signed(bits: int) -> Fraction:
    return _value(bits & 0x7FFF) * (-1 if bits & 0x8000 else 1)


FINITE = st.integers(0, 0x7BFF).flatmap(lambda bits: st.sampled_from([bits, bits | 0x8000]))


@FEW
@given(x=st.lists(FINITE, min_size=3, max_size=60))
def test_halves_round_once(halves: Run, x: list[int]) -> None:
    found = numbers(halves(*x))
    n = len(x)
    exact = [_signed(v) for v in x]
    for i in range(n):
        a, b, c = exact[i], exact[(i + 1) % n], exact[(i + 2) % n]
        for place, wanted in ((0, a * b + c), (1, b * c + c)):
            bits = found[4 * i + place]
            assert bits == _half(wanted) or (wanted == 0 and bits in (0, 0x8000))
        largest, smallest = found[4 * i + 2], found[4 * i + 3]
        assert (largest, smallest) in ((x[i], x[(i + 1) % n]), (x[(i + 1) % n], x[i]))
        assert [max(a, b), min(a, b)] == [_signed(largest), _signed(smallest)]
        whole = found[4 * n + 5 * i : 4 * n + 5 * i + 5]
        assert whole == [round(a), trunc(a), floor(a), ceil(a), 0]
