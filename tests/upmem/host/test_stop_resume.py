"""Tasklets that stop, and are resumed by others that count on the DPU's turns."""

from __future__ import annotations

import ctypes
import subprocess
from ctypes import byref
from pathlib import Path

import pytest

import cudla_sim
from cudla_sim import paths

from .hosting import Host, status
from .kernels import Kernel

# Tasklet 0 gives work to the others, round after round, and never asks whether they have stopped.
WORKERS = """
#include <attributes.h>
#include <barrier.h>
#include <defs.h>
#include <stdint.h>
BARRIER_INIT(together, NR_TASKLETS);
__host uint32_t work[NR_TASKLETS], sums[NR_TASKLETS];
int main(void)
{
    if (me() == 0) {
        for (uint32_t round = 1; round <= 20; round++) {
            for (uint32_t i = 1; i < NR_TASKLETS; i++) {
                work[i] = round * i;
                __asm__ volatile("resume %[id], 0;" ::[id] "r"(i));
            }
            barrier_wait(&together);
        }
        return 0;
    }
    for (;;) {
        __asm__ volatile("stop false, 1f; 1:");
        sums[me()] += ((volatile uint32_t *)work)[me()];
        barrier_wait(&together);
    }
}
"""

# In turns tasklet 1 has stopped after three instructions, long before it is resumed.
ASSEMBLY = """
    .text
    .globl main
    .type main, @function
main:
    jnz id, worker
@NOPS@    move r0, 1
    resume r0, 0
    jump r23
worker:
    stop true, resumed
resumed:
    move r1, 42
    sw zero, seen, r1
    jump r23
    .size main, .-main
    .section .data.__sys_host, "aw", @progbits
    .globl seen
    .type seen, @object
    .size seen, 8
seen: .space 8
"""


def launched(host: Host, program: Path, name: bytes, words: int, timing: str) -> list[int]:
    cudla_sim.configure(upmem_timing=timing)
    found = (ctypes.c_uint32 * words)()
    with host.alloc(1) as made:
        host.ok(host.api.dpu_load(made, str(program).encode(), None))
        host.ok(host.api.dpu_launch(made, 1))
        host.ok(host.api.dpu_copy_from(made, name, 0, byref(found), 4 * words))
    return list(found)


@pytest.mark.parametrize("timing", ["off", "model"])
def test_work_given_without_asking(host: Host, kernel: Kernel, timing: str) -> None:
    """All workers have stopped in the end, which ends the launch."""
    sums = launched(host, kernel(WORKERS, 8), b"sums", 8, timing)
    assert sums == [i * 20 * 21 // 2 for i in range(8)]


@pytest.mark.parametrize("timing", ["off", "model"])
def test_the_same_in_the_dpus_own_instructions(host: Host, tmp_path: Path, timing: str) -> None:
    source, program = tmp_path / "turns.S", tmp_path / "turns"
    source.write_text(ASSEMBLY.replace("@NOPS@", "    nop\n" * 20))
    compiler = str(paths.sdk_dir() / "bin" / "dpu-upmem-dpurte-clang")
    command = [compiler, "-DNR_TASKLETS=2", str(source), "-o", str(program)]
    subprocess.run(command, check=True)
    assert launched(host, program, b"seen", 2, timing) == [42, 0]


def test_who_waits_at_a_barrier_beside_stopped_tasklets_is_a_deadlock(
    host: Host, kernel: Kernel
) -> None:
    source = WORKERS.replace("round <= 20", "round <= 0").replace(
        "        return 0;\n", "        barrier_wait(&together);\n        return 0;\n"
    )
    with host.alloc(1) as made:
        host.ok(host.api.dpu_load(made, str(kernel(source, 3)).encode(), None))
        assert host.api.dpu_launch(made, 1) == status("DPU_FAULT")
        assert "deadlock: tasklet 0 waits at barrier" in cudla_sim.last_explanation()
