"""Every way in which a DPU program stops, with the sentence that explains it."""

from __future__ import annotations

import pytest

from cudla_sim.constants.dpu_protocol import FaultKind
from cudla_sim.upmem.workers.checks import Checks

from .bench import Bench
from .conftest import Build

K = FaultKind
INCLUDES = """
#include <alloc.h>
#include <assert.h>
#include <barrier.h>
#include <defs.h>
#include <mram.h>
#include <mram_unaligned.h>
#include <mutex.h>
#include <stdint.h>
BARRIER_INIT(all, NR_TASKLETS)
MUTEX_INIT(door);
volatile int zero;
volatile int *volatile pointer;
__dma_aligned uint8_t buffer[4096];
__mram_noinit uint8_t data[4096];
int depth(int n) {
    volatile char frame[512];
    frame[n & 511] = (char)n;
    return n + depth(n + 1) + frame[3];
}
"""

FAULTS = {
    "heap": ("mem_alloc(70000);", K.PROGRAM, 1, "the heap is full: 70000 bytes asked for"),
    "division": ("zero = 7 / zero;", K.PROGRAM, 2, "division by zero"),
    "assertion": ("assert(zero == 1);", K.PROGRAM, 3, "an assertion failed"),
    "halt": ("halt();", K.PROGRAM, 4, "halt() was called"),
    "unaligned": (
        "mram_write_unaligned(buffer + 1, data, 4);",
        K.PROGRAM,
        8,
        "unaligned MRAM write",
    ),
    "null": ("zero = pointer[4];", K.NULL, 0, "NULL pointer"),
    "past_wram": ("zero = buffer[zero + 70000];", K.MEMORY, 0, "past the end of WRAM"),
    "before_wram": ("buffer[zero - 20000] = 1;", K.MEMORY, 0, "WRAM address -0x"),
    "wild": (
        "*(volatile int *)(uintptr_t)(0x70000000 + zero) = 1;",
        K.MEMORY,
        0,
        "address 0x70000000",
    ),
    "jump": (
        "((void (*)(void))(uintptr_t)(0x1234 + zero))(); zero = 1;",
        K.INSTRUCTION,
        0,
        "illegal instruction",
    ),
    "recursion": ("zero = depth(zero);", K.STACK, 0, "stack overflow: the stack of 1024 bytes"),
    "frame": ("volatile char large[16384]; large[zero] = 1;", K.STACK, 0, "stack overflow"),
    "dma_mram": ("mram_read(data + 4 + zero, buffer, 16);", K.MRAM_ALIGN, 0, "multiples of 8"),
    "dma_wram": ("mram_write(buffer + 4 + zero, data, 8);", K.MRAM_ALIGN, 0, "(buffer + 4)"),
    "dma_end": (
        "mram_write(buffer, (__mram_ptr void *)0x0bfffff8, 16 + zero);",
        K.MRAM_BOUNDS,
        0,
        "not inside the 64 MiB",
    ),
    "dma_of_wram": ("mram_read(buffer, buffer + 64, 8 + zero);", K.MRAM_BOUNDS, 0, "(buffer)"),
    "dma_to_mram": ("mram_write(data, data + 64, 8 + zero);", K.DMA_WRAM, 0, "neither in WRAM"),
}


def program(body: str) -> str:
    lines = [f"{INCLUDES}static __attribute__((noinline)) void culprit(void) {{"]
    lines += ["#line 77", body, "}"]
    lines += ["int main(void) {"]
    lines += ["if (me() == NR_TASKLETS - 1) culprit(); else barrier_wait(&all);", "return 0; }"]
    return "\n".join(lines)


@pytest.mark.parametrize("name", FAULTS)
def test_fault_and_its_explanation(name: str, bench: Bench, build: Build, route: str) -> None:
    body, kind, code, text = FAULTS[name]
    strict = Checks(mram_alignment="fault")
    outcome = bench.run(build(program(body), 3, "-Wno-infinite-recursion"), strict)
    assert (outcome.status, outcome.fault, outcome.code) == ("fault", kind, code)
    assert text in outcome.text
    assert "tasklet 2" in outcome.text
    where = "depth" if name == "recursion" else "culprit"
    if "gcc" in route and "main (program" in outcome.text:
        return  # gcc leaves a function with its last call: the place is where that was called
    assert f"{where} (program" in outcome.text, outcome.text
    if where == "culprit":
        assert ".c:77)" in outcome.text


