"""The compiler of the host: its command lines for a source, and what becomes of them."""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from .. import flags
from . import precompiled
from .options import BadOption, Options

RELEASE, BUILD = "12.9", "12.9.86"
"""Of CUDA, as our headers say; CMake reads them."""
ARCHITECTURE = 870
"""Of an Orin: ``__CUDA_ARCH__`` of compute capability 8.7."""


class Failed(Exception):
    """A command that the user has been told about; its exit status."""

    def __init__(self, status: int) -> None:
        self.status = status if status > 0 else 1


class Compiler:
    """g++, or what the user names; *folder* is for what lasts as long as the command."""

    def __init__(self, options: Options, folder: Path) -> None:
        self.options = options
        self.folder = folder
        self.name = self._host(options.compiler)

    def _host(self, given: str) -> str:
        if not given:
            return os.environ.get("NVCC_CCBIN", "") or "g++"
        path = Path(given)
        return str(path / "g++") if path.is_dir() else given

    def macros(self) -> list[str]:
        major, minor, build = BUILD.split(".")
        words = ["-D__CUDACC__", "-D__NVCC__", f"-D__CUDA_ARCH__={ARCHITECTURE}"]
        words += [f"-D__CUDACC_VER_MAJOR__={major}", f"-D__CUDACC_VER_MINOR__={minor}"]
        words.append(f"-D__CUDACC_VER_BUILD__={build}")
        if self.options.separate:
            words.append("-D__CUDACC_RDC__")
        return [*words, "-D__CUDACC_EXTENDED_LAMBDA__", "-D__CUDACC_RELAXED_CONSTEXPR__"]

    def preprocess(
        self, source: Path, kind: str, more: Sequence[str], header: Path | None = None
    ) -> list[str]:
        options = self.options
        words = [self.name, options.standard]
        if kind == "cu":
            words += ["-x", "c++", *self.macros()]
            words += ["-include", str(header or precompiled.source())]
        # what decides about macros of the compiler itself
        decided = ("-f", "-m", "-O", "-p", "-std")
        words += [word for word in options.compile if word.startswith(decided)]
        return [*words, *options.preprocess, *self.includes(), *more, str(source)]

    def includes(self) -> list[str]:
        return [f"-I{folder}" for folder in flags.include_dirs(cuda=True)]

    def dependencies(self, target: Path) -> list[str]:
        words = list(self.options.dependencies)
        if words and "-MT" not in words and "-MQ" not in words:
            words += ["-MT", str(target)]
        if words and "-MF" not in words:
            words += ["-MF", str(target.with_suffix(".d"))]
        return words

    def call(self, command: Sequence[str]) -> None:
        done = self._run(command)
        if done and done.returncode:
            raise Failed(done.returncode)

    def _run(
        self, command: Sequence[str], stderr: int | None = None
    ) -> subprocess.CompletedProcess[bytes] | None:
        if self.options.verbose:
            print(f"#$ {shlex.join(command)}", file=sys.stderr, flush=True)
        if self.options.dry:
            return None
        try:
            return subprocess.run(command, stderr=stderr, check=False)
        except OSError as error:
            raise BadOption(f"{command[0]}: {error.strerror}; install g++ or say -ccbin") from None

    def attempt(self, command: Sequence[str]) -> tuple[int, str]:
        """Returns the status and what the compiler printed; nothing is shown yet."""
        command = list(command)
        if sys.stderr.isatty() and not any("-fdiagnostics-color" in word for word in command):
            command.append("-fdiagnostics-color=always")
        done = self._run(command, stderr=subprocess.PIPE)
        said = done.stderr.decode("utf-8", "surrogateescape") if done else ""
        return done.returncode if done else 0, said
