"""Virtual time against a model that steps through every cycle.

The programs add to the counter themselves, by a script: so the model knows what they execute.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from cudla_sim.upmem.workers.protocol import Times

from ..dpu_side.bench import Bench
from ..dpu_side.conftest import Build

pytestmark = pytest.mark.slow

COMPUTE, READ, LOCKED = 0, 1, 2
STEPS = 8
BOOT, BOOT_EACH = 11 * (4 + 3), 33  # one atomic bit is in use
READ_LATENCY, ROW_OTHER, ROW_SAME, ROW_NEXT = 66, 50, 15, 25

KERNEL = f"""
#include <stdint.h>
#include <defs.h>
#include <mram.h>
#include <mutex.h>
extern uint64_t __rt_count;
MUTEX_INIT(mutex);
struct step {{ uint32_t what, amount, row; }};
__host struct step script[NR_TASKLETS][{STEPS}];
__mram_noinit uint8_t data[1 << 20];
__dma_aligned uint8_t buffers[NR_TASKLETS][1024];
int main(void) {{
    for (int i = 0; i < {STEPS}; i++) {{
        const struct step *step = &script[me()][i];
        if (step->what == {COMPUTE})
            __rt_count += 2 * step->amount;
        else if (step->what == {READ}) {{
            __rt_count += 2;
            mram_read(data + 1024 * step->row, buffers[me()], step->amount);
        }} else {{
            mutex_lock(mutex);
            __rt_count += 2 * step->amount;
            mutex_unlock(mutex);
        }}
    }}
    return 0;
}}"""


@dataclass
class Tasklet:
    """``script``: (what, amount, row), what is left of it."""

    script: list[tuple[int, int, int]]
    ready: float  # cycle of its next issue
    back: float = 0  # from a transfer
    instructions: int = 0
    holds: bool = False
    left: int = 0
    done: bool = False


@dataclass
class Dpu:
    """One instruction a cycle, round robin, 11 cycles between two of a tasklet."""

    tasklets: list[Tasklet]
    cycle: int = 0
    engine: float = 0
    row: int = -1
    locked: bool = False
    last: int = field(default=-1)

    def events(self, t: Tasklet) -> bool:
        """What happens at the end of the instructions before; True when it may issue now."""
        while t.left == 0:
            if t.holds:
                t.holds = self.locked = False
            if not t.script:
                t.done = True
                return False
            what, amount, row = t.script[0]
            if what == COMPUTE:
                t.script.pop(0)
                t.left = amount
            elif what == READ:
                t.script.pop(0)
                last = row + (amount - 1) // 1024
                start = max(self.cycle, self.engine)
                extra = ROW_SAME if row == self.row else ROW_OTHER
                self.engine = start + 0.52 * amount + extra + ROW_NEXT * (last - row)
                self.row = last
                t.back = max(start + READ_LATENCY + 0.52 * amount, self.engine)
                return True
            elif self.locked:
                return True  # a retry
            else:
                t.script.pop(0)
                t.holds = self.locked = True
                t.left = amount
        return True

    def run(self) -> int:
        count = len(self.tasklets)
        while not all(t.done for t in self.tasklets):
            for n in range(1, count + 1):
                number = (self.last + n) % count
                t = self.tasklets[number]
                if t.done or t.ready > self.cycle or not self.events(t):
                    continue
                t.instructions += 1
                t.left = max(t.left - 1, 0)
                t.ready = max(self.cycle + 11, t.back)
                self.last = number
                break
            self.cycle += 1
        return self.cycle


def boot(number: int) -> int:
    return BOOT + BOOT_EACH * (number + 1)


Script = list[list[tuple[int, int, int]]]
apart = st.one_of(
    st.tuples(st.just(COMPUTE), st.integers(1, 60), st.just(0)),
    st.tuples(st.just(READ), st.integers(1, 128).map(lambda n: 8 * n), st.integers(0, 5)),
)


def both(bench: Bench, scripts: Script) -> tuple[Times, Dpu]:
    """Hardware time of the kernel that is loaded, and the model after its run."""
    bench.at(bench.program.symbols["data"][0], 8192)
    bench.var("script")[:] = np.array(scripts, np.uint32).ravel()
    times = bench.time()
    model = Dpu([Tasklet(list(s), boot(n)) for n, s in enumerate(scripts)])
    model.run()
    for found, script in zip(times.tasklets, scripts, strict=True):
        own = sum(1 if what == READ else amount for what, amount, _ in script)
        assert found.half_instructions == 2 * (own + found.retries)
        assert found.dma_read == sum(amount for what, amount, _ in script if what == READ)
    return times, model


@pytest.mark.parametrize("tasklets", [1, 3, 11, 16])
@given(data=st.data())
@settings(
    max_examples=12,
    deadline=None,
    phases=(Phase.generate,),
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
def test_computing_and_transfers(
    tasklets: int, data: st.DataObject, bench: Bench, build: Build
) -> None:
    script = st.lists(apart, min_size=STEPS, max_size=STEPS)
    bench.load(build(KERNEL, tasklets))
    scripts = data.draw(st.lists(script, min_size=tasklets, max_size=tasklets))
    times, model = both(bench, scripts)
    assert times.cycles == pytest.approx(model.cycle, rel=0.02, abs=11 + 16 * STEPS)
    assert times.instructions == pytest.approx(
        sum(t.instructions for t in model.tasklets), rel=0.001, abs=60
    )


@pytest.mark.parametrize("tasklets", [2, 11, 16])
def test_locks(tasklets: int, bench: Bench, build: Build) -> None:
    """Who gets a lock first may differ, and with it the time of a run; not the mean of many."""
    bench.load(build(KERNEL, tasklets))
    numbers = np.random.default_rng(tasklets)
    ratios, retries = [], np.zeros(2)
    for _ in range(40):
        what = numbers.choice([COMPUTE, LOCKED], (tasklets, STEPS))
        amount = np.where(what == LOCKED, numbers.integers(1, 20), numbers.integers(1, 60))
        scripts = np.stack([what, amount, 0 * what], axis=2).tolist()
        times, model = both(bench, scripts)
        ratios.append(times.cycles / model.cycle)
        own = int(amount.sum())
        executed = sum(t.instructions for t in model.tasklets)
        retries += (sum(t.retries for t in times.tasklets), executed - own)
    assert np.mean(ratios) == pytest.approx(1, abs=0.02)
    assert 0.7 < min(ratios) <= max(ratios) < 1.4
    assert retries[0] == pytest.approx(retries[1], rel=0.15)


def test_two_runs_are_the_same(bench: Bench, build: Build) -> None:
    bench.load(build(KERNEL, 16))
    numbers = np.random.default_rng(1)
    scripts = numbers.integers(1, 2, (16, STEPS, 3))
    scripts[:, :, 0] = numbers.integers(0, 3, (16, STEPS))
    scripts[:, :, 1] = 8 * numbers.integers(1, 20, (16, STEPS))
    times, _ = both(bench, scripts.tolist())
    assert [bench.time() for _ in range(5)] == [times] * 5


def test_instructions_issue_every_eleven_cycles(bench: Bench, build: Build) -> None:
    """Up to 11 tasklets take the time of one; 22 take twice as long."""
    found = {}
    for tasklets in (1, 11, 22):
        bench.load(build(KERNEL, tasklets))
        script = np.zeros((tasklets, STEPS, 3), np.uint32)
        script[:, :, 1] = 1000
        bench.var("script")[:] = script.ravel()
        found[tasklets] = bench.time()
    alone, full, double = (found[n].cycles - BOOT for n in (1, 11, 22))
    assert alone == pytest.approx(11 * 8000, rel=0.01)
    assert full == pytest.approx(alone, rel=0.01)
    assert double == pytest.approx(2 * alone, rel=0.01)
    assert found[22].instructions == pytest.approx(22 * 8000, rel=0.01)
