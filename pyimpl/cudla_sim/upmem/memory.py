"""The memories of all DPUs: one sparse anonymous file that workers map too.

Each DPU has a slot of the file: its MRAM, its WRAM, a page where a worker leaves what happened,
and one bit for each 8 bytes of MRAM that says whether they were ever written. Only pages that
were touched cost memory; MRAM of which much is used gets large ones (``shim/native/dpu_memory.c``).
"""

from __future__ import annotations

import os
from contextlib import suppress
from typing import TYPE_CHECKING

from ..constants import dpu_protocol as layout
from ..native.dpu_memory import Clearing, DpuCopies, Mapping
from ..workers.files import shared_memory
from . import notices
from .errors import DpuError, Status, error

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

CIS_PER_RANK = 8
"""Control interfaces (slices) of a rank."""
DPUS_PER_CI = 8
DPUS_PER_RANK = CIS_PER_RANK * DPUS_PER_CI

MRAM_SIZE, WRAM_SIZE = layout.MRAM_SIZE, layout.WRAM_SIZE
WRAM_OFFSET = layout.SLOT_WRAM
SIDE_OFFSET, SIDE_SIZE = layout.SLOT_SIDE, layout.SIDE_SIZE
CORE_OFFSET, IRAM_OFFSET = layout.SLOT_CORE, layout.SLOT_IRAM
PROFILE_OFFSET = layout.SLOT_PROFILE
WRITTEN_OFFSET, WRITTEN_SIZE = layout.SLOT_WRITTEN, layout.SLOT_END - layout.SLOT_WRITTEN
STRIDE = layout.SLOT_END
MOST_KEPT = 2 << 30
"""Bytes of memory that freed DPUs may keep for the next set; a sixteenth of the machine's, where
that is less."""


class MachineMemory:
    """Slots 0 to ``count`` - 1. ``base`` is where the file is mapped in this process.

    Where the system gives no addresses for all of them (valgrind, ``ulimit -v``), only those that
    ``reserve`` was asked for are mapped; before the first ``reserve``, ``base`` may be 0.
    """

    def __init__(self, count: int) -> None:
        self.count = count
        self.size = count * STRIDE
        self._clearing: list[Clearing] = []
        self._mapping: Mapping | None = None
        self.fd = -1
        try:
            self.fd = shared_memory("cudla-sim-dpus", self.size)
        except (OSError, OverflowError) as cause:
            raise _refused(count, cause) from None
        with suppress(OSError, OverflowError):
            self._mapping = Mapping(self.fd, self.size)

    def reserve(self, count: int) -> None:
        """Makes sure of addresses for slots 0 to ``count`` - 1; they never move.

        Raises DpuError(DPU_ERR_ALLOCATION).
        """
        size = count * STRIDE
        try:
            if self._mapping is None:
                self._mapping = Mapping(self.fd, size, grows=True)
            elif self._mapping.size < size:
                self._mapping.grow(self.fd, size)
        except (OSError, OverflowError) as cause:
            raise _refused(count, cause) from None

    @property
    def base(self) -> int:
        return self._mapping.base if self._mapping else 0

    @property
    def bytes(self) -> NDArray[np.uint8]:
        """All slots that are reserved."""
        assert self._mapping is not None, "nothing is reserved"
        return self._mapping.bytes

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

    def clear(self, copies: DpuCopies, first: int, count: int) -> Clearing:
        """Begins to give the memory of ``count`` slots back, beside the caller; they read as zero
        when that has ended."""
        clearing = copies.clear(self.fd, first * STRIDE, count * STRIDE)
        self._clearing.append(clearing)
        return clearing

    def cleared(self, clearing: Clearing) -> None:
        """Waits until those slots read as zero."""
        clearing.wait()
        if clearing in self._clearing:
            self._clearing.remove(clearing)

    @property
    def kept(self) -> bool:
        """Whether so little of the file exists that nothing of it need be given back."""
        physical = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
        return os.fstat(self.fd).st_blocks * 512 <= min(MOST_KEPT, physical // 16)

    def zero(self, copies: DpuCopies, first: int, count: int) -> None:
        """Zeroes ``count`` slots and keeps their memory: a fifth of what fresh memory costs."""
        copies.zero(self.fd, self.base, first * STRIDE, count * STRIDE)

    def close(self) -> None:
        """Ends the file; views of it that Python still holds keep their pages."""
        for clearing in list(self._clearing):
            self.cleared(clearing)  # it works on the file's number
        if self.fd >= 0:
            os.close(self.fd)
            self.fd = -1


def _refused(count: int, cause: Exception) -> DpuError:
    text = (
        f"the system gives no address space for {count} DPUs ({count * STRIDE >> 20} MiB, backed "
        f"only where touched): {cause}; fewer DPUs need less. What a process may have is limited "
        "by `ulimit -v`, and by valgrind to some 64 GiB"
    )
    notices.refuse("dpu_alloc", text)
    return error(Status.DPU_ERR_ALLOCATION, text)
