"""ConfigDataFlow: the VPU writes to descriptors of other dataflows."""

from __future__ import annotations

from ..dma import VMEM, Move, Side
from .base import DataFlow, Locator, Pointer, Tile, inside_vmem, invalid, located

HEADER_BYTES = 8
"""Number of entries and 0xDEADC0DE, 32 bits each; every entry has as many."""


class ConfigDataFlow(DataFlow):
    """A table in VMEM that each trigger writes to the DMA's descriptors.

    Source of its layout: PVA SDK, DMA Configuration Details.
    """

    kind = "ConfigDataFlow"

    def __init__(self, name: str = "") -> None:
        super().__init__(name)
        self.table: Pointer | None = None

    def src(self, pointer: Pointer) -> None:
        self.table = pointer

    def _place(self, locate: Locator) -> tuple[int, int]:
        """VMEM offset and bytes of the table."""
        what = f"{self.name}: the table"
        place = inside_vmem(located(locate, self.table, what), what)
        size = place.limits[1] - place.at
        if place.at % 4 or size < HEADER_BYTES:
            raise invalid(
                f"{what} is at VMEM offset {place.at:#x} with {size} bytes; it is aligned to 4 and "
                f"has {HEADER_BYTES} at least"
            )
        return place.at, size

    def moves(self, locate: Locator) -> list[Move]:
        """A transfer that moves nothing. Raises CupvaError: no handler, no table in VMEM."""
        self.require_handler()
        self._place(locate)
        nothing = Side(VMEM, 0, (0, 0), what="dummy")
        return [Move(0, 0, 1, nothing, nothing, per_trigger=1)]

    def device_info(self, locate: Locator) -> dict[str, int]:
        """``buffer`` and ``ring``: VMEM offset and bytes of the table."""
        at, size = self._place(locate)
        return {"buffer": at, "ring": size, "reads": 1}

    def tiles(self, locate: Locator) -> list[Tile]:
        """Empty: it moves no pixels."""
        self.moves(locate)
        return []
