"""Cooperative groups that are larger than a warp, beside those that are not."""

from __future__ import annotations

import numpy as np
import pytest

from .conftest import Run


@pytest.mark.parametrize("size", [16, 32, 64, 128, 512])
def test_a_tile_gives_each_thread_what_numpy_gives(tiles: Run, size: int) -> None:
    done = tiles(size, size + 5)
    assert (done.returncode, done.stderr) == (0, "cudaSuccess\n")
    found = np.array([line.split() for line in done.stdout.splitlines()], int).T
    values = found[0].reshape(-1, size)
    scan = values.cumsum(1)
    wanted = (
        values.sum(1, keepdims=True),
        values.min(1, keepdims=True),
        scan,
        scan - values,
        2 * (values == 3).any(1, keepdims=True) + (values < 90).all(1, keepdims=True),
    )
    for column, expected in zip(found[1:], wanted, strict=True):
        assert (column.reshape(-1, size) == expected).all()
