"""NVDLA registers from C: cost of dla_reg_write and dla_reg_read."""

from __future__ import annotations

import statistics
import tempfile
from pathlib import Path

from cudla_sim.testing import Compiler

from .report import Figure

ROOT = Path(__file__).resolve().parent.parent
RUNS = 5


def figures() -> list[Figure]:
    with tempfile.TemporaryDirectory() as folder:
        compiler = Compiler(Path(folder))
        source = ROOT / "benchmarks" / "nvdla_registers.c"
        program = compiler.build(source, options=["-O2"])
        runs = []
        for _ in range(RUNS):
            result = compiler.run(program)
            if result.status:
                raise SystemExit(f"benchmarks/nvdla_registers.c: {result.err}")
            pairs = (line.split() for line in result.out.splitlines())
            runs.append({name: float(value) for name, value in pairs})
    median = {name: statistics.median(r[name] for r in runs) for name in runs[0]}
    return [
        Figure("register write (dla_reg_write)", median["write_us"], "us", 2),
        Figure("register read (dla_reg_read)", median["read_us"], "us"),
    ]
