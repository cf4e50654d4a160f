"""How far hardware times of DPUs are from published measurements, and what they cost.

Microbenchmarks need the recorded figures (``CUDLA_SIM_FIXTURES``). The kernels of PrIM also need
their sources: PRIM_BENCHMARKS names a clone of CMU-SAFARI/prim-benchmarks.
"""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import closing, suppress
from pathlib import Path
from time import perf_counter
from typing import Any, NamedTuple

import numpy as np

from cudla_sim import paths
from tests.conftest import FIXTURES
from tests.upmem.dpu_side.bench import Bench, Program
from tests.upmem.timing import published

from .report import Figure

RECORDED = FIXTURES / "upmem" / "timing.json"
LAUNCH_S = 0.16e-3
TASKLETS = 16


def compile_dpu(text: Path, output: Path, *flags: str, timing: str = "model") -> Program:
    compiler = paths.sdk_dir() / "bin" / "dpu-upmem-dpurte-clang"
    environment = {**os.environ, "CUDLA_SIM_UPMEM_TIMING": timing}
    command = [compiler, "-w", "-O2", *flags, text, "-o", output]
    subprocess.run(command, check=True, env=environment)
    return Program(output)


class Kernel(NamedTuple):
    """A launch of PrIM. ``heap``: what the host puts there; ``oracle``, ``measured``: its recorded
    instructions and milliseconds."""

    name: str
    folder: str
    flags: tuple[str, ...]
    arguments: list[int]
    heap: np.ndarray[Any, Any]
    oracle: str = ""
    measured: str = ""
    tasklets: int = TASKLETS


def kernels() -> Iterator[Kernel]:
    """Those whose input is known, with PrIM's own parameters."""
    numbers = np.random.default_rng(0)
    for size, tasklets in ((43696, 16), (4096, 16), (2621440, 2), (2621440, 4), (2621440, 8)):
        measured = "insight.VA.60dpu.tl16" if tasklets == 16 else f"insight.VA.1dpu.tl{tasklets}"
        heap = numbers.integers(0, 1000, 2 * size, dtype=np.int32)
        yield Kernel(
            f"VA {size}, {tasklets} tasklets", "VA", ("-DBL=10", "-DINT32"),
            [4 * size, 4 * size, 0], heap, f"oracle.VA_{size}_tl{tasklets}",
            "" if size == 4096 else f"{measured}.kernel", tasklets,
        )  # fmt: skip
    size = 65536
    ordered = np.arange(size, dtype=np.int64)
    yield Kernel("SEL", "SEL", ("-DBL=10",), [8 * size, 0], ordered + 1, "oracle.SEL_65536_tl16",
                 "insight.SEL.60dpu.tl16.kernel")  # fmt: skip
    yield Kernel("UNI", "UNI", ("-DBL=10",), [8 * size, 0], ordered + ordered % 2,
                 "oracle.UNI_65536_tl16", "insight.UNI.60dpu.tl16.kernel")  # fmt: skip
    for rows, columns in ((138, 1024), (32, 256)):
        heap = numbers.integers(0, 50, (rows + 1) * columns, dtype=np.uint32)
        yield Kernel(
            f"GEMV {rows}x{columns}", "GEMV", ("-DBL=10",), [columns, columns, rows, rows], heap,
            f"oracle.GEMV_{rows}x{columns}_tl16",
            "insight.GEMV.60dpu.tl16.kernel" if rows == 138 else "",
        )  # fmt: skip
    small = numbers.integers(0, 1000, 8192).astype(np.int64)
    flags = ("-DBL=10", "-DSINGLE", "-DHAND", "-DINT64")
    yield Kernel("RED", "RED", flags, [8 * 8192, 0, 0, 0], small, "oracle.RED_8192_tl16")
    heap = np.tile(numbers.integers(0, 1000, size).astype(np.int64), 2)
    for folder in ("SCAN-SSA", "SCAN-RSS"):
        for number in (0, 1):
            name = f"{folder}.k{number + 1}"
            yield Kernel(
                name, folder, ("-DBL=10", "-DINT64"), [8 * size, number, 0, 0], heap,
                f"oracle.{folder}_65536_tl16_k{number + 1}", f"insight.{name}.60dpu.tl16.kernel",
            )  # fmt: skip


