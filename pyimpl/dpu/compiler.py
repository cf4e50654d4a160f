"""Compiles DPU sources that are given as text or as files."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import IO

from cudla_sim.workers import isolated

from .error import DpuError

Source = str | IO[str]
"""The name of a file, or an open one."""


def compile_sources(sources: list[Source], folder: Path, suffix: str = ".c") -> str:
    """The program file made in ``folder``. Raises DpuError with what the compiler said.

    ``suffix``: of open files, ``.c`` or for DPU assembly ``.S``.
    """
    files = []
    for index, source in enumerate(sources):
        if isinstance(source, str):
            files.append(source)
            continue
        file = folder / f"src{index}{suffix}"
        file.write_text(source.read())
        files.append(str(file))
    program = folder / "main.dpu"
    done = subprocess.run(
        isolated.command("cudla_sim.upmem.toolchain.cli", "-O2", "-o", str(program), *files),
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        raise DpuError(f"the DPU program does not compile:\n{done.stderr or done.stdout}")
    return str(program)
