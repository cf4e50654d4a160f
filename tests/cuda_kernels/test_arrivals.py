"""cuda::barrier, cuda::pipeline, cuda::atomic and wmma, against numpy."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from .conftest import PROGRAMS, nvcc, program

Results = dict[str, "NDArray[np.int64]"]


def parsed(text: str) -> Results:
    lines = [line.split() for line in text.splitlines()]
    return {words[0]: np.array(words[1:], dtype=np.int64) for words in lines}


@pytest.fixture(scope="session")
def results(tmp_path_factory: pytest.TempPathFactory) -> Results:
    done = program("arrivals", tmp_path_factory.mktemp("arrivals"))()
    assert done.returncode == 0, done.stderr
    return parsed(done.stdout)


SOURCE = np.arange(640) ** 2 % 101


def test_stages_that_all_threads_fill_and_empty(results: Results) -> None:
    expected = SOURCE.reshape(10, 64).sum(0)[::-1]
    assert np.array_equal(results["staged"], expected)


def test_stages_that_one_warp_fills_for_the_other(results: Results) -> None:
    expected = SOURCE.reshape(20, 32).sum(0)[::-1]
    assert np.array_equal(results["roles"], expected)


def test_a_barrier_is_waited_for_after_other_work(results: Results) -> None:
    own = np.arange(96)
    for _ in range(3):
        own = own + 1 + np.roll(own, -1)
    assert np.array_equal(results["apart"], own[::-1])


def test_the_functions_that_barriers_and_pipelines_are_made_of(results: Results) -> None:
    copied = SOURCE[:256].reshape(64, 4) * (np.arange(4)[None] < 4 - np.arange(64)[:, None] % 4)
    sums = sum(np.roll(copied.ravel(), -7 - i)[::4] for i in range(4))
    pairs = np.zeros((16, 4), np.int64)
    pairs[:, :2] = SOURCE[:32].reshape(16, 2)
    pending = 2 * np.arange(1, 65).sum()
    assert np.array_equal(results["primitives"], [*sums[::-1], *pairs.ravel(), pending])


def test_atomics(results: Results) -> None:
    t = np.arange(256)
    expected = [t.sum(), -7, 255, (1 << 20) - 1, (t * t).sum(), 1]
    assert results["counts"].tolist() == expected


@pytest.mark.parametrize(
    ("name", "m", "n", "k", "a_by_rows", "b_by_rows"),
    [
        ("half", 16, 16, 16, True, False),
        ("bf16", 32, 8, 16, False, True),
        ("int8", 8, 32, 16, True, True),
        ("double", 8, 8, 4, True, False),
    ],
)
def test_products_of_matrices(
    results: Results, name: str, m: int, n: int, k: int, a_by_rows: bool, b_by_rows: bool
) -> None:
    a = (np.arange(m * 2 * k) * 7 % 11).reshape((m, 2 * k) if a_by_rows else (2 * k, m))
    b = (np.arange(n * 2 * k) * 5 % 13).reshape((2 * k, n) if b_by_rows else (n, 2 * k))
    product = (a if a_by_rows else a.T) @ (b if b_by_rows else b.T)
    assert np.array_equal(results[name].reshape(m, n), 2 * product)


def test_they_order_threads(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CUDLA_SIM_CUDA_CHECKS", "memory,race")
    target = tmp_path / "arrivals"
    assert nvcc("-O1", PROGRAMS / "arrivals.cu", "-o", target).returncode == 0
    assert os.system(f"{target} > {tmp_path}/out 2> {tmp_path}/told") == 0
    assert (tmp_path / "told").read_text() == ""
