"""Compiles DPU sources that are given as text or as files."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import IO

from .error import DpuError

_COMPILER = """
import sys
sys.path[:] = filter(None, sys.path)  # nothing of the folder where the user stands
from cudla_sim.upmem.toolchain.cli import main
sys.exit(main())
"""

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
        [sys.executable, "-c", _COMPILER, "-O2", "-o", str(program), *files],
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        raise DpuError(f"the DPU program does not compile:\n{done.stderr or done.stdout}")
    return str(program)
