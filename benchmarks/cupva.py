"""cuPVA from C++: tiles through VMEM against memcpy in the same process, and an empty program."""

from __future__ import annotations

import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

from cudla_sim.testing import Compiler

from .report import Figure

HERE = Path(__file__).resolve().parent
RUNS = 3
KERNELS = ("EMPTY", "RASTER", "TENSOR")


def _kernel(name: str, folder: Path) -> str:
    """The object with one kernel of cupva_dev.c."""
    target = folder / f"{name.lower()}.o"
    compiler = [sys.executable, "-m", "cudla_sim.cupva.toolchain", "-O2", f"-D{name}"]
    source = str(HERE / "cupva_dev.c")
    names = ["--name", name.lower(), "-o", str(target)]
    subprocess.run([*compiler, *names, source], check=True)
    return str(target)


def figures() -> list[Figure]:
    with tempfile.TemporaryDirectory() as folder:
        compiler = Compiler(Path(folder))
        objects = [_kernel(name, Path(folder)) for name in KERNELS]
        program = compiler.build(HERE / "cupva_host.cpp", options=["-O2", *objects])
        runs = []
        for _ in range(RUNS):
            result = compiler.run(program, timeout_s=300)
            if result.status:
                raise SystemExit(f"benchmarks/cupva_host.cpp: {result.out}{result.err}")
            pairs = (line.split() for line in result.out.splitlines())
            runs.append({name: float(value) for name, value in pairs})
    median = {name: statistics.median(r[name] for r in runs) for name in runs[0]}
    reference = "memcpy of the bytes moved"
    raster = "1920x1080 u8, 64x32 tiles, halo 2, in and out"
    tensor = "256x256x64 u8, 32x32x16 tiles, halo 1, in and out"
    return [
        Figure(raster, median["raster"], "of memcpy", 0.2, "higher", reference),
        Figure(tensor, median["tensor"], "of memcpy", 0.2, "higher", reference),
        Figure("submit and wait of an empty VPU program", median["empty_us"], "us", 150),
    ]
