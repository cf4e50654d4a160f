"""Programs of several tasklets: by the naive model, by the interpreter in both its ways."""

from __future__ import annotations

from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cudla_sim.upmem.assembler.assembling import Assembler
from cudla_sim.upmem.assembler.sections import TEXT
from cudla_sim.upmem.isa.forms import Role

from . import naive, words
from .interpreter import FAULTS, STOP, interpreter
from .test_interpreter import PATTERN, TESTABLE

M32 = 0xFFFF_FFFF
ALONE = {"CALL", "FAULT", "ACQUIRE", "RELEASE", "LDMA", "SDMA"}
"""Not in random programs, which would end or wait, or need all of MRAM."""
u32 = st.one_of(st.sampled_from(words.EDGES), st.integers(0, M32))
u64 = st.one_of(st.sampled_from((0, 1, M32, 1 << 32, (1 << 64) - 1)), st.integers(0, (1 << 64) - 1))


def code(text: str) -> list[int]:
    """The words of a text, the first at instruction 0."""
    made = Assembler()
    made.read(text, "test")
    data = made.bytes_of(made.sections[TEXT])
    return [int.from_bytes(data[i : i + 8], "little") for i in range(0, len(data), 8)]


def both(
    text: str, registers: list[int] | None = None, wram: bytes = b"", mram: bytes = b""
) -> naive.Dpu:
    """What all three agree on: registers of all tasklets and memories."""
    program = code(text)
    dpu = naive.run(program, registers or [], wram, mram)
    for timed in (False, True):
        bench = interpreter()
        state = bench.run(program, registers or [], wram, mram, timed=timed)
        assert state.fault == 0
        assert bench.wram == bytes(dpu.wram)
        assert bench.mram == bytes(dpu.mram)
        for tasklet in dpu.tasklets:
            assert list(state.registers[tasklet.number]) == tasklet.registers, tasklet.number
    return dpu


MULTIPLY = "\n".join(
    ["move r2, r0", "move r0, r1", "move r1, 0"]
    + [f"mul_step d0, r2, d0, {n}, z, done" for n in range(32)]
    + ["done: stop"]
)
DIVIDE = "\n".join(
    ["move r2, r1", "move r1, r0", "move r0, 0"]
    + [f"div_step d0, r2, d0, {n}" for n in reversed(range(32))]
    + ["stop"]
)


@given(u32, u32)
@settings(max_examples=40)
def test_multiplication_by_steps(a: int, b: int) -> None:
    assert both(MULTIPLY, [a, b]).tasklets[0].registers[1] == a * b & M32


@given(u32, u32.filter(bool))
@settings(max_examples=40)
def test_division_by_steps(a: int, b: int) -> None:
    quotient, rest = both(DIVIDE, [a, b]).tasklets[0].registers[:2]
    assert (quotient, rest) == divmod(a, b)


LONG = """
    add r5, r1, r3
    addc r4, r0, r2
    sub r7, r1, r3
    subc r6, r0, r2
    sub zero, r1, r3
    subc r8, r0, r2, xleu
    sub zero, r1, r3
    subc r9, r0, r2, lts
    sub zero, r1, r3
    subc r10, r0, r2, xz
    sub zero, r1, r3
    subc zero, r0, r2, xgts, 1f
    move r11, 5
1:  stop
"""


@given(u64, u64)
@settings(max_examples=40)
def test_numbers_of_64_bits(a: int, b: int) -> None:
    r = both(LONG, [a >> 32, a & M32, b >> 32, b & M32]).tasklets[0].registers

    def signed(x: int) -> int:
        return x - (x >> 63 << 64)

    mask = (1 << 64) - 1
    assert r[4] << 32 | r[5] == a + b & mask
    assert r[6] << 32 | r[7] == a - b & mask
    assert (r[8], r[9], r[10]) == (a <= b, signed(a) < signed(b), a == b)
    assert (r[11] == 5) == (signed(a) <= signed(b))


COUNTER = """
    jeq id, {last}, .+2         // each tasklet boots the next one
    boot id, 1
    move r0, 20
again:
    acquire zero, 7, nz, .
    lw r1, zero, 64
    add r1, id, r1
    add r1, r1, 1
    sw zero, 64, r1
    release zero, 7, nz, .+1
    add r0, r0, -1, nz, again
    move r1, 0                  // who came last is not said
    stop
"""


@pytest.mark.parametrize("tasklets", [1, 2, 11, 24])
def test_a_mutex_keeps_tasklets_apart(tasklets: int) -> None:
    dpu = both(COUNTER.format(last=tasklets - 1))
    total = sum(20 * (n + 1) for n in range(tasklets))
    assert int.from_bytes(dpu.wram[64:68], "little") == total


BARRIER = """
    jeq id, 7, .+2
    boot id, 1
    sw id4, 0, 1                // it has come
    acquire zero, 3, nz, .
    lw r0, zero, 128
    add r0, r0, 1
    sw zero, 128, r0
    jeq r0, 8, last
    release zero, 3, nz, .+1
    stop true, after
last:
    sw zero, 128, 0
    release zero, 3, nz, .+1
    move r1, 8
wake:
    add r1, r1, -1
    jeq id, r1, .+2
    resume r1, 0, nz, .         // until it has really stopped
    jneq r1, 0, wake
after:
    move r2, 0                  // everybody has come
    move r3, 8
    lsl r4, id, 2
count:
    add r3, r3, -1
    lsl r5, r3, 2
    lw r6, r5, 0
    add r2, r2, r6
    jneq r3, 0, count
    sw r4, 256, r2
    stop
"""


