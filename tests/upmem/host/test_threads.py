"""Several threads of a program use the same DPUs: one operation on a rank after the other."""

from __future__ import annotations

import ctypes
import threading
from collections.abc import Callable
from ctypes import byref

import numpy as np
import pytest

from cudla_sim.capi.prototypes import dpu_set_t
from cudla_sim.testing import Compiler
from cudla_sim.upmem.turns import Seat, Turns

from .hosting import ASYNC, FROM_DPU, TO_DPU, Host, pointer
from .kernels import Kernel

# The counter is read, the DPU is busy for a while, and then it is written: launches that overlap
# are lost.
COUNTING = """
#include <attributes.h>
#include <stdint.h>
__host volatile uint64_t count;
int main(void)
{
    uint64_t before = count;
    for (volatile int i = 0; i < 2000; i++)
        ;
    count = before + 1;
    return 0;
}
"""
THREADS, DPUS = 8, 150
SYNCHRONOUS = 1

PROGRAM = """
#include <dpu.h>
#include <pthread.h>
#include <stdio.h>

enum { THREADS = 8, ROUNDS = 5, DPUS = 150 };
static struct dpu_set_t set;

static void *launch(void *unused)
{
    for (int i = 0; i < ROUNDS; i++)
        DPU_ASSERT(dpu_launch(set, DPU_SYNCHRONOUS));
    return unused;
}

int main(int argc, char **argv)
{
    pthread_t threads[THREADS];
    uint64_t counts[DPUS];
    struct dpu_set_t dpu;
    uint32_t i;
    int wrong = 0;

    DPU_ASSERT(dpu_alloc(DPUS, NULL, &set));
    DPU_ASSERT(dpu_load(set, argv[argc - 1], NULL));
    for (int t = 0; t < THREADS; t++)
        pthread_create(&threads[t], NULL, launch, NULL);
    for (int t = 0; t < THREADS; t++)
        pthread_join(threads[t], NULL);
    DPU_FOREACH(set, dpu, i) DPU_ASSERT(dpu_prepare_xfer(dpu, &counts[i]));
    DPU_ASSERT(dpu_push_xfer(set, DPU_XFER_FROM_DPU, "count", 0, 8, DPU_XFER_DEFAULT));
    for (i = 0; i < DPUS; i++)
        wrong += counts[i] != THREADS * ROUNDS;
    printf("%d wrong\\n", wrong);
    DPU_ASSERT(dpu_free(set));
    return 0;
}
"""


def at_once(works: list[Callable[[], object]]) -> None:
    """Runs them on threads that begin together; raises what one of them raised."""
    barrier = threading.Barrier(len(works))
    failures: list[BaseException] = []

    def run(work: Callable[[], object]) -> None:
        try:
            barrier.wait(60)
            work()
        except BaseException as failure:
            failures.append(failure)

    threads = [threading.Thread(target=run, args=(work,)) for work in works]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(120)
        assert not thread.is_alive(), "a thread waits for ever"
    if failures:
        raise failures[0]


def counts(host: Host, made: dpu_set_t) -> list[int]:
    out = np.zeros(host.count(made), np.uint64)
    for number, one in enumerate(host.dpus(made)):
        host.ok(host.api.dpu_prepare_xfer(one, pointer(out, 8 * number)))
    host.ok(host.api.dpu_push_xfer(made, FROM_DPU, b"count", 0, 8, 0))
    return out.tolist()


def test_launches_of_one_set_from_several_threads_all_count(
    sim_cc: Compiler, kernel: Kernel
) -> None:
    result = sim_cc.run(sim_cc.build(PROGRAM), str(kernel(COUNTING)))
    assert (result.status, result.err) == (0, "")
    assert result.out == "0 wrong\n"


