"""Arguments of kernels that are objects."""

from __future__ import annotations

from .conftest import Run, compiled

arguments = compiled("arguments")


def test_references_are_addresses_and_values_are_copies(arguments: Run) -> None:
    done = arguments()
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.splitlines()[0] == "0 3 0: 11 12 13 14 15 16 17 18"


def test_threads_have_the_bytes_of_objects(arguments: Run) -> None:
    each = [2 * 20 * sum(range(64)), 10 * sum(range(2)), 10 * sum(range(3))]
    total = sum(each)
    expected = f"1 1 0 cudaErrorInvalidValue 0: 2 3: {total} {sum(range(8))} 64"
    assert arguments().stdout.splitlines()[1] == expected
