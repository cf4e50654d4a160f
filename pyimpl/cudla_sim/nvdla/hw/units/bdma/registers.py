"""BDMA: copies blocks between and inside the two memories.

Writing ``CFG_OP`` stores the configuration registers as one of 20 descriptors, ``CFG_LAUNCH0`` or
``CFG_LAUNCH1`` starts the stored ones as group 0 or 1. Source: nvdla/hw
``cmod/bdma/BdmaCore.cpp``. Line sizes and strides are multiples of 32 bytes.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field

from ...fields import Params, address, bits

SLOTS = 20


@dataclass(slots=True)
class Transfer(Params):
    """One descriptor."""

    _block = "BDMA"

    source: int = address("CFG_SRC_ADDR_HIGH", "CFG_SRC_ADDR_LOW")
    destination: int = address("CFG_DST_ADDR_HIGH", "CFG_DST_ADDR_LOW")
    size: int = bits("CFG_LINE.SIZE", plus=1)
    source_mc: int = bits("CFG_CMD.SRC_RAM_TYPE")
    destination_mc: int = bits("CFG_CMD.DST_RAM_TYPE")
    lines: int = bits("CFG_LINE_REPEAT.NUMBER", plus=1)
    source_line: int = bits("CFG_SRC_LINE")
    destination_line: int = bits("CFG_DST_LINE")
    surfaces: int = bits("CFG_SURF_REPEAT.NUMBER", plus=1)
    source_surface: int = bits("CFG_SRC_SURF")
    destination_surface: int = bits("CFG_DST_SURF")


@dataclass(slots=True)
class Bdma:
    """Stored descriptors, and groups that were launched."""

    stored: list[Transfer] = field(default_factory=list)
    launched: deque[tuple[int, list[Transfer]]] = field(default_factory=deque)
    busy: list[bool] = field(default_factory=lambda: [False, False])

    def store(self, registers: Sequence[int]) -> bool:
        """Keep the current configuration; False if all slots are in use."""
        if self.used >= SLOTS:
            return False
        self.stored.append(Transfer.decode(registers))
        return True

    def launch(self, group: int) -> None:
        """Start the stored descriptors as a group."""
        self.launched.append((group, self.stored))
        self.stored = []
        self.busy[group] = True

    def finish(self) -> None:
        """The group that was launched first is done."""
        group, _ = self.launched.popleft()
        self.busy[group] = False

    @property
    def used(self) -> int:
        """Slots in use."""
        return len(self.stored) + sum(len(part) for _, part in self.launched)

    @property
    def status(self) -> int:
        """Value of STATUS: free slots, idle, busy groups."""
        idle = not any(self.busy)
        return (SLOTS - self.used) | idle << 8 | self.busy[0] << 9 | self.busy[1] << 10
