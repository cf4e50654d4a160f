"""SequenceDataFlow: transfers one after the other, with synchronisation points chosen for each."""

from __future__ import annotations

from enum import IntEnum

from ..dma import Move
from ..errors import CupvaError
from ..pointers import OffsetPointer
from .base import DataFlow, Locator, Tile, invalid
from .static import Granularity, StaticDataFlow

MAX_TRANSFERS = 56
"""A choice: every transfer is one descriptor of the DMA's 60."""


class TransferMode(IntEnum):
    """``cupvaTransferModeType_t``: how much of a transfer one trigger moves."""

    CONTINUOUS = 1
    TILE = 2
    DIM1 = 3
    DIM2 = 4
    DIM3 = 5


_GRANULARITY = {
    TransferMode.CONTINUOUS: Granularity.ALL,
    TransferMode.TILE: Granularity.TILE,
    TransferMode.DIM1: Granularity.DIM1,
    TransferMode.DIM2: Granularity.DIM2,
    TransferMode.DIM3: Granularity.ALL,
}


class Transfer(StaticDataFlow):
    """One transfer of a sequence; set up like a StaticDataFlow without padding and lists."""

    kind = "SequenceDataFlowTransfer"
    primitive = False

    def __init__(self, name: str = "") -> None:
        super().__init__(name)
        self.mode = TransferMode.CONTINUOUS
        self.gran = Granularity.ALL

    def transfer_mode(self, mode: int) -> None:
        if mode not in tuple(TransferMode):
            raise invalid(f"{self.name}: transfer mode {mode}; CONTINUOUS (1) to DIM3 (5) exist")
        self.mode = TransferMode(mode)
        self.gran = _GRANULARITY[self.mode]


class SequenceDataFlow(DataFlow):
    """A list of transfers that a handler runs through, again and again."""

    kind = "SequenceDataFlow"

    def __init__(self, name: str = "") -> None:
        super().__init__(name)
        self.transfers: list[Transfer] = []

    def add_transfer(self) -> Transfer:
        if len(self.transfers) >= MAX_TRANSFERS:
            raise invalid(f"{self.name}: more than {MAX_TRANSFERS} transfers")
        made = Transfer(f"{self.name}, transfer {len(self.transfers)}")
        self.transfers.append(made)
        return made

    @property
    def offset_pointers(self) -> list[OffsetPointer]:
        return [p for t in self.transfers for p in t.offset_pointers]

    def moves(self, locate: Locator) -> list[Move]:
        """Raises CupvaError(InvalidArgument): no handler, no transfer, a transfer's rule."""
        self.require_handler()
        if not self.transfers:
            raise invalid(f"{self.name}: no transfer; addTransfer() adds one")
        found = []
        for transfer in self.transfers:
            transfer.handler_symbol = self.handler_symbol
            try:
                found += transfer.moves(locate)
            except CupvaError as error:
                raise invalid(f"{transfer.name}: {error.explanation}") from None
        # A continuous transfer runs on into the next one without the VPU.
        for move, transfer in zip(found, self.transfers, strict=True):
            move.chained = transfer.mode is TransferMode.CONTINUOUS
        found[-1].chained = False
        return found

    def device_info(self, locate: Locator) -> dict[str, int]:
        return {"tiles": len(self.transfers)}

    def tiles(self, locate: Locator) -> list[Tile]:
        found: list[Tile] = []
        self.moves(locate)
        for transfer in self.transfers:
            first = found[-1].trigger + 1 if found else 0
            if found and self.transfers[self.transfers.index(transfer) - 1].mode == 1:
                first -= 1
            found += [
                t._replace(order=len(found) + n, trigger=first + t.trigger)
                for n, t in enumerate(transfer.tiles(locate))
            ]
        return found
