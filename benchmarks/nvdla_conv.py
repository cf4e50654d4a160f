"""int8 convolution against a float32 matmul of the same size; LeNet-sized network rate.

Prints medians and the ratio of the multiply-accumulate rates (target: at least 0.4).
Usage: python benchmarks/nvdla_conv.py [config]
"""

from __future__ import annotations

import statistics
import sys
import time
from collections.abc import Callable

import numpy as np

from cudla_sim.core.memory import AddressSpace
from cudla_sim.nvdla import Engine, Loadable, LoadedNetwork
from cudla_sim.nvdla.build import Network


def median_seconds(function: Callable[[], object], repeats: int = 7) -> float:
    """Median time of a call, after one call to warm up."""
    function()
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        function()
        times.append(time.perf_counter() - start)
    return statistics.median(times)


def runner(net: Network, config: str, calibration: np.ndarray) -> tuple[Callable[[], object], int]:
    """Return a function that runs the network once, and its multiply-accumulates."""
    loadable = Loadable.parse(net.build(calibration=calibration))
    space = AddressSpace()
    network, engine = LoadedNetwork(loadable, space, config), Engine(config)
    source = space.allocate(loadable.inputs[0].size, name="input")
    target = space.allocate(loadable.outputs[0].size, name="output")
    source.data[:] = np.random.default_rng(0).integers(0, 256, source.size, np.uint8)
    report = engine.run(network, [source.base], [target.base])
    return lambda: engine.run(network, [source.base], [target.base]), report.macs


def main() -> None:
    """Measure and print."""
    config = sys.argv[1] if len(sys.argv) > 1 else "nv_large"
    rng = np.random.default_rng(1)
    net = Network(("data", (1, 256, 56, 56)), "int8", config)
    net.conv2d(rng.normal(size=(256, 256, 3, 3)), rng.normal(size=256), padding=1, relu=True)
    run, macs = runner(net, config, rng.normal(size=(1, 256, 56, 56)))
    left = rng.normal(size=(3136, 2304)).astype(np.float32)
    right = rng.normal(size=(2304, 256)).astype(np.float32)
    conv, matmul = median_seconds(run), median_seconds(lambda: left @ right)
    print(f"conv 56x56 256->256 3x3: {conv * 1e3:.1f} ms, {macs / conv / 1e9:.1f} GMAC/s")
    print(f"float32 matmul of that size: {matmul * 1e3:.1f} ms, {macs / matmul / 1e9:.1f} GMAC/s")
    print(f"ratio: {matmul / conv:.2f} (target 0.40)")

    lenet = Network(("data", (1, 1, 28, 28)), "int8", config)
    lenet.conv2d(rng.normal(size=(20, 1, 5, 5)))
    lenet.max_pool(2)
    lenet.conv2d(rng.normal(size=(50, 20, 5, 5)))
    lenet.max_pool(2)
    lenet.fully_connected(rng.normal(size=(500, 800)), relu=True)
    lenet.fully_connected(rng.normal(size=(10, 500)))
    lenet.softmax()
    run, _ = runner(lenet, config, rng.normal(size=(4, 1, 28, 28)))
    seconds = median_seconds(run, 51)
    print(f"LeNet int8: {seconds * 1e3:.2f} ms, {1 / seconds:.0f} inferences/s (target 100)")


if __name__ == "__main__":
    main()
