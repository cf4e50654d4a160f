"""Memory from the system, and what becomes of its addresses when it is given back.

A device's addresses are never those of something else: a real driver keeps the range of a freed
allocation to itself. Here freed ranges stay taken, without memory behind them and without access,
for a while, so that a stale pointer is an error instead of the heap of the program.
"""

from __future__ import annotations

import ctypes
import mmap
import sys
import threading
from collections import deque
from typing import TYPE_CHECKING

from .. import lazy
from ..native.compiled import lib
from . import forks

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray
else:
    np = lazy.module("numpy")

_NORESERVE = 0x4000  # MAP_NORESERVE and MAP_FIXED of Linux, which the mmap module may not name
_FIXED = 0x10
_RETIRED_RANGES = 1024  # kept, at most: a process may have 65530 mappings
_RETIRED_BYTES = 64 << 30

_LIBC = ctypes.CDLL(None, use_errno=True)
_LIBC.mmap.restype = ctypes.c_void_p
_LIBC.mmap.argtypes = (
    ctypes.c_void_p,
    ctypes.c_size_t,
    ctypes.c_int,
    ctypes.c_int,
    ctypes.c_int,
    ctypes.c_long,
)


is_memory = lib.sim_accessible
"""The same for an address that is one, as a function of C: where microseconds count."""


def accessible(address: int, size: int, *, write: bool = False) -> bool:
    """Whether this process may read (or write) all of [address, address + size)."""
    if address <= 0 or size < 0 or address + size >= 1 << 63:
        return False
    return bool(is_memory(address, size, write))


class _Retired:
    """The ranges that are kept, oldest first."""

    def __init__(self) -> None:
        self._ranges: deque[_Pages] = deque()
        self._bytes = 0
        self._unlock()
        forks.in_child(self._unlock)

    def _unlock(self) -> None:
        # Reentrant: the collector may end other pages while this thread holds it.
        self._lock = threading.RLock()

    def take(self, pages: _Pages) -> None:
        size = len(pages)
        flags = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | _FIXED | _NORESERVE
        if size > _RETIRED_BYTES or _LIBC.mmap(pages.base, size, 0, flags, -1, 0) != pages.base:
            return  # the system takes the range back
        with self._lock:
            try:
                self._ranges.append(pages)
            except MemoryError:
                return
            self._bytes += size
            while len(self._ranges) > _RETIRED_RANGES or self._bytes > _RETIRED_BYTES:
                self._bytes -= len(self._ranges.popleft())


class _Pages(mmap.mmap):
    """An anonymous mapping that retires when nobody refers to it any more."""

    base = 0
    retired = _Retired()

    def __del__(self) -> None:
        # Python calls this once: what the queue lets go afterwards is unmapped. At the end of the
        # interpreter nothing is left to protect, and modules may be gone already.
        if self.base and not sys.is_finalizing():
            self.retired.take(self)


class Zeros:
    """Zero-filled memory that costs nothing until it is touched: ``size`` bytes at ``base``.

    It lives as long as this object or an array of it. Raises MemoryError. Alignments above the page
    size are met by over-allocation. ``reserve=False`` is for address ranges of which only a little
    will ever be touched: the system does not ask whether it could back all of it. *behind*: bytes
    that are mapped, too, and belong to nobody.
    """

    def __init__(
        self, size: int, align: int = mmap.PAGESIZE, *, reserve: bool = True, behind: int = 0
    ) -> None:
        self._pages = _map(size + behind, align, reserve)
        first = ctypes.addressof(ctypes.c_char.from_buffer(self._pages))
        if isinstance(self._pages, _Pages):
            self._pages.base = first
        self._skip = -first % align
        self.base = first + self._skip
        self.size = size

    def array(self) -> NDArray[np.uint8]:
        """All of it, zero-copy; the array keeps it alive."""
        return np.frombuffer(self._pages, np.uint8)[self._skip : self._skip + self.size]


def anonymous(size: int, align: int = mmap.PAGESIZE, *, reserve: bool = True) -> NDArray[np.uint8]:
    """The same as an array."""
    return Zeros(size, align, reserve=reserve).array()


def _map(size: int, align: int, reserve: bool) -> mmap.mmap:
    slack = align if align > mmap.PAGESIZE else 0
    flags = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | (0 if reserve else _NORESERVE)
    kind = _Pages if reserve else mmap.mmap
    try:
        return kind(-1, max(size, 1) + slack, flags=flags)
    except (OSError, OverflowError, ValueError) as error:
        raise MemoryError(f"the system has no {size} bytes: {error}") from None
