"""Device memory is host memory: an ordered map of the address ranges that somebody may touch."""

from __future__ import annotations

import ctypes
import itertools
import threading
from bisect import bisect_right
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from .. import lazy
from . import own_memory
from .pages import Zeros

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray
else:
    np = lazy.module("numpy")

Bytes: TypeAlias = "NDArray[np.uint8]"

_moments = itertools.count(1)
_NEAR = 1 << 32
"""Ranges that are further away than this have nothing to do with a wrong address."""


class MemoryFault(Exception):
    """An access outside every mapped range, or a write to a read-only one."""

    def __init__(self, address: int, size: int, write: bool, explanation: str) -> None:
        super().__init__(explanation)
        self.address = address
        self.size = size
        self.write = write
        self.explanation = explanation


class Region:
    """A contiguous range of host memory, with ``margin`` bytes more behind it. ``memory`` makes
    an array over all of that when somebody looks at it."""

    __slots__ = ("_data", "_memory", "base", "margin", "name", "owner", "size", "writable")

    def __init__(
        self,
        base: int,
        size: int,
        name: str,
        memory: Callable[[], Bytes],
        writable: bool,
        owner: Any,
        margin: int = 0,
    ) -> None:
        self.base = base
        self.size = size
        self.name = name
        self._memory = memory
        self._data: Bytes | None = None
        self.writable = writable
        self.owner = owner
        self.margin = margin

    @property
    def data(self) -> Bytes:
        """All of it as uint8, zero-copy."""
        if self._data is None:
            self._data = self._memory()[: self.size]
        return self._data

    @property
    def whole(self) -> Bytes | None:
        """The same with the margin behind it, None where there is none."""
        return self._memory() if self.margin else None

    @property
    def end(self) -> int:
        return self.base + self.size

    def __repr__(self) -> str:
        return f"<{self.name} [{self.base:#x}, {self.end:#x}) {self.size} bytes>"


def host_bytes(address: int, size: int) -> Bytes:
    """Host memory as a uint8 array, without a copy and without keeping it alive."""
    return np.frombuffer(memoryview((ctypes.c_uint8 * size).from_address(address)), np.uint8)


def address_of(array: NDArray[Any]) -> int:
    return int(array.__array_interface__["data"][0])


class _Ranges(NamedTuple):
    """All regions at one moment, by address. Replaced, never changed: readers need no lock.
    ``number`` is no other one's."""

    number: int
    bases: list[int]
    regions: list[Region]

    def find(self, address: int) -> Region | None:
        index = bisect_right(self.bases, address) - 1
        if index < 0:
            return None
        region = self.regions[index]
        return region if address < region.end else None

    def overlapping(self, base: int, size: int) -> Region | None:
        inside = self.find(base)
        if inside is not None:
            return inside
        index = bisect_right(self.bases, base)
        if index < len(self.bases) and self.bases[index] < base + size:
            return self.regions[index]
        return None


