"""Days of use in minutes: many submissions and launches, whose results are looked at, and what the
process holds after a tenth of them and at the end.

    python -m tests.stress.load [SCALE]     1: 10^7 cuDLA submissions, 10^6 DPU launches,
                                            10^6 VPU submissions
"""

from __future__ import annotations

import shlex
import subprocess
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from cudla_sim import flags
from cudla_sim.nvdla.build import Network
from cudla_sim.testing import Compiler

HERE = Path(__file__).parent
COUNTS = {"cudla": 10_000_000, "dpu": 1_000_000, "vpu": 1_000_000}


@dataclass(frozen=True)
class Figures:
    """``kib``: private resident memory; ``files``: open descriptors; ``seconds``: so far."""

    kib: int
    files: int
    seconds: float


def command(kind: str, count: int, compiler: Compiler, tools: Path, folder: Path) -> list[str]:
    """Builds a load program, and what it runs; its words. ``tools``: where ``cudla-sim`` lies."""
    libraries = shlex.split(flags.libs(cuda=True))
    options = [f"-I{HERE}"]
    words = []
    if kind == "cudla":
        network = Network(("x", (1, 8, 4, 4)))
        network.relu()
        whole = np.linspace(-1, 1, 128, dtype=np.float32).reshape(1, 8, 4, 4)
        (folder / "relu.nvdla").write_bytes(network.build(whole))
        words = [str(folder / "relu.nvdla")]
    elif kind == "dpu":
        libraries += ["-ldpu"]
        wrapper = tools / "cudla-sim"
        home = subprocess.check_output([wrapper, "--upmem-home"], text=True).strip()
        compile_ = [f"{home}/bin/dpu-upmem-dpurte-clang", "-O2", "-o", str(folder / "square")]
        subprocess.run([*compile_, str(HERE / "square_dpu.c")], check=True)
        words = [str(folder / "square")]
    else:
        kernel = folder / "rarely_dev.o"
        compile_ = [str(tools / "cudla-sim"), "pva-cc", "-O2", str(HERE / "rarely_dev.c")]
        subprocess.run([*compile_, "-o", str(kernel)], check=True)
        libraries = [str(kernel), *libraries]
        options += ["-DCUPVA_DEVICE=0"]
    program = compiler.build(HERE / f"{kind}.c", options=options, libraries=libraries)
    return [str(program), *words, str(count)]


def figures(printed: str) -> tuple[Figures, Figures]:
    """After a tenth, and at the end."""
    rows = [line.split() for line in printed.splitlines() if line.startswith(("early", "end"))]
    early, end = (Figures(int(row[1]), int(row[2]), float(row[3])) for row in rows)
    return early, end
