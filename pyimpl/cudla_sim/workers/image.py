"""A program in memory that can be started any number of times, whatever happens to its file."""

from __future__ import annotations

import os
import tempfile

from .files import above_standard, executable_memory, seal


class Image:
    """``name``: what lists of processes show, and the first word of the command line."""

    def __init__(self, name: str, contents: bytes) -> None:
        self.name = name
        self.contents = contents
        writable = executable_memory(os.path.basename(name)[:200])
        try:
            rest = memoryview(contents)
            while rest:
                rest = rest[os.write(writable, rest) :]
            seal(writable, contents=True)  # no worker changes what the next one executes
            # a file that is open for writing cannot be executed
            self.fd = above_standard(_read_only(writable, contents))
        finally:
            os.close(writable)

    def close(self) -> None:
        """Running workers are not affected. Harmless when repeated."""
        if self.fd >= 0:
            os.close(self.fd)
            self.fd = -1


def _read_only(memory: int, contents: bytes) -> int:
    """A descriptor that can be executed. Only ``/proc`` opens a file in memory another time; where
    there is none, a file without a name serves. Raises OSError."""
    flags = os.O_RDONLY | os.O_CLOEXEC
    try:
        return os.open(f"/proc/self/fd/{memory}", flags)
    except FileNotFoundError:
        with tempfile.NamedTemporaryFile(prefix="cudla-sim-") as file:
            file.write(contents)
            file.flush()
            os.fchmod(file.fileno(), 0o500)
            return os.open(file.name, flags)
