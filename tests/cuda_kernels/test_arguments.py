"""Arguments of kernels that are objects."""

from __future__ import annotations

from .conftest import Run, compiled

arguments = compiled("arguments")


def test_references_are_addresses_and_values_are_copies(arguments: Run) -> None:
    done = arguments()
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == "0 3 0: 11 12 13 14 15 16 17 18\n"
