"""More work is never faster, nor is a lower clock."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cudla_sim.boards import check
from cudla_sim.boards.timing import estimate
from tests.boards.networks.graph import Graph

BOARDS = st.sampled_from(("orin", "xavier"))
CHANNELS = st.integers(5, 300)


ROUNDING = 1 - 1e-9


def ms(
    channels: int, maps: int, size: int, kernel: int, board: str, int8: bool, mhz: float = 1000.0
) -> float:
    g = Graph("one", (1, channels, size, size))
    report = check(g.model(g.conv("input", maps, kernel)), board, int8=int8)
    return estimate(report, clock_mhz=mhz).latency.value


@given(CHANNELS, st.integers(1, 64), CHANNELS, st.integers(4, 64), BOARDS, st.booleans())
def test_more_channels(c: int, more: int, maps: int, size: int, board: str, int8: bool) -> None:
    assert ms(c + more, maps, size, 3, board, int8) >= ROUNDING * ms(c, maps, size, 3, board, int8)


@given(CHANNELS, CHANNELS, st.integers(1, 64), st.integers(4, 64), BOARDS, st.booleans())
def test_more_kernels(c: int, maps: int, more: int, size: int, board: str, int8: bool) -> None:
    assert ms(c, maps + more, size, 3, board, int8) >= ROUNDING * ms(c, maps, size, 3, board, int8)


@given(CHANNELS, CHANNELS, st.integers(4, 64), st.integers(1, 32), BOARDS, st.booleans())
def test_larger_pictures(c: int, maps: int, size: int, more: int, board: str, int8: bool) -> None:
    assert ms(c, maps, size + more, 3, board, int8) >= ROUNDING * ms(c, maps, size, 3, board, int8)


@given(CHANNELS, CHANNELS, st.sampled_from((1, 3, 5)), BOARDS, st.booleans())
def test_larger_kernels(c: int, maps: int, kernel: int, board: str, int8: bool) -> None:
    large, small = (ms(c, maps, 16, size, board, int8) for size in (kernel + 2, kernel))
    assert large >= ROUNDING * small


@given(CHANNELS, CHANNELS, st.floats(100, 2000), st.floats(0.1, 1.0), BOARDS, st.booleans())
def test_lower_clocks(c: int, maps: int, mhz: float, part: float, board: str, int8: bool) -> None:
    slow, fast = (ms(c, maps, 32, 3, board, int8, clock) for clock in (mhz * part, mhz))
    assert slow >= ROUNDING * fast


@pytest.mark.parametrize("board", ["orin", "orin-nx", "xavier"])
def test_modes_in_the_order_of_their_clocks(board: str) -> None:
    g = Graph("one", (1, 256, 32, 32))
    report = check(g.model(g.conv("input", 256)), board, int8=True)
    modes = sorted(report.board.modes.items(), key=lambda item: -item[1].dla_mhz)
    found = [estimate(report, name).latency.value for name, _ in modes]
    assert found == sorted(found)


@given(st.integers(0, 1024), st.integers(0, 1024))
def test_more_sram(one: int, other: int) -> None:
    g = Graph("two", (1, 64, 32, 32))
    report = check(g.model(g.conv(g.conv("input", 64), 64)), int8=True)
    less, more = (
        estimate(report, sram_bytes=kib * 1024 if kib >= 4 else 0).latency.value
        for kib in sorted((one, other))
    )
    assert more <= less
