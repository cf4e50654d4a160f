"""Asynchronous jobs and callbacks: order inside a rank, and what dpu_sync answers."""

from __future__ import annotations

import _thread
import ctypes
import threading
from collections.abc import Callable

import numpy as np
import pytest

import cudla_sim
from cudla_sim.capi.prototypes import dpu_set_t

from .hosting import ASYNC, FROM_DPU, MRAM, TO_DPU, Host, pointer, status

CALLBACK_ASYNC, NONBLOCKING, SINGLE_CALL = 1, 2, 4
_CALLBACK = ctypes.CFUNCTYPE(ctypes.c_int, dpu_set_t, ctypes.c_uint32, ctypes.c_void_p)


def callback(function: Callable[[dpu_set_t, int, int], int]) -> ctypes.c_void_p:
    made = _CALLBACK(function)
    address = ctypes.cast(made, ctypes.c_void_p)
    address.keep = made  # type: ignore[attr-defined]
    return address


@pytest.mark.parametrize("flags", [0, CALLBACK_ASYNC, CALLBACK_ASYNC | NONBLOCKING])
def test_once_a_rank_with_its_number(host: Host, flags: int) -> None:
    seen: list[tuple[int, int, int]] = []

    def note(part: dpu_set_t, number: int, argument: int) -> int:
        seen.append((number, host.count(part), argument))
        return 0

    function = callback(note)
    with host.alloc(130) as made:
        host.ok(host.api.dpu_callback(made, function, 42, flags))
        host.ok(host.api.dpu_sync(made))
    assert sorted(seen) == [(0, 48, 42), (1, 42, 42), (2, 40, 42)]


@pytest.mark.parametrize("flags", [0, CALLBACK_ASYNC, CALLBACK_ASYNC | NONBLOCKING])
def test_a_single_call_has_the_whole_set(host: Host, flags: int) -> None:
    seen: list[tuple[int, int]] = []

    def note(part: dpu_set_t, number: int, _: int) -> int:
        seen.append((number, host.count(part)))
        return 0

    function = callback(note)
    with host.alloc(130) as made:
        host.ok(host.api.dpu_callback(made, function, None, flags | SINGLE_CALL))
        host.ok(host.api.dpu_sync(made))
    assert seen == [(0xFFFF_FFFF, 130)]


def test_ranks_run_side_by_side_in_a_synchronous_callback(host: Host) -> None:
    barrier = threading.Barrier(3, timeout=30)

    def meet(*_: object) -> int:
        barrier.wait()
        return 0

    function = callback(meet)
    with host.alloc(130) as made:
        host.ok(host.api.dpu_callback(made, function, None, 0))


def test_jobs_of_a_rank_keep_their_order(host: Host) -> None:
    """Copy in, look in a callback, copy out, change in a callback: nothing overtakes."""
    api = host.api
    first, second, out = (np.full(8, n, np.uint8) for n in (1, 2, 0))
    seen: list[int] = []

    def look(part: dpu_set_t, *_: object) -> int:
        got = np.zeros(8, np.uint8)
        status_ = api.dpu_copy_from_symbol(host.dpus(part)[0], MRAM, 0, pointer(got), 8)
        seen.append(int(got[0]))
        return int(status_)

    function = callback(look)
    with host.alloc(1) as made:
        for data in (first, second):
            host.ok(api.dpu_prepare_xfer(made, pointer(data)))
            host.ok(api.dpu_push_xfer_symbol(made, TO_DPU, MRAM, 0, 8, ASYNC))
            host.ok(api.dpu_callback(made, function, None, CALLBACK_ASYNC))
        host.ok(api.dpu_prepare_xfer(made, pointer(out)))
        host.ok(api.dpu_push_xfer_symbol(made, FROM_DPU, MRAM, 0, 8, ASYNC))
        host.ok(api.dpu_sync(made))
    assert seen == [1, 2]
    assert (out == second).all()


@pytest.mark.parametrize("flags", [0, CALLBACK_ASYNC, CALLBACK_ASYNC | NONBLOCKING])
@pytest.mark.parametrize("single", [0, SINGLE_CALL])
def test_rank_id_of_a_callback_is_that_of_the_library(host: Host, flags: int, single: int) -> None:
    """-1 for a call that is not for a rank: of one DPU, of a whole set. (dpu_set.c)"""
    seen: list[int] = []

    def note(_: dpu_set_t, number: int, __: int) -> int:
        seen.append(number)
        return 0

    function = callback(note)
    whole = 0xFFFF_FFFF
    with host.alloc(130) as made:
        host.ok(host.api.dpu_callback(host.ranks(made)[1], function, None, flags | single))
        host.ok(host.api.dpu_callback(host.dpus(made)[100], function, None, flags | single))
        host.ok(host.api.dpu_sync(made))
    one_rank = whole if single and not flags else 0
    assert sorted(seen) == sorted([one_rank, whole])


