"""Lanes that are at one place, as a GPU brings them together behind a branch; kinds of memory."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from .conftest import program


def test_lanes_at_one_place(tmp_path: Path) -> None:
    done = program("lanes", tmp_path)()
    first, second, third = done.stdout.split("\n")
    assert first == "cudaSuccess", done.stderr
    values = np.array(second.split(), dtype=np.uint64).reshape(7, 64)
    everyone, sizes, ranks, turns, late, sums, rest = values
    lanes = np.arange(64)
    thirds = lanes % 3 == 0
    assert (everyone == 0xFFFFFFFF).all()
    in_warp = [int(thirds[:32].sum()), int(thirds[32:].sum())]
    assert np.array_equal(sizes[thirds], np.repeat(in_warp, in_warp))
    assert sorted(ranks[thirds]) == list(range(sum(in_warp)))
    assert rest[0] == sum(in_warp)
    assert [sums[0], sums[32]] == [lanes[:32].sum(), lanes[32:].sum()]
    for turn in (1, 2, 3):  # the last time through the loop: those that have as many turns, or more
        expected = sum(lane % 4 >= turn for lane in range(32))
        assert (turns[lanes % 4 == turn] == expected).all()
    assert (late[40:] == 0xFFFFFF00).all()
    assert rest[8:15].tolist() == [1, 1, 2, 2, 4, 1, 1]
    _unmasked(np.array(third.split(), dtype=np.int64).reshape(7, 64))


def _unmasked(values: np.ndarray) -> None:
    """Before CUDA 9 a call's mask is who comes to it; without a source a lane keeps its own."""
    lane = np.arange(64)
    broadcast, down, crossed, ballots, votes, pairs, far = values
    assert np.array_equal(broadcast, lane // 8 * 8 + 3)
    assert np.array_equal(down, 3 * np.where(lane % 32 < 30, lane + 2, lane))
    assert np.array_equal(crossed, (lane ^ 16) + (lane ^ 1))
    odd, first = lane % 2 == 1, lane < 32
    above = np.where(first, np.where(odd, 11, 10), 16)  # lanes above 10 of either kind
    assert np.array_equal(ballots, np.where(odd, above, -above))
    assert np.array_equal(votes, np.where(odd, np.where(first, 2, 1), 0))
    assert np.array_equal(pairs, 3 * np.where(lane % 32 < 4, lane, lane - 4))
    one_up = np.where(lane % 32 > 0, lane - 1, lane)  # of distances the low five bits count
    assert np.array_equal(far, (lane ^ 31) + 100 * one_up + 10000 * lane)
