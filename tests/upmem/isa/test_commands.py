"""Programs of DPU assembly from the commands to their results in a host."""

from __future__ import annotations

import platform
import subprocess
import sys
from pathlib import Path

import pytest

from cudla_sim.upmem.toolchain.dpu_assembly import is_dpu
from tests import warm
from tests.upmem.dpu_side.bench import dpu_cc

X86 = pytest.mark.skipif(platform.machine() != "x86_64", reason="C is compiled on x86-64 alone")

TASK = """\
#include "count.h"
    .text
    .globl main
    .type main, @function
main:                           // each tasklet adds up its share of the table
    sd r22, 0, d22
    add r22, r22, 8
    move r0, id8                // 8 bytes of the table and of the buffers
    add r1, r0, table
    add r2, r0, buffers
    ldma r2, r1, 0
    lw r3, r2, 0
    lw r4, r2, 4
    add r3, r3, r4
    lw r5, zero, factor
    call r23, multiply
    move r6, id4
    sw r6, sums, r3
    acquire zero, lock, nz, .
    lw r7, zero, launches
    add r7, r7, 1
    sw zero, launches, r7
    release zero, lock, nz, .+1
    ld d22, r22, -8
    jump r23
    .size main, .-main

multiply:                       // r3 times r5, by addition
    move r8, 0
1:  jz r5, 2f
    add r8, r8, r3
    add r5, r5, -1, true, 1b
2:  move r3, r8
    jump r23

    .section .data.__sys_host, "aw", @progbits
#define HOST(name, bytes) .globl name; .type name, @object; .size name, bytes; name: .space bytes
    HOST(factor, 4)
    HOST(launches, 4)
    HOST(sums, 4 * COUNT)
    .data
    .p2align 3
buffers: .space 8 * COUNT
    .section .mram, "aw"
    .globl table
    .type table, @object
    .size table, 8 * COUNT
table:
    .space 8 * COUNT
    .section .atomic
lock: .byte 0
"""
HOST = """
import sys
from dpu import DpuSet
with DpuSet(nr_dpus=2, binary=sys.argv[1]) as dpus:
    table = [bytearray(b"".join(n.to_bytes(4, "little") for n in range(k, k + 32))) for k in (0, 9)]
    dpus.copy("table", table)
    dpus.copy("factor", bytearray((3).to_bytes(4, "little")))
    for launch in range(2):
        dpus.exec()
    sums = [bytearray(64), bytearray(64)]
    dpus.copy(sums, "sums")
    count = [bytearray(4), bytearray(4)]
    dpus.copy(count, "launches")
for dpu in range(2):
    print([int.from_bytes(sums[dpu][i : i + 4], "little") for i in range(0, 64, 4)],
          int.from_bytes(count[dpu], "little"))
"""


@pytest.fixture
def task(tmp_path: Path) -> Path:
    (tmp_path / "count.h").write_text("#define COUNT 16\n")
    file = tmp_path / "task.S"
    file.write_text(TASK)
    return file


def cudla_sim(*words: str | Path) -> subprocess.CompletedProcess[str]:
    command = [warm.python(), "-m", "cudla_sim", *map(str, words)]
    return subprocess.run(command, capture_output=True, text=True, timeout=60)


def results(program: Path) -> list[str]:
    done = subprocess.run(
        [sys.executable, "-c", HOST, str(program)], capture_output=True, text=True, timeout=60
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


EXPECTED = [f"{[3 * (4 * n + 1 + 2 * k) for n in range(16)]} 32" for k in (0, 9)]


def test_the_assembler_makes_programs_for_hosts(task: Path, tmp_path: Path) -> None:
    program = tmp_path / "task"
    done = cudla_sim("dpu", "as", task, "-o", program, "--tasklets", "16")
    assert (done.returncode, done.stderr) == (0, "")
    assert results(program) == EXPECTED
    listed = cudla_sim("dpu", "disasm", program, "--function", "main").stdout
    assert "\tacquire zero, 0, nz, 0x800000c8\n" in listed


def test_so_does_the_compiler(task: Path, tmp_path: Path) -> None:
    program = tmp_path / "task"
    done = dpu_cc("-DNR_TASKLETS=16", "-O2", "-o", program, task)
    assert (done.returncode, done.stderr) == (0, "")
    assert results(program) == EXPECTED


@X86
def test_assembly_of_this_machine_is_as_before(tmp_path: Path) -> None:
    (tmp_path / "a.c").write_text("int main(void) { return 0; }\n")
    assert dpu_cc("-S", "-O2", "a.c", cwd=tmp_path).returncode == 0
    assert dpu_cc("a.s", "-o", "a", cwd=tmp_path).returncode == 0


@pytest.mark.parametrize(
    ("text", "dpu"),
    [
        ("main: call f\nret\n", False),
        ("f: movl %eax, %ebx\n", False),
        ("f: add %rax, %rbx\n", False),
        ("x: .word 7 % 4\n", False),
        ("main: add r1, r2, 7 % 4\n", True),
        ("main: nop\n", True),
        ("main: frob r0\n jump r23\n", True),
    ],
)
def test_whose_assembly_it_is(text: str, dpu: bool) -> None:
    assert is_dpu(text) == dpu


@X86
def test_an_instruction_of_nobody(tmp_path: Path) -> None:
    (tmp_path / "a.S").write_text("main:\n    frobnicate r1\n")
    done = dpu_cc("a.S", "-o", "a", cwd=tmp_path)
    assert done.returncode == 1
    assert done.stderr == (
        "a.S:2: error: 'frobnicate' is an instruction neither of a DPU nor of this machine\n"
    )


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("main: lsl r0, r1, 40\n", "task.S:1: error: 40 does not fit: lsl takes 0 to 31"),
        ("#error no\n", "the preprocessor failed for"),
        ('.section "x y"\n', "there is no section 'x y' in a DPU program"),
    ],
)
def test_what_the_assembler_refuses(text: str, complaint: str, tmp_path: Path) -> None:
    file = tmp_path / "task.S"
    file.write_text(text)
    done = cudla_sim("dpu", "as", file, "-o", tmp_path / "task")
    assert done.returncode == 1
    assert complaint in done.stderr.splitlines()[-1]
    assert not (tmp_path / "task").exists()


def test_files_that_are_not_there(tmp_path: Path) -> None:
    done = cudla_sim("dpu", "as", tmp_path / "none.S", "-o", tmp_path / "task")
    assert (done.returncode, len(done.stderr.splitlines())) == (1, 1)
    assert "none.S: No such file or directory" in done.stderr
