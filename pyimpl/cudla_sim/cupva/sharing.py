"""Pages of the program that become pages of device memory, so that nothing needs to be copied.

The system maps the device memory's file where the program's pages were; their contents move along.
Only private, writable pages without a file are taken: memory of malloc, cudaMalloc and NvSciBuf,
not files, not what is shared already.
"""

from __future__ import annotations

import ctypes
import mmap
from collections.abc import Iterator
from contextlib import suppress
from typing import NamedTuple

_LIBC = ctypes.CDLL(None, use_errno=True)
_LIBC.mmap.restype = ctypes.c_void_p
_LIBC.mmap.argtypes = (
    *(ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int, ctypes.c_int, ctypes.c_int, ctypes.c_long),
)
_LIBC.mremap.restype = ctypes.c_void_p
_LIBC.mremap.argtypes = (
    *(ctypes.c_void_p, ctypes.c_size_t, ctypes.c_size_t, ctypes.c_int, ctypes.c_void_p),
)
_LIBC.munmap.argtypes = (ctypes.c_void_p, ctypes.c_size_t)
_READ_WRITE = mmap.PROT_READ | mmap.PROT_WRITE
_FIXED, _MAYMOVE_FIXED = 0x10, 3
_FAILED = ctypes.c_void_p(-1).value


class _Area(NamedTuple):
    """A line of /proc/self/maps: ``offset`` and ``inode`` of the file, 0 without one."""

    start: int
    end: int
    rights: str
    offset: int
    inode: int
    name: str


def _areas(first: int, end: int) -> Iterator[_Area]:
    """What lies in [first, end), in order."""
    # without /proc nothing is known to be ordinary memory
    with suppress(FileNotFoundError), open("/proc/self/maps") as file:
        for line in file:
            words = line.split(None, 5)
            start, _, stop = words[0].partition("-")
            low, high = int(start, 16), int(stop, 16)
            if high <= first:
                continue
            if low >= end:
                return
            name = words[5].strip() if len(words) > 5 else ""
            yield _Area(low, high, words[1], int(words[2], 16), int(words[4]), name)


def _is_ordinary(first: int, end: int) -> bool:
    at = first
    for area in _areas(first, end):
        stacklike = area.name.startswith("[") and area.name != "[heap]"
        if area.start > at or area.rights[:4] != "rw-p" or area.inode or stacklike:
            return False
        at = area.end
    return at >= end


def _is_ours(first: int, end: int, inode: int, offset: int) -> bool:
    at = first
    for area in _areas(first, end):
        if area.start > at or area.inode != inode or area.offset - area.start != offset - first:
            return False
        at = area.end
    return at >= end


def share(first: int, end: int, fd: int, offset: int) -> bool:
    """Makes the pages [first, end) of this process those of a file from ``offset`` on. False, and
    nothing has changed, when they are not ordinary memory."""
    if not _is_ordinary(first, end):
        return False
    size = end - first
    aside = _LIBC.mmap(None, size, _READ_WRITE, mmap.MAP_SHARED, fd, offset)
    if aside == _FAILED:
        return False
    ctypes.memmove(aside, first, size)
    if _LIBC.mremap(aside, size, size, _MAYMOVE_FIXED, first) != first:
        _LIBC.munmap(aside, size)
        return False
    return True


def give_back(first: int, end: int, inode: int, offset: int) -> bool:
    """Undoes ``share`` with the file of that inode: the pages are the program's own again, with
    what they hold now. What the program has given back to the system or mapped anew meanwhile stays
    as it is. False when the system lacks memory for that; then the file's pages are in use."""
    size = end - first
    if not _is_ours(first, end, inode, offset):
        return True
    aside = _LIBC.mmap(None, size, _READ_WRITE, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS, -1, 0)
    if aside == _FAILED:
        return False
    ctypes.memmove(aside, first, size)
    if _LIBC.mremap(aside, size, size, _MAYMOVE_FIXED, first) != first:
        _LIBC.munmap(aside, size)
        return False
    return True
