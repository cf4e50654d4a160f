"""The memories of all DPUs: one sparse anonymous file that workers map too.

Each DPU has a slot of the file: its MRAM, its WRAM, a page where a worker leaves what happened,
and one bit for each 8 bytes of MRAM that says whether they were ever written. Only pages that
were touched cost memory.
"""

from __future__ import annotations

import ctypes
import mmap
import os
import threading
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from .errors import Status, error

MRAM_SIZE = 64 << 20
WRAM_SIZE = 64 << 10
WRAM_OFFSET = 0x4000000
SIDE_OFFSET = 0x4010000
SIDE_SIZE = 0x1000
WRITTEN_OFFSET = 0x4100000
WRITTEN_SIZE = 1 << 20
STRIDE = 0x4200000

_NORESERVE = 0x4000
_PUNCH_HOLE_KEEP_SIZE = 3

_LIBC = ctypes.CDLL(None, use_errno=True)
_LIBC.fallocate.argtypes = (ctypes.c_int, ctypes.c_int, ctypes.c_int64, ctypes.c_int64)


class MachineMemory:
    """Slots 0 to ``count`` - 1. ``base`` is where the file is mapped in this process."""

    def __init__(self, count: int) -> None:
        self.count = count
        self.size = count * STRIDE
        self._clearing: list[threading.Thread] = []
        self.fd = os.memfd_create("cudla-sim-dpus", os.MFD_CLOEXEC)
        try:
            os.ftruncate(self.fd, self.size)
            self._map = mmap.mmap(self.fd, self.size, flags=mmap.MAP_SHARED | _NORESERVE)
        except (OSError, ValueError) as cause:
            os.close(self.fd)
            self.fd = -1
            raise error(
                Status.DPU_ERR_ALLOCATION,
                f"the system gives no address space for {count} DPUs ({self.size >> 30} GiB, "
                "backed only where touched; the setting upmem_ranks makes the machine smaller): "
                f"{cause}",
            ) from None
        self.bytes: NDArray[np.uint8] = np.frombuffer(self._map, np.uint8)
        self.base = int(self.bytes.__array_interface__["data"][0])

    def slot(self, number: int) -> int:
        """The address of a slot in this process."""
        return self.base + number * STRIDE

    def mram(self, number: int) -> NDArray[np.uint8]:
        start = number * STRIDE
        return self.bytes[start : start + MRAM_SIZE]

    def wram(self, number: int) -> NDArray[np.uint8]:
        start = number * STRIDE + WRAM_OFFSET
        return self.bytes[start : start + WRAM_SIZE]

    def side(self, number: int) -> NDArray[np.uint8]:
        start = number * STRIDE + SIDE_OFFSET
        return self.bytes[start : start + SIDE_SIZE]

    def written(self, number: int) -> NDArray[np.uint8]:
        """Bit ``i & 7`` of byte ``i >> 3`` is set when 8-byte word ``i`` of MRAM was written."""
        start = number * STRIDE + WRITTEN_OFFSET
        return self.bytes[start : start + WRITTEN_SIZE]

    def clear(self, ranges: Sequence[tuple[int, int]]) -> threading.Thread:
        """Gives the memory of slots (first, count) back, beside the caller: a gigabyte takes a
        tenth of a second. They read as zero when the thread has ended."""

        def work() -> None:
            for first, count in ranges:
                size = count * STRIDE
                _LIBC.fallocate(self.fd, _PUNCH_HOLE_KEEP_SIZE, first * STRIDE, size)

        thread = threading.Thread(target=work, daemon=True)
        thread.start()
        self._clearing = [t for t in self._clearing if t.is_alive()]
        self._clearing.append(thread)
        return thread

    def close(self) -> None:
        """Ends the file; views of it that Python still holds keep their pages."""
        for thread in self._clearing:
            thread.join()  # it works on the file's number
        if self.fd >= 0:
            os.close(self.fd)
            self.fd = -1
