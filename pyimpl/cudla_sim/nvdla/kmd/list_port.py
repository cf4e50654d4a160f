"""The portability layer of the built-in stack: a task's resolved address list over a chip."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import cached_property
from time import perf_counter_ns
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from .port import Destination, invalid


class Registers(Protocol):
    """Registers by their CSB byte addresses (``hw.chip.Chip``, or other hardware)."""

    @property
    def read(self) -> Callable[[int], int]: ...
    @property
    def write(self) -> Callable[[int, int], None]: ...


class Entry(NamedTuple):
    """One resolved address list entry: a buffer, and the offset that the list adds to its base.

    ``missing`` says why there is no buffer; the firmware may never ask for it.
    """

    base: int
    data: NDArray[np.uint8]
    offset: int
    name: str = ""
    missing: str = ""


Places = tuple[tuple[int, int, int, str], ...]


def places(entries: Iterable[Entry]) -> Places:
    """Where the buffers lie: equal for lists that mean the same memory."""
    return tuple((e.base, e.offset, len(e.data), e.missing) for e in entries)


class Entries(tuple[Entry, ...]):
    """An address list that comes again."""

    @cached_property
    def places(self) -> Places:
        """As the function of that name."""
        return places(self)


class ListPort:
    """Buffers are named by their position in the list."""

    def __init__(self, chip: Registers, entries: Sequence[Entry]) -> None:
        self._entries = entries
        self.reg_read = chip.read
        self.reg_write = chip.write

    def _entry(self, index: int) -> Entry:
        if not 0 <= index < len(self._entries):
            raise invalid(f"address index {index}: the task has {len(self._entries)} addresses")
        entry = self._entries[index]
        if entry.missing:
            raise invalid(f"address index {index} is {entry.missing}")
        return entry

    def _bytes(self, buffer: int, size: int, offset: int) -> NDArray[np.uint8]:
        entry = self._entry(buffer)
        if offset < 0 or offset + size > len(entry.data):
            what = f" ({entry.name})" if entry.name else ""
            raise invalid(
                f"address index {buffer}{what} has {len(entry.data)} bytes, the firmware needs"
                f" {offset}..{offset + size}"
            )
        return entry.data[offset : offset + size]

    def data_read(self, source: int, size: int, offset: int) -> bytes:
        """Copy from a buffer (the list's own offset is not added)."""
        return self._bytes(source, size, offset).tobytes()

    def data_write(self, destination: int, data: bytes, offset: int) -> None:
        """Copy to a buffer."""
        self._bytes(destination, len(data), offset)[...] = np.frombuffer(data, np.uint8)

    def dma_address(self, index: int, destination: Destination) -> int:
        """Resolve an entry."""
        entry = self._entry(index)
        return index if destination == Destination.PROCESSOR else entry.base + entry.offset

    @staticmethod
    def time_us() -> int:
        """Microseconds of the host's steady clock."""
        return perf_counter_ns() // 1000
