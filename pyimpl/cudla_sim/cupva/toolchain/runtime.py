"""The runtime of VPU programs as one object, compiled once for each compiler and cached."""

from __future__ import annotations

import os
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
