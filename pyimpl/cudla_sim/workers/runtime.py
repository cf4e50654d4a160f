"""The cached build of a runtime: what is compiled once for a compiler and linked into programs.

It lies in ``$XDG_CACHE_HOME/cudla-sim/<kind>/<key>/``; the key is a hash of everything that the
build depends on, so a new version never meets an old one. It is built in a folder of its own and
moved in place: two builds at once do not disturb each other. Without a writable cache it is built
in a temporary folder for this one run.
"""

from __future__ import annotations

import atexit
import hashlib
import os
import shutil
import tempfile
from collections.abc import Callable, Iterable
from pathlib import Path


def key(settings: object, compiler: str, files: Iterable[Path]) -> str:
    """A hash of flags, of the compiler's binary, and of the names and contents of the sources."""
    digest = hashlib.sha256(repr(settings).encode())
    binary = os.stat(os.path.realpath(shutil.which(compiler) or compiler))
    digest.update(f"{binary.st_size} {binary.st_mtime_ns}".encode())
    for file in sorted(files):
        digest.update(file.name.encode() + b"\0" + file.read_bytes())
    return digest.hexdigest()[:24]


def _cache(kind: str) -> Path | None:
    base = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    folder = Path(base) / "cudla-sim" / kind
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError:
        return None
    return folder if os.access(folder, os.W_OK | os.X_OK) else None


def cached(kind: str, key: str, result: str, build: Callable[[Path], None]) -> Path:
    """The folder that ``build`` has filled, last of all with the file ``result``.

    Raises what ``build`` raises, and OSError.
    """
    cache = _cache(kind)
    if cache is None:
        folder = Path(tempfile.mkdtemp(prefix=f"cudla-sim-{kind}-"))
        atexit.register(shutil.rmtree, folder, ignore_errors=True)
        build(folder)
        return folder
    final = cache / key
    if (final / result).is_file():
        return final
    folder = Path(tempfile.mkdtemp(prefix="building-", dir=cache))
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
