"""Random programs that synchronise: whether races are looked for changes neither what they
compute nor when, and what they compute is known."""

from __future__ import annotations

import os
import random
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

import numpy as np
import pytest

from cudla_sim.upmem.workers.checks import Checks

from ..dpu_side.bench import Bench, Program
from ..dpu_side.conftest import Build

HEAD = """
#include <alloc.h>
#include <barrier.h>
#include <defs.h>
#include <handshake.h>
#include <mram.h>
#include <mutex.h>
#include <mutex_pool.h>
#include <perfcounter.h>
#include <sem.h>
#include <stdint.h>
#include <vmutex.h>
MUTEX_INIT(m0);
MUTEX_INIT(m1);
MUTEX_INIT(m2);
MUTEX_POOL_INIT(pool, 8);
VMUTEX_INIT(many, 32, 4);
BARRIER_INIT(all, NR_TASKLETS);
BARRIER_INIT(again, NR_TASKLETS);
SEMAPHORE_INIT(one, 1);
SEMAPHORE_INIT(two, 2);
__host uint32_t sums[16], pooled[8], behind[32], ones, own[NR_TASKLETS];
__mram_noinit uint64_t data[NR_TASKLETS][64];
__dma_aligned uint64_t block[NR_TASKLETS][64];
volatile uint32_t sink[NR_TASKLETS];
/* The first access that is told begins the search, in the midst of what others do. */
void tell(void);
__attribute__((noinline)) void tell(void) { own[me()]++; }
#define UNTOLD __attribute__((disable_sanitizer_instrumentation))
"""


@dataclass
class _Writer:
    """Statements, and how often each counter is added to by all tasklets that run them."""

    draw: random.Random
    counts: dict[str, int] = field(default_factory=dict)

    def _adds(self, name: str, times: int) -> str:
        self.counts[name] = self.counts.get(name, 0) + times
        return f"{name}++;"

    def _held(self, times: int, depth: int, least: int = 0) -> str:
        """What is done under locks. Ordinary mutexes are taken in their order."""
        words = [self._adds(f"sums[{least}]", times) if least else "sink[me()] += i;"]
        if depth and least < 3 and self.draw.random() < 0.4:
            words.append(self.mutex(times, depth - 1, least))
        if self.draw.random() < 0.2:
            words.append(f"mram_read(data[me()], block[me()], {8 * self.draw.randint(1, 32)});")
        return " ".join(words)

    def mutex(self, times: int, depth: int = 2, least: int = 0) -> str:
        chosen = self.draw.randint(least, 2)
        held = self._held(times, depth, chosen + 1)
        how = f"mutex_lock(m{chosen});"
        if self.draw.random() < 0.25:
            how = f"while (!mutex_trylock(m{chosen})) sink[me()]++;"
        return f"{how} {held} mutex_unlock(m{chosen});"

    def pool(self, times: int) -> str:
        number = self.draw.randint(0, 7)
        added = self._adds(f"pooled[{number}]", times)
        return f"mutex_pool_lock(&pool, {number}); {added} mutex_pool_unlock(&pool, {number});"

    def virtual(self, times: int) -> str:
        number = self.draw.choice([0, 1, 5, 31])
        added = self._adds(f"behind[{number}]", times)
        return f"vmutex_lock(&many, {number}); {added} vmutex_unlock(&many, {number});"

    def semaphore(self, times: int) -> str:
        if self.draw.random() < 0.5:
            return f"sem_take(&one); {self._adds('ones', times)} sem_give(&one);"
        return "sem_take(&two); sink[me()] ^= i; sem_give(&two);"

    def alone(self, times: int) -> str:
        rounds = self.draw.randint(0, 30)
        kind = self.draw.randint(0, 4)
        if kind == 0:
            return f"mram_write(block[me()], data[me()], {8 * self.draw.randint(1, 64)});"
        if kind == 1:
            return "sink[me()] += (uint32_t)perfcounter_get();"
        if kind == 2:
            return "tell();"
        return f"for (uint32_t n = 0; n < {rounds}; n++) sink[me()] += n ^ i;"

    def statement(self, times: int) -> str:
        chosen = self.draw.choice(
            [self.mutex, self.mutex, self.pool, self.virtual, self.semaphore, self.alone]
        )
        return chosen(times)


