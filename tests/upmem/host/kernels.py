"""DPU programs for the tests of the host side."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path

from cudla_sim import paths
from tests.compiled import dpu_program

Kernel = Callable[..., Path]
"""``kernel(text, tasklets=1)``: the program made of a DPU source."""


def kernel_program(text: str, tasklets: int = 1) -> Path:

    def build(source: Path, program: Path) -> None:
        compiler = paths.sdk_dir() / "bin" / "dpu-upmem-dpurte-clang"
        options = ["-O2", f"-DNR_TASKLETS={tasklets}", str(source), "-o", str(program)]
        done = subprocess.run(
            [str(compiler), *options], capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stderr

    return dpu_program(build, text, "host", tasklets)
