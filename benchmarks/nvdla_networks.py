"""int8 networks from ONNX on nv_large against onnxruntime, in float32 and in int8, in one run.

All times are CPU time: medians of runs that take turns.
"""

from __future__ import annotations

import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, helper

from cudla_sim.core.memory import AddressSpace
from cudla_sim.nvdla import Core, Loadable, LoadedNetwork

from .nvdla_resnet50 import weights
from .onnx_compiler import CONFIG, SHAPE, _Model, compiled, onnxruntime_int8, pictures, resnet50
from .report import Figure

BOTTLENECKS = (
    (1, 16, 1, 1), (6, 24, 2, 2), (6, 32, 3, 2), (6, 64, 4, 2), (6, 96, 3, 1), (6, 160, 3, 2),
    (6, 320, 1, 1),
)  # fmt: skip
"""MobileNetV2: expansion, channels, blocks, stride of the first."""

ROUNDS = 9


def mobilenet() -> onnx.ModelProto:
    """MobileNetV2 as PyTorch exports it, batch normalisation folded."""
    m = _Model()

    def relu6(x: str) -> str:
        return m.node("Clip", [x, low, high])

    def depthwise(x: str, channels: int, stride: int) -> str:
        taps = m.constant(weights(m.random, channels, 1, 3))
        bias = m.constant(m.random.normal(0, 0.05, channels))
        return m.node("Conv", [x, taps, bias], strides=[stride] * 2, pads=[1] * 4, group=channels)

    low, high = m.constant(np.array(0.0)), m.constant(np.array(6.0))
    x = relu6(m.conv("images", 32, 3, 3, 2, 1.0))
    channels = 32
    for expansion, out, count, first in BOTTLENECKS:
        for block in range(count):
            stride, middle, y = first if block == 0 else 1, channels * expansion, x
            if expansion != 1:
                y = relu6(m.conv(y, middle, channels, 1, 1, 1.0))
            y = relu6(depthwise(y, middle, stride))
            y = m.conv(y, out, middle, 1, 1, 0.7)
            x = m.node("Add", [x, y]) if stride == 1 and channels == out else y
            channels = out
    x = relu6(m.conv(x, 1280, channels, 1, 1, 1.0))
    x = m.node("Flatten", [m.node("GlobalAveragePool", [x])])
    taps = m.constant(m.random.normal(0, 0.03, (1000, 1280)))
    m.node("Gemm", [x, taps], transB=1)
    graph = helper.make_graph(
        m.nodes,
        "mobilenet_v2",
        [helper.make_tensor_value_info("images", TensorProto.FLOAT, SHAPE)],
        [helper.make_tensor_value_info(m.nodes[-1].output[0], TensorProto.FLOAT, (1, 1000))],
        m.constants,
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8)


def simulated(file: Path) -> Callable[[], object]:
    """A function that runs a loadable once."""
    loadable, space = Loadable.parse(file.read_bytes()), AddressSpace()
    network, core = LoadedNetwork(loadable, space, CONFIG), Core(CONFIG)
    tensors = [
        [space.allocate(t.size, name=t.name).base for t in side]
        for side in (loadable.inputs, loadable.outputs)
    ]
    return lambda: core.run(network, *tensors)


def cpu_seconds(function: Callable[[], object]) -> float:
    begin = time.process_time()
    function()
    return time.process_time() - begin


def compare(name: str, model: onnx.ModelProto, limits: tuple[float, float]) -> list[Figure]:
    import onnxruntime

    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        source, ours, theirs = folder / "m.onnx", folder / "m.nvdla", folder / "q.onnx"
        onnx.save(model, source)
        samples = pictures(1, 2)
        np.save(folder / "calib.npy", samples)
        compiled(source, folder / "calib.npy", ours)
        onnxruntime_int8(source, samples, theirs)
        feed = {"images": samples[:1]}
        options = onnxruntime.SessionOptions()  # its threads would spin while ours compute
        options.add_session_config_entry("session.intra_op.allow_spinning", "0")
        runs: dict[str, Callable[[], object]] = {"ours": simulated(ours)}
        for key, file in (("float32", source), ("int8", theirs)):
            session = onnxruntime.InferenceSession(file, options, ["CPUExecutionProvider"])
            runs[key] = lambda session=session: session.run(None, feed)
        for run in runs.values():
            for _ in range(3):
                run()
        times: dict[str, list[float]] = {key: [] for key in runs}
        for _ in range(ROUNDS):
            for key, run in runs.items():
                times[key].append(cpu_seconds(run))
    median = {key: statistics.median(values) for key, values in times.items()}
    return [
        Figure(f"{name} int8, CPU time", median["ours"] * 1e3, "ms", remark=CONFIG),
        Figure("its CPU time / onnxruntime's, float32", median["ours"] / median["float32"], "x",
               limits[0]),
        Figure("its CPU time / onnxruntime's, int8", median["ours"] / median["int8"], "x",
               limits[1]),
    ]  # fmt: skip


def figures() -> list[Figure]:
    return [
        *compare("ResNet-50", resnet50(), (1.2, 2.0)),
        *compare("MobileNetV2", mobilenet(), (2.5, 8.0)),
    ]
