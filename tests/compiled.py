"""Compiled test programs, stored in ``build/test_programs`` and shared by workers and runs.

A program is stored under a hash of everything that it is made of: preprocessed source, options,
compilers, libraries, and the sources of the toolchain that builds it. ``make clean`` removes all.
"""

from __future__ import annotations

import fcntl
import functools
import hashlib
import os
import shlex
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path

from cudla_sim import flags, paths
from cudla_sim.testing import Compiler

ROOT = Path(__file__).resolve().parent.parent
STORE = ROOT / "build" / "test_programs"
PACKAGE = "pyimpl/cudla_sim"
DPU_TOOLCHAIN = (
    *("include", "shim/dpu_run"),
    *(f"{PACKAGE}/{name}" for name in ("constants", "upmem", "workers")),
)
VPU_TOOLCHAIN = (
    *("include", "shim/vpu_run"),
    *(f"{PACKAGE}/{name}" for name in ("constants", "cupva", "workers")),
)
SUFFIXES = {".S", ".c", ".cpp", ".h", ".hpp", ".py", ".s"}


def stored(key: object, build: Callable[[Path], object]) -> Path:
    """Returns the folder that ``build`` filled for ``key``, which names everything it reads.

    A lock on the folder makes other workers wait for the one that builds. A build that ended early
    is repeated.
    """
    folder = STORE / hashlib.sha256(repr((key, compilers())).encode()).hexdigest()[:24]
    folder.mkdir(parents=True, exist_ok=True)
    lock = os.open(folder, os.O_RDONLY)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (folder / "complete").exists():
            for rest in folder.iterdir():
                rest.unlink()
            build(folder)
            (folder / "complete").touch()
    finally:
        os.close(lock)
    return folder


@functools.cache
def compilers() -> tuple[object, ...]:
    """Identifies the installed compilers and linkers by size and time of their files."""
    files = filter(None, map(shutil.which, ("gcc", "g++", "clang", "clang++", "as", "ld")))
    status = [(name, os.stat(name)) for name in files]
    return tuple((name, s.st_size, s.st_mtime_ns) for name, s in status)


@functools.cache
def contents(*folders: str) -> str:
    """Returns a hash of names and contents of the source files in folders of the checkout."""
    digest = hashlib.sha256()
    for folder in folders:
        files = sorted(p for p in (ROOT / folder).rglob("*") if p.suffix in SUFFIXES)
        assert files, f"{folder}: holds no sources"
        for file in files:
            digest.update(f"{file.relative_to(ROOT)}\0".encode() + file.read_bytes())
    return digest.hexdigest()


def settings() -> list[tuple[str, str]]:
    """Returns the environment variables that change what the toolchains build."""
    return sorted(v for v in os.environ.items() if v[0].startswith(("CUDLA_SIM_", "DPU_")))


def dpu_program(build: Callable[[Path, Path], object], source: str, *options: object) -> Path:
    """Returns the DPU program made of a C source: ``build(source_file, program)`` compiles it."""

    def make(folder: Path) -> None:
        (folder / "program.c").write_text(source)
        build(folder / "program.c", folder / "program")

    key = ("dpu", source, options, settings(), contents(*DPU_TOOLCHAIN))
    return stored(key, make) / "program"


def vpu_program(build: Callable[[Path], object], folder: Path, *options: object) -> Path:
    """Returns the file that ``build(file)`` makes of VPU sources in a folder of the tests."""
    key = ("vpu", options, settings(), contents(str(folder), *VPU_TOOLCHAIN))
    return stored(key, lambda target: build(target / "program.o")) / "program.o"


class StoredCompiler(Compiler):
    """Stores what it builds. Programs of files in temporary folders are built in ``folder``."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self._folders: dict[object, Path] = {}

    def build(
        self,
        source: Path | str,
        *,
        language: str = "",
        options: Sequence[str] = (),
        libraries: Sequence[str] | None = None,
    ) -> Path:
        text = source if isinstance(source, str) else source.read_text()
        words = (language, *options, *(libraries or ()))
        if any(tempfile.gettempdir() in word for word in (*words, str(source))):
            return super().build(source, language=language, options=options, libraries=libraries)
        key = (source, text, words, libraries is None)

        def make(folder: Path) -> Path:
            return Compiler(folder).build(
                source, language=language, options=options, libraries=libraries
            )

        if key not in self._folders:
            everything = (
                key,
                self._preprocessed(source, text, language, options),
                flags.libs(cuda=True),
                [Path(word).read_bytes() for word in words if word.endswith((".o", ".a"))],
                _libraries(),
            )
            self._folders[key] = stored(everything, make)
        return make(self._folders[key])  # which compiles nothing that is there

    @staticmethod
    def _preprocessed(source: Path | str, text: str, language: str, options: Sequence[str]) -> str:
        kind = language or ("c" if isinstance(source, str) or source.suffix == ".c" else "c++")
        compiler = "gcc" if kind == "c" else "g++"
        beside = [f"-I{source.parent}"] if isinstance(source, Path) else []
        words = [*beside, *options, *shlex.split(flags.cflags(cuda=True))]
        done = subprocess.run(
            [compiler, "-E", *words, "-x", kind, "-"],
            input=text,
            capture_output=True,
            text=True,
            check=False,
        )
        return done.stdout  # what is wrong is said by the build


@functools.cache
def _libraries() -> list[tuple[str, int, int]]:
    """Identifies the libraries that programs are linked with."""
    files = sorted(p for p in paths.lib_dir().rglob("*") if p.is_file())
    return [(str(p), p.stat().st_size, p.stat().st_mtime_ns) for p in files]
