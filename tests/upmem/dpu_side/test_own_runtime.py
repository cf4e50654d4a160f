"""Programs that bring parts of the run-time system themselves, made of what dpuruntime.h has."""

from __future__ import annotations

import pytest

from .bench import Bench
from .conftest import Build

# the last one to come frees who came before it, newest first
BARRIER = """
#include <barrier.h>
#include <defs.h>
#include <dpuruntime.h>
void barrier_wait(barrier_t *barrier)
{
    uint8_t before;
    __acquire(barrier->lock, "0");
    before = barrier->wait_queue;
    if (likely(--barrier->count != 0)) {
        __WAIT_QUEUE_TABLE[me()] = before;
        barrier->wait_queue = (uint8_t)me();
        __release(barrier->lock, "0", __AT_NEXT_INSTRUCTION);
        __stop();
        return;
    }
    barrier->wait_queue = __EMPTY_WAIT_QUEUE;
    barrier->count = barrier->initial_count;
    own_barrier++;
    while (before != __EMPTY_WAIT_QUEUE) {
        uint8_t next = __WAIT_QUEUE_TABLE[before];
        __resume(before, "0");
        before = next;
    }
    __release(barrier->lock, "0", __AT_NEXT_INSTRUCTION);
}
"""

ROUNDS = """
#include <attributes.h>
#include <stdint.h>
__host uint32_t own_barrier, early;
static volatile uint32_t rounds[NR_TASKLETS];
BARRIER
BARRIER_INIT(all, NR_TASKLETS)
int main(void)
{
    for (uint32_t round = 1; round <= 50; round++) {
        rounds[me()] = round;
        barrier_wait(&all);
        for (int i = 0; i < NR_TASKLETS; i++)
            early += rounds[i] != round;
        barrier_wait(&all);
    }
    return 0;
}
"""


@pytest.mark.parametrize("timed", [False, True])
@pytest.mark.parametrize("tasklets", [1, 2, 24])
def test_a_barrier_of_its_own_replaces_that_of_the_library(
    tasklets: int, timed: bool, bench: Bench, build: Build
) -> None:
    bench.load(build(ROUNDS.replace("\nBARRIER\n", BARRIER), tasklets))
    assert not bench.launch(slots=[0], timed=timed).faulted
    assert bench.var("own_barrier")[0] == 100
    assert bench.var("early")[0] == 0


def test_atomic_bits_by_their_number(bench: Bench, build: Build) -> None:
    source = """
#include <atomic_bit.h>
#include <attributes.h>
#include <defs.h>
#include <dpuruntime.h>
extern uint8_t __atomic_start_addr;
ATOMIC_BIT_INIT(some)[4];
__host uint32_t sums[4];
int main(void)
{
    for (uint32_t i = 0; i < 100; i++) {
        uint32_t which = (i + me()) % 4;
        __ATOMIC_BIT_ACQUIRE(which + (ATOMIC_BIT_GET(some) - &__atomic_start_addr), 0);
        uint32_t read = sums[which];
        for (volatile int wait = 0; wait < 3; wait++)
            ;
        sums[which] = read + 1;
        __ATOMIC_BIT_RELEASE(which + (ATOMIC_BIT_GET(some) - &__atomic_start_addr), 0);
    }
    return 0;
}"""
    outcome = bench.run(build(source, 16))
    assert (outcome.status, outcome.warnings) == ("done", [])
    assert bench.var("sums").tolist()[:4] == [400] * 4


def test_short_names_of_the_compilers_functions(bench: Bench, build: Build) -> None:
    source = """
#include <attributes.h>
#include <dpuruntime.h>
__host uint32_t found[3];
int main(void)
{
    volatile uint32_t value = 0x00f01000;
    found[0] = (uint32_t)count_leading_zeros(value);
    found[1] = (uint32_t)count_population(value);
    if (unlikely(value == 0))
        unreachable();
    found[2] = likely(value != 0);
    return 0;
}"""
    assert bench.run(build(source)).status == "done"
    assert bench.var("found").tolist()[:3] == [8, 5, 1]