def test_a_barrier_of_stops_and_resumes() -> None:
    wram = both(BARRIER).wram
    assert [wram[256 + 4 * n] for n in range(8)] == [8] * 8


MOVES = """
    move r0, 1024
    move r1, 0
    ldma r0, r1, 7              // 64 bytes
    ld d2, r0, 8
    sd r0, 16, d2
    sd r0, 24, -2
    move r4, 0x01000000
    or r4, r4, r0
    move r5, 0x08000100         // an address of the linker's map
    sdma r4, r5, 2              // 8 * (1 + 2 + 1) bytes
    lw r6, r0, 16
    lhs r7, r0, 6
    lbs.s d8, r0, 5
    lw !big, r10, r0, 0
    sh r0, 34, r6
    sb r0, 33, 0x80
    stop
"""


def test_dma_and_all_sizes() -> None:
    mram = bytes(range(100, 228))
    dpu = both(MOVES, mram=mram)
    expected = bytearray(mram[:64])
    expected[16:24] = mram[8:16]
    expected[24:32] = (-2).to_bytes(8, "little", signed=True)
    assert dpu.mram[256 : 256 + 32] == expected[:32]
    r = dpu.tasklets[0].registers
    assert r[6] == int.from_bytes(mram[8:12], "little")
    assert r[7] == int.from_bytes(mram[6:8], "little")
    assert (r[8], r[9]) == (0, mram[5])
    assert r[10] == int.from_bytes(mram[:4], "big")
    assert dpu.wram[1024 + 33] == 0x80
    assert dpu.wram[1024 + 34 : 1024 + 36] == mram[8:10]


FLAGS = """
    boot zero, 40               // no tasklet: a flag
    boot zero, 40, nz, 1f
    fault 1
1:  read_run zero, 40, nz, 1f
    fault 2
1:  clr_run zero, 40, nz, 1f
    fault 3
1:  clr_run zero, 40, z, 1f
    fault 4
1:  read_run zero, 40, z, 1f
    fault 5
1:  resume zero, 0, nz, 1f      // runs already: itself
    fault 6
1:  move r0, 99
    stop
"""


def test_run_bits_above_the_tasklets_are_flags() -> None:
    assert both(FLAGS).tasklets[0].registers[0] == 99


def test_code_that_is_loaded_while_it_runs() -> None:
    loaded = code("add r2, r2, 5\nadd r2, r2, 6\n")
    mram = b"".join(word.to_bytes(8, "little") for word in loaded)
    text = "move r0, 40\nmove r1, 0\nldmai r0, r1, 1\njump 5\nstop\nnop\nnop\nstop\n"
    assert both(text, [0, 0, 1], mram=mram).tasklets[0].registers[2] == 12


def test_calls_give_indexes() -> None:
    text = "call r23, f\nmove r1, 3\nstop\nf: move r2, r23\njump r23\n"
    r = both(text).tasklets[0].registers
    assert (r[1], r[2], r[23]) == (3, 1, 1)


@pytest.mark.parametrize("part", range(8))
def test_random_programs(part: int) -> None:
    """Tasklets that boot one another, then words of any form that never jump back."""
    random = Random(part)
    for _ in range(12):
        forms = [f for f in TESTABLE if f.operation not in ALONE]
        tasklets, length = random.choice((1, 3, 8)), 60
        if tasklets > 1:  # what they do to one another's memory depends on who is first
            forms = [form for form in forms if form.value >> 44 != 7]
        # what boot leaves in the zero flag is not known
        start = code(f"jeq id, {tasklets - 1}, .+2\nboot id, 1\nadd zero, one, 0\n")
        program = list(start)
        for at in range(len(start), length):
            form = random.choice(forms)
            branch = (
                {"pc": random.randrange(at + 1, length + 1)} if form.role is Role.BRANCH else {}
            )
            program.append(words.word_of(random, form, **branch))
        program += [STOP] * (4096 - length)
        registers = [words.value(random) for _ in range(24)]
        dpu = naive.Dpu(program)
        dpu.wram[:] = PATTERN[:65536]
        dpu.tasklets[0].registers[:] = registers
        dpu.tasklets[0].running = True
        fault = None
        try:
            while any(t.running for t in dpu.tasklets):
                for t in dpu.tasklets:
                    if t.running:
                        dpu.step(t)
        except naive.Fault as error:
            fault = error
        bench = interpreter()
        state = bench.run(program[:length], registers, PATTERN[:65536], timed=True)
        assert FAULTS[state.fault] == (fault.kind if fault else None)
        if fault is None:
            for t in dpu.tasklets:
                assert list(state.registers[t.number]) == t.registers
        elif tasklets == 1:
            assert (state.tasklet, state.fault_pc) == (fault.tasklet, fault.pc)
            assert list(state.registers[0]) == dpu.tasklets[0].registers
