"""Programs that count: what they count, and that they compute the same."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ..dpu_side.bench import Bench, dpu_cc
from ..dpu_side.conftest import Build

PRODUCT = """
#include <stdint.h>
#include <attributes.h>
__host uint32_t a, b, c;
/* a name that is a word of LLVM, too */
struct ptr { struct ptr *ptr; } ptr;
int main(void) { c = a * b; return 0; }"""


@pytest.mark.parametrize("bits", [1, 4, 8, 12, 16, 24, 31])
def test_a_product_takes_a_step_for_each_bit(bits: int, bench: Bench, counted: Build) -> None:
    """The routine runs 6 + bits instructions (counted in programs of the vendor's compiler)."""
    bench.load(counted(PRODUCT))
    found = []
    for smaller in (0, 1 << (bits - 1)):
        bench.var("a")[0], bench.var("b")[0] = 0xFFFF_FFFF, smaller
        found.append(bench.time().tasklets[0].half_instructions)
    assert found[1] - found[0] == 2 * bits


PURE = """
#include <stdint.h>
#include <attributes.h>
__host uint32_t a, b, c;
__attribute__((noinline)) static uint32_t product(uint32_t x, uint32_t y) { return x * y; }
int main(void)
{
    for (uint32_t i = 0; i < 100; i++)
        c += product(a - i, b);
    return 0;
}"""


@pytest.mark.parametrize("level", ["-O1", "-O2", "-O3"])
def test_functions_that_touch_no_memory_count(level: str, bench: Bench, counted: Build) -> None:
    """The caller must not keep the counter in a register over such a call."""
    bench.load(counted(PURE, 1, level))
    found = []
    for smaller in (0, 1 << 7):
        bench.var("a")[0], bench.var("b")[0] = 0xFFFF_FFFF, smaller
        found.append(bench.time().tasklets[0].half_instructions)
    assert found[1] - found[0] == 100 * 2 * 8


LOOP = """
#include <stdint.h>
#include <attributes.h>
__host {type} data[{count}], scalar;
int main(void)
{{
    for (unsigned i = 0; i < {count}; i++)
        data[i] = data[i] {op} scalar;
    return 0;
}}"""


def each(bench: Bench, counted: Build, kind: str, op: str) -> float:
    """Instructions of a round of the loop."""
    found = []
    for count in (128, 640):
        bench.load(counted(LOOP.format(type=kind, op=op, count=count)))
        bench.var("data", np.uint8)[:] = 0
        found.append(bench.time().tasklets[0].half_instructions / 2)
    return (found[1] - found[0]) / 512


@pytest.mark.slow
@pytest.mark.parametrize(
    ("kind", "op", "expected"),
    [
        # load, operation, store, pointer, comparison: PrIM's loop (its figure 4 within a percent)
        ("int32_t", "+", 6),
        ("int32_t", "^", 6),
        ("int64_t", "+", 7),
        ("uint8_t", "-", 6),
        # the loop, a call and moves, and the library's routine as it was counted
        ("int64_t", "*", 5 + 8 + 123),  # pairs of registers are moved
        ("float", "+", 5 + 4 + 62.5),
        ("float", "*", 5 + 4 + 167),
        ("float", "/", 5 + 4 + 983),
        ("double", "*", 5 + 4 + 621),
    ],
)
def test_rounds_of_a_loop(
    kind: str, op: str, expected: float, bench: Bench, counted: Build
) -> None:
    assert each(bench, counted, kind, op) == pytest.approx(expected, abs=0.6)


NARROW = """
#include <stdint.h>
#include <attributes.h>
__host {kind} a, b;
__host uint32_t c;
int main(void) {{ c = (uint32_t)a {op} (uint32_t)b; return 0; }}"""


@pytest.mark.parametrize(
    ("kind", "expected"),
    [
        # products of bytes are an instruction, of 16 bits seven; others call the library's routine,
        # which runs six and one for each bit of the smaller factor (0 here), and is called (2)
        ("uint8_t", 1),
        ("uint16_t", 7),
        ("uint32_t", 8),
    ],
)
def test_products_by_the_width_of_their_factors(
    kind: str, expected: int, bench: Bench, counted: Build
) -> None:
    found = []
    for op in "^*":
        bench.load(counted(NARROW.format(kind=kind, op=op), 1, "-O2"))
        bench.var("a", np.uint8)[:] = 0
        bench.var("b", np.uint8)[:] = 0
        found.append(bench.time().tasklets[0].half_instructions / 2)
    assert found[1] - found[0] == expected - 1


WAIT = """
#include <built_ins.h>
#include <stdint.h>
int main(void)
{{
    for (uint32_t i = 0; i < {count}; i++)
    {{
        __builtin_nop_();
    }}
    return 0;
}}"""


def test_a_loop_that_only_passes_time(bench: Bench, counted: Build) -> None:
    """nop, counter, comparison and branch in one: two instructions a round."""
    found = []
    for count in (128, 640):
        bench.load(counted(WAIT.format(count=count), 1, "-O2"))
        found.append(bench.time().tasklets[0].half_instructions / 2)
    assert (found[1] - found[0]) / 512 == pytest.approx(2, abs=1)


ARITHMETIC = """
#include <stdint.h>
#include <attributes.h>
__host int32_t a, b, out[8];
__host int64_t la, lb, lout[8];
__host float x, y, fout[8];
__host double dx, dout[4];
__host uint32_t rounds;
int main(void)
{
    out[0] = b ? a / b : 0;
    out[1] = b ? a % b : 0;
    out[2] = a * b;
    out[3] = (int32_t)x;
    out[4] = (int16_t)a * (int16_t)b;
    lout[0] = lb ? la / lb : 0;
    lout[1] = la * lb;
    lout[2] = la < lb ? la >> 3 : lb << 5;
    fout[0] = x + y;
    fout[1] = x / y;
    fout[2] = x * y - x;
    dout[0] = dx / x;
    dout[1] = x;
    uint32_t sum = 0;
    for (uint32_t i = 0; i < rounds; i++)
        sum = sum * 31 + (i % 7 == 3 ? i / 3 : i);
    out[5] = (int32_t)sum;
    return 0;
}"""
OUT = ("out", "lout", "fout", "dout")
words = st.one_of(st.integers(0, 2**32 - 1), st.sampled_from([0, 1, 2**31, 2**32 - 1, 0x7F800000]))


@given(values=st.tuples(*[words] * 4), rounds=st.integers(0, 60))
@settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_results_are_those_of_a_program_that_does_not_count(
    values: tuple[int, ...], rounds: int, bench: Bench, counted: Build, plain: Build
) -> None:
    results = []
    for program in (counted(ARITHMETIC), plain(ARITHMETIC)):
        bench.load(program)
        for name, value in zip(("a", "b", "x", "y"), values, strict=True):
            bench.var(name)[0] = value
        bench.var("la")[:] = values[:2]
        bench.var("lb")[:] = values[1:3]
        bench.var("dx")[:] = values[2:]
        bench.var("rounds")[0] = rounds
        assert not bench.launch(slots=[0], timed=True).faulted
        results.append([bench.var(name).tolist() for name in OUT])
    assert results[0] == results[1]


TRANSFER = """
#include <stdint.h>
#include <attributes.h>
#include <mram.h>
#include <perfcounter.h>
__host uint64_t cycles[2];
__mram_noinit uint8_t data[4096];
__dma_aligned uint8_t buffer[2048];
int main(void)
{
    perfcounter_config(COUNT_CYCLES, true);
    uint64_t none = perfcounter_get();
    none = perfcounter_get() - none;
    uint64_t begin = perfcounter_get();
    mram_read(data, buffer, SIZE);
    cycles[0] = perfcounter_get() - begin - none;
    begin = perfcounter_get();
    mram_write(buffer, data, SIZE);
    cycles[1] = perfcounter_get() - begin - none;
    return 0;
}"""


@pytest.mark.parametrize("size", [8, 256, 1024, 2048])
def test_the_counter_sees_the_latency_of_a_transfer(
    size: int, bench: Bench, counted: Build
) -> None:
    """66 + 0.52 n and 50 + 0.52 n cycles for a read and a write, and an instruction for the address
    of the buffer, which the second one has already: with it PrIM's 77; the counter steps by 16."""
    bench.load(counted(TRANSFER, 1, f"-DSIZE={size}"))
    bench.at(bench.program.symbols["data"][0], 4096)
    bench.time()
    cycles = bench.var("cycles", np.uint64)
    assert cycles[0] == pytest.approx(77 + 0.52 * size, abs=17)
    assert cycles[1] == pytest.approx(50 + 0.52 * size, abs=17)


WAITING = """
#include <stdint.h>
#include <attributes.h>
#include <defs.h>
#include <barrier.h>
#include <handshake.h>
#include <mutex.h>
#include <perfcounter.h>
#include <sem.h>
BARRIER_INIT(all, NR_TASKLETS);
SEMAPHORE_INIT(turn, 1);
MUTEX_INIT(mutex);
volatile uint32_t flag;
__host uint32_t order[2 * NR_TASKLETS], next;
__host uint64_t at[NR_TASKLETS];
int main(void)
{
    if (me() == 0) {
        for (volatile int i = 0; i < 500; i++)
            ;
        flag = 1;
    }
    while (!flag) /* a loop that waits for another tasklet */
        ;
    at[me()] = perfcounter_get();
    barrier_wait(&all);
    sem_take(&turn);
    order[next++] = me();
    sem_give(&turn);
    barrier_wait(&all);
    if (me() > 0)
        handshake_wait_for(me() - 1);
    mutex_lock(mutex);
    order[next++] = me();
    mutex_unlock(mutex);
    if (me() < NR_TASKLETS - 1)
        handshake_notify();
    return 0;
}"""


def test_tasklets_that_wait_for_each_other(bench: Bench, counted: Build) -> None:
    program = counted(WAITING, 8)
    found = []
    for _ in range(3):
        bench.load(program)
        times = bench.time()
        at = bench.var("at", np.uint64).tolist()
        order = bench.var("order").tolist()
        assert sorted(order[:8]) == list(range(8))
        assert order[8:] == list(range(8))
        assert min(at) > 11 * 500 * 4  # nobody sees the flag before it is set
        assert max(at) - min(at) < 11 * 100
        assert all(t.wait_cycles for t in times.tasklets[1:])
        found.append((times, at, order))
    assert found[0] == found[1] == found[2]


COUNTER = """
#include <stdint.h>
#include <attributes.h>
#include <defs.h>
#include <barrier.h>
#include <perfcounter.h>
BARRIER_INIT(all, NR_TASKLETS);
__host uint64_t seen[NR_TASKLETS];
__host uint32_t data[NR_TASKLETS];
int main(void)
{
    barrier_wait(&all);
    if (me() == 0)
        perfcounter_config(MODE, true);
    barrier_wait(&all);
    for (int i = 0; i < 1000; i++)
        data[me()] = data[me()] * 0 + (data[me()] ^ i);
    seen[me()] = perfcounter_get();
    return 0;
}"""


@pytest.mark.parametrize("tasklets", [1, 4, 16])
def test_there_is_one_counter_for_all_tasklets(tasklets: int, bench: Bench, counted: Build) -> None:
    found = {}
    for mode in ("COUNT_CYCLES", "COUNT_INSTRUCTIONS"):
        bench.load(counted(COUNTER, tasklets, f"-DMODE={mode}"))
        bench.time()
        found[mode] = int(bench.var("seen", np.uint64).max())
        assert found[mode] % 16 == 0
    turn = max(11, tasklets)
    ratio = found["COUNT_CYCLES"] / found["COUNT_INSTRUCTIONS"]
    assert ratio == pytest.approx(turn / tasklets, rel=0.1)


def test_a_program_that_does_not_count_has_no_times(bench: Bench, plain: Build) -> None:
    bench.load(plain(PRODUCT))
    assert bench.launch(slots=[0], timed=True).times == {}


def test_a_program_that_counts_runs_without_times(bench: Bench, counted: Build) -> None:
    bench.load(counted(PRODUCT))
    bench.var("a")[0], bench.var("b")[0] = 6, 7
    ended = bench.launch(slots=[0])
    assert (ended.faulted, ended.times, bench.var("c")[0]) == ([], {}, 42)


def test_gcc_says_that_it_cannot(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DPU_COMPILER_ROUTE", "gcc-m64")
    monkeypatch.setenv("CUDLA_SIM_TIME", "hardware")
    (tmp_path / "a.c").write_text("int main(void) { return 0; }\n")
    done = dpu_cc("a.c", "-o", "a", cwd=tmp_path)
    assert done.returncode == 0
    assert "times of the hardware: they need clang" in done.stderr


def test_optimised_or_not_all_of_it_counts(bench: Bench, counted: Build) -> None:
    """-O0 executes more instructions, in more memory accesses."""
    found = []
    for level in ("-O0", "-O1", "-O2", "-Os"):
        bench.load(counted(LOOP.format(type="int32_t", op="+", count=128), 1, level))
        found.append(bench.time().instructions)
    assert found[0] > 1.5 * found[2]
    assert found[1] == pytest.approx(found[2], rel=0.2)
