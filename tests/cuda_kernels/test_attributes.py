"""Attributes of streams and launches, and kernels whose names others have."""

from __future__ import annotations

from .conftest import Run, compiled

attributes = compiled("attributes")


def test_attributes_are_kept_and_launches_take_a_configuration(attributes: Run) -> None:
    done = attributes()
    assert done.returncode == 0, done.stderr
    invalid = "cudaErrorInvalidValue"
    assert done.stdout.splitlines() == [
        "cudaSuccess cudaSuccess 30 20 60 -35 0.5",
        "1 1 1",
        f"cudaSuccess 1 0.5 {invalid} {invalid}",
        f"cudaSuccess 1 {invalid} cudaSuccess",
        "cudaSuccess 7 70 cudaErrorNotSupported cudaErrorInvalidDevice",
    ]
