"""Fixtures of the host API's tests."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from cudla_sim.testing import Compiler
from tests import warm

from .cases import PROGRAMS, Cases


@pytest.fixture(scope="session")
def subject(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The object file of the VPU program that the cases use."""
    target = tmp_path_factory.mktemp("vpu") / "subject.o"
    words = ["pva-cc", "-O2", str(PROGRAMS / "subject.c"), "-o", str(target)]
    command = [warm.python(), "-m", "cudla_sim", *words]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return target


@pytest.fixture(scope="session")
def cases(sim_cc: Compiler, subject: Path) -> Cases:
    """Runs all cases of a program once, and says how one of them ended."""
    return Cases(sim_cc, subject)
