"""Compiles a C or C++ program with nothing but the compiler and our flags, and runs it."""

from __future__ import annotations

import hashlib
import os
import shlex
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from .. import flags


@dataclass(frozen=True)
class Result:
    """How a program ended. ``status`` is negative for a signal, as in subprocess."""

    status: int
    out: str
    err: str


class Compiler:
    """Keeps what it compiled in ``folder``; the same source is compiled once."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def build(
        self,
        source: Path | str,
        *,
        language: str = "",
        options: Sequence[str] = (),
        libraries: Sequence[str] | None = None,
    ) -> Path:
        """The program made of a file, or of the text of one.

        ``language`` is ``c`` or ``c++`` (default: by the file's name, C for a text).
        ``libraries`` replaces what ``--libs`` would link. Raises AssertionError with the
        compiler's output when it fails.
        """
        text = source if isinstance(source, str) else source.read_text()
        kind = language or ("c" if isinstance(source, str) or source.suffix == ".c" else "c++")
        link = shlex.split(flags.libs(cuda=True)) if libraries is None else list(libraries)
        key = hashlib.sha256(repr((text, kind, tuple(options), tuple(link))).encode()).hexdigest()
        program = self.folder / key[:16]
        if program.exists():
            return program
        file = self.folder / f"{key[:16]}.{'c' if kind == 'c' else 'cpp'}"
        file.write_text(text)
        command = [
            "gcc" if kind == "c" else "g++",
            "-Wall",
            "-Werror",
            "-g",
            *options,
            *shlex.split(flags.cflags(cuda=True)),
            str(file),
            "-o",
            str(program),
            *link,
            "-pthread",
            "-lm",
        ]
        if isinstance(source, Path):
            command.insert(1, f"-I{source.parent}")
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert done.returncode == 0, f"{shlex.join(command)}\n{done.stdout}{done.stderr}"
        return program

    def run(
        self,
        program: Path,
        *arguments: str,
        settings: dict[str, str] | None = None,
        environment: dict[str, str] | None = None,
        timeout_s: float = 300,
    ) -> Result:
        """Runs a program; ``settings`` are added to the environment, or ``environment`` is all."""
        if environment is None:
            environment = {**os.environ, **flags.environment(cuda=True)}
            environment.setdefault("CUDLA_SIM_PYTHON", sys.executable)
        done = subprocess.run(
            [str(program), *arguments],
            capture_output=True,
            text=True,
            errors="replace",
            env={**environment, **(settings or {})},
            timeout=timeout_s,
            check=False,
        )
        return Result(done.returncode, done.stdout, done.stderr)
