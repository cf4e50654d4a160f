"""Readers of an address space, of handles and of fences while other threads change them."""

from __future__ import annotations

import threading
import time

import numpy as np

from cudla_sim.core.fence import Timeline
from cudla_sim.core.handles import HandleTable
from cudla_sim.core.memory import AddressSpace


def test_a_range_is_found_while_others_come_and_go() -> None:
    """Ranges below the one that is looked for are mapped and unmapped all the time."""
    space = AddressSpace()
    kept = space.map(1 << 40, 4096, name="kept", data=_zeros())
    stop = threading.Event()

    def churn() -> None:
        while not stop.is_set():
            regions = [space.map(4096 * i, 4096, name="other", data=_zeros()) for i in range(1, 8)]
            for region in regions:
                space.unmap(region)

    thread = threading.Thread(target=churn)
    thread.start()
    try:
        assert all(space.find((1 << 40) + 100) is kept for _ in range(20_000))
        assert all("past the end" in space.explain(1 << 40, 5000) for _ in range(1_000))
    finally:
        stop.set()
        thread.join()


def _zeros() -> np.ndarray:

    return np.zeros(4096, np.uint8)


def test_all_handles_are_dropped_while_others_are_issued() -> None:
    table = HandleTable()
    stop = threading.Event()
    failures: list[BaseException] = []

    def issue() -> None:
        while not stop.is_set():
            for _ in range(50):
                table.add("thing", object())
            time.sleep(0.0005)

    threads = [threading.Thread(target=issue) for _ in range(2)]
    for thread in threads:
        thread.start()
    try:
        for _ in range(50):
            table.drop_all("test")
            table.live()
    except BaseException as failure:
        failures.append(failure)
    finally:
        stop.set()
        for thread in threads:
            thread.join()
    assert failures == []


def test_a_promise_is_forgotten_when_it_is_kept() -> None:
    timeline = Timeline("t")
    fence = timeline.reserve()
    timeline.promise(fence.value, lambda: "somebody works on it")
    assert timeline.pending(fence.value) == "somebody works on it"
    timeline.advance(fence.value)
    assert timeline.pending(fence.value) == ""
    assert timeline._promises == {}
