"""Device pointers as dataflows see them: plain addresses, or offset pointers bound later."""

from __future__ import annotations

from typing import NamedTuple, Protocol

from .errors import invalid


class Location(NamedTuple):
    """Where an address lies: a space of the DMA engine, the byte offset in it, and the bytes
    [first, end) of the buffer around it."""

    space: int
    at: int
    limits: tuple[int, int]
    what: str = "buffer"


class Locator(Protocol):
    def __call__(self, address: int) -> Location:
        """Raises CupvaError(InvalidArgument) for an address that no buffer holds."""
        ...


class OffsetPointer:
    """A base pointer and an offset in bytes; both may change between submissions."""

    def __init__(self, base: int = 0, offset: int = 0) -> None:
        self.base = base
        self.offset = offset

    @property
    def address(self) -> int:
        return self.base + self.offset


Pointer = int | OffsetPointer


def address_of(pointer: Pointer | None, what: str) -> int:
    """Raises CupvaError(InvalidArgument) for a pointer that was never set."""
    address = pointer.address if isinstance(pointer, OffsetPointer) else pointer
    if not address:
        raise invalid(f"{what} is not set, or NULL")
    return address
