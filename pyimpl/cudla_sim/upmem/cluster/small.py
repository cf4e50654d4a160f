"""Many small copies: what saves their messages.

A message takes milliseconds, however little it carries. In a row of small writes to a rank the
later ones are collected and travel with the rank's next operation; in a row of small reads that
ascend, bytes behind the last one are fetched, too, and answer the next ones.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...native.dpu_memory import Slots
from ..memory import MRAM_SIZE, WRAM_OFFSET, WRAM_SIZE

Bytes = NDArray[np.uint8]

SMALL = 64 << 10
"""Bytes of a copy, of all its DPUs together, up to which it is small."""
AT_ONCE = 3
"""Writes in a row that wait for their answer: who writes seldom learns at once what went wrong."""
MOST_WRITES = 1024
MOST_BYTES = 1 << 20
WINDOW = 1 << 20
"""Bytes that are fetched at once, of all DPUs together."""
AHEAD = 64 << 10
"""A read this far behind the last one belongs to the same row."""


class Writes(NamedTuple):
    """Writes in their order. ``table``: a row each of offset, size, number of slots, and bytes of
    ``data``, which are ``size`` for each slot, or for all."""

    table: NDArray[np.uint64]
    slots: Slots
    data: Bytes


class Collected:
    """The writes that one rank has still to get."""

    def __init__(self) -> None:
        self._rows: list[tuple[int, int, int, int]] = []
        self._slots: list[Slots] = []
        self._data: list[Bytes] = []
        self._bytes = 0
        self._in_a_row = 0

    def postpones(self) -> bool:
        """Whether another small write may wait."""
        self._in_a_row += 1
        return (
            self._in_a_row > AT_ONCE and self._bytes < MOST_BYTES and len(self._rows) < MOST_WRITES
        )

    def add(self, offset: int, size: int, slots: Slots, data: Bytes) -> None:
        self._rows.append((offset, size, len(slots), len(data)))
        self._slots.append(slots)
        self._data.append(data)
        self._bytes += len(data)

    def take(self, *, ends: bool) -> Writes | None:
        """All of them, to be sent; ``ends``: what goes with them is no small write."""
        if ends:
            self._in_a_row = 0
        if not self._rows:
            return None
        taken = Writes(
            np.array(self._rows, np.uint64), np.concatenate(self._slots), np.concatenate(self._data)
        )
        self._rows, self._slots, self._data, self._bytes = [], [], [], 0
        return taken


class _Fetched(NamedTuple):
    """``data``: uint8 [slot, byte], from ``start`` on."""

    slots: bytes
    start: int
    data: NDArray[np.uint8]


class Window:
    """What was read ahead. Threads may use it at the same time: it is replaced as a whole."""

    def __init__(self) -> None:
        self._fetched: _Fetched | None = None
        self._last = -1
        """Where the last read began."""

    def drop(self) -> None:
        """Something was written, or ran."""
        self._fetched = None

    def find(self, slots: Slots, offset: int, size: int) -> NDArray[np.uint8] | None:
        """The bytes, where they are here: [slot, byte]."""
        held = self._fetched
        if held is None or slots.tobytes() != held.slots:
            return None
        first = offset - held.start
        if first < 0 or first + size > held.data.shape[1]:
            return None
        self._last = offset
        return held.data[:, first : first + size]

    def size(self, slots: Slots, offset: int, size: int) -> int:
        """How many bytes of each slot to fetch for a read."""
        held = self._fetched
        row = held is not None and slots.tobytes() == held.slots
        follows = held is not None and row and 0 < offset - self._last <= AHEAD
        end = MRAM_SIZE if offset < MRAM_SIZE else WRAM_OFFSET + WRAM_SIZE
        return min(max(WINDOW // len(slots), size) if follows else size, end - offset)

    def keep(self, slots: Slots, offset: int, data: NDArray[np.uint8]) -> None:
        """What was fetched."""
        self._fetched = _Fetched(slots.tobytes(), offset, data)
        self._last = offset
