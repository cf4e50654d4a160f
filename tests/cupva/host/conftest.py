"""Fixtures of the host API's tests."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from cudla_sim.testing import Compiler
from tests import warm
from tests.compiled import vpu_program

from .cases import PROGRAMS, Cases


@pytest.fixture(scope="session")
def subject() -> Path:
    """The object file of the VPU program that the cases use."""

    def build(target: Path) -> None:
        words = ["pva-cc", "-O2", str(PROGRAMS / "subject.c"), "-o", str(target)]
        command = [warm.python(), "-m", "cudla_sim", *words]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout + done.stderr

    return vpu_program(build, PROGRAMS, "subject")


@pytest.fixture(scope="session")
def cases(sim_cc: Compiler, subject: Path) -> Cases:
    """Runs all cases of a program once, and says how one of them ended."""
    return Cases(sim_cc, subject)
