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


def test_conditions_events_memory_and_updates(nodes: Run) -> None:
    done = nodes()
    assert done.returncode == 0, done.stdout + done.stderr
    refused = "cudaErrorInvalidValue"
    assert [line.strip() for line in done.stdout.splitlines()] == [
        "2947778 29478",  # else, 9, the switch's first, three times round, then once
        f"{refused} {refused}",  # a handle that another node has; none
        "1957778 19578",
        "1967778 19678",
        "197778 1978",  # past the switch's last
        "1 1 1 1223",  # a loop of two rounds inside of a capture
        "2 1 2 1",
        f"2 {refused} {refused}",
        "34 0 cudaErrorGraphExecUpdateFailure 2 cudaErrorGraphExecUpdateFailure 3 34",
        "567",
        f"{refused} 11 12 1 {refused} 1 1 0 1 {refused}",
        "10 13 6",
    ]
