"""Races with reads, in programs that tell their accesses."""

from __future__ import annotations

import pytest

from cudla_sim.constants.dpu_protocol import FaultKind
from cudla_sim.upmem.toolchain.races import asked
from cudla_sim.upmem.workers.checks import Checks

from .bench import Bench
from .conftest import Build

pytestmark = pytest.mark.slow

HEAD = """
#include <alloc.h>
#include <barrier.h>
#include <defs.h>
#include <handshake.h>
#include <mram.h>
#include <mutex.h>
#include <sem.h>
#include <stdint.h>
#include <string.h>
#include <vmutex.h>
BARRIER_INIT(all, NR_TASKLETS)
BARRIER_INIT(again, NR_TASKLETS)
MUTEX_INIT(door);
SEMAPHORE_INIT(one, 1)
SEMAPHORE_INIT(none, 0)
VMUTEX_INIT(many, 8, 1);
__host uint32_t seen[NR_TASKLETS], shared, rounds;
__dma_aligned uint8_t buffer[64];
__mram_noinit uint8_t data[65536];
"""


@pytest.fixture
def watched(told: Build) -> Build:
    """told(...) with HEAD in front."""
    return lambda source, *more: told(HEAD + source, *more)


# text -> (main, first access, second access)
RACES = {
    "write, then read": (
        "if (me() == 0) shared = 5;\n"
        "if (me() == 1) seen[1] = shared;",
        ("wrote", "read"),
    ),
    "read, then write": (
        "if (me() == 0) seen[0] = shared;\n"
        "if (me() == 1) shared = 5;",
        ("read", "wrote"),
    ),
    "write, then write the same value": (
        "if (me() == 0) { mutex_lock(door); shared = 0; mutex_unlock(door); }\n"
        "if (me() == 1) shared = 0;",
        ("wrote", "wrote"),
    ),
    "after a barrier": (
        "if (me() == 1) shared = 4;\nbarrier_wait(&all);\n"
        "if (me() == 0) seen[0] = shared;\n"
        "if (me() == 1) shared = 5;",
        ("read", "wrote"),
    ),
    "two locks": (
        "if (me() == 0) { mutex_lock(door); shared = 5; mutex_unlock(door); }\n"
        "if (me() == 1) { vmutex_lock(&many, 3); seen[1] = shared; vmutex_unlock(&many, 3); }",
        ("wrote", "read"),
    ),
}  # fmt: skip


@pytest.mark.parametrize("mode", ["warn", "fault", "off"])
@pytest.mark.parametrize("name", RACES)
def test_a_race_names_both(name: str, mode: str, bench: Bench, watched: Build) -> None:
    body, (first, second) = RACES[name]
    program = watched(f"int main(void) {{\n{body}\nreturn 0; }}", 2)
    outcome = bench.run(program, Checks(race=mode, mram_unwritten="off"))
    if mode == "off":
        assert not outcome.warnings
        assert outcome.status == "done"
        return
    text = outcome.text if mode == "fault" else outcome.warnings[0]
    assert f"race: tasklet 0 {first} WRAM address" in text
    assert "(shared) in main (" in text
    assert f"tasklet 1 {second} it, without a lock or barrier" in text
    lines = (HEAD + "int main(void) {\n" + body).split("\n")
    places = [n for n, line in enumerate(lines, 1) if "shared" in line and "main" not in line][-2:]
    places = [n for n in places if n > HEAD.count("\n")]
    for place in places:
        assert f".c:{place})" in text
    if mode == "fault":
        assert outcome.fault == FaultKind.RACE


def test_transfers_and_memcpy_read_and_write(bench: Bench, watched: Build) -> None:
    for write in (
        "mram_read(data, buffer, 8)",
        "memset(buffer, 3, rounds + 8)",
        "memcpy(buffer, &shared, rounds + 4)",
    ):
        body = f"if (me() == 0) {write}; else seen[1] = buffer[2];"
        program = watched(f"int main(void) {{ {body} return 0; }}", 2)
        outcome = bench.run(program, Checks(mram_unwritten="off"))
        assert [("buffer" in w, "race" in w) for w in outcome.warnings] == [(True, True)], write