def program(seed: int, tasklets: int) -> tuple[str, dict[str, int]]:
    """A program without deadlocks or races, and what its counters are in the end."""
    draw = random.Random(seed)
    writer = _Writer(draw)
    phases = []
    for _ in range(draw.randint(2, 5)):
        roles = draw.randint(1, 3)  # by tasklet number
        cases = []
        for role in range(roles):
            members = len(range(role, tasklets, roles))
            rounds = draw.randint(1, 40)
            body = [writer.statement(rounds * members) for _ in range(draw.randint(1, 5))]
            loop = f"for (uint32_t i = 0; i < {rounds}; i++) {{ {' '.join(body)} }}"
            cases.append(f"case {role}: {loop} break;")
        end = draw.choice(["barrier_wait(&all);", "barrier_wait(&again);", ""])
        if draw.random() < 0.3:
            times = draw.randint(1, 20)
            end = f"for (int n = 0; n < {times}; n++) {{ {end} own[me()]++; }}"
        if draw.random() < 0.2:
            end += " if (me()) handshake_wait_for(me() - 1);"
            end += " if (me() + 1 < NR_TASKLETS) handshake_notify();"
        phases.append(f"switch (me() % {roles}) {{ {' '.join(cases)} }} {end}")
    lines = "\n    ".join(phases)
    text = f"{HEAD}UNTOLD int main(void) {{\n    {lines}\n    return 0;\n}}\n"
    return text, writer.counts


@contextmanager
def fresh(made: Program) -> Iterator[Bench]:
    """A worker that has not looked for races yet: in its first launch it does for some turns."""
    bench = Bench(dpus=1, workers=1)
    try:
        bench.load(made)
        yield bench
    finally:
        bench.close()


def memory(bench: Bench) -> dict[str, np.ndarray]:  # type: ignore[type-arg]
    return {name: bench.var(name).copy() for name in ("sums", "pooled", "behind", "ones", "own")}


# Cycles and instructions: the scheduler may change how it finds the next tasklet, never which one.
RECORDED: dict[int, tuple[int, int]] = {
    0: (333_269, 177_456),
    1: (122_754, 71_170),
    2: (146_425, 108_906),
    3: (87_736, 10_656),
    4: (61_179, 6_034),
    5: (145_238, 46_079),
    6: (110_081, 91_772),
    7: (186_820, 118_146),
    8: (392_109, 279_603),
    9: (120_998, 20_618),
    10: (40_058, 4_631),
    11: (173_490, 56_623),
    12: (348_086, 255_631),
    13: (168_035, 44_713),
    14: (118_593, 71_053),
    15: (116_893, 19_257),
    16: (119_618, 13_293),
    17: (160_606, 62_533),
    18: (215_977, 166_536),
    19: (88_602, 48_987),
    20: (275_436, 163_447),
    21: (78_629, 15_278),
    22: (46_560, 5_146),
    23: (88_283, 34_255),
}
SEEDS = range(int(os.environ.get("CUDLA_SIM_TEST_SEEDS", 12)))
TASKLETS = (16, 11, 24, 3, 2, 7)


@pytest.mark.slow
@pytest.mark.parametrize("way", ["counted", "told"])
@pytest.mark.parametrize("seed", SEEDS)
def test_the_search_for_races_changes_nothing(
    seed: int, way: str, counted: Build, told: Build
) -> None:
    tasklets = TASKLETS[seed % len(TASKLETS)]
    text, counts = program(seed, tasklets)
    made = counted(text, tasklets) if way == "counted" else told(text, tasklets, "-DCOUNTED")
    found = []
    for race in ("off", "warn", "fault"):
        with fresh(made) as bench:
            for launch in range(3):
                ended = bench.launch(Checks(race=race, mram_unwritten="off"), slots=[0], timed=True)
                assert not ended.faulted, ended.faulted[0]
                times = ended.times[0]
                found.append((times.cycles, times.instructions))
                kept = memory(bench)
                for name, count in counts.items():
                    array, _, at = name.partition("[")
                    assert kept[array][int(at.strip("]") or 0)] == count * (launch + 1), name
    assert set(found) == {found[0]}
    if way == "counted" and seed in RECORDED:
        assert found[0] == RECORDED[seed]