class AddressSpace:
    """Address ranges that one party (a process, a device handle) may touch. They never overlap."""

    def __init__(self, name: str = "memory") -> None:
        self.name = name
        self._put(_Ranges(next(_moments), [], []))
        self._lock = threading.Lock()

    def _put(self, ranges: _Ranges) -> None:
        self._ranges = ranges
        # behind the ranges: who finds a new signature finds the new ranges, too
        self.signature: tuple[int, ...] = (ranges.number,)
        """Equal as long as no region came or went, and to that of no other space."""

    def __iter__(self) -> Iterator[Region]:
        """The regions in order of address."""
        return iter(self._ranges.regions)

    def __len__(self) -> int:
        return len(self._ranges.bases)

    def map(
        self,
        base: int,
        size: int,
        *,
        name: str,
        data: Bytes | None = None,
        writable: bool = True,
        owner: Any = None,
    ) -> Region:
        """Adds [base, base + size). Without ``data`` the host memory at ``base`` is wrapped.

        Raises ValueError for an empty range or one that overlaps another.
        """
        if size <= 0 or base <= 0:
            raise ValueError(f"{name}: [{base:#x}, +{size}) is no address range")
        memory = partial(host_bytes, base, size) if data is None else lambda: data
        return self._add(Region(base, size, name, memory, writable, owner))

    def _add(self, region: Region) -> Region:
        base, size = region.base, region.size
        with self._lock:
            _, bases, regions = self._ranges
            clash = self._ranges.overlapping(base, size)
            if clash is not None:
                raise ValueError(f"{region.name}: [{base:#x}, +{size}) overlaps {clash}")
            index = bisect_right(bases, base)
            self._put(
                _Ranges(
                    next(_moments),
                    [*bases[:index], base, *bases[index:]],
                    [*regions[:index], region, *regions[index:]],
                )
            )
        return region

    def allocate(
        self,
        size: int,
        *,
        name: str,
        align: int = 4096,
        owner: Any = None,
        margin: int = 0,
        behind: int = 0,
    ) -> Region:
        """Maps new zero-filled host memory, and *behind* bytes after it. Raises MemoryError."""
        if size <= 0:
            raise ValueError(f"{name}: {size} bytes are no address range")
        zeros = Zeros(size + margin, align, behind=behind)
        return self._add(Region(zeros.base, size, name, zeros.array, True, owner, margin))

    def unmap(self, region: Region) -> None:
        """Removes a region; one that is already gone is left alone."""
        with self._lock:
            _, bases, regions = self._ranges
            index = bisect_right(bases, region.base) - 1
            if index >= 0 and regions[index] is region:
                self._put(
                    _Ranges(
                        next(_moments),
                        bases[:index] + bases[index + 1 :],
                        regions[:index] + regions[index + 1 :],
                    )
                )

    def find(self, address: int) -> Region | None:
        """The region that holds ``address``."""
        return self._ranges.find(address)

    def overlapping(self, base: int, size: int) -> Region | None:
        """Some region that shares an address with [base, base + size)."""
        return self._ranges.overlapping(base, size)

    def view(self, address: int, size: int, *, write: bool = False) -> Bytes:
        """``size`` bytes at ``address`` as uint8, zero-copy.

        Raises MemoryFault when they do not lie in one region, or may not be written.
        """
        region = self.find(address)
        if region is None or size < 0 or address + size > region.end:
            raise MemoryFault(address, size, write, self.explain(address, size))
        if write and not region.writable:
            raise MemoryFault(address, size, write, f"{region} is read-only")
        start = address - region.base
        return region.data[start : start + size]

    def explain(self, address: int, size: int) -> str:
        """Why [address, address + size) cannot be used: what lies nearest."""
        wanted = f"[{address:#x}, +{size})"
        region = self.find(address)
        if region is not None:
            over = address + size - region.end
            return f"{wanted} runs {over} bytes past the end of {region}"
        _, bases, regions = self._ranges
        index = bisect_right(bases, address)
        near = []
        if index > 0 and address - regions[index - 1].end < _NEAR:
            below = regions[index - 1]
            near.append(f"{below} ends {address - below.end} bytes below")
        if index < len(bases) and bases[index] - address < _NEAR:
            above = regions[index]
            near.append(f"{above} begins {above.base - address} bytes above")
        return f"{wanted} is in no range of {self.name}; " + (
            "; ".join(near)
            if near
            else f"none of its {len(bases)} is near"
            if bases
            else "it has none"
        )


def _mapped_size(address: int, rights: str, most: int | None) -> int:
    """From ``address`` on without a gap; counting ends at ``most``."""
    end = address
    with suppress(FileNotFoundError), open("/proc/self/maps") as maps:
        for line in maps:
            span, mode, *_ = line.split(maxsplit=2)
            first, last = (int(part, 16) for part in span.split("-"))
            if first <= end < last and mode.startswith(rights) and "[v" not in line:
                end = last  # the kernel's own pages ([vvar]) may not be read
                if most is not None and end - address >= most:
                    break
        return end - address if most is None else min(end - address, most)
    return own_memory.readable_size(address, *(() if most is None else (most,)))


def readable_size(address: int) -> int:
    """Bytes of this process's memory that can be read from ``address`` on without a gap.

    The upper bound for data whose size an interface does not tell; 0 when nothing is mapped there.
    """
    return _mapped_size(address, "r", None)


def usable_size(address: int, most: int) -> int:
    """Bytes of this process's memory that can be read and written from ``address`` on without a
    gap, ``most`` at most. Where there is no ``/proc``: that can be read."""
    return _mapped_size(address, "rw", most)


def read_host(address: int, size: int) -> bytes:
    """A copy of host memory that a program claims to own.

    Reads through the kernel, so that a wrong pointer or a size far too large raises MemoryFault
    instead of ending the process.
    """
    explanation = f"[{address:#x}, +{size}) is not readable memory of this process"
    try:
        parts, left, at = [], size, address
        with own_memory.opened() as read:
            while left > 0:
                part = read(at, min(left, 1 << 24))
                if not part:
                    break
                parts.append(part)
                left, at = left - len(part), at + len(part)
    except (OSError, OverflowError, ValueError):
        raise MemoryFault(address, size, False, explanation) from None
    if left > 0:
        raise MemoryFault(
            address, size, False, f"{explanation} (only the first {size - left} bytes are)"
        )
    return b"".join(parts)
