"""Files without a name that several processes map: what a handle of 64 bytes says about one.

Another process of the same user opens the file by way of ``/proc``; the file's number there tells
whether it is still the one that was meant.
"""

from __future__ import annotations

import ctypes
import mmap
import os
import struct
from typing import NamedTuple

_LAYOUT = struct.Struct("<8sIiQQQQ")  # mark, process, descriptor, device, inode, size, more
_SIZE = 64
_FIXED = 0x10  # MAP_FIXED

_libc = ctypes.CDLL(None, use_errno=True)
_libc.mmap.restype = ctypes.c_void_p
_libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int, ctypes.c_int, ctypes.c_int,
                       ctypes.c_long]  # fmt: skip


def whole_pages(size: int) -> int:
    return (size + mmap.PAGESIZE - 1) // mmap.PAGESIZE * mmap.PAGESIZE


class Ticket(NamedTuple):
    """A handle's content. ``more`` is the business of who makes it."""

    mark: bytes
    process: int
    descriptor: int
    device: int
    inode: int
    size: int
    more: int

    @classmethod
    def read(cls, data: bytes) -> Ticket:
        return cls(*_LAYOUT.unpack_from(data))

    def pack(self) -> bytes:
        return _LAYOUT.pack(*self).ljust(_SIZE, b"\0")


class SharedFile:
    """A descriptor that is closed when nobody refers to this any more."""

    def __init__(self, descriptor: int, size: int) -> None:
        self.descriptor = descriptor
        self.size = size

    def __del__(self) -> None:
        os.close(self.descriptor)

    @classmethod
    def create(cls, name: str, size: int) -> SharedFile:
        """Raises OSError."""
        made = cls(os.memfd_create(name, os.MFD_CLOEXEC), size)
        os.ftruncate(made.descriptor, whole_pages(size))
        return made

    @classmethod
    def open(cls, ticket: Ticket) -> SharedFile:
        """Raises OSError where it is gone, or no file of this kind."""
        path = f"/proc/{ticket.process}/fd/{ticket.descriptor}"
        found = cls(os.open(path, os.O_RDWR | os.O_CLOEXEC), ticket.size)
        status = os.fstat(found.descriptor)
        if (status.st_dev, status.st_ino) != (ticket.device, ticket.inode):
            raise FileNotFoundError(f"{path} is another file by now")
        if status.st_size < ticket.size:
            raise FileNotFoundError(f"{path} has {status.st_size} bytes")
        return found

    def ticket(self, mark: bytes, more: int = 0) -> Ticket:
        status = os.fstat(self.descriptor)
        return Ticket(
            mark, os.getpid(), self.descriptor, status.st_dev, status.st_ino, self.size, more
        )

    def map(self) -> mmap.mmap:
        return mmap.mmap(self.descriptor, whole_pages(self.size))

    def replace(self, address: int) -> None:
        """What lies at an address, whole pages of it, is this file's from now on, with the same
        content. Nobody may touch it meanwhile. Raises OSError."""
        size = whole_pages(self.size)
        left, at = size, 0
        while left:
            part = (ctypes.c_char * min(left, 1 << 26)).from_address(address + at)
            done = os.pwrite(self.descriptor, part, at)
            left, at = left - done, at + done
        rights = mmap.PROT_READ | mmap.PROT_WRITE
        flags = mmap.MAP_SHARED | _FIXED
        if _libc.mmap(address, size, rights, flags, self.descriptor, 0) != address:
            raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