def test_a_blocking_callback_holds_its_queue_and_a_nonblocking_one_does_not(host: Host) -> None:
    """dpu_sync waits for the first kind only."""
    api = host.api
    go, ended = threading.Event(), threading.Event()
    order: list[str] = []

    def wait(*_: object) -> int:
        go.wait(60)
        order.append("callback")
        ended.set()
        return 0

    def after(*_: object) -> int:
        order.append("after")
        return 0

    waiting, following = callback(wait), callback(after)
    with host.alloc(1) as made:
        host.ok(api.dpu_callback(made, waiting, None, CALLBACK_ASYNC | NONBLOCKING))
        host.ok(api.dpu_callback(made, following, None, CALLBACK_ASYNC))
        host.ok(api.dpu_sync(made))
        assert order == ["after"]
        go.set()
        assert ended.wait(60)
        assert order == ["after", "callback"]
        order.clear()
        go.clear()
        host.ok(api.dpu_callback(made, waiting, None, CALLBACK_ASYNC))
        host.ok(api.dpu_callback(made, following, None, CALLBACK_ASYNC))
        go.set()
        host.ok(api.dpu_sync(made))
        assert order == ["callback", "after"]


@pytest.mark.parametrize("single", [0, SINGLE_CALL])
def test_the_answer_of_a_nonblocking_callback_is_dropped(host: Host, single: int) -> None:
    ended = threading.Semaphore(0)

    def fail(*_: object) -> int:
        ended.release()
        return status("TIMEOUT")

    failing = callback(fail)
    flags = CALLBACK_ASYNC | NONBLOCKING | single
    with host.alloc(70) as made:
        host.ok(host.api.dpu_callback(made, failing, None, flags))
        for _ in range(1 if single else 2):
            assert ended.acquire(timeout=60)
        host.ok(host.api.dpu_sync(made))
        host.ok(host.api.dpu_callback(made, failing, None, flags))
    assert cudla_sim.upmem is not None


def test_a_synchronous_single_call_waits_for_every_rank(host: Host) -> None:
    """The library waits for the first rank alone, a defect."""
    go = threading.Event()
    order: list[str] = []

    def wait(*_: object) -> int:
        go.wait(60)
        order.append("rank 1")
        return 0

    def note(*_: object) -> int:
        order.append("single")
        return 0

    waiting, single = callback(wait), callback(note)
    with host.alloc(70) as made:
        host.ok(host.api.dpu_callback(host.ranks(made)[1], waiting, None, CALLBACK_ASYNC))
        threading.Timer(0.05, go.set).start()
        host.ok(host.api.dpu_callback(made, single, None, SINGLE_CALL))
    assert order == ["rank 1", "single"]


def test_dpu_status_waits_for_what_is_queued(host: Host) -> None:
    """It is a complete dpu_sync, whose answer is dropped."""
    order: list[str] = []
    go = threading.Event()

    def wait(*_: object) -> int:
        go.wait(60)
        order.append("callback")
        return status("TIMEOUT")

    waiting = callback(wait)
    done, fault = ctypes.c_bool(), ctypes.c_bool(True)
    with host.alloc(70) as made:
        for part in (made, host.ranks(made)[1], host.dpus(made)[69]):
            go.clear()
            host.ok(host.api.dpu_callback(part, waiting, None, CALLBACK_ASYNC))
            threading.Timer(0.05, go.set).start()
            host.ok(host.api.dpu_status(part, ctypes.byref(done), ctypes.byref(fault)))
            order.append("status")
            assert (done.value, fault.value) == (True, False)
            host.ok(host.api.dpu_sync(part))
    assert order == ["callback", "callback", "status", *["callback", "status"] * 2]


def test_errors_of_callbacks(host: Host) -> None:
    api = host.api
    failing = callback(lambda *_: status("TIMEOUT"))
    with host.alloc(64) as made:
        assert api.dpu_callback(made, failing, None, 0) == status("TIMEOUT")
        host.ok(api.dpu_callback(made, failing, None, CALLBACK_ASYNC))
        word = api.dpu_sync(made)
        assert word & 0xFFFF_FFFF == 0x8012_001B
        assert host.text(word) == (
            "asynchronous operation error (callback): result timeout (0x12001b)"
        )
        host.ok(api.dpu_sync(made))
        assert api.dpu_callback(made, failing, None, NONBLOCKING) == status(
            "NONBLOCKING_SYNC_CALLBACK"
        )
        assert api.dpu_callback(made, None, None, 0) == status("INTERNAL")
        assert api.dpu_callback(made, failing, None, 64) == status("INTERNAL")
    with host.alloc(1, "nrThreadsPerRank=0") as made:
        assert api.dpu_callback(made, failing, None, 0) == status("NO_THREAD_PER_RANK")


