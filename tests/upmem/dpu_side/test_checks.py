"""The strict checks: each with its switch."""

from __future__ import annotations

from dataclasses import fields

import numpy as np
import pytest

from cudla_sim.constants.dpu_protocol import FaultKind
from cudla_sim.upmem.workers.checks import Checks
from cudla_sim.workers.switches import MODES

from .bench import Bench
from .conftest import Build

pytestmark = pytest.mark.slow

COMMON = """
#include <alloc.h>
#include <barrier.h>
#include <defs.h>
#include <mram.h>
#include <mutex.h>
#include <stdint.h>
BARRIER_INIT(all, NR_TASKLETS)
MUTEX_INIT(door);
volatile uint32_t zero, shared;
__host uint32_t ended;
__dma_aligned uint8_t buffer[4096];
__mram_noinit uint8_t data[65536];
"""
# check -> (statement, kind, words of the explanation)
CASES = {
    "mram_alignment": (
        "mram_write(buffer, data + 4 + zero, 16);",
        FaultKind.MRAM_ALIGN,
        "multiples",
    ),
    "mram_bounds": (
        "mram_write(buffer, (__mram_ptr void *)(0x0c000000 + zero), 8);",
        FaultKind.MRAM_BOUNDS,
        "64 MiB",
    ),
    "dma_size": ("mram_write(buffer, data, 20 + zero);", FaultKind.DMA_SIZE, "DMA of 20"),
    "wram_bounds": ("buffer[66000 + zero] = 1;", FaultKind.MEMORY, "past the end"),
    "stack_overflow": (
        "volatile char large[20000]; large[zero] = 1; large[0] = 2;",
        FaultKind.STACK,
        "stack overflow",
    ),
    "mram_unwritten": (
        "mram_read(data + 4096, buffer, 64 + zero);",
        FaultKind.UNWRITTEN,
        "written",
    ),
    "heap_on_stacks": (
        "if (me() == 0) { uint32_t used = (uint32_t)(uintptr_t)mem_reset() & 0xffff; "
        "mem_alloc(65536 - used - 8); mem_alloc(1800); }",
        FaultKind.PROGRAM,
        "the heap is full",
    ),
    "null_pointer": (
        "volatile uint64_t *none = (void *)(uintptr_t)zero; none[1] = 1;",
        FaultKind.NULL,
        "NULL pointer",
    ),
    "race": (
        "shared = me() + 1; barrier_wait(&all); uint32_t old = shared; mram_write(buffer, "
        "data, 8); "
        "shared = old + 1 + me();",
        FaultKind.RACE,
        "race: tasklets 0 and 1 both wrote WRAM address",
    ),
    "deadlock": (
        "if (me() == 1) { ended = 1; barrier_wait(&all); ended = 2; }",
        FaultKind.DEADLOCK,
        "deadlock: tasklet 0 has ended, tasklet 1 waits at barrier WRAM address",
    ),
}


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("check", CASES)
def test_switch(check: str, mode: str, bench: Bench, build: Build) -> None:
    statement, kind, text = CASES[check]
    program = build(f"{COMMON}int main(void) {{ {statement} ended = 1; return 0; }}", 2)
    outcome = bench.run(program, Checks.parse(f"off,{check}={mode}"))
    if mode == "fault":
        assert (outcome.status, outcome.fault) == ("fault", kind)
        assert text in outcome.text
    else:
        assert outcome.status == "done"
        assert bench.var("ended")[0] == 1
        assert [text in w for w in outcome.warnings] == ([True] if mode == "warn" else [])


def test_every_check_has_a_case() -> None:
    of_the_host = {"sg_overlap", "prepared_twice"}  # tests/upmem/host
    assert set(CASES) == {f.name for f in fields(Checks)} - of_the_host


def test_checks_parse() -> None:
    assert Checks.parse("") == Checks()
    assert Checks.parse("race=off, dma_size=warn") == Checks(race="off", dma_size="warn")
    assert {getattr(Checks.parse("warn"), f.name) for f in fields(Checks)} == {"warn"}
    for wrong in ("race", "race=on", "speed=off"):
        with pytest.raises(ValueError, match="is no check"):
            Checks.parse(wrong)


def test_a_word_at_an_address_inside_it_only_warns(bench: Bench, build: Build) -> None:
    source = (
        COMMON
        + "int main(void) { buffer[3] = 9; mram_write(buffer, data, 8); "
        + ("mram_read(data + 3 + zero, buffer + 8, 8); ended = buffer[11]; return 0; }")
    )
    outcome = bench.run(build(source))
    assert outcome.status == "done"
    assert len(outcome.warnings) == 1
    assert bench.var("ended")[0] == 9


