"""Frames: one launch in the memory that the workers share, see ``struct frame`` in protocol.h."""

from __future__ import annotations

import mmap
import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from ...constants.dpu_protocol import (
    FRAME_STRIDE,
    IRAM_INSTRUCTIONS,
    MAX_FRAMES,
    MAX_TASKLETS,
    Start,
    dpu_core,
    frame,
)
from ...native.dpu_memory import slot_numbers
from ...workers.files import shared_memory

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


class How(NamedTuple):
    """How DPUs begin, and what is recorded of them; only those that execute the vendor's
    instructions can do more than boot."""

    start: Start = Start.BOOT
    tasklet: int = 0
    """That makes a step."""
    records: int = 0
    """Instructions after which the launch stops, recorded one by one; 0: none are."""
    first: int = 0
    end: int = IRAM_INSTRUCTIONS
    """Only instructions from here to there are recorded."""
    tasklets: int = (1 << MAX_TASKLETS) - 1
    """Only those of these tasklets are, one bit each."""


BOOT = How()


def core_of(data: NDArray[np.uint8]) -> dpu_core:
    """What a slot keeps of a DPU that executes the vendor's instructions, shared with it."""
    return dpu_core.from_buffer(data.data)


class Frames:
    """The control file with room for 64 launches at once."""

    def __init__(self) -> None:
        size = MAX_FRAMES * FRAME_STRIDE
        self.fd = shared_memory("cudla-sim-launches", size)
        self._map = mmap.mmap(self.fd, size)
        self._bytes = memoryview(self._map)

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

    def __init__(self, number: int, data: memoryview) -> None:
        self.number = number
        self.cancelled = False
        self._shared = frame.from_buffer(data)

    def fill(self, slots: Sequence[int], checks: int, timed: bool, how: How = BOOT) -> None:
        count = len(slots)
        self.count = count
        self.slots = list(slots)
        self.cancelled = False
        shared = self._shared
        self.owner = memoryview(shared.owner).cast("B").cast("H")[:count]
        self.status = memoryview(shared.status).cast("B")[:count]
        memoryview(shared.slots).cast("B").cast("I")[:count] = slot_numbers(slots)
        self.owner.cast("B")[:] = b"\xff" * self.owner.nbytes
        self.status[:] = bytes(count)
        shared.nr_slots, shared.checks, shared.cancel, shared.timed = count, checks, 0, timed
        shared.start, shared.tasklet, shared.trace_limit = how.start, how.tasklet, how.records
        shared.trace_first, shared.trace_end = how.first, how.end
        shared.trace_tasklets = how.tasklets

    def cancel(self) -> None:
        """No worker takes another slot."""
        self.cancelled = True
        self._shared.cancel = 1
