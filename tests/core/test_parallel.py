"""Threads that help with a job (``shim/native/parallel.c``) are kept for the next one."""

from __future__ import annotations

import subprocess
from pathlib import Path

SHIM = Path(__file__).resolve().parents[2] / "shim"


def test_jobs_of_several_threads_are_done_once_also_in_a_forked_child(tmp_path: Path) -> None:
    sources = Path(__file__).with_name("parallel.c"), SHIM / "native" / "parallel.c"
    program = tmp_path / "parallel"
    words = ["gcc", "-std=gnu11", "-O2", f"-I{SHIM}", *sources, "-pthread", "-o", program]
    subprocess.run(words, check=True)
    done = subprocess.run([program], capture_output=True, text=True, timeout=60, check=True)
    assert done.stdout.split() == ["0", "0"]
