"""``cudla-sim compile`` of a ResNet-50 with seeded weights, calibrated on 8 pictures, for nv_large.

Compiles in a fresh process; accuracy is compared with onnxruntime's own static int8 quantisation
(Q/DQ, symmetric, weights per kernel, minimum and maximum) on the same pictures. The utilisation is
that of the timing model; NVIDIA's spreadsheet, with 3x3 kernels computed directly as here, has 66 %
for this network on nv_large.
"""

from __future__ import annotations

import json
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from .nvdla_resnet50 import STAGES, weights
from .report import Figure

CONFIG = "nv_large"
SHAPE = (1, 3, 224, 224)
SPREADSHEET = 0.657
MACS = 4.089e9
"""Of the network, not of what splits and padding make of it."""


class _Model:
    """Appends nodes; names count up."""

    def __init__(self) -> None:
        self.random = np.random.default_rng(5)
        self.nodes: list[onnx.NodeProto] = []
        self.constants: list[onnx.TensorProto] = []

    def node(self, kind: str, inputs: list[str], **attributes: Any) -> str:
        name = f"{kind}{len(self.nodes)}"
        self.nodes.append(helper.make_node(kind, inputs, [name], name, **attributes))
        return name

    def constant(self, array: np.ndarray) -> str:
        name = f"c{len(self.constants)}"
        self.constants.append(numpy_helper.from_array(array.astype(np.float32), name))
        return name

    def conv(self, x: str, kernels: int, channels: int, size: int, stride: int, gain: float) -> str:
        taps = self.constant(weights(self.random, kernels, channels, size) * gain)
        bias = self.constant(self.random.normal(0, 0.05, kernels))
        pads = [size // 2] * 4
        return self.node("Conv", [x, taps, bias], strides=[stride] * 2, pads=pads)

    def relu(self, x: str) -> str:
        return self.node("Relu", [x])


def resnet50() -> onnx.ModelProto:
    """The network as PyTorch exports it, batch normalisation folded."""
    m = _Model()
    x = m.relu(m.conv("images", 64, 3, 7, 2, 1.0))
    x = m.node("MaxPool", [x], kernel_shape=[3, 3], strides=[2, 2], pads=[1] * 4)
    channels = 64
    for count, middle, first in STAGES:
        for block in range(count):
            stride = first if block == 0 else 1
            y = m.relu(m.conv(x, middle, channels, 1, 1, 1.0))
            y = m.relu(m.conv(y, middle, middle, 3, stride, 1.0))
            y = m.conv(y, 4 * middle, middle, 1, 1, 0.3)
            short = m.conv(x, 4 * middle, channels, 1, stride, 0.7) if block == 0 else x
            x = m.relu(m.node("Add", [y, short]))
            channels = 4 * middle
    x = m.node("Flatten", [m.node("GlobalAveragePool", [x])])
    taps = m.constant(m.random.normal(0, 0.03, (1000, channels)))
    m.node("Gemm", [x, taps], transB=1)
    graph = helper.make_graph(
        m.nodes,
        "resnet50",
        [helper.make_tensor_value_info("images", TensorProto.FLOAT, SHAPE)],
        [helper.make_tensor_value_info(m.nodes[-1].output[0], TensorProto.FLOAT, (1, 1000))],
        m.constants,
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8)


def pictures(seed: int, count: int) -> np.ndarray:
    """Noise with the spectrum of pictures (amplitude 1 / frequency)."""
    own = np.random.default_rng(seed)
    lines, columns = (np.fft.fftfreq(size) for size in SHAPE[2:])
    radius = np.hypot(lines[:, None], columns[None])
    radius[0, 0] = 1
    found = np.fft.ifft2(np.fft.fft2(own.normal(size=(count, *SHAPE[1:]))) / radius).real
    found -= found.mean(axis=(1, 2, 3), keepdims=True)
    return (found / found.std(axis=(1, 2, 3), keepdims=True)).astype(np.float32)


def compiled(model: Path, calib: Path, out: Path, *more: str) -> tuple[float, float]:
    """Seconds and MiB of the command, in a process of its own."""
    begin = time.perf_counter()
    words = ["compile", str(model), "-o", str(out), "--config", CONFIG, "--calib", str(calib)]
    words += more
    subprocess.run([sys.executable, "-m", "cudla_sim", *words], check=True, capture_output=True)
    used = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024
    return time.perf_counter() - begin, used


def onnxruntime_int8(model: Path, calib: np.ndarray, out: Path) -> None:
    """onnxruntime's static quantisation."""
    from onnxruntime.quantization import CalibrationDataReader, QuantType, quantize_static

    class Reader(CalibrationDataReader):  # type: ignore[misc]
        def __init__(self) -> None:
            self.rest: Iterator[np.ndarray] = iter(calib[:, None])

        def get_next(self) -> dict[str, np.ndarray] | None:
            return next(({"images": item} for item in self.rest), None)

    options = {"ActivationSymmetric": True, "WeightSymmetric": True}
    kinds = {"activation_type": QuantType.QInt8, "weight_type": QuantType.QInt8}
    quantize_static(model, out, Reader(), per_channel=True, extra_options=options, **kinds)


def decibels(want: np.ndarray, got: np.ndarray) -> float:
    return float(10 * np.log10((want**2).sum() / ((want - got) ** 2).sum()))


def utilisation(file: Path) -> float:
    """Share of the MAC array's cycles that the timing model finds used."""
    from cudla_sim.nvdla import Loadable
    from cudla_sim.nvdla.timing import runs
    from cudla_sim.nvdla.timing.parameters import Surroundings

    run = runs.loadable(Loadable.parse(file.read_bytes()), "", CONFIG, Surroundings())
    return MACS / (2048 * run.cycles)


def figures() -> list[Figure]:
    from cudla_sim.compiler.runtime import session
    from cudla_sim.nvdla import Loadable
    from cudla_sim.nvdla.real_numbers import RealNetwork

    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        model, out, other = folder / "m.onnx", folder / "m.nvdla", folder / "q.onnx"
        onnx.save(resnet50(), model)
        calib, tests = pictures(1, 8), pictures(2, 4)
        np.save(folder / "calib.npy", calib)
        seconds, memory = compiled(model, folder / "calib.npy", out)
        picture = folder / "picture.nvdla"
        compiled(model, folder / "calib.npy", picture, "--input-format", "images=int8:dla_hwc4")
        onnxruntime_int8(model, calib, other)
        loadable = Loadable.parse(out.read_bytes())
        want, theirs = (
            np.concatenate([run.run(None, {"images": item[None]})[0] for item in tests])
            for run in (session(model.read_bytes()), session(other.read_bytes()))
        )
        with RealNetwork(loadable, CONFIG) as network:
            results = [network.run({"images": item[None]}) for item in tests]
        ours = np.concatenate([next(iter(item.values())) for item in results])
        used = [utilisation(file) / SPREADSHEET for file in (out, picture)]
    sqnr = decibels(want, ours)
    return [
        Figure("ResNet-50, compile with 8 pictures", seconds, "s", 20.0),
        Figure("ResNet-50, memory of the compiler", memory, "MiB", 3072.0),
        Figure(
            "ResNet-50 int8, SQNR above onnxruntime's int8",
            sqnr - decibels(want, theirs),
            "dB",
            -0.5,
            "higher",
            json.dumps({"ours": round(sqnr, 1)}),
        ),
        Figure("MAC utilisation / the spreadsheet's, chw32 input", used[0], "", 0.95, "higher"),
        Figure("MAC utilisation / the spreadsheet's, hwc4 input", used[1], "", 0.95, "higher"),
    ]
