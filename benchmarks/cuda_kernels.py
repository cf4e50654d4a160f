"""CUDA kernels on the CPU against OpenMP loops of the same code, in one process."""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path

from .report import Figure

HERE = Path(__file__).resolve().parent
SHARES = {
    "add": "sums of 4 Mi floats",
    "multiply": "512x512 matrices by tiles of 32x32",
}


def figures() -> list[Figure]:
    with tempfile.TemporaryDirectory() as folder:
        program = Path(folder) / "kernels"
        compiler = [sys.executable, "-m", "cudla_sim", "nvcc", "-O2", "-Xcompiler", "-fopenmp"]
        source = str(HERE / "cuda_kernels.cu")
        subprocess.run([*compiler, source, "-o", str(program)], check=True)
        done = subprocess.run([program], check=True, capture_output=True, text=True)
    times = {
        name: (float(kernel), float(loop))
        for name, kernel, loop in (line.split() for line in done.stdout.splitlines())
    }
    loop = "OpenMP loop, g++ -O2, same process"
    found = [
        Figure(what, times[name][1] / times[name][0], "of the loop", None, "higher", loop)
        for name, what in SHARES.items()
    ]
    kernel, plain = times["reduce"]
    what = "reduction of 256 values, nine barriers"
    found.append(Figure(what, kernel / plain, "x the loop", remark=loop))
    found.append(Figure("an empty launch", times["launch"][0], "us"))
    found.append(Figure("an empty launch that is waited for", times["wait"][0], "us"))
    found.append(Figure("a thread of 256 with two barriers", times["turn"][0], "ns"))
    return found
