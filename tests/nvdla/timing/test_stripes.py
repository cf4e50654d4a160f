"""The convolution core's stripes against a simulation cycle by cycle."""

from __future__ import annotations

from collections import deque

from hypothesis import given, settings
from hypothesis import strategies as st

from cudla_sim.nvdla.timing import parameters as p
from cudla_sim.nvdla.timing.stripes import Core, cycles, lengths


def cut(positions: int, upper: int, lower: int) -> list[int]:
    """As the sequence generator of the hardware decides for each stripe in turn."""
    found, done = [], 0
    while done < positions:
        if done + 2 * upper <= positions:
            found.append(upper)
        elif done + upper >= positions:
            found.append(positions - done)
        else:
            found.append(lower)
        done += found[-1]
    return found


def clocked(stripes: list[int], atoms: int, core: Core) -> tuple[int, int]:
    """Cycles of the last package's end, and until the last position has left, by letting every
    cycle happen."""
    packages = deque((length, atom == atoms - 1) for length in stripes for atom in range(atoms))
    credit, busy, taking = core.credits, 0, 0
    arriving: deque[int] = deque()  # cycles at which results lie in the delivery buffer
    coming: deque[int] = deque()  # and credits come back
    now = 0
    end = 0
    while packages or busy or arriving:
        while coming and coming[0] <= now:
            coming.popleft()
            credit += 1
        if packages and not busy:
            length, last = packages[0]
            if not last or credit >= length:
                packages.popleft()
                busy = max(length, core.least)
                if last:
                    credit -= length
                    start = now + busy - length  # the positions come at a package's end
                    arriving.extend(start + p.STRIPE_LATENCY + i for i in range(length))
        if arriving and arriving[0] <= now and taking <= now:
            arriving.popleft()
            taking = now + int(core.delivery)
            coming.append(now + p.CREDIT_RETURN)
        if busy:
            busy -= 1
        now += 1
        if not packages and not busy and not end:
            end = now
    return end, taking


@settings(max_examples=200, deadline=None)
@given(
    st.integers(1, 100),
    st.integers(1, 12),
    st.integers(1, 24),
    st.sampled_from([(8, 16, 16), (8, 16, 32), (32, 64, 64), (16, 32, 128)]),
    st.integers(1, 12),
    st.booleans(),
)
def test_cycles(
    run: int, runs: int, atoms: int, shape: tuple[int, int, int], delivery: int, image: bool
) -> None:
    least, upper, credits = shape
    lower = upper if image else upper // 2
    core = Core(least, credits, delivery)
    stripes = cut(run, upper, lower) * runs
    found, last, behind = cycles(run, runs, upper, lower, atoms, core)
    exact, left = clocked(stripes, atoms, core)
    assert last == stripes[-1]
    assert abs(found - exact) <= 1 + 0.02 * exact
    assert abs(found + behind - left) <= 2 + 0.02 * left


@given(st.integers(1, 1000), st.sampled_from([(16, 8), (32, 16), (64, 64)]))
def test_stripes_are_cut_as_the_hardware_does(positions: int, shape: tuple[int, int]) -> None:
    full, tail = lengths(positions, *shape)
    assert [shape[0]] * full + tail == cut(positions, *shape)
