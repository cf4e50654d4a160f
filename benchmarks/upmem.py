"""UPMEM from C: transfers against memcpy in the same process, launches, memory of many DPUs."""

from __future__ import annotations

import statistics
import subprocess
import tempfile
from pathlib import Path
from time import perf_counter

from cudla_sim import paths
from cudla_sim.testing import Compiler

from .report import Figure

ROOT = Path(__file__).resolve().parent.parent
RUNS = 3
KERNEL = "int main(void) { return 0; }\n"


def _kernel(folder: Path) -> Path:
    source, program = folder / "empty.c", folder / "empty"
    source.write_text(KERNEL)
    compiler = paths.sdk_dir() / "bin" / "dpu-upmem-dpurte-clang"
    subprocess.run([compiler, "-O2", "-DNR_TASKLETS=16", source, "-o", program], check=True)
    return program


def _compilation(folder: Path) -> float:
    """Seconds for a kernel of one line, the least of four."""
    times = []
    for _ in range(4):
        begin = perf_counter()
        _kernel(folder)
        times.append(perf_counter() - begin)
    return min(times)


def figures() -> list[Figure]:
    with tempfile.TemporaryDirectory() as folder:
        compiler = Compiler(Path(folder))
        compilation = _compilation(Path(folder))
        kernel = _kernel(Path(folder))
        program = compiler.build(ROOT / "benchmarks" / "upmem_dpus.c", options=["-O2"])
        runs = []
        for _ in range(RUNS):
            result = compiler.run(program, str(kernel), timeout_s=600)
            if result.status:
                raise SystemExit(f"benchmarks/upmem_dpus.c: {result.err}")
            pairs = (line.split() for line in result.out.splitlines())
            runs.append({name: float(value) for name, value in pairs})
    median = {name: statistics.median(r[name] for r in runs) for name in runs[0]}
    reference = f"memcpy: {median['memcpy_mb_s']:.0f} MB/s"
    what = {
        "push_to": ("push_xfer to 64 DPUs", 0.5),
        "push_from": ("push_xfer from 64 DPUs", 0.5),
    }
    blocks = {
        "sg_to_4096": ("push_sg_xfer to, 4 KiB blocks", 0.8),
        "sg_from_4096": ("push_sg_xfer from, 4 KiB blocks", 0.8),
        "sg_to_64": ("push_sg_xfer to, 64 byte blocks", 0.6),
        "sg_from_64": ("push_sg_xfer from, 64 byte blocks", 0.6),
    }
    pushes = {
        "push_64_64_us": ("push of 64 bytes to 64 DPUs", 15),
        "push_64_512_us": ("push of 64 bytes to 512 DPUs", 60),
        "push_65536_64_us": ("push of 64 KiB to 64 DPUs", 130),
    }
    found = [
        Figure(f"{text}, 64 MiB", median[name], "of memcpy", goal, "higher", reference)
        for name, (text, goal) in what.items()
    ]
    found += [
        Figure(f"{text}, 64 MiB", median[name], "of a loop of memcpy", goal, "higher")
        for name, (text, goal) in blocks.items()
    ]
    found += [
        Figure(f"{text}, prepared", median[name], "us", goal)
        for name, (text, goal) in pushes.items()
    ]
    found.append(
        Figure("first push into MRAM, 128 MiB", median["fresh"], "of fresh memset", 1.0, "higher")
    )
    found += [
        Figure(f"empty kernel on {n} DPUs", median[f"launch_{n}_us"], "us/DPU", 20)
        for n in (64, 512, 2048)
    ]
    remark = "host and workers, before MRAM is touched"
    memory = median["resident_2048_mib"]
    found.append(Figure("compiling a DPU kernel of one line", compilation, "s", 1.0))
    return [*found, Figure("2048 DPUs loaded", memory, "MiB", 1024, remark=remark)]
