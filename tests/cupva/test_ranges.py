"""Free addresses: against a set of single addresses, whatever the order of calls."""

from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cudla_sim.cupva import ranges
from cudla_sim.cupva.ranges import Ranges

END = 400


@given(st.lists(st.tuples(st.booleans(), st.integers(1, 60), st.integers(0, 99)), max_size=60))
def test_what_is_taken_never_overlaps_and_never_gets_lost(
    calls: list[tuple[bool, int, int]],
) -> None:
    space = Ranges(1, END)
    live: list[tuple[int, int]] = []
    for take, size, which in calls:
        if take or not live:
            start = space.take(size)
            used = {a for s, n in live for a in range(s, s + n)}
            free = [a for a in range(1, END) if a not in used]
            longest = run = 0
            for index, address in enumerate(free):
                run = run + 1 if index and free[index - 1] == address - 1 else 1
                longest = max(longest, run)
            if start is None:
                assert longest < size, "a range of that size is free"
            else:
                assert start >= 1
                assert start + size <= END
                assert used.isdisjoint(range(start, start + size))
                live.append((start, size))
        else:
            space.give_back(*live.pop(which % len(live)))


def test_a_range_rests_before_it_serves_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ranges, "RESTING", 2)
    space = Ranges(0, 1000)
    starts = [space.take(10) for _ in range(4)]
    assert starts == [0, 10, 20, 30]
    for start in (0, 20):
        space.give_back(start, 10)
    assert space.take(10) == 40, "both are resting"
    space.give_back(10, 10)
    assert space.take(10) == 0


def test_many_frames_leave_a_handful_of_ranges() -> None:
    space, live = Ranges(0, 1 << 40), []
    choose = random.Random(3)
    for _ in range(20_000):
        size = choose.choice((8192, 12288, 1 << 20))
        start = space.take(size)
        assert start is not None
        live.append((start, size))
        if len(live) > 20:
            space.give_back(*live.pop(choose.randrange(20)))
    assert len(space._starts) <= 60 + ranges.RESTING
    assert space._fresh < 1 << 31, "old ranges serve again"
