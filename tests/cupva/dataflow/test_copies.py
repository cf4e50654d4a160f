"""Copies of rectangles by a command, against numpy."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from cudla_sim.cupva.commands import Memcpy

from .bench import bench


@given(st.integers(1, 9), st.integers(1, 5), st.integers(0, 4), st.integers(0, 4))
def test_rows_go_to_their_lines(width: int, height: int, more: int, less: int) -> None:
    source = np.arange(height * (width + more), dtype=np.uint8).reshape(height, width + more)
    target = np.full((height, width + less), 0xAA, np.uint8)
    expected = target.copy()
    expected[:, :width] = source[:, :width]
    with bench() as machine:
        to, of = machine.dram(target), machine.dram(source)
        Memcpy(machine.memory, to, of, width, height, width + less, width + more).run()
        assert np.array_equal(machine.read(to, target), expected)