def test_worker_goes_on_after_every_fault(bench: Bench, build: Build) -> None:
    source = """
#include <defs.h>
__host volatile uint32_t which, done;
volatile int *volatile nowhere;
volatile int zero;
int deep(volatile int *n) {
    volatile char frame[900];
    frame[*n & 7] = 1;
    ++*n;
    return deep(n) + frame[2];
}
int main(void) {
    volatile int n = 0;
    switch (which) {
    case 1: zero = nowhere[4]; break;
    case 2: zero = 7 / zero; break;
    case 3: zero = deep(&n); break;
    case 4: halt();
    case 5: __builtin_trap();
    }
    done = which + 100;
    return 0;
}"""
    bench.load(build(source, 2, "-Wno-infinite-recursion", "-Wno-implicit-fallthrough"))
    pids = set()
    for which in (0, 1, 2, 3, 4, 5, 0, 3, 1, 0):
        for slot in range(bench.dpus):
            bench.var("which", slot=slot)[0] = which if slot != 1 else 0
            bench.var("done", slot=slot)[0] = 0
        ended = bench.launch()
        pids.update(bench.pool.pids)
        faulted = sorted(o.number for o in ended.faulted)
        assert faulted == ([0, 2, 3] if which else [])
        assert bench.var("done", slot=1)[0] == 100
    assert len(pids) <= 2


def test_each_assertion_is_named_by_its_own_line(bench: Bench, build: Build, route: str) -> None:
    """Also where the compiler could make one call of them all."""
    if not route.startswith("clang"):
        pytest.skip("gcc merges calls that do not return")
    source = """
#include <assert.h>
#include <attributes.h>
#include <stdint.h>
__host uint32_t values[4];
int main(void)
{
#line 11
    assert(values[0] < 9);
    assert(values[1] < 9);
    assert(values[2] < 9);
    assert(values[3] < 9);
    return 0;
}"""
    bench.load(build(source, 1, "-O2"))
    for slot in range(4):
        bench.var("values", slot=slot)[slot] = 9
    faulted = bench.launch(Checks()).faulted
    assert [o.text.rpartition(":")[2] for o in faulted] == [f"{11 + n})" for n in range(4)]


def test_code_of_no_one_line_has_no_number(bench: Bench, build: Build, route: str) -> None:
    if not route.startswith("clang"):
        pytest.skip("gcc leaves line 0 out of the table")
    body = program("zero = 7 / zero;").replace("#line 77", '#line 0 "joined.c"')
    outcome = bench.run(build(body, 3, "-Wno-infinite-recursion"))
    assert "(joined.c)" in outcome.text


DEADLOCKS = {
    "barrier": (
        "if (me() != 1) barrier_wait(&all);",
        "deadlock: each of tasklets 0, 2 waits at barrier WRAM address 0x",
    ),
    "mutex": ("mutex_lock(door); mutex_lock(door);", "waits for mutex door in main"),
    "handshake": ("if (me() == 2) handshake_wait_for(0);", "waits for a notification of tasklet 0"),
    "notify": ("if (me() == 2) handshake_notify();", "tasklet 2 waits in handshake_notify"),
    "semaphore": ("if (me() == 0) sem_take(&empty);", "tasklet 0 waits for semaphore WRAM address"),
}


@pytest.mark.parametrize("name", DEADLOCKS)
def test_deadlock_names_who_waits(name: str, bench: Bench, build: Build) -> None:
    body, text = DEADLOCKS[name]
    extra = "#include <handshake.h>\n#include <sem.h>\nSEMAPHORE_INIT(empty, 0)\n"
    source = f"{INCLUDES}{extra}int main(void) {{ {body} return 0; }}"
    outcome = bench.run(build(source, 3, "-Wno-infinite-recursion"))
    assert outcome.fault == K.DEADLOCK
    assert text in outcome.text


def test_one_faulty_dpu_leaves_the_others_alone(bench: Bench, build: Build) -> None:
    source = """
#include <stdint.h>
#include <attributes.h>
__host volatile uint32_t divisor, result;
int main(void) { result = 100 / divisor; return 0; }"""
    bench.load(build(source))
    for slot in range(4):
        bench.var("divisor", slot=slot)[0] = slot
    ended = bench.launch(Checks())
    assert [o.number for o in ended.faulted] == [0]
    assert [int(bench.var("result", slot=s)[0]) for s in range(4)] == [0, 100, 50, 33]
