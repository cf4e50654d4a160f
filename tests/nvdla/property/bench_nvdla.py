"""A chip with memory, programmed by register name."""

from __future__ import annotations

import numpy as np
from naive_nvdla import BASE, Cube, Hardware

from cudla_sim.core.memory import AddressSpace
from cudla_sim.nvdla.again.layers import Layers
from cudla_sim.nvdla.again.weights import WeightCache
from cudla_sim.nvdla.facts import cbuf
from cudla_sim.nvdla.facts.configs import config
from cudla_sim.nvdla.hw.chip import Chip
from cudla_sim.nvdla.hw.memory import Memory
from cudla_sim.nvdla.hw.units.conv.registers import Cdma, Csc

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
        self.chip = Chip(self.config, Memory(space), arranged=WeightCache(), arithmetic=arithmetic)
        Layers(self.chip)
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
        if (height, width) == (1, 1):
            slack = 0  # SDP takes the surfaces of single pixels as packed
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
        if "CDMA" in blocks:
            self._share_buffer()
        for block in blocks:
            self.write(block, {"D_OP_ENABLE": 1})

    def _share_buffer(self) -> None:
        """Give data and weights of the selected convolution their banks, as a driver does."""
        states = self.chip.csb.blocks
        data = Cdma.decode(states["CDMA"].groups[states["CDMA"].producer])
        kernels = Csc.decode(states["CSC"].groups[states["CSC"].producer])
        banks, entry, depth = self.config.cbuf
        item = 1 if data.proc_precision == 0 else 2
        taps = kernels.rows * kernels.columns * kernels.channels
        size = data.weight_bytes or -(-kernels.kernels * taps * item // entry) * entry
        entries = cbuf.entries_per_slice(
            self.config, data.width, data.channels, data.proc_precision
        )
        used = min(-(-entries * data.height * data.batches // depth), banks - 2)
        weights = banks - used - data.compressed
        for block in ("CDMA", "CSC"):
            self.write(
                block,
                {
                    "D_WEIGHT_BYTES": size,
                    "D_ENTRY_PER_SLICE": entries - 1,
                    "D_BANK": (used - 1) | (weights - 1) << 16,
                },
            )

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