SYNCHRONISED = """
volatile uint32_t flag;
int main(void) {
    uint32_t *own = mem_alloc(8);
    *own = me();
    for (int i = 0; i < 12; i++) {
        mutex_lock(door); shared++; mutex_unlock(door);
        sem_take(&one); seen[0]++; sem_give(&one);
        vmutex_lock(&many, 5); rounds++; vmutex_unlock(&many, 5);
        barrier_wait(&all);
        if (i % NR_TASKLETS == (int)me())
            memset(buffer, i, 8);
        barrier_wait(&all);
        if (buffer[me() % 8] != i)
            return 1;
        mram_write(buffer, data + 8 * me(), 8);
        barrier_wait(&again);
    }
    if (me()) handshake_wait_for(me() - 1);
    seen[1] += me() + 1;
    if (me() < NR_TASKLETS - 1) handshake_notify();
    barrier_wait(&all);
    if (me() == 0) { buffer[9] = 7; flag = 1; }
    else { while (!flag); *own += buffer[9]; }
    barrier_wait(&all);
    if (me() == 1) { buffer[10] = 3; sem_give(&none); }
    if (me() == 2) { sem_take(&none); *own += buffer[10]; }
    return 0;
}"""


@pytest.mark.slow
@pytest.mark.parametrize("tasklets", [3, 8, 16])
@pytest.mark.parametrize("flags", [(), ("-O2",), ("-O2", "-DCOUNTED")])
def test_synchronised_programs_have_no_race(
    tasklets: int, flags: tuple[str, ...], bench: Bench, watched: Build
) -> None:
    outcome = bench.run(watched(SYNCHRONISED, tasklets, *flags), Checks(race="fault"))
    assert outcome.status == "done", outcome.text
    assert bench.var("shared")[0] == bench.var("rounds")[0] == 12 * tasklets


# After the barrier tasklet 0 runs on and changes `stop` before others have tested it.
LEAVING = """
{volatile} int stop;
int main(void) {{
    for (;;) {{
        barrier_wait(&all);
        if (stop)
            break;
        if (me() == 0 && ++rounds == 3)
            stop = 1;
    }}
    return 0;
}}"""


@pytest.mark.parametrize("volatile", ["", "volatile"])
def test_a_deadlock_names_its_race(volatile: str, bench: Bench, watched: Build) -> None:
    outcome = bench.run(watched(LEAVING.format(volatile=volatile), 4), Checks())
    assert outcome.fault == FaultKind.DEADLOCK
    assert "tasklet 0 waits at barrier" in outcome.text
    assert "it may follow from a race: tasklet 0 wrote WRAM address" in outcome.text
    assert "(stop) in main (" in outcome.text


def test_a_deadlock_says_how_to_find_its_race(bench: Bench, build: Build) -> None:
    outcome = bench.run(build(HEAD + LEAVING.format(volatile="volatile"), 4), Checks())
    assert outcome.fault == FaultKind.DEADLOCK
    assert "CUDLA_SIM_UPMEM_CHECKS=race=warn" in outcome.text


def test_a_deadlock_without_a_race_names_none(bench: Bench, watched: Build) -> None:
    program = watched("int main(void) { if (me()) barrier_wait(&all); return 0; }", 4)
    outcome = bench.run(program, Checks())
    assert outcome.fault == FaultKind.DEADLOCK
    assert "race" not in outcome.text


def test_in_hardware_time_accesses_happen_at_their_cycles(bench: Bench, watched: Build) -> None:
    """Tasklets advance side by side: all have tested `stop` when one has come to writing it."""
    program = watched(LEAVING.format(volatile=""), 4, "-O2", "-DCOUNTED")
    bench.load(program)
    found = bench.launch(Checks(), [0], timed=True).faulted
    assert [o.fault for o in found] in ([], [None])
    assert [("stop" in w and "race" in w) for o in found for w in o.warnings] == [True]


@pytest.mark.parametrize(
    ("checks", "expected"),
    [("", False), ("race=warn", True), ("race=off", False), ("dma_size=off, race=fault", True),
     ("fault", True), ("fault,race=off", False), ("dma_size=warn", False),
     ("mram_unwritten=warn", True), ("race=off,mram_unwritten=fault", True),
     ("mram_unwritten=off", False), ("race=warn,race=off", False)],
)  # fmt: skip
def test_the_compiler_is_asked_by_the_check(checks: str, expected: bool) -> None:
    assert asked({"CUDLA_SIM_UPMEM_CHECKS": checks}) is expected


