"""The cached build of a runtime: what is compiled once for a compiler and linked into programs.

It lies in ``$XDG_CACHE_HOME/cudla-sim/<kind>/<key>/``; the key is a hash of everything that the
build depends on, so a new version never meets an old one. Its folders are for their owner alone:
those of another user, or into which another one may write, are not used, because what lies in them
is linked into programs. It is built in a folder of its own and moved in place: two builds at once
do not disturb each other. ``prune`` bounds what lies there. Without a writable cache it is built
in a temporary folder for this one run.
"""

from __future__ import annotations

import atexit
import contextlib
import hashlib
import os
import shutil
import stat
import tempfile
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

from ..core.text import tell


def key(settings: object, compiler: str, files: Iterable[Path]) -> str:
    """A hash of flags, of the compiler's binary, and of the names and contents of the sources."""
    digest = hashlib.sha256(repr(settings).encode())
    binary = os.stat(os.path.realpath(shutil.which(compiler) or compiler))
    digest.update(f"{binary.st_size} {binary.st_mtime_ns}".encode())
    for file in sorted(files):
        digest.update(file.name.encode() + b"\0" + file.read_bytes())
    return digest.hexdigest()[:24]


_PRIVATE = 0o700


def distrusted(folder: Path) -> str:
    """Why what lies in a folder must not be linked into programs, "" if it may be."""
    status = folder.lstat()
    if not stat.S_ISDIR(status.st_mode):
        return "is no folder"
    if status.st_uid != os.geteuid():
        return f"belongs to user {status.st_uid}, not to {os.geteuid()}"
    if status.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
        return "can be written to by other users (chmod 700 makes it private)"
    return ""


def root() -> Path:
    """The folder of all kinds, which need not be there."""
    return Path(os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")) / "cudla-sim"


def _cache(kind: str) -> Path | None:
    own = root()
    try:
        own.parent.mkdir(parents=True, exist_ok=True)
        for folder in (own, own / kind):
            folder.mkdir(mode=_PRIVATE, exist_ok=True)
            why = distrusted(folder)
            if why:
                _tell(folder, why)
                return None
    except OSError:
        return None
    return own / kind if os.access(own / kind, os.W_OK | os.X_OK) else None


def _tell(folder: Path, why: str) -> None:
    tell(
        f"cudla-sim: the cache {folder} {why}; it is not used, runtimes are built for this run"
        " alone. XDG_CACHE_HOME names another place"
    )


def cached(kind: str, key: str, result: str, build: Callable[[Path], None]) -> Path:
    """The folder that ``build`` has filled, last of all with the file ``result``.

    Raises what ``build`` raises, and OSError.
    """
    folder = kept(kind, key, result, build)
    if folder is None:
        folder = Path(tempfile.mkdtemp(prefix=f"cudla-sim-{kind}-"))
        atexit.register(shutil.rmtree, folder, ignore_errors=True)
        build(folder)
    return folder


def kept(kind: str, key: str, result: str, build: Callable[[Path], None]) -> Path | None:
    """The same for what is only worth making once for many runs: None without a writable cache."""
    cache = _cache(kind)
    if cache is None:
        return None
    final = cache / key
    if (final / result).is_file() and not distrusted(final):
        used(final)
        return final
    prune(cache)
    folder = Path(tempfile.mkdtemp(prefix=BUILDING, dir=cache))
    try:
        build(folder)
        try:
            folder.rename(final)
        except OSError:
            if not (final / result).is_file():
                raise
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    return final


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


@dataclass(frozen=True, slots=True)
class Entry:
    """One that is kept; ``used``: seconds since the epoch."""

    path: Path
    size: int
    used: float


def entries(kind: str) -> list[Entry]:
    """What is kept of a kind."""
    found = []
    with contextlib.suppress(OSError):  # there is none, or another process prunes
        for entry in os.scandir(root() / kind):
            if entry.is_dir(follow_symlinks=False):
                last = entry.stat(follow_symlinks=False).st_mtime
                found.append(Entry(Path(entry.path), _size(Path(entry.path)), last))
    return found


def clear(kind: str) -> int:
    """Removes what is kept of a kind; how many entries that were."""
    known = entries(kind)
    for entry in known:
        shutil.rmtree(entry.path, ignore_errors=True)
    return len(known)


def _size(folder: Path) -> int:
    total = 0
    with contextlib.suppress(OSError):
        for entry in os.scandir(folder):
            total += entry.stat(follow_symlinks=False).st_size
    return total
