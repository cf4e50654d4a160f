"""What all dataflows are: a list of descriptors that a handler in VMEM starts."""

from __future__ import annotations

from abc import ABC, abstractmethod
from enum import IntEnum
from typing import NamedTuple

from ..dma import VMEM, Descriptors, Move, Padding, pack
from ..errors import CupvaError, Error, error, invalid
from ..pointers import Location, Locator, OffsetPointer, Pointer, address_of

__all__ = [
    "CupvaError",
    "DataFlow",
    "Location",
    "Locator",
    "PadMode",
    "Pointer",
    "Tile",
    "address_of",
    "invalid",
    "state",
]


class PadMode(IntEnum):
    """``cupvaPadModeType_t``."""

    CONST = 1
    BPE = 2


class Handler(NamedTuple):
    """A symbol of the executable that the VPU passes to trigger and sync."""

    symbol: str
    offset: int
    """Its place in VMEM, bytes; -1 when it is not in VMEM."""


class Tile(NamedTuple):
    """One tile for a person: what is read or written outside VMEM, and where it lies in VMEM.

    ``x, y, width, height`` in pixels of the source (or destination), ``plane`` its depth;
    ``padding`` made up around it; ``vmem`` byte offset; ``trigger`` counts from 0.
    """

    order: int
    x: int
    y: int
    width: int
    height: int
    plane: int
    padding: Padding
    vmem: int
    trigger: int


def state(explanation: str) -> CupvaError:
    """CUPVA_INVALID_STATE."""
    return error(Error.CUPVA_INVALID_STATE, explanation)


class DataFlow(ABC):
    """Base of all dataflows. ``name`` is for messages."""

    kind = "DataFlow"
    primitive = False
    """Only primitive dataflows can be linked and appended."""

    def __init__(self, name: str = "") -> None:
        self.name = name or self.kind
        self.handler_symbol: Handler | None = None
        self.compiled_id: int | None = None
        self.handles: list[tuple[str, int]] = []
        """Kind and value of handles that end with the program it belongs to."""

    @property
    def title(self) -> str:
        """Name, handler, and which way it moves data where its kind has one."""
        handler = f"handler {self.handler_symbol.symbol!r}" if self.handler_symbol else "no handler"
        reads = getattr(self, "reads", None)
        way = "" if reads is None else ", into VMEM" if reads else ", out of VMEM"
        return f"{self.name} ({handler}{way})"

    def __repr__(self) -> str:
        return f"<{self.name}>"

    def handler(self, handler: Handler) -> None:
        """Raises CupvaError(InvalidArgument) when the handler is not in VMEM."""
        if handler.offset < 0:
            raise invalid(f"{self.name}: handler {handler.symbol!r} is not a variable in VMEM")
        self.handler_symbol = handler

    @abstractmethod
    def moves(self, locate: Locator) -> list[Move]:
        """The descriptors, checked.

        Raises CupvaError(InvalidArgument), naming the rule, the values and the legal range.
        """

    def descriptors(self, locate: Locator) -> Descriptors:
        """The same as the engine takes them. Raises CupvaError(InvalidArgument)."""
        return pack(self.moves(locate))

    @abstractmethod
    def tiles(self, locate: Locator) -> list[Tile]:
        """The tiles in the order of transfer."""

    def device_info(self, locate: Locator) -> dict[str, int]:
        """What the handler tells the VPU: pitches and offsets in pixels."""
        return {}

    def chain(self) -> list[DataFlow]:
        """This dataflow and what is linked behind it."""
        return [self]

    @property
    def offset_pointers(self) -> list[OffsetPointer]:
        """Pointers that may change between submissions."""
        return []

    def require_handler(self) -> None:
        if self.handler_symbol is None:
            raise invalid(f"{self.name}: handler() was not called; the VPU has nothing to trigger")


def located(locate: Locator, pointer: Pointer | None, what: str) -> Location:
    return locate(address_of(pointer, what))


def outside_vmem(place: Location, what: str) -> Location:
    if place.space == VMEM:
        raise invalid(f"{what} points into VMEM; it must be in DRAM or L2SRAM")
    return place


def inside_vmem(place: Location, what: str) -> Location:
    if place.space != VMEM:
        raise invalid(f"{what} does not point into VMEM")
    return place
