"""The project's interpreter of DPU instructions, called as a function."""

from __future__ import annotations

import ctypes
import mmap
import subprocess
from collections.abc import Sequence
from functools import cache
from pathlib import Path

from cudla_sim.constants import dpu_protocol as p
from tests.compiled import contents, stored
from tests.conftest import ROOT

_SLOT_BYTES = p.SLOT_WRITTEN + (1 << 20)
STOP = 0x7EF3_2000_0000


class Bench(ctypes.Structure):
    """``struct bench`` of bench.c."""

    _fields_ = (
        ("registers", ctypes.c_uint32 * 24 * 24),
        ("pc", ctypes.c_uint32 * 24),
        ("zero", ctypes.c_uint8 * 24),
        ("carry", ctypes.c_uint8 * 24),
        ("atomic", ctypes.c_uint8 * 256),
        ("run", ctypes.c_uint8 * 256),
        ("fault", ctypes.c_uint32),
        ("code", ctypes.c_uint32),
        ("tasklet", ctypes.c_uint32),
        ("fault_pc", ctypes.c_uint32),
        ("instructions", ctypes.c_uint64),
    )


FAULTS = {
    p.FaultKind.NONE: None,
    p.FaultKind.PROGRAM: "software",
    p.FaultKind.MEMORY: "memory",
    p.FaultKind.DMA_WRAM: "dma",
    p.FaultKind.MRAM_BOUNDS: "dma",
    p.FaultKind.INSTRUCTION: "illegal",
    p.FaultKind.UNKNOWN: "illegal",
    p.FaultKind.JUMP: "illegal",
    p.FaultKind.BIT: "illegal",
}


def _build(folder: Path) -> None:
    sources = [Path(__file__).with_name("bench.c"), *(ROOT / "shim/dpu_isa").glob("*.c")]
    kept = [str(s) for s in sources if s.name != "worker.c"]
    command = ["gcc", "-O0", "-shared", "-fPIC", "-w", "-std=gnu11", "-D_GNU_SOURCE"]
    includes = [f"-I{ROOT / 'shim'}", f"-I{ROOT / 'shim' / 'dpu_isa'}"]
    library = str(folder / "bench.so")
    subprocess.run([*command, *includes, *kept, "-o", library], check=True)


class Interpreter:
    """A DPU whose IRAM is full of ``stop`` where a program does not write."""

    def __init__(self) -> None:
        key = ("interpreter", contents("shim", "include", "tests/upmem/isa"))
        self._library = ctypes.CDLL(str(stored(key, _build) / "bench.so"))
        self._map = mmap.mmap(-1, _SLOT_BYTES, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
        self._slot = (ctypes.c_uint8 * _SLOT_BYTES).from_buffer(self._map)
        self._stops = STOP.to_bytes(8, "little") * p.IRAM_INSTRUCTIONS

    def run(
        self,
        words: Sequence[int],
        registers: Sequence[int] = (),
        wram: bytes = b"",
        mram: bytes = b"",
        *,
        z: bool = False,
        c: bool = False,
        timed: bool = False,
    ) -> Bench:
        """Runs a program from instruction 0; registers and flags are those of tasklet 0."""
        code = b"".join(word.to_bytes(8, "little") for word in words)
        self._map[p.SLOT_IRAM : p.SLOT_IRAM + len(self._stops)] = code + self._stops[len(code) :]
        self._map[p.SLOT_WRAM : p.SLOT_WRAM + p.WRAM_SIZE] = wram.ljust(p.WRAM_SIZE, b"\0")
        self._map[p.SLOT_MRAM : p.SLOT_MRAM + (1 << 16)] = mram.ljust(1 << 16, b"\0")
        state = Bench()
        state.registers[0][: len(registers)] = list(registers)
        state.zero[0], state.carry[0] = z, c
        self._library.bench_run(self._slot, ctypes.byref(state), int(timed))
        return state

    @property
    def wram(self) -> bytes:
        return self._map[p.SLOT_WRAM : p.SLOT_WRAM + p.WRAM_SIZE]

    @property
    def mram(self) -> bytes:
        """The first 64 KiB."""
        return self._map[p.SLOT_MRAM : p.SLOT_MRAM + (1 << 16)]


@cache
def interpreter() -> Interpreter:
    return Interpreter()
