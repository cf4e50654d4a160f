"""cuDLA from C: cost of calls, of an empty task, of the first call, of registering memory."""

from __future__ import annotations

import statistics
import tempfile
from pathlib import Path

from cudla_sim.testing import Compiler

from .report import Figure

ROOT = Path(__file__).resolve().parent.parent
IMAGE = ROOT / "c_examples" / "cudla" / "data" / "digits_int8.nvdla"
RUNS = 5


def figures() -> list[Figure]:
    with tempfile.TemporaryDirectory() as folder:
        compiler = Compiler(Path(folder))
        program = compiler.build(ROOT / "benchmarks" / "cudla_calls.c", options=["-O2"])
        runs = []
        for _ in range(RUNS):
            result = compiler.run(program, str(IMAGE))
            if result.status:
                raise SystemExit(f"benchmarks/cudla_calls.c: {result.err}")
            pairs = (line.split() for line in result.out.splitlines())
            runs.append({name: float(value) for name, value in pairs})
    median = {name: statistics.median(r[name] for r in runs) for name in runs[0]}
    return [
        Figure("empty call (cudlaGetVersion)", median["empty_call_us"], "us", 1),
        Figure("first call: boot and numpy", median["first_call_s"], "s", 0.35),
        Figure("submit + wait of a NOOP task", median["noop_hybrid_us"], "us", 60, remark="hybrid"),
        Figure("event-only submission", median["event_only_us"], "us"),
        Figure("registering 1 GiB", median["register_us"], "us"),
        Figure("own memory for it", median["register_own_mib"], "MiB", 50),
    ]
