"""A ResNet-50-shaped int8 network (4.1 GMAC, random weights) on nv_large.

Prints the median CPU and wall time of an inference and the peak memory of the process
(targets: below 3 s of CPU time, below 1.5 GiB). Usage: python benchmarks/nvdla_resnet50.py
"""

from __future__ import annotations

import resource
import statistics
import time

import numpy as np
from nvdla_conv import runner

from cudla_sim.nvdla.build import Network

CONFIG = "nv_large"
STAGES = ((3, 64, 1), (4, 128, 2), (6, 256, 2), (3, 512, 2))


def resnet50(rng: np.random.Generator) -> Network:
    """Return the network: bottleneck blocks with projection in the first of each stage."""

    def weights(kernels: int, channels: int, size: int) -> np.ndarray:
        values = rng.standard_normal((kernels, channels, size, size), dtype=np.float32)
        return values * np.float32(np.sqrt(2 / (channels * size * size)))

    net = Network(("data", (1, 3, 224, 224)), "int8", CONFIG)
    net.conv2d(weights(64, 3, 7), stride=2, padding=3, relu=True)
    net.max_pool(3, 2, 1)
    channels = 64
    for blocks, middle, first_stride in STAGES:
        for block in range(blocks):
            stride = first_stride if block == 0 else 1
            shortcut = net.output
            net.conv2d(weights(middle, channels, 1), relu=True)
            net.conv2d(weights(middle, middle, 3), stride=stride, padding=1, relu=True)
            branch = net.conv2d(weights(4 * middle, middle, 1) * np.float32(0.3))
            if block == 0:
                projection = weights(4 * middle, channels, 1)
                shortcut = net.conv2d(projection, stride=stride, source=shortcut)
            net.add(branch, shortcut, relu=True)
            channels = 4 * middle
    net.avg_pool(7)
    net.fully_connected(weights(1000, 2048, 1)[:, :, 0, 0])
    net.softmax()
    return net


def main() -> None:
    """Measure and print."""
    rng = np.random.default_rng(0)
    image = rng.standard_normal((1, 3, 224, 224), dtype=np.float32)
    run, macs = runner(resnet50(rng), CONFIG, image)
    wall, cpu = [], []
    for _ in range(5):
        start = time.perf_counter(), time.process_time()
        run()
        wall.append(time.perf_counter() - start[0])
        cpu.append(time.process_time() - start[1])
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(f"ResNet-50 shape, {macs / 1e9:.2f} GMAC, {CONFIG}, int8")
    print(f"wall {statistics.median(wall):.2f} s, CPU {statistics.median(cpu):.2f} s (target 3)")
    print(f"peak memory {peak:.0f} MiB (target 1536)")


if __name__ == "__main__":
    main()
