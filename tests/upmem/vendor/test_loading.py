"""What loading takes, refuses, and shows to the host."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from cudla_sim.core.process import Process
from cudla_sim.upmem.errors import DpuError, Status
from cudla_sim.upmem.machine import Machine
from cudla_sim.upmem.program import read

from .elves import IRAM, MRAM, OBJECT, Elf, program, words
from .running import Running, running
from .words import STOP, ZERO, add, load, store, word


def changed(change: Callable[[Elf], object], **options: object) -> bytes:
    made = program([STOP], **options)  # type: ignore[arg-type]
    change(made)
    return made.image()


def bytes_at(place: int, new: bytes) -> bytes:
    image = bytearray(program([STOP]).image())
    image[place : place + len(new)] = new
    return bytes(image)


def segments(*found: tuple[int, bytes, int]) -> bytes:
    text = (IRAM, words([STOP]), 8)
    return changed(lambda elf: setattr(elf, "segments", [text, *found]))


REFUSED = {
    "another machine": (changed(lambda e: setattr(e, "machine", 40)), "for another machine"),
    "not linked": (changed(lambda e: setattr(e, "kind", 1)), "no linked program"),
    "64 bits": (bytes_at(4, b"\2"), "no linked program|is a damaged"),
    "big-endian": (bytes_at(5, b"\2"), "is a"),
    "nothing": (b"", "is no ELF file"),
    "a head alone": (program([STOP]).image()[:52], "is a damaged"),
    "cut off": (program([STOP]).image()[:120], "is a damaged|ends inside"),
    "nowhere": (segments((0x4000_0000, b"1234", 4)), "segment 1 of 4 bytes at 0x40000000, where a"),
    "past WRAM": (segments((0xFFFC, bytes(8), 8)), "4 bytes past the end of WRAM"),
    "past MRAM": (segments((MRAM + (64 << 20) - 4, bytes(8), 8)), "past the end of MRAM"),
    "past IRAM": (segments((IRAM + 8 * 4095, bytes(16), 16)), "past the end of IRAM"),
    "overlap": (segments((8, bytes(16), 16), (20, bytes(4), 4)), "segment 2 and segment 1 at the"),
    "more than memory": (segments((8, bytes(16), 8)), "segment 1 of 16 bytes for 8"),
    "half an instruction": (segments((IRAM + 16, bytes(4), 4)), "no whole instructions"),
    "no text": (changed(lambda e: setattr(e, "segments", [(0, b"1234", 4)])), "has no instr"),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_refused(name: str) -> None:
    image, text = REFUSED[name]
    with pytest.raises(DpuError, match=text) as caught:
        read(image, "program")
    assert caught.value.status == Status.DPU_ERR_ELF_INVALID_FILE
    assert "'program'" in caught.value.explanation


def test_illegal_words_load(process: Process) -> None:
    with running(process) as dpus:
        dpus.load(
            program([word("SW_I", a=ZERO, offset=256, imm=1), STOP, 0xFFFF_FFFF_FFFF])
        ).launch()
        assert dpus.words()[0] == 1


@pytest.mark.parametrize(("chip", "most"), [("", 24), ("chipId=vD_fpga1", 24), ("chipId=66", 16)])
def test_tasklets(process: Process, chip: str, most: int) -> None:
    machine = Machine(process)
    with_chip = Running(machine.allocate(1, chip), False)
    with_chip.load(program([STOP], most)).launch()
    with pytest.raises(DpuError, match=f"uses {most + 1} tasklets") as caught:
        with_chip.load(program([STOP], most + 1))
    assert caught.value.status == Status.DPU_ERR_TOO_MANY_TASKLETS
    machine.close()


def test_memories_of_v1b_are_smaller(process: Process) -> None:
    machine = Machine(process)
    dpus = Running(machine.allocate(1, "chipId=66"), False)
    large = program([STOP])
    large.sections.append((".data", 63480, bytes(16)))
    with pytest.raises(DpuError, match="needs 63496 bytes of WRAM; this chip has 63488"):
        dpus.load(large)
    with pytest.raises(DpuError, match="of IRAM; this chip has 31744"):
        dpus.load(program([STOP] * 3969))
    with pytest.raises(DpuError, match="4 bytes at WRAM address 0xf800"):
        dpus.load(program([load(0, ZERO, 63484), load(0, ZERO, 63488)])).launch()
    machine.close()


def test_memory_after_loading(process: Process) -> None:
    """Segments are written, the rest of WRAM is cleared, the rest of MRAM stays."""
    with running(process) as dpus:
        dpu = dpus.dpus.dpus[0]
        dpu.wram[:] = 7
        dpu.mram[:64] = 9
        elf = program([STOP], host=b"abcd" * 4, mram=b"12345678")
        elf.symbols.append(("CLOCKS_PER_SEC", 260, 4, ".data.__sys_host", OBJECT))
        dpus.load(elf)
        assert (
            dpu.wram[256:272].tobytes()
            == b"abcd" + (350_000_000).to_bytes(4, "little") + b"abcd" * 2
        )
        assert not dpu.wram[:256].any()
        assert not dpu.wram[272:].any()
        assert dpu.mram[:16].tobytes() == b"12345678" + b"\x09" * 8


def test_symbols() -> None:
    elf = program([STOP, STOP], 3, mram=bytes(64))
    elf.sections.append((".data", 0, bytes(32)))
    elf.symbols.append(("hidden", 8, 4, ".data", OBJECT))
    found = read(elf.image(), "program")
    assert found.tasklets == 3
    assert found.symbol("shared") == (256, 1024)
    assert found.symbol("table") == (MRAM, 64)
    assert found.symbol("__sys_used_mram_end") == (MRAM + 64, (64 << 20) - 64)
    assert found.symbol("main") == (IRAM, 16)
    with pytest.raises(DpuError, match="there, but not declared __host or __mram"):
        found.symbol("hidden")


def test_another_program_after_one(process: Process) -> None:
    with running(process, 2) as dpus:
        for number in range(1, 4):
            dpus.load(program([add(0, ZERO, number), store(ZERO, 256, 0), STOP])).launch()
            assert [int(dpus.words(n)[0]) for n in (0, 1)] == [number, number]
            assert isinstance(dpus.words(), np.ndarray)
