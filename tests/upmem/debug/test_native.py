"""``cudla-sim dpu debug``: gdb on natively running programs."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from cudla_sim.upmem.toolchain.cli import choose_route
from tests.upmem.dpu_side.bench import dpu_cc

from .programs import elf

GDB = pytest.mark.skipif(shutil.which("gdb") is None, reason="gdb is not installed")
TASK = """\
#include <barrier.h>
#include <defs.h>
#include <stdint.h>
BARRIER_INIT(meet, NR_TASKLETS)
__host uint32_t sums[NR_TASKLETS];
static volatile uint32_t never;
static uint32_t work(uint32_t n)
{
    uint32_t sum = 0;
    for (uint32_t i = 0; i <= n; i++)
        sum += i;
    return sum;
}
int main(void)
{
    uint32_t mine = me() + 10;
    sums[me()] = work(mine);
    barrier_wait(&meet);
    if (me() == 1)
        never = FAULTS ? 7 / (sums[0] - 55) : 0;
    return 0;
}
"""
HOST = """
import sys
from dpu import DpuSet
with DpuSet(nr_dpus=1, binary=sys.argv[1]) as dpus:
    dpus.exec()
    print("host has ended")
"""


def built(folder: Path, faults: int = 0) -> Path:
    (folder / "task.c").write_text(TASK)
    program = folder / "task"
    words = ["-g", "-O0", "-DNR_TASKLETS=3", f"-DFAULTS={faults}"]
    done = dpu_cc(*words, folder / "task.c", "-o", program)
    assert done.returncode == 0, done.stderr
    return program


def debug(
    program: Path, *commands: str, path: str | None = None
) -> subprocess.CompletedProcess[str]:
    words = [word for command in commands for word in ("--ex", command)]
    started = [sys.executable, "-m", "cudla_sim", "dpu", "debug", "--batch", *words, "--"]
    return subprocess.run(
        [*started, sys.executable, "-c", HOST, str(program)],
        env={**os.environ, "PATH": path or os.environ["PATH"]},
        stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60,
    )  # fmt: skip


@GDB
def test_breakpoints_steps_and_tasklets(tmp_path: Path) -> None:
    if not choose_route()[0].clang:
        pytest.skip("gcc's frames end below a barrier: gdb does not find who called it")
    done = debug(
        built(tmp_path),
        "break work if $_tasklet() == 2",
        "continue",
        "info tasklets",
        "tasklet 0",
        "print mine",
        "tasklet 2",
        "next",
        "next",
        "next",
        "print i",
        "tasklet 0",
        "finish",
        "print $",
        "delete",
        "continue",
    )
    if "ptrace: Operation not permitted" in done.stderr:
        pytest.skip("this system does not let gdb attach")
    assert done.returncode == 0
    assert "host has ended" in done.stdout
    lines = done.stdout.splitlines()
    assert "[tasklet 2]" in lines
    waiting = [" ".join(line.split()) for line in lines if "waits at" in line]
    assert waiting == [f"{n} waits at a barrier main () at task.c:18" for n in range(2)]
    assert "*  2 runs" in done.stdout
    assert "$1 = 10" in lines  # mine of tasklet 0
    assert "$2 = 0" in lines  # i of tasklet 2
    assert f"Value returned is $3 = {sum(range(13))}" in lines


@GDB
def test_a_fault_stops_before_its_end(tmp_path: Path) -> None:
    done = debug(built(tmp_path, faults=1), "continue", "info tasklets", "continue")
    if "ptrace: Operation not permitted" in done.stderr:
        pytest.skip("this system does not let gdb attach")
    assert "[tasklet 1 is in fault at task.c:20; continue ends it]" in done.stdout
    assert "division by zero; tasklet 1" in done.stderr
    assert done.returncode == 1


@GDB
def test_other_programs_are_sent_elsewhere(tmp_path: Path) -> None:
    program = tmp_path / "task"
    program.write_bytes(elf("stop\n").image())
    done = debug(program, "continue")
    assert "CUDLA_SIM_UPMEM_GDB=PORT" in done.stderr
    assert "host has ended" in done.stdout


def test_without_gdb(tmp_path: Path) -> None:
    done = debug(tmp_path / "nothing", path=str(tmp_path))
    assert done.returncode == 127
    assert "gdb is not installed (apt-get install gdb)" in done.stderr