class Comparison(NamedTuple):
    name: str
    instructions: int
    cycles: int
    oracle: float | None
    measured: float | None
    slower: float


def compare(prim: Path, recorded: dict[str, Any]) -> Iterator[Comparison]:
    """Relative errors of instructions and kernel times, and the time against not counting."""
    oracle = {o["id"]: o["exact"].get("instructions") for o in recorded["oracle"]}
    measured = {m["id"]: m["value"] for m in recorded["measurements"]}
    with tempfile.TemporaryDirectory() as folder, closing(Bench()) as bench:
        for kernel in kernels():
            base = prim / kernel.folder
            flags = (*kernel.flags, f"-DNR_TASKLETS={kernel.tasklets}", f"-I{base}/support")
            seconds = {}
            for timing in ("off", "model"):
                output = Path(folder) / f"{kernel.folder}.{kernel.tasklets}.{timing}"
                program = compile_dpu(base / "dpu" / "task.c", output, *flags, timing=timing)
                bench.load(program)
                bench.var("DPU_INPUT_ARGUMENTS")[: len(kernel.arguments)] = kernel.arguments
                start = program.symbols["__sys_used_mram_end"][0]
                bench.at(start, kernel.heap.nbytes)[:] = kernel.heap.view(np.uint8)
                seconds[timing] = min(_seconds(bench, timing == "model") for _ in range(5))
            times = bench.time_anyway()
            yield Comparison(
                kernel.name,
                times.instructions,
                times.cycles,
                _error(times.instructions, oracle.get(kernel.oracle)),
                _error((times.cycles / 350e6 + LAUNCH_S) * 1e3, measured.get(kernel.measured)),
                seconds["model"] / seconds["off"],
            )


def _seconds(bench: Bench, timed: bool) -> float:
    begin = perf_counter()
    bench.launch(slots=[0], timed=timed)
    return perf_counter() - begin


def _error(found: float, exact: float | None) -> float | None:
    return found / exact - 1 if exact else None


def _show(found: float | None) -> str:
    return "" if found is None else f"{100 * found:+.1f} %"


def table(found: list[Comparison]) -> str:
    """As in docs/timing.md."""
    lines = [
        "| kernel | instructions | cycles | instructions off by | time off by |",
        "|" + "---|" * 5,
    ]
    for c in found:
        lines.append(
            f"| {c.name} | {c.instructions:,} | {c.cycles:,} | {_show(c.oracle)} | "
            f"{_show(c.measured)} |"
        )
    return "\n".join(lines)


def figures() -> list[Figure]:
    if not RECORDED.exists():
        return []
    recorded = json.loads(RECORDED.read_text())
    values = {m["id"]: m["value"] for m in recorded["measurements"]}
    found: list[Figure] = []
    with tempfile.TemporaryDirectory() as folder, closing(Bench()) as bench:

        def build(text: str, tasklets: int, *flags: str) -> Program:
            source = Path(folder) / "micro.c"
            source.write_text(text)
            return compile_dpu(source, source.with_suffix(""), f"-DNR_TASKLETS={tasklets}", *flags)

        off = []
        for name in published.names(values):
            off.append(abs(published.figure(name, bench, build) / values[name] - 1))
    found.append(Figure("microbenchmarks, median error", 100 * statistics.median(off), "%", 5.0))
    found.append(Figure("microbenchmarks, largest error", 100 * max(off), "%", 7.0))
    prim = os.environ.get("PRIM_BENCHMARKS")
    if not prim:
        return found
    rows = list(compare(Path(prim), recorded))
    with suppress(BrokenPipeError):
        print(table(rows))
    counts = [abs(r.oracle) for r in rows if r.oracle is not None]
    times = [abs(r.measured) for r in rows if r.measured is not None]
    slower = statistics.median(r.slower for r in rows)
    return [
        *found,
        Figure("PrIM instructions, mean error", 100 * statistics.mean(counts), "%", 4.0),
        Figure("PrIM instructions, largest error", 100 * max(counts), "%", 8.0),
        Figure("PrIM kernel times, median error", 100 * statistics.median(times), "%", 5.0),
        Figure("PrIM kernel times, largest error", 100 * max(times), "%", 10.0),
        Figure("PrIM in hardware time against host time, median", slower, "x", 1.5),
    ]
