"""A Dask scheduler and workers as processes of their own, which a test may kill."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

PATIENCE_S = 60


@dataclass
class MortalCluster:
    """``address`` of the scheduler; :meth:`kill_scheduler` ends it as a crash would."""

    address: str
    scheduler: subprocess.Popen[bytes]

    def kill_scheduler(self) -> None:
        self.scheduler.kill()
        self.scheduler.wait()


@contextmanager
def started(folder: Path, workers: int) -> Iterator[MortalCluster]:
    """A scheduler and one process with *workers* workers in threads of it."""
    import json

    file = folder / "scheduler.json"
    common = ["--scheduler-file", str(file)]
    program = [sys.executable, "-m", "distributed.cli.dask_{}"]
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    running: list[subprocess.Popen[bytes]] = []

    def start(kind: str, *words: str) -> subprocess.Popen[bytes]:
        command = [*program[:2], program[2].format(kind), *common, *words]
        running.append(subprocess.Popen(command, cwd=folder, **quiet))
        return running[-1]

    try:
        scheduler = start(
            "scheduler", "--host", "127.0.0.1", "--port", "0", "--dashboard-address", ":0"
        )
        end = time.monotonic() + PATIENCE_S
        while not file.exists() or not file.read_text().endswith("}"):
            assert scheduler.poll() is None
            assert time.monotonic() < end
            time.sleep(0.05)
        start("worker", "--no-nanny", "--nthreads", str(workers), "--no-dashboard")
        yield MortalCluster(json.loads(file.read_text())["address"], scheduler)
    finally:
        for process in reversed(running):
            process.kill()
            process.wait()
