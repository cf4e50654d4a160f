"""Launches that are posted: each ends exactly once, whoever waits for it, or nobody."""

from __future__ import annotations

import os
import queue
import signal
import threading

import pytest

from cudla_sim.cupva.workers.worker import LaunchRequest, LaunchResult

from .bench import Bench
from .bench import modes as names

M = names("modes.h")
LIMIT_S = 20.0


class Posts:
    """``results`` gets what each launch ended with."""

    def __init__(self, bench: Bench) -> None:
        self.bench = bench
        self.results: queue.Queue[LaunchResult] = queue.Queue()
        assert bench.launch(mode=M["RETURN"], answer=1).value == 1, "the process runs"

    def begin(self, mode: str, answer: int = 0) -> bool:
        parameters = [self.bench.parameter("mode", M[mode]), self.bench.parameter("answer", answer)]
        return self.bench.worker.post(LaunchRequest(parameters), self.results.put)

    def next(self) -> LaunchResult:
        return self.results.get(timeout=LIMIT_S)

    def nothing_more(self) -> None:
        assert self.bench.launch(mode=M["RETURN"], answer=2).value == 2, "the worker is free"
        assert self.results.empty()


@pytest.fixture
def posts(modes: Bench) -> Posts:
    return Posts(modes)


def test_who_helps_ends_it(posts: Posts) -> None:
    for answer in range(200):
        assert posts.begin("RETURN", answer)
        posts.bench.worker.help(-1)
        assert posts.results.get_nowait().value == answer
    posts.nothing_more()


def test_it_ends_when_nobody_helps(posts: Posts) -> None:
    for answer in range(20):
        assert posts.begin("RETURN", answer)
        assert posts.next().value == answer
    posts.nothing_more()


@pytest.mark.slow
def test_several_that_help(posts: Posts) -> None:
    """Threads that come early, late and without patience; each launch ends once."""
    over = threading.Event()

    def help_always(timeout_us: int) -> None:
        while not over.is_set():
            posts.bench.worker.help(timeout_us)

    helpers = [threading.Thread(target=help_always, args=(us,)) for us in (-1, 0, 30, 500)]
    for helper in helpers:
        helper.start()
    try:
        for answer in range(150):
            assert posts.begin("RETURN", answer)
            assert posts.next().value == answer
    finally:
        over.set()
        for helper in helpers:
            helper.join()
    posts.nothing_more()


def test_a_busy_worker_takes_no_second_one(posts: Posts) -> None:
    assert posts.begin("HANG")
    assert not posts.begin("RETURN", 5)
    posts.bench.worker.help(1000)
    assert posts.results.empty()
    os.kill(posts.bench.worker.pid, signal.SIGKILL)
    assert posts.next().status == "died"
    assert not posts.begin("RETURN", 5), "without a process there is nothing to post to"
    posts.nothing_more()


def test_it_dies_while_somebody_helps(posts: Posts) -> None:
    assert posts.begin("HANG")
    helper = threading.Thread(target=posts.bench.worker.help, args=(-1,))
    helper.start()
    helper.join(0.05)
    os.kill(posts.bench.worker.pid, signal.SIGKILL)
    result = posts.next()
    assert (result.status, "SIGKILL" in result.text) == ("died", True)
    helper.join()
    posts.nothing_more()


@pytest.mark.parametrize("helped", [True, False])
def test_a_fault_is_explained(posts: Posts, helped: bool) -> None:
    assert posts.begin("DIVIDE")
    if helped:
        posts.bench.worker.help(-1)
    result = posts.next()
    assert result.status == "fault"
    assert "division by zero" in result.text
    posts.nothing_more()


def test_closing_ends_it(posts: Posts) -> None:
    own = Posts(Bench(posts.bench.executable.image))
    assert own.begin("HANG")
    own.bench.close()
    assert own.next().status == "died"
    assert not own.begin("RETURN")