@pytest.mark.parametrize("asynchronous", [False, True])
def test_launches_of_sets_ranks_and_dpus_at_once_all_count(
    host: Host, kernel: Kernel, asynchronous: bool
) -> None:
    api = host.api
    with host.alloc(DPUS) as made:
        host.ok(api.dpu_load(made, str(kernel(COUNTING)).encode(), None))
        first, second, third = host.ranks(made)
        one = host.dpus(made)[0]
        policy = 0 if asynchronous else SYNCHRONOUS
        parts = [made, first, second, third, one, made, one, first]

        def launch(part: dpu_set_t) -> None:
            for _ in range(3):
                host.ok(api.dpu_launch(part, policy))

        at_once([lambda part=part: launch(part) for part in parts])  # type: ignore[misc]
        host.ok(api.dpu_sync(made))
        seen = counts(host, made)
        ranks = [host.count(rank) for rank in (first, second, third)]
    wanted = [12] * ranks[0] + [9] * ranks[1] + [9] * ranks[2]
    wanted[0] += 6
    assert seen == wanted


def test_copies_do_not_fall_into_a_launch_of_another_thread(host: Host, kernel: Kernel) -> None:
    """A copy is before or behind each launch, so what it adds to the counter is kept."""
    api = host.api
    step, rounds = 1 << 32, 10
    with host.alloc(70) as made:
        host.ok(api.dpu_load(made, str(kernel(COUNTING)).encode(), None))
        one = host.dpus(made)[3]
        high = ctypes.c_uint32()

        def launch() -> None:
            for _ in range(rounds):
                host.ok(api.dpu_launch(made, SYNCHRONOUS))

        def copy() -> None:
            for number in range(1, rounds + 1):
                high.value = number
                host.ok(api.dpu_copy_to(one, b"count", 4, byref(high), 4))

        def broadcast() -> None:
            for _ in range(rounds):
                value = ctypes.c_uint64()
                host.ok(api.dpu_copy_from(one, b"count", 0, byref(value), 8))

        at_once([launch, copy, broadcast])
        assert counts(host, made)[3] == rounds * step + rounds


def test_loads_and_launches_of_several_threads_take_turns(host: Host, kernel: Kernel) -> None:
    api = host.api
    program = str(kernel(COUNTING)).encode()
    with host.alloc(70) as made:
        host.ok(api.dpu_load(made, program, None))

        def load() -> None:
            for _ in range(5):
                host.ok(api.dpu_load(made, program, None))

        def launch() -> None:
            for _ in range(10):
                host.ok(api.dpu_launch(made, SYNCHRONOUS))

        at_once([load, launch, launch])
        seen = counts(host, made)
        assert len(set(seen)) == 1
        assert seen[0] <= 20


def test_threads_prepare_and_push_on_ranks_of_their_own(host: Host, kernel: Kernel) -> None:
    api = host.api
    rounds = 30
    with host.alloc(192) as made:
        host.ok(api.dpu_load(made, str(kernel(COUNTING)).encode(), None))

        def work(rank: dpu_set_t, number: int) -> None:
            dpus = host.dpus(rank)
            data = np.zeros(len(dpus), np.uint64)
            out = np.zeros(len(dpus), np.uint64)
            for n in range(rounds):
                data[:] = 1000 * number + n + np.arange(len(dpus), dtype=np.uint64)
                for index, one in enumerate(dpus):
                    host.ok(api.dpu_prepare_xfer(one, pointer(data, 8 * index)))
                flags = ASYNC if n % 3 == 0 else 0
                host.ok(api.dpu_push_xfer(rank, TO_DPU, b"count", 0, 8, flags))
                host.ok(api.dpu_sync(rank))
                for index, one in enumerate(dpus):
                    host.ok(api.dpu_prepare_xfer(one, pointer(out, 8 * index)))
                host.ok(api.dpu_push_xfer(rank, FROM_DPU, b"count", 0, 8, 0))
                assert (out == data).all()

        ranks = host.ranks(made)
        at_once([lambda r=r, n=n: work(r, n) for n, r in enumerate(ranks)])  # type: ignore[misc]


