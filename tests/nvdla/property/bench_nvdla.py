"""A chip with memory, programmed by register name."""

from __future__ import annotations

import numpy as np
from naive_nvdla import BASE, Cube, Hardware

from cudla_sim.core.memory import AddressSpace
from cudla_sim.nvdla.hw.chip import Chip
from cudla_sim.nvdla.hw.configs import config
from cudla_sim.nvdla.hw.memory import Memory

SIZE = 1 << 18
PAGE = 1 << 14


class Bench:
    """Memory filled with random bytes, and a chip of one configuration in front of it."""

    def __init__(
        self, name: str, rng: np.random.Generator, bpe: int = 1, arithmetic: str = "native"
    ) -> None:
        self.config = config(name)
        self.data = rng.integers(0, 256, SIZE, np.uint8)
        space = AddressSpace()
        space.map(BASE, SIZE, name="bench memory", data=self.data)
        self.chip = Chip(self.config, Memory(space), arithmetic=arithmetic)
        self.hardware = Hardware(
            self.config.memory_atom,
            self.config.atomic_c,
            self.config.kernel_group(0 if bpe == 1 else 1),
            bpe,
        )
        self._next = 0

    def reserve(self) -> int:
        """Return the address of a fresh piece of memory."""
        address = BASE + self._next
        self._next += PAGE
        return address

    def cube(self, channels: int, height: int, width: int, slack: int = 0) -> Cube:
        """Reserve a cube; *slack* atoms are added to its line stride."""
        atom = self.config.memory_atom
        line = (width + slack) * atom
        return Cube(self.reserve(), channels, height, width, line, line * height)

    def image(self) -> bytearray:
        """Return a copy of the memory for the naive model."""
        return bytearray(self.data.tobytes())

    def write(self, block: str, registers: dict[str, int]) -> None:
        """Write registers of a block by name; ``X_ADDR`` style pairs take 64-bit values."""
        layout = self.chip.csb.blocks[block].layout
        for name, value in registers.items():
            self.chip.write(layout.address(name), value & 0xFFFFFFFF)

    def select(self, group: int, *blocks: str) -> None:
        """Set the producer pointer of blocks."""
        for block in blocks:
            self.write(block, {"S_POINTER": group})

    def enable(self, *blocks: str) -> None:
        """Enable the selected group of blocks."""
        for block in blocks:
            self.write(block, {"D_OP_ENABLE": 1})

    def run(self) -> int:
        """Step until nothing happens; return the interrupt status seen."""
        while self.chip.step():
            pass
        return self.chip.csb.glb.status

    def result(self, cube: Cube) -> dict:
        """Read a cube back, padding channels included, by (channel, y, x)."""
        memory = bytearray(self.data.tobytes())
        hw = self.hardware
        return {
            (c, y, x): cube.get(memory, hw, c, y, x)
            for c in range(cube.padded_channels(hw))
            for y in range(cube.height)
            for x in range(cube.width)
        }


def address(high: str, low: str, value: int) -> dict[str, int]:
    """Registers of a 64-bit address."""
    return {high: value >> 32, low: value & 0xFFFFFFFF}
