"""Programs that run for days: nothing grows, and nothing that is in use goes stale."""

from __future__ import annotations

from pathlib import Path

import pytest

from cudla_sim.testing import Compiler

from .cases import build


def grown_kb(sim_cc: Compiler, subject: Path, frames: int, timeout_s: float) -> int:
    """Resident kilobytes that came in the second half of so many frames."""
    program = build(sim_cc, "soak.c", subject)
    result = sim_cc.run(program, str(frames), timeout_s=timeout_s)
    assert result.status == 0, result.out + result.err
    half, end = map(int, result.out.split())
    return end - half


@pytest.mark.slow
def test_frames_that_make_everything_anew(sim_cc: Compiler, subject: Path) -> None:
    """What is kept of freed handles, to explain them, is full by the half. Less than a kilobyte a
    frame: the allocator takes pieces of some hundred kilobytes."""
    assert grown_kb(sim_cc, subject, 2400, 100) < 1024


@pytest.mark.stress
def test_a_hundred_thousand_frames(sim_cc: Compiler, subject: Path) -> None:
    assert grown_kb(sim_cc, subject, 100_000, 3000) < 256
