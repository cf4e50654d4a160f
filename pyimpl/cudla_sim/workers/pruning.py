"""How large a cache may become: what was not used for the longest time goes first."""

from __future__ import annotations

import contextlib
import os
import shutil
import time
from pathlib import Path

MOST_ENTRIES = 256
"""Of each kind of cache (``dpu``, ``vpu``, ``calibration``)."""
MOST_BYTES = 256 << 20
"""Of each kind, all files together."""
LEAST_AGE_S = 3600.0
"""What was used since then stays: another process may be reading it."""
BUILDING = "building-"
"""How folders begin in which something is built."""


def used(entry: Path) -> None:
    """Notes that an entry was used now."""
    with contextlib.suppress(OSError):  # a cache of another system, mounted to be read
        os.utime(entry)


def prune(cache: Path) -> None:
    """Removes the entries of *cache* that are too many, and what builds have left behind."""
    now, known = time.time(), []
    try:
        for entry in os.scandir(cache):
            if entry.is_dir(follow_symlinks=False):
                known.append((entry.stat(follow_symlinks=False).st_mtime, Path(entry.path)))
    except OSError:
        return  # another process prunes, too
    count = total = 0
    for last, path in sorted(known, reverse=True):
        count, total = count + 1, total + _size(path)
        left = path.name.startswith(BUILDING)
        if (left or count > MOST_ENTRIES or total > MOST_BYTES) and now - last > LEAST_AGE_S:
            shutil.rmtree(path, ignore_errors=True)


def _size(folder: Path) -> int:
    total = 0
    with contextlib.suppress(OSError):
        for entry in os.scandir(folder):
            total += entry.stat(follow_symlinks=False).st_size
    return total
