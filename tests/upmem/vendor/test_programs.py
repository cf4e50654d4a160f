"""Programs of many tasklets: run state, atomic bits, DMA, registers that stay, changed code."""

from __future__ import annotations

import numpy as np
import pytest

from cudla_sim.core.process import Process

from .elves import program
from .running import running
from .words import (
    ID,
    ID4,
    NZ,
    STOP,
    TRUE,
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

TIMED = pytest.mark.parametrize("timed", [False, True])

# Every tasklet boots the next one, counts under a lock, and waits until the last has come.
BARRIER = [
    branch(Z, ID, 15, 2),
    word("BOOT_PLAIN", a=ID, imm=1),
    word("ACQUIRE", a=ZERO, imm=5, cc=NZ, pc=2),
    load(0, ZERO, 256),
    add(0, 0, 1),
    store(ZERO, 256, 0),
    branch(Z, 0, 16, 9),
    word("RELEASE", a=ZERO, imm=5, pc=8),
    stop_at(14),
    move(1, 15),  # the last one: resumes 15 .. 0 but itself
    word("SUB_NONE_R_BRANCH", a=ID, b=1, cc=Z, pc=12),
    word("RESUME_BRANCH", a=1, imm=0, cc=NZ, pc=11),
    word("ADD_WORD_I_BRANCH", dest=1, a=1, imm=-1, cc=9, pc=14),
    branch(TRUE, ZERO, 0, 10),
    load(2, ZERO, 256),
    add(2, 2, 100),
    store(ID4, 512, 2),
    stop_at(17),
]


@TIMED
def test_a_barrier_of_sixteen_tasklets(process: Process, timed: bool) -> None:
    with running(process, 3, timed) as dpus:
        dpus.load(program(BARRIER, 16, waits=(2, 8))).launch()
        for dpu in range(3):
            shared = dpus.words(dpu)
            assert shared[0] == 16
            assert shared[64:80].tolist() == [116] * 16
            assert shared[80] == 0


@TIMED
def test_dma_moves_words_both_ways(process: Process, timed: bool) -> None:
    code = [
        move(0, 256),
        move(1, 0x0800_0010),
        word("LDMA", a=0, b=1, imm=3),  # 32 bytes
        load(2, 0, 4),
        add(2, 2, 7),
        store(0, 4, 2),
        move(1, 0x40),  # the same memory from 0 on
        word("SDMA", a=0, b=1, imm=1),  # 16 bytes
        STOP,
    ]
    table = np.arange(32, dtype=np.uint32) + 1000
    with running(process, timed=timed) as dpus:
        dpus.load(program(code, mram=table.tobytes())).launch()
        assert dpus.words()[:9].tolist() == [1004, 1012, *range(1006, 1012), 0]
        after = dpus.dpus.dpus[0].symbols["table"].view(np.uint32)
        assert after[16:20].tolist() == [1004, 1012, 1006, 1007]
        assert after[20] == 1020


def test_registers_memory_and_bits_stay_between_launches(process: Process) -> None:
    code = [
        add(5, 5, 1),
        store(ZERO, 256, 5),
        word("ACQUIRE", a=ZERO, imm=7, cc=NZ, pc=4),
        STOP,
        move(6, 1),
        store(ZERO, 260, 6),
        STOP,
    ]
    with running(process) as dpus:
        dpus.load(program(code)).launch()
        assert dpus.words()[:2].tolist() == [1, 0]
        dpus.launch().launch()
        assert dpus.words()[:2].tolist() == [3, 1]
        dpus.load(program(code)).launch()
        assert dpus.words()[:2].tolist() == [1, 0]


@TIMED
def test_code_that_is_read_into_iram(process: Process, timed: bool) -> None:
    code = [
        move(0, 8 * 4),
        move(1, 0x0800_0000),
        word("LDMAI", a=0, b=1, imm=0),
        branch(TRUE, ZERO, 0, 4),
        STOP,  # becomes an addition
        store(ZERO, 256, 3),
        STOP,
    ]
    with running(process, timed=timed) as dpus:
        dpus.load(program(code, mram=add(3, ZERO, 77).to_bytes(8, "little"))).launch()
        assert dpus.words()[0] == 77


@TIMED
def test_a_wait_without_a_lock_comes_to_its_end(process: Process, timed: bool) -> None:
    """One tasklet looks at a variable until another one has written it."""
    code = [
        branch(NZ, ID, 0, 5),
        word("BOOT_PLAIN", a=ID, imm=1),
        load(0, ZERO, 256),
        branch(Z, 0, 0, 2),
        stop_at(4),
        move(0, 9),
        word("ADD_WORD_I_BRANCH", dest=0, a=0, imm=-1, cc=NZ, pc=6),
        word("SW_I", a=ZERO, offset=256, imm=3),
        stop_at(8),
    ]
    with running(process, timed=timed) as dpus:
        dpus.load(program(code, 2)).launch()
        assert dpus.words()[0] == 3


@TIMED
def test_what_the_start_code_and_hand_written_waits_do(process: Process, timed: bool) -> None:
    """Releasing the bit behind the last one changes nothing; ``stop`` without a condition goes on
    behind itself, whatever index is left in its word."""
    code = [
        branch(NZ, ID, 0, 6),
        word("ACQUIRE", a=ZERO, imm=0, cc=NZ, pc=1),
        move(0, 256),
        word("RELEASE", a=0, imm=0, pc=4),
        word("BOOT_PLAIN", a=ID, imm=1),
        word("RESUME_BRANCH", a=ID, imm=1, cc=NZ, pc=5),
        word("SUB_NONE_I_BRANCH", a=ID, imm=0, cc=Z, pc=12),
        0x7EF3_2000_0000 | 3,  # tasklet 1
        word("ACQUIRE", a=ZERO, imm=0, cc=Z, pc=11),
        word("SW_I", a=ZERO, offset=256, imm=7),
        STOP,
        word("SW_I", a=ZERO, offset=256, imm=1),
        STOP,
    ]
    with running(process, timed=timed) as dpus:
        dpus.load(program(code, 2)).launch()
        assert dpus.words()[0] == 7
