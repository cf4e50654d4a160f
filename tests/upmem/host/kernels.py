"""DPU programs for the tests of the host side."""

from __future__ import annotations

import hashlib
import subprocess
from collections.abc import Callable
from pathlib import Path

from cudla_sim import paths

Kernel = Callable[..., Path]
"""``kernel(text, tasklets=1)``: the program made of a DPU source; the same is made once."""


def builder(folder: Path) -> Kernel:

    def build(text: str, tasklets: int = 1) -> Path:
        name = hashlib.sha256(f"{tasklets}{text}".encode()).hexdigest()[:12]
        source, program = folder / f"{name}.c", folder / name
        if not program.exists():
            source.write_text(text)
            compiler = paths.sdk_dir() / "bin" / "dpu-upmem-dpurte-clang"
            options = ["-O2", f"-DNR_TASKLETS={tasklets}", str(source), "-o", str(program)]
            done = subprocess.run(
                [str(compiler), *options], capture_output=True, text=True, check=False
            )
            assert done.returncode == 0, done.stderr
        return program

    return build
