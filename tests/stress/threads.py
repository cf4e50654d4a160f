"""Runs the same work in many threads, and brings back what went wrong in any of them."""

from __future__ import annotations

import threading
from collections.abc import Callable


def in_threads(count: int, work: Callable[[int], None], patience_s: float = 60) -> None:
    """``work`` gets the number of its thread. Raises the first exception of any; AssertionError
    when one did not end in time."""
    failures: list[BaseException] = []
    start = threading.Barrier(count)

    def run(number: int) -> None:
        try:
            start.wait()
            work(number)
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=run, args=(n,), daemon=True) for n in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(patience_s)
    if failures:
        raise failures[0]
    assert not any(thread.is_alive() for thread in threads), "threads hang"
