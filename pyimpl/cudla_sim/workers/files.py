"""Memory that is shared with workers, and descriptors for them.

A worker cannot cut such memory off or make it larger: what the host has mapped stays. Descriptors
of ours are 3 and above also where a daemon has closed its standard ones, whose numbers a worker's
own standard streams take.
"""

from __future__ import annotations

import fcntl
import os

FIRST = 3
_MFD_EXEC = 0x10


def above_standard(fd: int) -> int:
    """The same file at a descriptor of 3 or above; *fd* is closed if it was below.

    Raises OSError.
    """
    if fd >= FIRST:
        return fd
    try:
        return fcntl.fcntl(fd, fcntl.F_DUPFD_CLOEXEC, FIRST)
    finally:
        os.close(fd)


def shared_memory(name: str, size: int) -> int:
    """A file of *size* bytes in memory that keeps its size. Raises OSError."""
    fd = above_standard(os.memfd_create(name, os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING))
    try:
        os.ftruncate(fd, size)
        seal(fd)
    except BaseException:
        os.close(fd)
        raise
    return fd


def seal(fd: int, contents: bool = False) -> None:
    """Nobody changes the size of a file in memory any more, with *contents* nor what is in it."""
    seals = fcntl.F_SEAL_SHRINK | fcntl.F_SEAL_GROW | fcntl.F_SEAL_SEAL
    fcntl.fcntl(fd, fcntl.F_ADD_SEALS, seals | (fcntl.F_SEAL_WRITE if contents else 0))


def executable_memory(name: str) -> int:
    """An empty file in memory that may be executed: newer systems want that said, older ones refuse
    it. Raises OSError."""
    flags = os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING
    try:
        return above_standard(os.memfd_create(name, flags | _MFD_EXEC))
    except OSError:
        return above_standard(os.memfd_create(name, flags))
