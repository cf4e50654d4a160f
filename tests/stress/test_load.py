"""A hundredth of ``python -m tests.stress.load``, 200 programs at once, and little memory."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from cudla_sim.testing import Compiler

from .load import COUNTS, command, figures

TOOLS = Path(sys.executable).parent
pytestmark = pytest.mark.stress


@pytest.mark.parametrize("kind", COUNTS)
def test_nothing_grows(kind: str, tmp_path: Path) -> None:
    words = command(kind, COUNTS[kind] // 100, Compiler(tmp_path), TOOLS, tmp_path)
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    early, end = figures(done.stdout)
    assert end.kib - early.kib < 4096  # the allocator's own
    assert end.files <= early.files


def test_200_programs_at_once(tmp_path: Path) -> None:
    commands = [command(kind, 100, Compiler(tmp_path), TOOLS, tmp_path) for kind in COUNTS]
    running = [
        subprocess.Popen(commands[i % 3], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        for i in range(200)
    ]
    ended = [process.communicate() for process in running]
    assert {process.returncode for process in running} == {0}, {err for _, err in ended}


MOST_RESIDENT = """
import resource, subprocess, sys
subprocess.run(sys.argv[1:], stdout=subprocess.DEVNULL, check=True)
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)
"""


@pytest.mark.parametrize("kind", COUNTS)
def test_little_memory(kind: str, tmp_path: Path) -> None:
    """A machine with 256 MiB left is enough: the most that was resident, shared pages counted."""
    words = command(kind, 1000, Compiler(tmp_path), TOOLS, tmp_path)
    # from a small process: what its parent held when it was started counts for a program, too
    run = subprocess.run(
        [sys.executable, "-c", MOST_RESIDENT, *map(str, words)],
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    assert int(run.stdout) < 128 << 10  # the rest is for its workers
