"""What groups do once: reductions and scans into atomic objects, calls by one of their threads."""

from __future__ import annotations

import numpy as np

from .conftest import Run, compiled

updates = compiled("updates")

SIZE, THREADS = 8, 64


def test_one_thread_of_each_tile_acts(updates: Run) -> None:
    done = updates()
    assert (done.returncode, done.stderr) == (0, "cudaSuccess\n")
    first, tiles, *rest = done.stdout.splitlines()
    found = np.array([line.split() for line in rest], int).T.reshape(4, -1, SIZE)
    values = np.arange(2 * THREADS).reshape(-1, SIZE) * 7 % 13
    sums = values.sum(1)
    assert (found[0] == values).all()
    blocks = np.arange(len(values)) // (THREADS // SIZE)
    most = (values.max(1) + blocks).max()
    total = sums.sum()
    assert first == f"{1000 + total} {most} {total} {total} {3 * len(values)} {SIZE * 0.5:g}"
    assert tiles.split() == [str(value) for value in sums]
    assert (found[3] == 100 + values[:, :1]).all()

    for column, scans in ((found[1], values.cumsum(1) - values), (found[2], values.cumsum(1))):
        before = column - scans  # what the object had when the tile came
        assert (before == before[:, :1]).all()
        order = before[:, 0].argsort(kind="stable")
        assert sorted(before[:, 0]) == [0, *sums[order].cumsum()[:-1]]
