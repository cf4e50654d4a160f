"""What stops a DPU, and what is said about it."""

from __future__ import annotations

import pytest

from cudla_sim.core.process import Process
from cudla_sim.upmem.errors import DpuError, Status
from cudla_sim.upmem.workers.checks import Checks

from .elves import IRAM, program
from .running import running
from .words import ID, NZ, STOP, TRUE, ZERO, Z, add, branch, load, move, stop_at, store, word

AT = r"; tasklet 0 at 0x8000000{} \(instruction {}\) in main$"
CASES = {
    "an address that is no multiple": (
        [move(0, 6), load(1, 0, 0)],
        r"memory fault: access of 4 bytes at WRAM address 0x6, no multiple of 4" + AT.format(8, 1),
    ),
    "past WRAM": (
        [word("LD", dest=0, a=ZERO, imm=0x10000)],
        r"access of 8 bytes at address 0x10000, outside WRAM" + ".*" + AT.format(0, 0),
    ),
    "a store into MRAM": (
        [move(0, 0x0800_0000), store(0, 0, 1)],
        "access of 4 bytes at MRAM address 0x8000000, outside WRAM",
    ),
    "a store into IRAM": (
        [move(0, IRAM), store(0, 8, 1)],
        "access of 4 bytes at address 0x80000008",
    ),
    "before WRAM": (
        [word("LBU", dest=0, a=ZERO, imm=-1)],
        "1 bytes at address 0xffffffff, outside",
    ),
    "a variable's neighbour": (
        [word("SH_I", a=ZERO, offset=257, imm=1)],
        r"2 bytes at WRAM address 0x101 \(shared \+ 1\), no multiple of 2",
    ),
    "DMA past WRAM": (
        [move(0, 0xFFF8), word("LDMA", a=0, b=1, imm=1)],
        r"DMA fault: 16 bytes at 0xfff8 are not inside WRAM",
    ),
    "DMA past MRAM": (
        [move(1, 0x03FF_FFF8), word("SDMA", a=ZERO, b=1, imm=1)],
        r"DMA fault: 16 bytes at MRAM address 0xbfffff8 go past the end of MRAM",
    ),
    "division by zero": ([word("FAULT", imm=2)], "fault 2: division by zero" + AT.format(0, 0)),
    "an assertion": ([word("FAULT", imm=3)], "fault 3: an assertion failed"),
    "a breakpoint": ([word("FAULT", imm=0)], "fault 0: a breakpoint"),
    "a number of its own": ([word("FAULT", imm=77)], "fault 77: of the program's own"),
    "a jump out of IRAM": (
        [move(0, 4096), word("CALL_NONE_I_PLAIN", a=0, imm=0)],
        r"jump to 0x80008000, which is not in IRAM; tasklet 0 at 0x80000008",
    ),
    "falling off the program": (
        [add(0, 0, 1)],
        "where no instruction was loaded; tasklet 0 at 0x80000008",
    ),
    "no instruction": (
        [0xFFFF_FFFF_FFFF],
        "illegal instruction ffffffffffff; tasklet 0 at 0x80000000",
    ),
    "a hash": (
        [word("HASH_WORD_R_PLAIN", dest=0, a=1, b=2)],
        r"instruction hash \([0-9a-f]{12}\), whose effect is not published; tasklet 0",
    ),
    "a great atomic bit": (
        [move(0, 300), word("ACQUIRE", a=0, imm=1, cc=NZ, pc=1)],
        "atomic bit 0x12d: there are 256",
    ),
}  # fmt: skip


@pytest.mark.parametrize("timed", [False, True])
@pytest.mark.parametrize("name", CASES)
def test_faults(process: Process, name: str, timed: bool) -> None:
    code, text = CASES[name]
    with running(process, timed=timed) as dpus:
        dpus.load(program(code))
        with pytest.raises(DpuError, match=text) as caught:
            dpus.launch()
        assert caught.value.status == Status.DPU_ERR_DPU_FAULT
        with pytest.raises(DpuError, match="still in fault"):
            dpus.launch()
        dpus.load(program([STOP])).launch()


