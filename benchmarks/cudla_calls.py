"""cuDLA from C: cost of calls, of an empty task, of the first call, of registering memory."""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

from cffi import FFI

from cudla_sim.testing import Compiler

from .report import Figure

ROOT = Path(__file__).resolve().parent.parent
IMAGE = ROOT / "c_examples" / "cudla" / "data" / "digits_int8.nvdla"
RUNS = 5
FIRST_CALLS = (
    "cudlaGetVersion",
    "cudlaDeviceGetCount",
    "cudlaCreateDevice",
    "cudaMalloc",
    "dpu_alloc",
    "CupvaMemAlloc",
    "NvSciBufModuleOpen",
    "nvdla::createRuntime",
    "NvDlaInitialize",
    "dla_register_driver",
)


def _empty_embedding(folder: Path) -> Path:
    """A program whose one function is answered by Python, by as little of it as can be."""
    maker = FFI()
    maker.embedding_api("int empty_call(uint64_t *version);")
    maker.set_source("_empty", "#include <stdint.h>")
    maker.embedding_init_code(
        """
        from _empty import ffi

        @ffi.def_extern(error=-1)
        def empty_call(version):
            version[0] = 1
            return 0
        """
    )
    library = maker.compile(tmpdir=str(folder), target="libempty.so")
    program = folder / "empty_embedding"
    source = ROOT / "benchmarks" / "empty_embedding.c"
    subprocess.run(["gcc", "-O2", source, library, "-o", program], check=True)
    return program


def _times(text: str) -> dict[str, float]:
    pairs = (line.split() for line in text.splitlines())
    return {name: float(value) for name, value in pairs}


def _first_calls(compiler: Compiler) -> list[Figure]:
    """CPU time of a whole program that makes one call."""
    program = compiler.build(ROOT / "benchmarks" / "first_calls.c", options=["-O2"])
    taken: dict[str, list[float]] = {name: [] for name in FIRST_CALLS}
    for _ in range(RUNS):
        for name in FIRST_CALLS:
            result = compiler.run(program, name)
            if result.status:
                raise SystemExit(f"benchmarks/first_calls.c: {result.err}")
            taken[name].append(_times(result.out)["cpu_s"])
    return [
        Figure(f"first call: {name}", statistics.median(times), "s", 0.15, remark="CPU time")
        for name, times in taken.items()
    ]


def figures() -> list[Figure]:
    with tempfile.TemporaryDirectory() as folder:
        compiler = Compiler(Path(folder))
        program = compiler.build(ROOT / "benchmarks" / "cudla_calls.c", options=["-O2"])
        runs, empty = [], []
        embedding = _empty_embedding(Path(folder))
        around = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
        for _ in range(RUNS):
            done = subprocess.run(
                [embedding], capture_output=True, text=True, env=around, check=True
            )
            empty.append(_times(done.stdout))
            result = compiler.run(program, str(IMAGE))
            if result.status:
                raise SystemExit(f"benchmarks/cudla_calls.c: {result.err}")
            runs.append(_times(result.out))
        first_calls = _first_calls(compiler)
    median = {name: statistics.median(r[name] for r in runs) for name in runs[0]}
    bare = {name: statistics.median(r[name] for r in empty) for name in empty[0]}
    return [
        Figure("empty call (cudlaGetVersion)", median["empty_call_us"], "us", 0.4),
        Figure("the same in an empty cffi embedding", bare["empty_call_us"], "us"),
        Figure("ratio of the two", median["empty_call_us"] / bare["empty_call_us"], "x", 1.25),
        *first_calls,
        Figure("the same of an empty cffi embedding", bare["cpu_s"], "s", remark="CPU time"),
        Figure("submit + wait of a NOOP task", median["noop_hybrid_us"], "us", 25, remark="hybrid"),
        Figure("event-only submission", median["event_only_us"], "us"),
        Figure("registering 1 GiB", median["register_us"], "us"),
        Figure("own memory for it", median["register_own_mib"], "MiB", 50),
    ]
