"""A tool that failed because a disk is full: told as that, not by the tool's own pages."""

from __future__ import annotations

import errno
import os
import tempfile
from collections.abc import Iterable
from pathlib import Path

_WORDS = {
    os.strerror(errno.ENOSPC): errno.ENOSPC,
    "No space left on device": errno.ENOSPC,  # tools that speak another language than we do
    os.strerror(errno.EDQUOT): errno.EDQUOT,
}


class DiskFull(OSError):
    """Nothing can be written any more; the text names the fullest of the file systems."""

    def __str__(self) -> str:
        return f"{self.strerror}: {self.filename} (TMPDIR and XDG_CACHE_HOME name other places)"


def refuse(words: str, files: Iterable[str | Path]) -> None:
    """Raises DiskFull if a tool's *words* say so; it writes *files*, and temporary ones."""
    number = next((number for text, number in _WORDS.items() if text in words), None)
    if number is None:
        return
    folders = [Path(file).absolute().parent for file in files]
    folders = [f for f in (*folders, Path(tempfile.gettempdir())) if f.is_dir()]
    fullest = min(folders, key=_free)
    while not fullest.is_mount():  # folders of a build are gone when this is read
        fullest = fullest.parent
    raise DiskFull(number, os.strerror(number), str(fullest))


def _free(folder: Path) -> int:
    found = os.statvfs(folder)
    return found.f_bavail * found.f_frsize
