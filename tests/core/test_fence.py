"""Timelines, fences and queues."""

from __future__ import annotations

import threading
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cudla_sim.core.fence import Fence, Timeline
from cudla_sim.core.queue import Job, Queue


def test_counter_never_falls() -> None:
    timeline = Timeline()
    assert timeline.advance(5) == 5
    assert timeline.advance(3) == 5
    assert timeline.advance() == 6


def test_reserved_fences_are_distinct_and_ahead() -> None:
    timeline = Timeline()
    first, second = timeline.reserve(), timeline.reserve()
    assert (first.value, second.value) == (1, 2)
    timeline.advance()
    assert first.reached
    assert not second.reached
    timeline.advance(10)
    assert timeline.reserve().value == 11


@given(values=st.lists(st.integers(1, 50), max_size=20), steps=st.lists(st.integers(1, 60)))
def test_each_waiter_wakes_once_when_its_value_is_reached(
    values: list[int], steps: list[int]
) -> None:
    timeline, woken = Timeline(), []
    for index, value in enumerate(values):
        assert timeline.when(value, lambda index=index: woken.append(index))
    reached = 0
    for step in steps:
        timeline.advance(step)
        reached = max(reached, step)
        assert sorted(woken) == [i for i, v in enumerate(values) if v <= reached]


def test_wait_times_out_and_forgets() -> None:
    timeline = Timeline()
    assert not timeline.wait(1, 0)
    assert not timeline.wait(1, 0.01)
    assert timeline._waiters == []
    timeline.advance()
    assert timeline.wait(1, 0)


def test_fence_keeps_its_timeline_alive() -> None:
    fence = Timeline("gone").reserve()
    fence.timeline.advance()
    assert fence.wait(1)


def test_queue_runs_in_order_and_never_blocks_the_submitter() -> None:
    queue, gate, seen = Queue("q"), Timeline(), []
    for number in range(20):
        queue.submit(lambda number=number: seen.append(number), [Fence(gate, 1)])
    assert seen == []
    assert not queue.idle
    gate.advance()
    assert queue.drain(5)
    assert seen == list(range(20))


def test_failing_job_does_not_stop_the_queue() -> None:
    failures: list[tuple[Job, BaseException]] = []
    queue = Queue("q", lambda job, error: failures.append((job, error)))
    queue.submit(lambda: 1 / 0)  # type: ignore[arg-type,return-value]
    done = queue.submit(lambda: None)
    assert done.wait(5)
    ((_, error),) = failures
    assert isinstance(error, ZeroDivisionError)


def test_trivial_work_keeps_its_place() -> None:
    """It runs at once on an idle queue, but not before work that is still waiting."""
    queue, gate, seen = Queue("q"), Timeline(), []
    queue.submit(lambda: seen.append("at once"), trivial=True)
    assert seen == ["at once"]
    queue.submit(lambda: seen.append("waits"), [Fence(gate, 1)])
    queue.submit(lambda: seen.append("after"), trivial=True)
    assert seen == ["at once"]
    gate.advance()
    assert queue.drain(5)
    assert seen == ["at once", "waits", "after"]


def test_closed_queue_ends_its_thread_after_its_jobs() -> None:
    queue, seen = Queue("q"), []
    queue.submit(lambda: (time.sleep(0.01), seen.append(1)))  # type: ignore[func-returns-value,arg-type,return-value]
    queue.close()
    assert queue.drain(5)
    assert seen == [1]
    with pytest.raises(RuntimeError):
        queue.submit(lambda: None)


def test_many_submitters() -> None:
    queue, total = Queue("q"), []
    threads = [
        threading.Thread(target=lambda: [queue.submit(lambda: total.append(1)) for _ in range(200)])
        for _ in range(4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert queue.drain(10)
    assert len(total) == 800
