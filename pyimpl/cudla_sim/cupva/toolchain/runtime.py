"""What is compiled once for each compiler and cached: the runtime of VPU programs as one object,
and the headers of kernels."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

from ... import paths
from ...workers import runtime
from . import steps

_FLAGS = ("-O3", "-g1", "-w", "-fno-pie", "-D_GNU_SOURCE")


def headers() -> Path:
    return paths.include_dir() / "cupva"


def sources() -> Path:
    """Where the runtime's C files lie: in the package, or beside it in a source tree."""
    inside = paths.vpu_run_dir()
    return inside if inside.is_dir() else paths.PACKAGE.parents[1] / "shim" / "vpu_run"


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
    files = [*sources().iterdir(), headers() / "cupva_types.h"]
    key = runtime.key((compiler, _FLAGS), compiler[0], files)
    folder = runtime.cached("vpu", key, "runtime.o", lambda folder: _build(compiler, folder))
    return folder / "runtime.o"


_HEADER = "cupva_device.h"


def precompiled(compiler: list[str], flags: list[str]) -> list[str]:
    """The words by which kernels find their headers precompiled, which halves a small one's time.

    GCC checks whether they fit the flags and macros of a kernel, and reads the headers themselves
    where they do not. Empty for another compiler, without a cache, and when they cannot be made:
    then the kernel's own compilation says why.
    """
    if "g++" not in os.path.basename(os.path.realpath(shutil.which(compiler[0]) or compiler[0])):
        return []  # known by its name: a question to it would cost what is to be saved
    files = [path for path in headers().rglob("*.h") if path.is_file()]
    key = runtime.key((compiler, flags, str(headers())), compiler[0], files)

    def build(folder: Path) -> None:
        words = [*compiler, *flags, "-w", "-isystem", str(headers()), "-x", "c++-header"]
        target = folder / f"{_HEADER}.gch"
        steps.run([*words, str(headers() / _HEADER), "-o", str(target)], told=False)

    try:
        folder = runtime.kept("vpu", key, f"{_HEADER}.gch", build)
    except (steps.StepFailed, OSError):
        return []
    return [] if folder is None else ["-isystem", str(folder)]
