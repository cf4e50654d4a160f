"""The same cases in every run; `make fuzz` looks for new ones."""

from __future__ import annotations

import subprocess
import sys

import pytest

from tests.conftest import ROOT

from .run import PATIENCE_S, SETTINGS
from .targets import TARGETS

CASES = 60


@pytest.mark.parametrize("target", TARGETS)
def test_first_cases(target: str) -> None:
    import os

    text = (
        "from random import Random; from tests.fuzz.targets import TARGETS\n"
        f"for number in range({CASES}):\n"
        f"    print(number, flush=True); TARGETS[{target!r}](Random(number))"
    )
    run = subprocess.run(
        [sys.executable, "-c", text],
        cwd=ROOT,
        env={**os.environ, **SETTINGS},
        capture_output=True,
        text=True,
        errors="replace",
        timeout=2 * PATIENCE_S,
        check=False,
    )
    assert run.returncode == 0, f"case {run.stdout.split()[-1:]}: {run.stderr[-3000:]}"