LATE = """
#include <barrier.h>
#include <defs.h>
#include <mutex.h>
#include <sem.h>
#include <stdint.h>
#include <vmutex.h>
BARRIER_INIT(all, NR_TASKLETS);
MUTEX_INIT(door);
VMUTEX_INIT(doors, 8, 1);
SEMAPHORE_INIT(given, 0);
uint32_t value;
__host uint32_t seen[NR_TASKLETS];
void set(void);
void see(void);
__attribute__((noinline)) void set(void) { value = 7; }
__attribute__((noinline)) void see(void) { seen[me()] = value; }
#define UNTOLD __attribute__((disable_sanitizer_instrumentation))
UNTOLD int main(void)
{
    if (me() == 0) {
        FIRST;
        for (volatile int i = 0; i < 2000; i++)
            ;
        set();
        LAST;
    } else {
        WAIT;
        see();
        ON;
    }
    return 0;
}
"""
LATE_WAYS = {
    "barrier": ("", "barrier_wait(&all)", "barrier_wait(&all)", ""),
    "mutex": ("mutex_lock(door)", "mutex_unlock(door)", "mutex_lock(door)", "mutex_unlock(door)"),
    "virtual": (
        *("vmutex_lock(&doors, 3)", "vmutex_unlock(&doors, 3)"),
        *("vmutex_lock(&doors, 3)", "vmutex_unlock(&doors, 3)"),
    ),
    "semaphore": ("", "sem_give(&given)", "sem_take(&given)", "sem_give(&given)"),
}


@pytest.mark.parametrize("timed", [False, True])
@pytest.mark.parametrize("way", LATE_WAYS)
def test_who_waits_when_the_first_access_is_told_is_ordered_behind_it(
    way: str, timed: bool, bench: Bench, told: Build
) -> None:
    """The search begins with that access: the others wait already, in the way without a search."""
    words = dict(zip(("FIRST", "LAST", "WAIT", "ON"), LATE_WAYS[way], strict=True))
    text = LATE
    for name, statement in words.items():
        text = text.replace(name, statement)
    bench.load(told(text, 5, "-DCOUNTED"))
    ended = bench.launch(Checks(race="fault"), slots=[0, 1, 2, 3], timed=timed)  # 0 is sampled
    assert not ended.faulted, ended.faulted[0]
    assert list(bench.var("seen", slot=3)) == [0, 7, 7, 7, 7]


PAIR = """
#include <defs.h>
#include <mram.h>
#include <stdint.h>
__host uint32_t counter;
__mram_noinit uint64_t data[NR_TASKLETS];
int main(void) {
    __dma_aligned uint64_t word = me();
    if (me() >= 2) {
        mram_write(&word, &data[me()], 8);
        counter = 100 + me();
        mram_write(&word, &data[me()], 8);
    } else {
        for (int i = 0; i < 20; i++)
            mram_write(&word, &data[me()], 8);
    }
    return 0;
}
"""


@pytest.mark.parametrize("mode", ["warn", "fault"])
@pytest.mark.parametrize("timed", [False, True])
def test_a_sampled_race_names_who_wrote(
    timed: bool, mode: str, bench: Bench, build: Build, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In hardware time who goes on is known before the writes of who ran are looked at."""
    monkeypatch.setenv("CUDLA_SIM_UPMEM_TIMING", "model")
    bench.load(build(PAIR, 4, "-DCOUNTED"))
    ended = bench.launch(Checks(race=mode, mram_unwritten="off"), slots=[0], timed=timed)
    found = ended.faulted[0]
    text = found.text if mode == "fault" else found.warnings[0]
    assert "tasklets 2 and 3" in text or "tasklets 3 and 2" in text, text
    assert found.tasklet in ({2, 3} if mode == "fault" else {0}), found


CONTEXT = """
struct context { uint8_t *ptr; uint32_t length; };
static char name[] = "ptr ";
__attribute__((noinline)) static uint32_t first(struct context *context) {
    __asm__ volatile("" : : : "memory");
    return context->ptr[0] + context->length;
}
int main(void) {
    struct context context = {buffer, sizeof(buffer)};
    buffer[me()] = (uint8_t)name[me()];
    barrier_wait(&all);
    seen[me()] = first(&context);
    return 0;
}
"""


def test_variables_have_the_name_of_a_type_of_the_compiler(bench: Bench, watched: Build) -> None:
    """Types of pointers are taken from the compiler's version: its debug data has any word."""
    bench.load(watched(CONTEXT, 3))
    ended = bench.launch(Checks(race="fault"), slots=[0])
    assert not ended.faulted, ended.faulted[0]
    assert bench.var("seen").tolist() == [ord("p") + 64] * 3
