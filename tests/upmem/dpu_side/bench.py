"""A machine of a few DPUs without the host API: memory, loading, launching."""

from __future__ import annotations

import io
import mmap
import os
import subprocess
from pathlib import Path

import numpy as np
from elftools.elf.elffile import ELFFile

from cudla_sim.constants.dpu_protocol import (
    MRAM_BASE,
    SIDE_SIZE,
    SLOT_END,
    SLOT_SIDE,
    SLOT_WRAM,
    SLOT_WRITTEN,
    WRAM_BASE,
)
from cudla_sim.upmem.workers.checks import Checks
from cudla_sim.upmem.workers.pool import Launch, Outcome, WorkerPool
from cudla_sim.upmem.workers.protocol import Side, Times
from tests import warm

STRIDE, WRAM, WRITTEN = SLOT_END, SLOT_WRAM, SLOT_WRITTEN
STRICT = ("-O2", "-g", "-Wall", "-Wextra", "-Werror")


def dpu_cc(*arguments: str | Path, **options: object) -> subprocess.CompletedProcess[str]:
    """Runs the compiler as a user does."""
    command = [warm.python(), "-m", "cudla_sim.upmem.toolchain.cli", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, timeout=60, **options)  # type: ignore[call-overload, no-any-return]


class Program:
    def __init__(self, path: Path) -> None:
        self.path = path
        self.image = path.read_bytes()
        self.elf = ELFFile(io.BytesIO(self.image))
        symbols = self.elf.get_section_by_name(".symtab")
        self.symbols = {s.name: (s["st_value"], s["st_size"]) for s in symbols.iter_symbols()}


class Bench:
    """``dpus`` slots; every method works on slot 0 unless told."""

    def __init__(self, dpus: int = 4, workers: int = 2, limit_s: float = 0.0) -> None:
        self.dpus = dpus
        self.fd = os.memfd_create("bench", os.MFD_CLOEXEC)
        os.ftruncate(self.fd, dpus * STRIDE)
        self._map = mmap.mmap(self.fd, dpus * STRIDE, flags=mmap.MAP_SHARED | 0x4000)
        self.bytes = np.frombuffer(self._map, np.uint8)
        self.pool = WorkerPool(self.fd, STRIDE, workers, limit_s=limit_s)

    def load(self, program: Program) -> None:
        self.program = program
        for section in program.elf.iter_sections():
            address, size = section["sh_addr"], section["sh_size"]
            bits = section["sh_type"] != "SHT_NOBITS"
            if not section["sh_flags"] & 2 or not size:
                continue
            if WRAM_BASE <= address < WRAM_BASE + 0x10000:
                data = section.data() if bits else b"\0" * size
            elif MRAM_BASE <= address < MRAM_BASE + 0x4000000 and bits:
                data = section.data()
            else:
                continue
            for slot in range(self.dpus):
                self.at(address, len(data), slot)[:] = np.frombuffer(data, np.uint8)

    def at(self, address: int, size: int, slot: int = 0) -> np.ndarray:  # type: ignore[type-arg]
        """Bytes at a link address; MRAM words count as written from then on."""
        start = slot * STRIDE
        if address < MRAM_BASE:
            start += WRAM + address - WRAM_BASE
        else:
            offset = address - MRAM_BASE
            words = range(offset >> 3, (offset + size + 7) >> 3)
            for word in words[:4096]:
                self.bytes[start + WRITTEN + (word >> 3)] |= 1 << (word & 7)
            start += offset
        return self.bytes[start : start + size]

    def unwritten(self, address: int, size: int) -> None:
        """Makes bytes of MRAM of slot 0 what they were before anybody wrote them; whole words."""
        self.at(address, size)[:] = 0
        for word in range((address - MRAM_BASE) >> 3, (address - MRAM_BASE + size) >> 3):
            self.bytes[WRITTEN + (word >> 3)] &= ~(1 << (word & 7)) & 0xFF

    def var(self, name: str, dtype: type = np.uint32, slot: int = 0) -> np.ndarray:  # type: ignore[type-arg]
        address, size = self.program.symbols[name]
        return self.at(address, size, slot).view(dtype)

    def launch(
        self, checks: Checks | None = None, slots: list[int] | None = None, timed: bool = False
    ) -> Launch:
        wanted = list(range(self.dpus)) if slots is None else slots
        name = str(self.program.path)
        return self.pool.launch(name, self.program.image, wanted, checks or Checks(), timed)

    def time(self, slot: int = 0) -> Times:
        """Launches what is loaded on one slot, in hardware time; there must be no warnings."""
        ended = self.launch(slots=[slot], timed=True)
        assert not ended.faulted, ended.faulted[0]
        return ended.times[slot]

    def time_anyway(self, slot: int = 0) -> Times:
        """The same for a program that may warn."""
        return self.launch(slots=[slot], timed=True).times[slot]

    def run(self, program: Program, checks: Checks | None = None) -> Outcome:
        """Loads and runs slot 0; the outcome, also a good one."""
        self.load(program)
        ended = self.launch(checks, [0])
        return ended.faulted[0] if ended.faulted else Outcome(0)

    def side(self, slot: int = 0) -> Side:
        start = slot * STRIDE + SLOT_SIDE
        return Side.read(self.bytes[start : start + SIDE_SIZE])

    def log(self, slot: int = 0) -> str:
        address = self.program.symbols["__stdout_buffer"][0] - MRAM_BASE + slot * STRIDE
        return self.bytes[address : address + self.side(slot).log_bytes].tobytes().decode()

    def close(self) -> None:
        self.pool.close()
        os.close(self.fd)
