"""The fp16 LeNet loadables of the public stack through cuDLA, exact to the bit, and in float32.

Needs the recorded loadables (``CUDLA_SIM_FIXTURES``); without them there are no figures.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

import cudla_sim
from cudla_sim import native
from cudla_sim.nvdla.hw.units.conv import fp16
from cudla_sim.nvdla.hw.units.conv.reference import fp16 as steps
from tests.conftest import FIXTURES

from .cudla_inference import runner
from .report import Figure, median_seconds

LOADABLES = {
    "fp16 LeNet (public regression)": FIXTURES / "nvdla" / "public" / "loadables" / "NN_L0_0.nvdla",
    "fp16 LeNet (compiled fixture)": FIXTURES
    / "nvdla"
    / "compiled"
    / "loadables"
    / "lenet.full.fp16.nchw.nvdla",
}


def inferences(path: Path, fp16: str, count: int = 20) -> float:
    """Inferences a second."""
    cudla_sim.configure(fp16=fp16)
    infer = runner(path.read_bytes())
    return count / median_seconds(lambda: [infer() for _ in range(count)])


def multiply_rate(function: Callable[[fp16.Gather, fp16.Weights], object], pixels: int) -> float:
    """Multiply-accumulates a second of an implementation: 64 kernels of 1024 products."""
    random = np.random.default_rng(1)

    def halves(*shape: int) -> np.ndarray:
        return random.normal(size=shape).astype(np.float16).view(np.uint16)

    weights = fp16.prepare(halves(1024, 64), np.arange(0, 1025, 64))
    where = fp16.Gather(halves(pixels * 1024), np.arange(pixels) * 1024, np.arange(1024))
    start = time.perf_counter()
    function(where, weights)
    return pixels * 1024 * 64 / (time.perf_counter() - start)


def figures() -> list[Figure]:
    found = []
    for name, path in LOADABLES.items():
        if not path.exists():
            continue
        found.append(Figure(name, inferences(path, "exact"), "1/s", 30.0, "higher"))
        found.append(Figure(f"{name}, fp16=fast", inferences(path, "fast"), "1/s"))
    cudla_sim.reset()
    compiled = native.load().fp16

    def kernel(where: fp16.Gather, weights: fp16.Weights) -> object:
        return fp16.run(compiled, where, weights)

    found.append(Figure("fp16 multiply-accumulate, C", multiply_rate(kernel, 400) / 1e6, "M/s"))
    found.append(
        Figure("fp16 multiply-accumulate, numpy", multiply_rate(steps.convolve, 50) / 1e6, "M/s")
    )
    return found
