"""Graphs made by hand: digits are appended in the order in which nodes run."""

from __future__ import annotations

from .conftest import Run


def test_nodes_run_after_those_they_wait_for(graphs: Run) -> None:
    done = graphs()
    assert done.returncode == 0, done.stdout + done.stderr
    rows = " ".join(["abcd abcd abcd 0 0 0 0 0"] * 4)
    assert [line.strip() for line in done.stdout.splitlines()] == [
        "127453 127453",
        "197453",  # the executable has another argument, its graph has not
        "127453",
        "8 2",  # nodes of the graph; cudaGraphNodeTypeMemset
        rows,
        "cudaErrorInvalidValue",  # a node of another graph
        "cudaErrorInvalidValue",  # a circle
        "cudaErrorInvalidConfiguration",
        "2 0 3 1",  # captured: memset, kernel, host function, memcpy
        "cudaSuccess cudaErrorInvalidValue",  # shared memory
        "cudaErrorInvalidValue",  # its graph is gone
    ]
