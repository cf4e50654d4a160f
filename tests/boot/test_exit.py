"""The end of a process while its engines work."""

from __future__ import annotations

import threading
import time
from pathlib import Path

import numpy as np
import pytest

from cudla_sim.core.closing import Outside
from cudla_sim.nvdla.build import Network
from cudla_sim.testing import Compiler

PROGRAM = Path(__file__).parent / "exit_program.c"


@pytest.fixture(scope="module")
def convolutions(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Three convolutions of 64 channels: a core spends its time in matrix products."""
    random = np.random.default_rng(1)
    net = Network(input=("image", (1, 64, 48, 48)), precision="int8", config="nv_full")
    for _ in range(3):
        weights = random.normal(size=(64, 64, 3, 3)).astype(np.float32) * 0.05
        net.conv2d(weights, np.zeros(64, np.float32), padding=1, relu=True)
    path = tmp_path_factory.mktemp("exit") / "convolutions.nvdla"
    path.write_bytes(net.build(calibration=random.normal(size=(2, 64, 48, 48)).astype(np.float32)))
    return path


def leave(sim_cc: Compiler, loadable: Path, times: int) -> list[int]:
    """How so many programs ended that returned 9 from main, at different places of a task."""
    program = sim_cc.build(PROGRAM)
    return [
        sim_cc.run(program, str(loadable), "100", str(5000 + 3400 * (i % 20))).status
        for i in range(times)
    ]


@pytest.mark.slow
def test_exit_while_a_core_multiplies(sim_cc: Compiler, convolutions: Path) -> None:
    assert leave(sim_cc, convolutions, 6) == [9] * 6


@pytest.mark.stress
def test_five_hundred_exits(sim_cc: Compiler, convolutions: Path) -> None:
    ends = leave(sim_cc, convolutions, 500)
    assert [e for e in ends if e != 9] == []


def test_the_end_waits_for_who_is_inside_and_lets_nobody_in() -> None:
    door = Outside()
    inside, leave_now = threading.Event(), threading.Event()
    seen: list[str] = []

    def engine() -> None:
        with door:
            inside.set()
            leave_now.wait()
            seen.append("left")
        with door:
            seen.append("entered again")

    threading.Thread(target=engine, daemon=True).start()
    inside.wait()
    assert door.close(patience_s=0.01) is False, "one is inside"
    leave_now.set()
    assert door.close() is True
    assert seen == ["left"]
    late = threading.Thread(target=lambda: [door.__enter__(), seen.append("late")], daemon=True)
    late.start()
    late.join(0.05)
    assert late.is_alive()
    assert seen == ["left"]


def test_the_thread_that_ends_the_process_does_not_wait_for_itself() -> None:
    door = Outside()
    with door:
        began = time.monotonic()
        assert door.close(patience_s=60)
        assert time.monotonic() - began < 30
