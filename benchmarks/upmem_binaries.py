"""How fast the interpreter of the DPU's own instructions is, and whether it uses all cores.

The program is assembled here: 16 tasklets, nine instructions a round, loads and stores among them.
"""

from __future__ import annotations

import os
import statistics
import subprocess
import tempfile
from pathlib import Path
from time import perf_counter

import numpy as np

import cudla_sim
from cudla_sim import paths
from cudla_sim.upmem import launch, load
from cudla_sim.upmem.machine import DpuSet, machine
from cudla_sim.upmem.program import read

from .report import Figure

TASKLETS, ROUNDS, PER_ROUND, DPUS = 16, 70_000, 9, 64
SOURCE = """
    .text
    .globl main
    .type main, @function
main:
    lw r0, zero, rounds
    move r4, id8
1:  lw r1, r4, data
    lw r2, r4, data + 4
    add r3, r1, r2
    sw r4, data, r3
    lsl r5, r3, 3
    xor r6, r5, r3
    sub r2, r6, r1
    sw r4, data + 4, r2
    add r0, r0, -1, nz, 1b
    jump r23
    .size main, .-main
    .section .data.__sys_host, "aw", @progbits
#define HOST(name, bytes) .p2align 3; .globl name; .type name, @object; .size name, bytes; name:
    HOST(rounds, 8) .space 8
    HOST(data, 8 * 24) .space 8 * 24
"""


def assembled() -> bytes:
    compiler = paths.sdk_dir() / "bin" / "dpu-upmem-dpurte-clang"
    with tempfile.TemporaryDirectory() as folder:
        source, program = Path(folder) / "loop.S", Path(folder) / "loop"
        source.write_text(SOURCE)
        command = [compiler, f"-DNR_TASKLETS={TASKLETS}", source, "-o", program]
        subprocess.run(command, check=True)
        return program.read_bytes()


def seconds(dpus: DpuSet, runs: int) -> float:
    """The median time of a launch, after one that does not count."""
    times = []
    for _ in range(runs + 1):
        begin = perf_counter()
        launch.launch(dpus, False)
        times.append(perf_counter() - begin)
    return statistics.median(times[1:])


def figures() -> list[Figure]:
    image, found = assembled(), []
    cores = len(os.sched_getaffinity(0))
    for timing, goal in (("off", 250), ("model", 150)):
        cudla_sim.reset()
        cudla_sim.configure(upmem_timing=timing)
        took = []
        for count, runs in ((1, 7), (DPUS, 3)):
            dpus = machine().allocate(count)
            load.load(dpus, read(image, "loop"))
            for dpu in dpus.dpus:
                dpu.symbols["rounds"].view(np.uint64)[0] = ROUNDS
            took.append(seconds(dpus, runs))
            machine().free(dpus)
        one, many = took
        rate = TASKLETS * ROUNDS * PER_ROUND / one / 1e6
        found += [
            Figure(f"instructions, timing {timing}", rate, "MIPS", goal, "higher"),
            Figure(
                f"{DPUS} DPUs / {DPUS} times one on {cores} cores, timing {timing}",
                many * cores / (DPUS * one),
                "",
                1.1,
            ),
        ]
    return found
