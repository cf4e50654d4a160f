"""Waits and shares of the timing model against loops in which every cycle, or beat, happens."""

from __future__ import annotations

from dataclasses import fields

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from cudla_sim.nvdla.facts.configs import CONFIGS
from cudla_sim.nvdla.hw.units.conv.registers import Cdma
from cudla_sim.nvdla.timing.durations import Durations, Stream
from cudla_sim.nvdla.timing.parameters import Surroundings


def clocked(sizes: list[int], fetched: int, each: int, room: int, rate: int) -> int:
    """Cycles in which groups of kernels wait: weights come one after the other while there is room,
    a group's leave when it has ended."""
    came, left, waits = fetched, 0, 0

    def fetch() -> None:
        nonlocal came
        came = max(came, min(came + rate, left + room, sum(sizes)))

    for number, size in enumerate(sizes):
        while came < sum(sizes[: number + 1]):
            fetch()
            waits += 1
        for _ in range(each):
            fetch()
        left += size
    return waits


@given(
    st.lists(st.integers(1, 60), min_size=1, max_size=12),
    st.integers(1, 60),
    st.integers(0, 40),
    st.integers(0, 200),
    st.integers(1, 8),
)
def test_groups_wait_for_their_weights(
    beats: list[int], each: int, more: int, slack: int, rate: int
) -> None:
    sizes = [count * rate for count in beats]
    room = max(sizes) + slack * rate
    fetched = min(sizes[0] + more * rate, room, sum(sizes))
    found = Durations._weight_waits([float(s) for s in sizes], fetched, each, room, rate)
    assert found == clocked(sizes, fetched, each, room, rate)


def feature(channels: int, height: int, width: int) -> Cdma:
    """A CDMA that reads a cube of int8."""
    values = dict.fromkeys((f.name for f in fields(Cdma)), 0)
    return Cdma(**{**values, "channels": channels, "height": height, "width": width})


@given(st.integers(1, 40), st.integers(1, 20), st.integers(1, 20))
def test_rounds_of_requests(surfaces: int, height: int, width: int) -> None:
    """Up to 8 atoms of up to 4 surfaces in turn, and 6 cycles between such rounds; fewer than three
    surfaces are asked for without a pause (RTL: CDMA DC)."""
    cycles = beats = 0
    for first in range(0, surfaces, 4):
        for atom in range(0, height * width, 8):
            beats += min(4, surfaces - first) * min(8, height * width - atom)
            cycles += min(4, surfaces - first) * min(8, height * width - atom) + 6
    durations = Durations(CONFIGS["nv_small"], Surroundings())
    share = durations._request_share(feature(8 * surfaces, height, width))
    assert share == (pytest.approx(cycles / beats) if surfaces >= 3 else 1)


@given(st.integers(0, 400), st.integers(0, 400), st.sampled_from([1, 2, 4, 8]), st.integers(0, 300))
def test_data_and_weights_share_a_port(data: int, weights: int, rate: int, latency: int) -> None:
    """A beat of each in turn while there are both; data alone pauses between its requests."""
    assume(data or weights)
    requests, width = 1.5, 8
    now, left = 0.0, [data, weights]
    while any(left):
        both = all(left)
        if left[0]:
            now += width / rate if both else max(width / rate, requests)
            left[0] -= 1
        if left[1]:
            now += width / rate
            left[1] -= 1
    around = Surroundings(latency=latency, bytes_per_cycle=rate)
    durations = Durations(CONFIGS["nv_small"], around)
    load, waiting = durations._load(Stream(data * width, 1), Stream(weights * width, 1), requests)
    assert abs(load - (now + latency + 64)) < 1
    assert waiting == latency + 64
