"""Files that are written whole or not at all."""

from __future__ import annotations

import errno
import os
import tempfile
from pathlib import Path


class OutputError(Exception):
    """A file cannot be written; the text says which and why."""


def check_writable(path: Path) -> None:
    """Say now, before minutes of work, that a file cannot be written. Raises OutputError."""
    path = path.resolve()
    code = 0
    if path.is_dir():
        code = errno.EISDIR
    elif not path.parent.exists():
        code = errno.ENOENT
    elif not path.parent.is_dir():
        code = errno.ENOTDIR
    elif not os.access(path if _special(path) else path.parent, os.W_OK):
        code = errno.EACCES
    if code:
        raise OutputError(f"{path}: {os.strerror(code)}")


def write_whole(path: Path, data: bytes) -> None:
    """The file appears complete or not at all; devices and pipes just get the bytes.

    Raises OutputError.
    """
    try:
        path = path.resolve()  # what a link points to is written, the link stays
        if _special(path):
            path.write_bytes(data)
            return
        handle, name = tempfile.mkstemp(prefix=".cudla-sim.", dir=path.parent)
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(data)
            mask = os.umask(0)
            os.umask(mask)
            os.chmod(name, 0o666 & ~mask)
            os.replace(name, path)
        except BaseException:
            os.unlink(name)
            raise
    except OSError as error:
        raise OutputError(f"{path}: {error.strerror}") from None


def _special(path: Path) -> bool:
    return path.exists() and not path.is_file() and not path.is_dir()