NULLS = """
#include <defs.h>
#include <stdint.h>
volatile long *lock;         /* nobody sets it, as in public transactional memories */
volatile uint8_t *bytes;
struct { uint64_t pad; volatile uint16_t half; } *record;
__host uint64_t seen[8];
volatile uint32_t place = 2;
static volatile uint64_t *volatile none;
int main(void) {
    seen[0] = *lock;
    *lock = *lock + 5;
    *lock += 7;
    (*lock)++;
    seen[1] = *lock;
    record->half = 0xabcd;
    seen[2] = record->half;
    bytes[9 + place] = 0x17;
    seen[3] = bytes[place + 9];
    seen[4] = none[1];
    __atomic_fetch_add((uint32_t *)none + 3, 0x01000000u, __ATOMIC_SEQ_CST);
    seen[5] = none[1];
    if (*lock > 12) seen[6] = 1;
    volatile long *self = (volatile long *)none;
    self = (volatile long *)(uintptr_t)*self;  /* loads the register that holds the address */
    seen[7] = (uintptr_t)self;
    return 0;
}"""


def test_null_pointers_reach_the_bytes_that_a_dpu_keeps_for_them(
    bench: Bench, build: Build
) -> None:
    """UPMEM's linker puts ``__sys_null_pointer``, 16 bytes, at WRAM address 0."""
    outcome = bench.run(build(NULLS))
    assert outcome.status == "done"
    assert len(outcome.warnings) >= 1
    assert all("NULL pointer" in warning for warning in outcome.warnings)
    second = 0xABCD | 0x17 << 24
    assert bench.var("seen", np.uint64).tolist() == [
        0, 13, 0xABCD, 0x17, second, second | 1 << 56, 1, 13
    ]  # fmt: skip


def test_behind_those_bytes_is_a_fault(bench: Bench, build: Build) -> None:
    source = (
        f"{COMMON}int main(void) {{ ((volatile uint32_t *)(uintptr_t)zero)[4] = 1; return 0; }}"
    )
    outcome = bench.run(build(source), Checks(null_pointer="off"))
    assert (outcome.status, outcome.fault) == ("fault", FaultKind.NULL)


def test_a_transfer_drops_the_low_bits_of_both_addresses(bench: Bench, build: Build) -> None:
    source = (
        COMMON
        + """
int main(void) {
    for (int i = 0; i < 64; i++) buffer[i] = i;
    mram_write(buffer + 3 + zero, data + 13 + zero, 16);
    mram_read(data + 9 + zero, buffer + 70 + zero, 16);
    for (int i = 0; i < 16; i++) ended += buffer[64 + i];
    return 0;
}"""
    )
    outcome = bench.run(build(source))
    assert outcome.status == "done"
    assert len(outcome.warnings) == 2
    assert bench.var("data", np.uint8)[:32].tolist() == [0] * 8 + list(range(16)) + [0] * 8
    assert bench.var("ended")[0] == sum(range(16))


def test_written_by_dma_host_or_pointer_is_written(bench: Bench, build: Build) -> None:
    source = (
        COMMON
        + """
int main(void) {
    mram_write(buffer, data + 8, 8);
    mram_read(data, buffer, 16);         /* half of it was written */
    data[1024] = 1;
    mram_read(data + 1024, buffer, 8);   /* by pointer */
    mram_read(data + 2048, buffer, 8);   /* by the host, zeros */
    return 0;
}"""
    )
    program = build(source)
    bench.load(program)
    bench.at(program.symbols["data"][0] + 2048, 8)[:] = 0
    assert not bench.launch(Checks(mram_unwritten="fault"), [0]).faulted


def test_locks_and_barriers_are_no_race(bench: Bench, build: Build) -> None:
    source = (
        COMMON
        + """
#include <alloc.h>
#include <handshake.h>
#include <sem.h>
#include <vmutex.h>
SEMAPHORE_INIT(one, 1)
VMUTEX_INIT(many, 8, 1);
uint8_t neighbours[NR_TASKLETS];
volatile uint32_t counts[4];
int main(void) {
    mem_alloc(8);
    for (int i = 0; i < 20; i++) {
        neighbours[me()]++;
        mutex_lock(door); counts[0]++; mutex_unlock(door);
        sem_take(&one); counts[1]++; sem_give(&one);
        vmutex_lock(&many, 5); counts[2]++; vmutex_unlock(&many, 5);
        mram_write(buffer + 8 * me(), data + 8 * me(), 8);
        barrier_wait(&all);
        if (i % NR_TASKLETS == (int)me()) counts[3] += i;
        barrier_wait(&all);
    }
    if (me()) handshake_wait_for(me() - 1);
    shared += me() + 1;
    if (me() < NR_TASKLETS - 1) handshake_notify();
    return 0;
}"""
    )
    assert bench.run(build(source, 8), Checks(race="fault")).status == "done"
    assert bench.var("shared")[0] == 36


