"""Recorded instructions against the naive model, and ``cudla-sim dpu trace``."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from cudla_sim.core.process import Process
from cudla_sim.upmem.debug.state import State
from cudla_sim.upmem.debug.trace import Trace
from cudla_sim.upmem.isa.listing import of_elf
from tests.upmem.isa import naive
from tests.upmem.isa.test_commands import cudla_sim
from tests.upmem.vendor.running import running

from .programs import AGAIN, SUMS, TOTAL, elf, model

PAIRS = """
    move r0, 0x80000000
    move.s d2, -7
    move.u d4, -7
    lsr r6, r0, 3
    sd zero, 256, d2
    ld d8, zero, 256
    movd d10, d8
    stop
"""


def follow(dpu: naive.Dpu, tasklet: int) -> tuple[int, dict[int, int]]:
    """Executes an instruction: its index, and the registers that it changed."""
    t = dpu.tasklets[tasklet]
    index, before = t.pc, list(t.registers)
    dpu.step(t)
    return index, {n: r for n, r in enumerate(t.registers) if r != before[n]}


@pytest.mark.parametrize(("text", "tasklets"), [(SUMS, 4), (PAIRS, 1)])
def test_every_record_is_what_the_model_does(process: Process, text: str, tasklets: int) -> None:
    with running(process) as bench:
        state = State(bench.load(elf(text, tasklets)).dpus.dpus[0])
        made = Trace(state)
        expected = model(text)
        last = -1
        for piece in made.pieces():
            for cycle, index, who, first, count, _, carry, _, value, second in piece.tolist():
                assert cycle > last
                last = cycle
                at, changed = follow(expected, who)
                assert at == index
                assert carry == expected.tasklets[who].c
                written = {first: value, first + 1: second} if count == 2 else {first: value}
                assert changed.items() <= (written.items() if count else set())
                now = expected.tasklets[who].registers
                assert all(now[n] == r for n, r in written.items() if count)
        assert made.ended_by is None
        assert not any(t.running for t in expected.tasklets)
        if tasklets == 4:
            assert bench.words()[0] == TOTAL
            steps = int(state.core.cycles)
    if tasklets == 4:  # watching changes no cycle
        with running(process, timed=True) as bench:
            state = State(bench.load(elf(text, tasklets)).launch().dpus.dpus[0])
            assert state.core.cycles == steps


def test_parts_of_it(process: Process) -> None:
    with running(process) as bench:
        state = State(bench.load(elf(SUMS, 4)).dpus.dpus[0])
        whole = [r for piece in Trace(state).pieces() for r in piece.tolist()]
    with running(process) as bench:
        state = State(bench.load(elf(SUMS, 4)).dpus.dpus[0])
        made = Trace(state, 1 << 2, range(AGAIN, AGAIN + 3), 20)
        part = [r for piece in made.pieces() for r in piece.tolist()]
    wanted = [r for r in whole if r[2] == 2 and AGAIN <= r[1] < AGAIN + 3]
    assert part == wanted[:20]


def test_more_than_one_piece(process: Process) -> None:
    text = "move r0, 40000\nagain: add r0, r0, -1, nz, again\n stop\n"
    with running(process) as bench:
        state = State(bench.load(elf(text)).dpus.dpus[0])
        pieces = list(Trace(state).pieces())
    assert [len(piece) for piece in pieces] == [32768, 40002 - 32768]
    values = [r[8] for piece in pieces for r in piece.tolist()]
    assert values == [*range(40000, -1, -1), 0]


def test_the_command(tmp_path: Path) -> None:
    program, data = tmp_path / "task", tmp_path / "data"
    text = "lw r1, zero, 256\n add r1, r1, 1\n sw zero, 260, r1\n fault 5\n"
    program.write_bytes(elf(text).image())
    data.write_bytes((41).to_bytes(4, "little"))
    done = cudla_sim("dpu", "trace", program, "--input", f"shared={data}")
    assert done.returncode == 1
    lines = done.stdout.splitlines()
    assert [re.split(r"\s{2,}", line.strip())[-1] for line in lines[:2]] == ["r1=0x29", "r1=0x2a"]
    assert lines[1].split()[:4] == ["22", "0", "80000008", "main+1"]
    assert "add r1, r1, 1" in lines[1]
    assert "fault 5" in done.stderr
    assert len(of_elf(program.read_bytes()).words) == 4


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--function", "nobody"], "no function 'nobody'"),
        (["--input", "shared"], "give SYMBOL=FILE"),
        (["--input", "shared=/nowhere"], "/nowhere: No such file"),
        (["--input", f"other={__file__}"], "no symbol 'other'"),
    ],
)
def test_wrong_words(tmp_path: Path, words: list[str], said: str) -> None:
    program = tmp_path / "task"
    program.write_bytes(elf("stop\n").image())
    done = cudla_sim("dpu", "trace", program, *words)
    assert done.returncode != 0
    assert said in done.stderr
    assert "Traceback" not in done.stderr


def test_a_reader_may_leave(tmp_path: Path) -> None:
    program = tmp_path / "task"
    program.write_bytes(elf("again: add r0, r0, 1\n jump again\n").image())
    command = f"{sys.executable} -m cudla_sim dpu trace {program} | head -n 2"
    done = subprocess.run(["sh", "-c", command], capture_output=True, text=True, timeout=30)
    assert len(done.stdout.splitlines()) == 2
    assert done.stderr == ""
