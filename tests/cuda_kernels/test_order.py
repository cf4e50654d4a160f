"""Launches join each other without Python; what a program sees is the order of its streams."""

from __future__ import annotations

from pathlib import Path

import pytest

from .conftest import Run


@pytest.mark.parametrize("seed", range(6))
def test_everything_in_its_order(order: Run, seed: int) -> None:
    done = order(seed)
    assert (done.returncode, done.stdout) == (0, "cudaSuccess in order\n"), done.stderr


def test_who_traces_sees_each_launch(order: Run, tmp_path: Path) -> None:
    trace = tmp_path / "trace.json"
    done = order(1, CUDLA_SIM_TRACE=trace)
    assert done.stdout == "cudaSuccess in order\n", done.stderr
    assert trace.read_text().count('"step"') > 2500
