"""Inline PTX with registers, labels, guards, memory and lanes."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest

from .conftest import Run, compiled, program

ptx_threads = compiled("ptx_threads")
ptx_matrices = compiled("ptx_matrices")


def test_threads(ptx_threads: Run) -> None:
    done = ptx_threads()
    assert (done.returncode, done.stderr) == (0, "cudaSuccess\n")
    rows = [[int(word) for word in line.split()] for line in done.stdout.splitlines()]
    assert len(rows) == 64
    orders = []
    for i, row in enumerate(rows):
        lane = i % 32
        assert row[0] == sum(range(i + 1, i - lane + 33))  # of this lane and those above it
        assert row[1:5] == [7, math.gcd(360, 6 * (i + 1)), 0 if i == 1 else (i ^ 1) ** 2, 15]
        assert row[5] == np.int32(np.uint32(0xFFE00000))  # lanes 21 to 31
        assert row[6] == np.int32(np.uint32(0xFF << lane // 8 * 8))
        assert row[7:9] == [31, 5]
        orders.append(row[9])
        assert row[10] == 64
        assert row[11] == (-1 if i % 3 == 1 else sum(j % 3 != 1 for j in range(64)))
    assert sorted(orders) == list(range(64))


def test_barriers_that_nobody_meets(ptx_threads: Run) -> None:
    done = ptx_threads("barriers")
    assert done.stdout.splitlines() == ["cudaSuccess 512", "cudaErrorLaunchTimeout"]
    assert "no thread can go on; 24 of 64 have ended; 40 wait in bar.sync, (0, 0, 0) first" in (
        done.stderr
    )


def test_checks_see_nothing_wrong(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, ptx_threads: Run
) -> None:
    """Shared memory by addresses of 32 bits, and barriers with numbers."""
    monkeypatch.setenv("CUDLA_SIM_CUDA_CHECKS", "memory,race")
    done = program("ptx_threads", tmp_path)()
    assert (done.returncode, done.stderr) == (0, "cudaSuccess\n")
    assert done.stdout == ptx_threads().stdout


def element(row: int, column: int, salt: int) -> int:
    return (row * 7 + column * 3 + salt) % 11 - 5


def test_matrices_of_a_warp(ptx_matrices: Run) -> None:
    done = ptx_matrices()
    assert (done.returncode, done.stderr) == (0, "cudaSuccess\n")
    found: dict[tuple[str, int], np.ndarray] = {}
    for line in done.stdout.splitlines():
        if not line.startswith("lane"):
            shape, k, row, column, value = line.split()
            found.setdefault((shape, int(k)), np.full((16, 8), np.nan))[int(row), int(column)] = (
                float(value)
            )
    assert set(found) == {
        ("f16", 16),
        ("f16", 8),
        ("half", 16),
        ("bf16", 16),
        ("tf32", 8),
        ("s8", 32),
    }
    for (shape, k), got in found.items():
        a = np.array([[element(i, j, 1) for j in range(k)] for i in range(16)])
        b = np.array([[element(j, i, 2) for j in range(8)] for i in range(k)])
        np.testing.assert_array_equal(got, a @ b + 1, err_msg=f"{shape} {k}")


def test_ldmatrix(ptx_matrices: Run) -> None:
    """Matrix m has the rows that lanes 8m to 8m + 7 point to."""
    rows = [line.split() for line in ptx_matrices().stdout.splitlines() if line.startswith("lane")]
    memory = np.arange(256, dtype=np.uint32).reshape(32, 8)
    assert len(rows) == 32
    for _, lane_, *words in rows:
        lane = int(lane_)
        g, t = lane // 4, lane % 4
        for m in range(4):
            two = memory[8 * m + g, 2 * t : 2 * t + 2]
            assert int(words[m], 16) == two[0] | two[1] << 16
        turned = memory[2 * t, g] | memory[2 * t + 1, g] << 16
        assert int(words[4], 16) == turned
