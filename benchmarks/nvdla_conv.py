"""int8 and int16 convolution on the engine against a numpy float32 matmul of the same size."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

from cudla_sim.core.memory import AddressSpace
from cudla_sim.nvdla import Engine, Loadable, LoadedNetwork
from cudla_sim.nvdla.build import Network

from .report import Figure, median_seconds

CONFIG = "nv_large"
ROOT = Path(__file__).resolve().parent.parent


def runner(net: Network, calibration: np.ndarray) -> tuple[Callable[[], object], int]:
    """A function that runs the network once on random input, and its multiply-accumulates."""
    loadable = Loadable.parse(net.build(calibration=calibration))
    space = AddressSpace()
    network, engine = LoadedNetwork(loadable, space, net.config), Engine(net.config)
    source = space.allocate(loadable.inputs[0].size, name="input")
    target = space.allocate(loadable.outputs[0].size, name="output")
    source.data[:] = np.random.default_rng(0).integers(0, 256, source.size, np.uint8)
    report = engine.run(network, [source.base], [target.base])
    return lambda: engine.run(network, [source.base], [target.base]), report.macs


def least_cpu_seconds(work: Callable[[], object], runs: int = 31) -> float:
    """CPU time of one run, the least of many."""
    best = float("inf")
    for _ in range(runs):
        begin = time.process_time()
        work()
        best = min(best, time.process_time() - begin)
    return best


def int16_seconds() -> tuple[float, float, int]:
    """CPU time of a convolution, of a matmul, and multiply-accumulates. int16 is nv_full's; its
    layers are smaller, because its convolution buffer is."""
    random = np.random.default_rng(1)
    net = Network(("data", (1, 128, 28, 28)), "int16", "nv_full")
    net.conv2d(random.normal(size=(128, 128, 3, 3)), random.normal(size=128), padding=1, relu=True)
    run, macs = runner(net, random.normal(size=(1, 128, 28, 28)))
    left = random.normal(size=(28 * 28, 128 * 9)).astype(np.float32)
    right = random.normal(size=(128 * 9, 128)).astype(np.float32)
    return least_cpu_seconds(run), least_cpu_seconds(lambda: left @ right), macs


def int16_figures() -> list[Figure]:
    """In a process whose matmul has one thread: the time of a second one that still runs when the
    first is done would not be counted."""
    words = [sys.executable, "-m", "benchmarks.nvdla_conv"]
    around = {**os.environ, "OPENBLAS_NUM_THREADS": "1"}
    done = subprocess.run(words, cwd=ROOT, env=around, capture_output=True, text=True, check=True)
    ours, matmul, macs = (float(word) for word in done.stdout.split())
    return [
        Figure(
            "int16 conv 28x28 128->128 3x3",
            macs / ours / 1e9,
            "GMAC/s",
            remark="nv_full, CPU time",
        ),
        Figure("its rate / numpy float32 matmul's", matmul / ours, "x", 0.8, "higher"),
    ]


def figures() -> list[Figure]:
    random = np.random.default_rng(1)
    net = Network(("data", (1, 256, 28, 28)), "int8", CONFIG)
    net.conv2d(random.normal(size=(256, 256, 3, 3)), random.normal(size=256), padding=1, relu=True)
    run, macs = runner(net, random.normal(size=(1, 256, 28, 28)))
    left = random.normal(size=(28 * 28, 256 * 9)).astype(np.float32)
    right = random.normal(size=(256 * 9, 256)).astype(np.float32)
    ours, matmul = median_seconds(run), median_seconds(lambda: left @ right)
    return [
        Figure("int8 conv 28x28 256->256 3x3", macs / ours / 1e9, "GMAC/s", remark=CONFIG),
        Figure("its rate / numpy float32 matmul's", matmul / ours, "x", 0.4, "higher"),
        *int16_figures(),
    ]


if __name__ == "__main__":
    print(*int16_seconds())