def test_an_error_stops_the_later_jobs_of_its_rank(host: Host) -> None:
    """Until dpu_sync tells it; other ranks go on."""
    api = host.api
    go = threading.Event()
    seen: list[int] = []

    def fail_on_the_first(part: dpu_set_t, number: int, _: object) -> int:
        go.wait(30)
        return 0 if number else status("TIMEOUT")

    failing = callback(fail_on_the_first)
    noting = callback(lambda part, number, _: seen.append(number) or 0)
    with host.alloc(128) as made:
        host.ok(api.dpu_callback(made, failing, None, CALLBACK_ASYNC))
        host.ok(api.dpu_callback(made, noting, None, CALLBACK_ASYNC))
        host.ok(api.dpu_callback(made, noting, None, CALLBACK_ASYNC | SINGLE_CALL))
        go.set()
        first, second = host.ranks(made)
        host.ok(api.dpu_sync(second))
        while not cudla_sim.upmem.ranks[0].stopped:
            pass
        word = api.dpu_callback(first, noting, None, CALLBACK_ASYNC)
        assert word & 0xFFFF_FFFF == 0x8012_001B
        assert "dpu_sync has told it" in cudla_sim.last_explanation()
        assert seen == [1]
        assert api.dpu_sync(made) & 0xFFFF_FFFF == 0x8012_001B
        host.ok(api.dpu_callback(made, noting, None, CALLBACK_ASYNC))
        host.ok(api.dpu_sync(made))
        assert sorted(seen) == [0, 1, 1]


def test_a_nonblocking_callback_without_a_thread_is_an_error_of_the_job(
    host: Host, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> int:
        raise RuntimeError("can't start new thread")

    api, seen = host.api, []
    function = callback(lambda *_: seen.append("called") or 0)
    with host.alloc(64) as made:
        host.ok(api.dpu_callback(made, function, None, CALLBACK_ASYNC))
        host.ok(api.dpu_sync(made))  # the rank's own thread runs from now on
        with monkeypatch.context() as patched:
            patched.setattr(_thread, "start_new_thread", refuse)
            host.ok(api.dpu_callback(made, function, None, CALLBACK_ASYNC | NONBLOCKING))
            assert api.dpu_sync(made) & 0xFFFF == status("SYSTEM")
        host.ok(api.dpu_callback(made, function, None, CALLBACK_ASYNC | NONBLOCKING))
        host.ok(api.dpu_sync(made))
    assert seen == ["called", "called"]


def test_a_full_queue_makes_the_caller_wait(host: Host) -> None:
    api = host.api
    go = threading.Event()
    blocking = callback(lambda *_: 0 if go.wait(30) else 1)
    data = np.zeros(8, np.uint8)
    with host.alloc(1, "nrJobsPerRank=2") as made:
        host.ok(api.dpu_callback(made, blocking, None, CALLBACK_ASYNC))
        host.ok(api.dpu_broadcast_to_symbol(made, MRAM, 0, pointer(data), 8, ASYNC))
        third = threading.Thread(
            target=api.dpu_broadcast_to_symbol, args=(made, MRAM, 0, pointer(data), 8, ASYNC)
        )
        third.start()
        third.join(0.05)
        assert third.is_alive()
        go.set()
        third.join(30)
        assert not third.is_alive()
        host.ok(api.dpu_sync(made))


def test_a_reset_while_jobs_wait(host: Host) -> None:
    slow = callback(lambda *_: 0)
    made = dpu_set_t()
    host.ok(host.api.dpu_alloc(128, None, ctypes.byref(made)))
    for _ in range(20):
        host.ok(host.api.dpu_callback(made, slow, None, CALLBACK_ASYNC))
    cudla_sim.reset()
    assert host.api.dpu_sync(made) == status("INVALID_DPU_SET")


def test_after_a_reset_no_queued_callback_is_called(host: Host) -> None:
    began, go = threading.Event(), threading.Event()
    called: list[int] = []

    def note(*_: object) -> int:
        called.append(1)
        began.set()
        go.wait(30)
        return 0

    function = callback(note)
    made = dpu_set_t()
    host.ok(host.api.dpu_alloc(1, None, ctypes.byref(made)))
    for _ in range(3):
        host.ok(host.api.dpu_callback(made, function, None, CALLBACK_ASYNC))
    assert began.wait(30)
    opener = threading.Timer(0.2, go.set)
    opener.start()
    cudla_sim.reset()  # waits for the one that runs
    assert go.is_set()
    assert len(called) == 1


def test_single_calls_of_several_threads_meet_in_one_order(host: Host) -> None:
    """Each waits for all four ranks: their queues must hold them in the same order."""
    seen: list[int] = []
    function = callback(lambda part, number, argument: seen.append(argument) or 0)

    def work(number: int) -> None:
        for _ in range(100):
            host.ok(host.api.dpu_callback(made, function, number + 1, CALLBACK_ASYNC | SINGLE_CALL))

    with host.alloc(256, "nrJobsPerRank=8") as made:
        threads = [threading.Thread(target=work, args=(n,), daemon=True) for n in range(3)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(60)
        assert not any(thread.is_alive() for thread in threads)
        host.ok(host.api.dpu_sync(made))
    assert sorted(seen) == [1] * 100 + [2] * 100 + [3] * 100