def test_a_single_call_and_launches_of_other_threads_end(host: Host, kernel: Kernel) -> None:
    """Ranks that wait for each other's callback keep no launch of several ranks from its end."""
    api = host.api
    single, asynchronous = 4, 1
    calls: list[int] = []

    @ctypes.CFUNCTYPE(ctypes.c_int, dpu_set_t, ctypes.c_uint32, ctypes.c_void_p)
    def note(part: dpu_set_t, _: int, __: int) -> int:
        value = ctypes.c_uint64()
        calls.append(host.count(part))
        return int(api.dpu_copy_from(host.dpus(part)[0], b"count", 0, byref(value), 8))

    function = ctypes.cast(note, ctypes.c_void_p)
    with host.alloc(DPUS) as made:
        host.ok(api.dpu_load(made, str(kernel(COUNTING)).encode(), None))

        def launch() -> None:
            for _ in range(10):
                host.ok(api.dpu_launch(made, SYNCHRONOUS))

        def call(flags: int) -> None:
            for _ in range(10):
                host.ok(api.dpu_callback(made, function, None, flags))

        at_once([launch, launch, lambda: call(single | asynchronous), lambda: call(single)])
        host.ok(api.dpu_sync(made))
        assert counts(host, made) == [20] * DPUS
    assert calls == [DPUS] * 20


def test_callbacks_may_use_ranks_that_others_wait_for(host: Host, kernel: Kernel) -> None:
    """A function on rank 0 launches rank 1 while a launch of both waits for that function."""
    api = host.api
    began, waiting = threading.Event(), threading.Event()

    with host.alloc(70) as made:
        host.ok(api.dpu_load(made, str(kernel(COUNTING)).encode(), None))
        first, second = host.ranks(made)

        @ctypes.CFUNCTYPE(ctypes.c_int, dpu_set_t, ctypes.c_uint32, ctypes.c_void_p)
        def use(_: dpu_set_t, __: int, ___: int) -> int:
            began.set()
            waiting.wait(60)
            host.ok(api.dpu_launch(second, 0))
            return int(api.dpu_launch(second, SYNCHRONOUS))

        function = ctypes.cast(use, ctypes.c_void_p)

        def launch() -> None:
            began.wait(60)
            threading.Timer(0.2, waiting.set).start()
            host.ok(api.dpu_launch(made, SYNCHRONOUS))

        at_once([lambda: host.ok(api.dpu_callback(first, function, None, 0)), launch])
        seen = counts(host, made)
    assert seen == [1] * host_split(70)[0] + [3] * host_split(70)[1]


def host_split(count: int) -> tuple[int, int]:
    """DPUs of the two ranks of a set: the surplus goes from the fuller rank, by lines."""
    return {70: (38, 32)}[count]


def test_turns_are_given_in_the_order_of_requests() -> None:
    turns, seats = Turns(), [Seat() for _ in range(3)]
    order: list[str] = []
    entered = [threading.Event() for _ in range(3)]

    def take(name: str, wanted: list[Seat], known: threading.Event) -> None:
        known.set()
        with turns.on(wanted):
            order.append(name)

    with turns.on(seats[:1]):
        assert seats[0].words[1] == 1
        threads = []
        for number, (name, wanted) in enumerate(
            [("all", seats), ("one", seats[1:2]), ("last", seats[2:])]
        ):
            thread = threading.Thread(target=take, args=(name, wanted, entered[number]))
            thread.start()
            assert entered[number].wait(60)
            while not any(seat.asked > (seat is seats[0]) for seat in wanted):
                pass
            threads.append(thread)
        assert order == []  # those that came later wait for the first one
    for thread in threads:
        thread.join(60)
    assert order[0] == "all"
    assert sorted(order) == ["all", "last", "one"]
    assert [seat.words[1] for seat in seats] == [0, 0, 0]


def test_a_request_passes_by_one_that_waits_for_a_callback() -> None:
    turns, seats = Turns(), [Seat() for _ in range(2)]
    got = threading.Event()

    def take_both() -> None:
        with turns.on(seats):
            pass

    def take_second() -> None:
        with turns.on(seats[1:]):
            got.set()

    with turns.on(seats[:1], calls=True):
        both = threading.Thread(target=take_both)
        both.start()
        while seats[1].asked == 0:
            pass
        second = threading.Thread(target=take_second)
        second.start()
        assert got.wait(60)
    for thread in (both, second):
        thread.join(60)
        assert not thread.is_alive()


def test_a_request_gives_up_its_turn_when_it_needs_none() -> None:
    turns, seat = Turns(), Seat()
    with turns.on([seat]):
        with turns.on([seat], unless=lambda: True):
            assert seat.asked == 1
        assert seat.asked == 1
    assert seat.words[1] == 0
