"""A ResNet-50-shaped int8 network (4.1 GMAC, random weights) on nv_large, in a fresh process.

The reference is onnxruntime on the same shape in float32, where it is installed
(``pip install onnx onnxruntime``).
"""

from __future__ import annotations

import importlib.util
import json
import resource
import statistics
import subprocess
import sys
import time
from typing import Any

import numpy as np

from cudla_sim.nvdla.build import Network

from .nvdla_conv import runner
from .report import Figure

CONFIG = "nv_large"
STAGES = ((3, 64, 1), (4, 128, 2), (6, 256, 2), (3, 512, 2))


def weights(random: np.random.Generator, kernels: int, channels: int, size: int) -> np.ndarray:
    values = random.standard_normal((kernels, channels, size, size), dtype=np.float32)
    return values * np.float32(np.sqrt(2 / (channels * size * size)))


def resnet50(random: np.random.Generator) -> Network:
    """Bottleneck blocks with a projection in the first of each stage."""
    net = Network(("data", (1, 3, 224, 224)), "int8", CONFIG)
    net.conv2d(weights(random, 64, 3, 7), stride=2, padding=3, relu=True)
    net.max_pool(3, 2, 1)
    channels = 64
    for blocks, middle, first_stride in STAGES:
        for block in range(blocks):
            stride = first_stride if block == 0 else 1
            shortcut = net.output
            net.conv2d(weights(random, middle, channels, 1), relu=True)
            net.conv2d(weights(random, middle, middle, 3), stride=stride, padding=1, relu=True)
            branch = net.conv2d(weights(random, 4 * middle, middle, 1) * np.float32(0.3))
            if block == 0:
                projection = weights(random, 4 * middle, channels, 1)
                shortcut = net.conv2d(projection, stride=stride, source=shortcut)
            net.add(branch, shortcut, relu=True)
            channels = 4 * middle
    net.avg_pool(7)
    net.fully_connected(weights(random, 1000, 2048, 1)[:, :, 0, 0])
    net.softmax()
    return net


def onnx_model(random: np.random.Generator) -> bytes:
    """The same shape for onnxruntime, float32."""
    import onnx
    from onnx import TensorProto, helper, numpy_helper

    nodes: list[Any] = []
    constants: list[Any] = []

    def add(kind: str, inputs: list[str], **attributes: Any) -> str:
        output = f"t{len(nodes)}"
        nodes.append(helper.make_node(kind, inputs, [output], **attributes))
        return output

    def conv(source: str, kernels: int, channels: int, size: int, stride: int = 1) -> str:
        name = f"w{len(constants)}"
        constants.append(numpy_helper.from_array(weights(random, kernels, channels, size), name))
        pads = [size // 2] * 4
        return add("Conv", [source, name], strides=[stride] * 2, pads=pads, kernel_shape=[size] * 2)

    x = add("Relu", [conv("data", 64, 3, 7, 2)])
    x = add("MaxPool", [x], kernel_shape=[3, 3], strides=[2, 2], pads=[1] * 4)
    channels = 64
    for blocks, middle, first_stride in STAGES:
        for block in range(blocks):
            stride = first_stride if block == 0 else 1
            y = add("Relu", [conv(x, middle, channels, 1)])
            y = add("Relu", [conv(y, middle, middle, 3, stride)])
            y = conv(y, 4 * middle, middle, 1)
            if block == 0:
                x = conv(x, 4 * middle, channels, 1, stride)
            x = add("Relu", [add("Add", [y, x])])
            channels = 4 * middle
    x = conv(add("GlobalAveragePool", [x]), 1000, 2048, 1)
    x = add("Softmax", [x], axis=1)
    shapes = {"data": [1, 3, 224, 224], x: [1, 1000, 1, 1]}
    source, result = (
        helper.make_tensor_value_info(n, TensorProto.FLOAT, s) for n, s in shapes.items()
    )
    graph = helper.make_graph(nodes, "resnet50", [source], [result], constants)
    opset = [helper.make_opsetid("", 17)]
    return bytes(
        onnx.helper.make_model(graph, opset_imports=opset, ir_version=8).SerializeToString()
    )


def reference_seconds() -> float | None:
    """CPU seconds of one onnxruntime inference; None where it is not installed."""
    if not all(importlib.util.find_spec(name) for name in ("onnx", "onnxruntime")):
        return None
    import onnxruntime

    random = np.random.default_rng(0)
    session = onnxruntime.InferenceSession(onnx_model(random), providers=["CPUExecutionProvider"])
    image = random.standard_normal((1, 3, 224, 224), dtype=np.float32)
    times = []
    for _ in range(5):
        begin = time.process_time()
        session.run(None, {"data": image})
        times.append(time.process_time() - begin)
    return statistics.median(times)


def measure() -> dict[str, float]:
    """In a process of its own, so that the peak of its memory is this network's."""
    random = np.random.default_rng(0)
    image = random.standard_normal((1, 3, 224, 224), dtype=np.float32)
    run, macs = runner(resnet50(random), image)
    wall, cpu = [], []
    for _ in range(5):
        begin = time.perf_counter(), time.process_time()
        run()
        wall.append(time.perf_counter() - begin[0])
        cpu.append(time.process_time() - begin[1])
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return {
        "macs": macs,
        "wall": statistics.median(wall),
        "cpu": statistics.median(cpu),
        "peak_mib": peak,
    }


def figures() -> list[Figure]:
    run = subprocess.run(
        [sys.executable, "-m", "benchmarks.nvdla_resnet50"],
        capture_output=True,
        text=True,
        check=True,
    )
    found = json.loads(run.stdout)
    remark = f"{found['macs'] / 1e9:.2f} GMAC, {CONFIG}"
    figures = [
        Figure("ResNet-50 shape int8, CPU time", found["cpu"], "s", 3, remark=remark),
        Figure("its peak memory, building included", found["peak_mib"], "MiB", 1536),
    ]
    reference = reference_seconds()
    if reference is not None:
        remark = "CPU time; onnxruntime computes float32"
        ratio = found["cpu"] / reference
        figures.append(Figure("its CPU time / onnxruntime's", ratio, "x", remark=remark))
    return figures


if __name__ == "__main__":
    print(json.dumps(measure()))
