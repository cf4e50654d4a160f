"""Memory and events that two processes share."""

from __future__ import annotations

from .conftest import Run, compiled

processes = compiled("processes")


def test_memory_and_events_of_another_process(processes: Run) -> None:
    done = processes()
    assert done.returncode == 0, done.stdout + done.stderr
    value, handle = "cudaErrorInvalidValue", "cudaErrorInvalidResourceHandle"
    assert done.stdout.splitlines() == [
        "1010101",
        "2 510 2 510",
        f"1 {value} {value} {handle}",
        f"0 {handle} {value} {handle}",
    ]
