"""Waiting for launches, which is done without Python where nothing else has work."""

from __future__ import annotations

from .conftest import Run, compiled

waits = compiled("waits")


def test_each_launch_is_waited_for_and_nothing_else_is_forgotten(waits: Run) -> None:
    done = waits()
    assert done.returncode == 0, done.stderr
    # 600 is cudaErrorNotReady, 700 cudaErrorIllegalAddress (it stays), 801 cudaErrorNotSupported
    assert done.stdout.splitlines() == [
        "loop 3000 0",
        "one stream 0 3001 0 600",
        "all 0 3002 1",
        "broken 700 700",
        "parent 801",
    ]