def test_a_warning_is_given_once_for_all_dpus(bench: Bench, build: Build) -> None:
    program = build(COMMON + "int main(void) { mram_read(data, buffer, 8 + zero); return 0; }")
    bench.load(program)
    texts = [w for _ in range(3) for o in bench.launch().faulted for w in o.warnings]
    assert len(texts) == 1


def test_a_stack_warning_comes_back_in_every_launch(bench: Bench, build: Build) -> None:
    source = COMMON + (
        "int main(void) { volatile char large[20000]; large[zero] = 1; large[0] = 2; return 0; }"
    )
    bench.load(build(source))
    assert len(bench.launch(Checks(stack_overflow="warn"), [0]).faulted) == 1
    ended = bench.launch(Checks(), [0, 1, 2, 3])
    assert {o.fault for o in ended.faulted} == {FaultKind.STACK}
    assert len(ended.faulted) == 4
    assert not bench.launch(Checks(stack_overflow="off")).faulted


@pytest.mark.parametrize(("asked", "moved"), [(0, 2048), (12, 8), (2056, 8), (2064, 16), (20, 16)])
def test_a_dma_of_another_size_moves_what_the_hardware_moves(
    asked: int, moved: int, bench: Bench, build: Build
) -> None:
    """The size field has eight bits, words less one; programs run into that and go on."""
    source = f"""
#include <alloc.h>
#include <mram.h>
#include <stdint.h>
__host volatile uint32_t size = {asked};
__mram_noinit uint8_t data[4096];
int main(void) {{
    uint8_t *buffer = mem_alloc(4096);
    for (int i = 0; i < 4096; i++)
        buffer[i] = 7;
    mram_write(buffer, data, size);
    return 0;
}}"""
    outcome = bench.run(build(source))
    assert outcome.status == "done"
    assert len(outcome.warnings) == 1
    assert f"DMA of {asked} bytes" in outcome.warnings[0]
    assert f"moves {moved} bytes (CUDLA_SIM_UPMEM_CHECKS=dma_size=fault" in outcome.warnings[0]
    assert np.flatnonzero(bench.var("data", np.uint8)).tolist() == list(range(moved))
    assert bench.run(build(source), Checks.parse("dma_size=fault")).fault == FaultKind.DMA_SIZE


def test_the_runtimes_own_data_are_no_race(bench: Bench, build: Build) -> None:
    """mem_alloc is safe to call from all tasklets; its pointer lies next to the program's data."""
    source = """
#include <alloc.h>
#include <attributes.h>
#include <barrier.h>
#include <defs.h>
#include <stdint.h>
BARRIER_INIT(all, NR_TASKLETS);
uint32_t own[NR_TASKLETS];
int main(void) {
    own[me()] = (uint32_t)(uintptr_t)mem_alloc(64);
    barrier_wait(&all);
    mem_alloc(64);
    return (int)own[0];
}"""
    for tasklets in (2, 3, 4, 5):
        assert bench.run(build(source, tasklets)).warnings == []


STUCK = (
    COMMON
    + """
#include <handshake.h>
#include <sem.h>
SEMAPHORE_INIT(none, 0);
int main(void) { WAIT; ended++; return 0; }
"""
)


@pytest.mark.parametrize("timed", [False, True])
@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize(
    ("wait", "ends"),
    [
        ("if (me() > 1) barrier_wait(&all)", True),
        ("if (me() > 1) sem_take(&none)", True),
        ("if (me() == 2) handshake_wait_for(0); if (me() == 3) handshake_notify()", True),
        ("if (me() == 2) sem_take(&none); while (me() == 3) mutex_lock(door)", False),
    ],
)
def test_a_launch_ends_where_a_dpu_does(
    wait: str,
    ends: bool,
    mode: str,
    timed: bool,
    bench: Bench,
    build: Build,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Two tasklets end, two wait for ever. A DPU is done when no tasklet runs; one that retries a
    lock does. The next launch begins anew."""
    monkeypatch.setenv("CUDLA_SIM_UPMEM_TIMING", "model")
    bench.program = build(STUCK.replace("WAIT", wait), 4, "-DCOUNTED")
    for launch in range(2):
        bench.load(bench.program)
        ended = bench.launch(Checks(deadlock=mode, race="off"), slots=[0], timed=timed)
        assert bench.var("ended")[0] == 2
        found = ended.faulted[0] if ended.faulted else None
        if mode == "fault" or not ends:
            assert found
            assert (found.status, found.fault) == ("fault", FaultKind.DEADLOCK)
            assert ("deadlock=warn ends the launch" in found.text) == ends
            break
        if mode == "warn" and launch == 0:
            assert found
            assert found.status == "done"
            assert "each of tasklets 0 to 1 has ended" in found.warnings[0]
        else:
            assert found is None
