"""The runtime of VPU programs as an archive, compiled once for each compiler and kept in a cache.

It lies in ``$XDG_CACHE_HOME/cudla-sim/vpu/<key>/``; the key is a hash of the sources and of the
compiler. It is built in a folder of its own and moved in place: two builds at once do not disturb
each other. Without a writable cache it is built in a temporary folder for this one run.
"""

from __future__ import annotations

import atexit
import hashlib
import os
import shutil
import tempfile
from pathlib import Path

from ... import paths
from . import steps

_FLAGS = ("-O3", "-g1", "-w", "-fno-pie", "-D_GNU_SOURCE")


def headers() -> Path:
    return paths.include_dir() / "cupva"


def sources() -> Path:
    """Where the runtime's C files lie: in the package, or beside it in a source tree."""
    inside = paths.vpu_run_dir()
    return inside if inside.is_dir() else paths.PACKAGE.parents[1] / "shim" / "vpu_run"


def _key(compiler: list[str]) -> str:
    digest = hashlib.sha256(repr((compiler, _FLAGS)).encode())
    binary = os.stat(os.path.realpath(shutil.which(compiler[0]) or compiler[0]))
    digest.update(f"{binary.st_size} {binary.st_mtime_ns}".encode())
    for file in [*sorted(sources().iterdir()), headers() / "cupva_types.h"]:
        digest.update(file.name.encode() + b"\0" + file.read_bytes())
    return digest.hexdigest()[:24]


def _build(compiler: list[str], folder: Path) -> None:
    objects = []
    for source in sorted(sources().glob("*.c")):
        target = folder / f"{source.stem}.o"
        flags = [*_FLAGS, f"-I{headers()}", "-std=gnu11", "-x", "c"]
        steps.run([*compiler, *flags, "-c", str(source), "-o", str(target)])
        objects.append(str(target))
    steps.run(["ld", "-r", *objects, "-o", str(folder / "runtime.o")])
    for name in objects:
        os.unlink(name)


def runtime_object(compiler: list[str]) -> Path:
    """The runtime for this compiler. Raises StepFailed, OSError."""
    base = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    cache = Path(base) / "cudla-sim" / "vpu"
    try:
        cache.mkdir(parents=True, exist_ok=True)
        folder = Path(tempfile.mkdtemp(prefix="building-", dir=cache))
    except OSError:
        folder = Path(tempfile.mkdtemp(prefix="cudla-sim-vpu-"))
        atexit.register(shutil.rmtree, folder, ignore_errors=True)
        _build(compiler, folder)
        return folder / "runtime.o"
    final = cache / _key(compiler)
    try:
        if not (final / "runtime.o").is_file():
            _build(compiler, folder)
            try:
                folder.rename(final)
            except OSError:
                if not (final / "runtime.o").is_file():
                    raise
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    return final / "runtime.o"
