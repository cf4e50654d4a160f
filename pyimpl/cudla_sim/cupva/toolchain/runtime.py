"""What is compiled once for each compiler and cached: the runtime of VPU programs as one object,
and the headers of kernels."""

from __future__ import annotations

import os
from pathlib import Path

from ... import paths
from ...workers import runtime
from ...workers.precompiled import can
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
    folder = runtime.cached(steps.KIND, key, "runtime.o", lambda folder: _build(compiler, folder))
    return folder / "runtime.o"


_HEADER = "cupva_device.h"


def device_header() -> Path:
    """What every kernel includes."""
    return headers() / _HEADER


def precompiled(compiler: list[str], flags: list[str]) -> Path | None:
    """Where kernels find their headers precompiled, which halves a small one's time.

    GCC checks whether they fit the flags and macros of a kernel, and reads the headers themselves
    where they do not. None for another compiler, without a cache, and when they cannot be made:
    then the kernel's own compilation says why.
    """
    if not can(compiler[0]):
        return None
    files = [path for path in headers().rglob("*.h") if path.is_file()]
    key = runtime.key((compiler, flags, str(headers())), compiler[0], files)

    def build(folder: Path) -> None:
        words = [*compiler, *flags, "-w", "-isystem", str(headers()), "-x", "c++-header"]
        target = folder / f"{_HEADER}.gch"
        steps.run([*words, str(device_header()), "-o", str(target)], told=False)

    try:
        return runtime.kept(steps.KIND, key, f"{_HEADER}.gch", build)
    except (steps.StepFailed, OSError):
        return None
