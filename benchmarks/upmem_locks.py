"""Programs of DPUs that do little but synchronise: hardware time (``model``) against host time."""

from __future__ import annotations

import tempfile
from contextlib import ExitStack, closing
from pathlib import Path
from time import perf_counter

import numpy as np

from cudla_sim.upmem.workers.checks import Checks
from tests.upmem.dpu_side.bench import Bench
from tests.upmem.timing.test_locks import PROGRAM, WAYS

from .report import Figure
from .upmem_timing import compile_dpu

TASKLETS = 16
ROUNDS = 20_000
RUNS = 60
WANTED = {
    "loop": "lock, add, unlock",
    "histogram": "one histogram under a mutex, as HST-L",
    "pool": "a histogram under a pool of 16 mutexes",
    "virtual": "a histogram under 64 virtual mutexes",
    "barriers": "barriers",
    "semaphores": "a semaphore",
}


def _bench(timing: str, folder: Path, stack: ExitStack) -> Bench:
    bench = stack.enter_context(closing(Bench(dpus=1, workers=1)))
    output = folder / timing
    bench.load(compile_dpu(PROGRAM, output, f"-DNR_TASKLETS={TASKLETS}", timing=timing))
    numbers = np.random.default_rng(0).integers(0, 4096, 1 << 18, dtype=np.uint32)
    bench.at(bench.program.symbols["data"][0], numbers.nbytes)[:] = numbers.view(np.uint8)
    return bench


def _seconds(bench: Bench, way: str, timed: bool) -> float:
    bench.var("way")[:] = WAYS.index(way)
    bench.var("rounds")[:] = ROUNDS
    begin = perf_counter()
    bench.launch(Checks(race="off"), slots=[0], timed=timed)
    return perf_counter() - begin


def figures() -> list[Figure]:
    """In pairs, and the least of many: another process on the core makes a run longer only."""
    found = []
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        host, model = (_bench(timing, folder, stack) for timing in ("off", "model"))
        for way, text in WANTED.items():
            pairs = [(_seconds(host, way, False), _seconds(model, way, True)) for _ in range(RUNS)]
            plain, timed = (min(column) for column in zip(*pairs, strict=True))
            each = 1e9 / ROUNDS / TASKLETS
            found.append(
                Figure(
                    f"hardware time, {text}, 16 tasklets",
                    timed / plain,
                    "x host time",
                    3.0,
                    remark=f"{plain * each:.1f} ns a round; {timed * each:.1f} ns",
                )
            )
    return found