def test_only_the_dpu_in_fault_stops(process: Process) -> None:
    written = word("SW_I", a=ZERO, offset=260, imm=1)
    code = [load(0, ZERO, 256), branch(Z, 0, 1, 4), written, STOP, word("FAULT", imm=4)]
    with running(process, 3) as dpus:
        dpus.load(program(code))
        dpus.words(1)[0] = 1
        with pytest.raises(DpuError, match=r"1 of 3 DPUs are in fault; DPU .*fault 4"):
            dpus.launch()
        assert [int(dpus.words(n)[1]) for n in range(3)] == [1, 0, 1]


@pytest.mark.parametrize("timed", [False, True])
def test_a_deadlock_names_who_waits(process: Process, timed: bool) -> None:
    boot = [branch(NZ, ID, 0, 3), word("BOOT_PLAIN", a=ID, imm=1)]
    code = [*boot, stop_at(2), stop_at(4), stop_at(2)]
    with running(process, timed=timed) as dpus:
        dpus.load(program(code, 2, waits=(3, 4)))
        text = (
            "deadlock: tasklet 0 has ended, tasklet 1 has stopped at 0x80000020 "
            r"\(instruction 4\) in barrier_wait and nobody resumes it"
        )
        with pytest.raises(DpuError, match=text):
            dpus.launch()
        # a stop in the program's own code may be its end
        dpus.load(program(code, 2)).launch()


@pytest.mark.parametrize("mode", ["warn", "off"])
def test_a_deadlock_may_end_the_launch(
    process: Process, mode: str, capfd: pytest.CaptureFixture[str]
) -> None:
    """As on the chip, of which no tasklet runs then."""
    boot = [branch(NZ, ID, 0, 3), word("BOOT_PLAIN", a=ID, imm=1)]
    code = [*boot, stop_at(2), stop_at(4), stop_at(2)]
    with running(process) as dpus:
        dpus.dpus.machine.checks = Checks(deadlock=mode)
        dpus.load(program(code, 2, waits=(3, 4))).launch()
        dpus.launch()
    told = capfd.readouterr().err.count("deadlock: tasklet 0 has ended, tasklet 1 has stopped")
    assert told == (mode == "warn")


def test_an_overflowed_stack_is_named(process: Process) -> None:
    elf = program([move(22, 0x900), load(0, ZERO, 2)])
    elf.symbols += [
        ("STACK_SIZE_TASKLET_0", 0x100, 0, "", 0),
        ("__sys_stack_thread_0", 0x800, 0, ".data.__sys_host", 0),
    ]
    with running(process) as dpus:
        with pytest.raises(DpuError) as caught:
            dpus.load(elf).launch()
        assert "past the end of its stack" not in caught.value.explanation
        more = program([move(22, 0x908), load(0, ZERO, 2)])
        more.symbols = elf.symbols
        text = "its stack pointer 0x908 is past the end of its stack of 256 bytes"
        with pytest.raises(DpuError, match=text):
            dpus.load(more).launch()


@pytest.mark.parametrize(
    "code",
    [
        [branch(TRUE, ZERO, 0, 0)],
        [word("ACQUIRE", a=ZERO, imm=0, cc=TRUE, pc=0)],
        [word("RESUME_BRANCH", a=ZERO, imm=0, cc=NZ, pc=0)],
    ],
)
@pytest.mark.parametrize("timed", [False, True])
def test_endless_programs_are_given_up(
    process: Process, code: list[int], timed: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    from cudla_sim.upmem.workers import pool

    given = pool.Patience
    monkeypatch.setattr(pool, "Patience", lambda limit_s, what: given(0.2, what))
    with running(process, timed=timed) as dpus:
        dpus.load(program(code))
        with pytest.raises(DpuError) as caught:
            dpus.launch()
        assert caught.value.status == Status.DPU_ERR_DPU_FAULT
        dpus.load(program([STOP])).launch()
