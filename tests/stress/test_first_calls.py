"""Threads that make their first calls at once, in many processes."""

from __future__ import annotations

import subprocess
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from cudla_sim.testing import Compiler

SOURCE = Path(__file__).parent / "first_calls.c"
STARTS = 5000


def failures(program: Path, starts: int) -> list[str]:
    def start(_: int) -> str:
        done = subprocess.run([program], capture_output=True, text=True, timeout=300, check=False)
        return "" if done.returncode == 0 else f"{done.returncode}: {done.stdout}{done.stderr}"

    with ThreadPoolExecutor(4) as pool:
        return [text for text in pool.map(start, range(starts)) if text]


@pytest.mark.stress
def test_first_calls_of_threads(sim_cc: Compiler) -> None:
    program = sim_cc.build(SOURCE, options=["-pthread"])
    assert failures(program, STARTS) == []


@pytest.mark.parametrize("starts", [10])
def test_it_works_at_all(sim_cc: Compiler, starts: int) -> None:
    assert failures(sim_cc.build(SOURCE, options=["-pthread"]), starts) == []
