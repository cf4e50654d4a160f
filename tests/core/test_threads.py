"""Threads of our own: an error when they cannot begin, never a wait without end."""

from __future__ import annotations

import _thread
import threading

import pytest

from cudla_sim.core import threads
from cudla_sim.core.queue import Queue
from cudla_sim.core.shortage import shortage


def test_a_thread_has_the_name_it_was_given() -> None:
    seen: list[str] = []
    threads.start(lambda: seen.append(threads.name()), "engine 7").join()
    assert seen == ["engine 7"]
    assert threads.name() == threading.current_thread().name


def test_a_thread_that_dies_before_it_begins_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    """As when there is no memory for its first frame: the interpreter drops its arguments."""
    monkeypatch.setattr(_thread, "start_new_thread", lambda run, arguments: arguments[0].clear())
    with pytest.raises(MemoryError, match="engine 7: no memory for a thread"):
        threads.start(lambda: None, "engine 7")


def test_a_queue_without_a_thread_stays_as_it_was(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> int:
        raise RuntimeError("can't start new thread")

    queue, done = Queue("engine 7"), []
    with monkeypatch.context() as patched:
        patched.setattr(_thread, "start_new_thread", refuse)
        with pytest.raises(MemoryError, match="engine 7: the system gives no thread"):
            queue.submit(lambda: done.append("first"))
    assert queue.idle
    assert queue.submit(lambda: done.append("second")).wait(10)
    assert done == ["second"]
    queue.close()


def test_want_is_told_from_mistakes() -> None:
    assert shortage(MemoryError("no 7 bytes")) == "no 7 bytes"
    assert shortage(OSError(28, "No space left on device")).startswith("the system refused")
    assert shortage(RuntimeError("can't allocate lock"))
    assert shortage(ValueError("no number")) == ""
    assert shortage(FileNotFoundError(2, "No such file")) == ""


def test_want_below_another_error_counts() -> None:
    failure = KeyError("while it was handled")
    failure.__context__ = MemoryError("no 7 bytes")
    assert shortage(failure) == "no 7 bytes"
