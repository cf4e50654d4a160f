"""Hardware for tests: our own chip behind the members of ``cosim.Hardware``, and its faults."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from cudla_sim.core.memory import AddressSpace
from cudla_sim.nvdla import Core

Bytes = np.ndarray[tuple[int], np.dtype[np.uint8]]


class OwnChip:
    """*after* is called with the number of the layer that was computed and all memory."""

    name = "our own chip"

    def __init__(
        self,
        configuration: str,
        size: int = 1 << 24,
        after: Callable[[int, Bytes], None] | None = None,
        stops_at: int = -1,
    ) -> None:
        self.configuration = configuration
        self.memory_base, self.memory_size = 0x8000_0000, size
        self.memory = np.zeros(size, np.uint8)
        space = AddressSpace()
        space.map(self.memory_base, size, name="memory", data=self.memory)
        self._core = Core(configuration, memory=space, planned=False)
        self._after, self._stops_at = after, stops_at
        self._now = self.layers = self.resets = self._told = 0
        self.written = 0
        self.closed = False

    def reg_write(self, address: int, value: int, /) -> None:
        self._now += 1
        self._core.chip.write(address, value)

    def reg_read(self, address: int, /) -> int:
        self._now += 18
        return self._core.chip.read(address)

    def mem_write(self, address: int, data: Bytes, /) -> None:
        self.written += len(data)
        start = address - self.memory_base
        self.memory[start : start + len(data)] = data

    def mem_read(self, address: int, data: Bytes, /) -> None:
        start = address - self.memory_base
        data[:] = self.memory[start : start + len(data)]

    def advance(self, cycles: int, /) -> bool:
        chip = self._core.chip
        self._now += cycles
        chip.on_layer = self._computed
        while not chip.irq and (chip.pending or self.layers != self._stops_at):
            if not chip.step():
                break
            if self._after is not None and not chip.pending and self._told < self.layers:
                self._told = self.layers
                self._after(self.layers - 1, self.memory)
        return chip.irq

    def _computed(self, layer: object) -> None:
        self.layers += 1

    def interrupt(self) -> bool:
        return self._core.chip.irq

    def cycles(self) -> int:
        return self._now

    def reset(self) -> None:
        self.resets += 1
        self._core.reset()

    def close(self) -> None:
        self.closed = True
