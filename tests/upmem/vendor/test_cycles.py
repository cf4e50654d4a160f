"""Cycles of the pipeline and the DMA engine, against a schedule made cycle by cycle here.

A DPU issues one instruction a cycle, and the same tasklet again after 11. The engine moves one
transfer after the other; numbers are those of UPMEM's hardware that the native model has, too.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import cudla_sim
from cudla_sim.core.process import Process

from ..timing.test_schedule import READ_LATENCY, ROW_OTHER, ROW_SAME
from .elves import program
from .running import running
from .words import (
    ID,
    NZ,
    ZERO,
    Z,
    add,
    branch,
    load,
    move,
    stop_at,
    store,
    word,
)

ISSUE = 11


@dataclass
class Schedule:
    """``streams``: of each tasklet, "x" an instruction, "b" a boot of the next tasklet, a number
    for a read of so many bytes from its own kilobyte of MRAM."""

    streams: list[list[str | int]]
    now: int = 0
    ready: dict[int, int] = field(default_factory=lambda: {0: ISSUE})
    ends: dict[int, int] = field(default_factory=dict)
    free: int = 0
    row: int = -1

    def run(self) -> int:
        position = [0] * len(self.streams)
        issued = 0
        while self.ready:
            waiting = {t: at for t, at in self.ready.items() if at <= self.now}
            if not waiting:
                self.now = min(self.ready.values())
                continue
            turn = min(waiting, key=lambda t: (waiting[t], t))
            what = self.streams[turn][position[turn]]
            position[turn] += 1
            issued += 1
            self.ready[turn] = self.now + ISSUE
            if what == "b":
                self.ready[turn + 1] = self.now + ISSUE
            elif isinstance(what, int):
                self.ready[turn] = self.read(turn, what)
            if position[turn] == len(self.streams[turn]):
                self.ends[turn] = self.now
                del self.ready[turn]
            self.now += 1
        return issued

    def read(self, row: int, size: int) -> int:
        """When the tasklet goes on; a transfer stays in one row."""
        moving = size * 52 // 100
        start = max(self.now, self.free)
        self.free = start + moving + (ROW_SAME if row == self.row else ROW_OTHER)
        self.row = row
        return max(start + moving + READ_LATENCY, self.free)


def body(items: list[str | int], last: int) -> tuple[list[int], list[list[str | int]]]:
    """A program in which tasklets 0 .. last do the same, and its streams."""
    code = [branch(Z, ID, last, 2), word("BOOT_PLAIN", a=ID, imm=1)]
    code += [
        word("LSL_WORD_I_PLAIN", dest=1, a=ID, imm=10),
        word("LSL_WORD_I_PLAIN", dest=0, a=ID, imm=10),
    ]
    for item in items:
        code.append(
            word("LDMA", a=0, b=1, imm=item // 8 - 1) if isinstance(item, int) else add(2, 2, 1)
        )
    code.append(stop_at(len(code)))
    streams: list[list[str | int]] = []
    for t in range(last + 1):
        boot: list[str | int] = ["x"] if t == last else ["x", "b"]
        streams.append([*boot, "x", "x", *items, "x"])
    return code, streams


def measured(process: Process, code: list[int], tasklets: int) -> tuple[int, int, list[int]]:
    with running(process, timed=True) as dpus:
        dpus.load(program(code, tasklets)).launch()
        times = dpus.times
        assert times.cycles is not None
        ends = [t.end_cycles for t in times.tasklets]
        return times.cycles, times.instructions, ends


@pytest.mark.parametrize("tasklets", [1, 2, 10, 11, 12, 16, 24])
def test_instructions_alone(process: Process, tasklets: int) -> None:
    code, streams = body(["x"] * 100, tasklets - 1)
    expected = Schedule(streams)
    issued = expected.run()
    _, instructions, ends = measured(process, code, tasklets)
    assert instructions == issued
    late = [abs(end - expected.ends[t]) for t, end in enumerate(ends)]
    # with more than 11 it is free before whom a booted tasklet takes its first turn
    assert max(late) <= (0 if tasklets <= ISSUE else tasklets)


@given(
    st.integers(1, 24),
    st.lists(st.one_of(st.just("x"), st.sampled_from([8, 64, 256, 1024])), max_size=40),
)
@settings(max_examples=25, deadline=None)
def test_with_transfers(tasklets: int, items: list[str | int]) -> None:
    code, streams = body(items, tasklets - 1)
    expected = Schedule(streams)
    issued = expected.run()
    process = Process(cudla_sim.process.config)
    try:
        _, instructions, ends = measured(process, code, tasklets)
    finally:
        process.close()
    assert instructions == issued
    last = max(expected.ends.values())
    # who comes first of two that are ready in one cycle is free: it moves an end by some cycles
    assert abs(max(ends) - last) <= max(2 * tasklets, last // 100)


def test_a_transfer_alone(process: Process) -> None:
    """From issue to next issue 66 cycles and 0.52 a byte."""
    found = []
    for count in (1, 5):
        code, _ = body([1024] * count, 0)
        found.append(measured(process, code, 1)[2][0])
    assert found[1] - found[0] == 4 * (READ_LATENCY + 532)


COUNTER = [
    word("TIME_CFG_WORD_R_PLAIN", dest=0, b=3),
    *[add(1, 1, 1)] * 100,
    word("TIME_WORD_PLAIN", dest=2),
    store(ZERO, 256, 2),
    stop_at(103),
]


@pytest.mark.parametrize(("what", "counts"), [(1, 101 * ISSUE), (2, 101), (3, 0)])
def test_the_time_counter(process: Process, what: int, counts: int) -> None:
    """Bit 0 restarts it, the bits above choose cycles, instructions, or nothing; 16 are one."""
    code = [move(3, what << 1 | 1), *COUNTER[:-1], stop_at(104)]
    with running(process, timed=True) as dpus:
        dpus.load(program(code)).launch()
        assert dpus.words()[0] == counts >> 4


def test_retries_of_a_lock_are_counted(process: Process) -> None:
    """A tasklet holds a lock for 50 instructions; another one tries every 11 cycles."""
    code = [
        branch(NZ, ID, 0, 6),
        word("ACQUIRE", a=ZERO, imm=1, cc=NZ, pc=1),
        word("BOOT_PLAIN", a=ID, imm=1),
        move(0, 49),
        word("ADD_WORD_I_BRANCH", dest=0, a=0, imm=-1, cc=NZ, pc=4),
        word("RELEASE", a=ZERO, imm=1, pc=8),
        word("ACQUIRE", a=ZERO, imm=1, cc=NZ, pc=6),
        load(0, ZERO, 256),
        stop_at(8),
    ]
    with running(process, timed=True) as dpus:
        dpus.load(program(code, 2)).launch()
        first, second = dpus.times.tasklets
    assert 48 <= second.retries <= 51
    assert second.half_instructions == 2 * (second.retries + 4)
    assert first.half_instructions == 2 * 55
