"""Frames: one launch in the memory that the workers share, see ``struct frame`` in protocol.h."""

from __future__ import annotations

import mmap
import os
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from ...workers.files import shared_memory
from .protocol import (
    FRAME_HEADER,
    FRAME_OWNER_OFFSET,
    FRAME_SLOTS_OFFSET,
    FRAME_STATUS_OFFSET,
    FRAME_STRIDE,
    MAX_FRAMES,
)


class Frames:
    """The control file with room for 64 launches at once."""

    def __init__(self) -> None:
        size = MAX_FRAMES * FRAME_STRIDE
        self.fd = shared_memory("cudla-sim-launches", size)
        self._map = mmap.mmap(self.fd, size)
        self._bytes = np.frombuffer(self._map, np.uint8)

    def frame(self, number: int) -> Frame:
        start = number * FRAME_STRIDE
        return Frame(number, self._bytes[start : start + FRAME_STRIDE])

    def close(self) -> None:
        if self.fd >= 0:
            os.close(self.fd)
            self.fd = -1


class Frame:
    """``status`` and ``owner`` are live views: workers write them. What the host said is not read
    back from there, because programs can write over it."""

    def __init__(self, number: int, data: NDArray[np.uint8]) -> None:
        self.number = number
        self.cancelled = False
        self._data = data

    def fill(self, slots: Sequence[int], checks: int, timed: bool) -> None:
        count = len(slots)
        self.count = count
        self.slots = np.array(slots, np.uint32)
        self.cancelled = False
        self.owner = self._data[FRAME_OWNER_OFFSET : FRAME_OWNER_OFFSET + 2 * count].view(np.uint16)
        self.status = self._data[FRAME_STATUS_OFFSET : FRAME_STATUS_OFFSET + count]
        self._data[FRAME_SLOTS_OFFSET : FRAME_SLOTS_OFFSET + 4 * count] = self.slots.view(np.uint8)
        self.owner[:] = 0xFFFF
        self.status[:] = 0
        self._data[: FRAME_HEADER.size] = np.frombuffer(
            FRAME_HEADER.pack(count, 0, checks, 0, timed), np.uint8
        )

    def cancel(self) -> None:
        """No worker takes another slot."""
        self.cancelled = True
        self._data[12:16].view(np.uint32)[0] = 1
