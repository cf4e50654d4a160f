"""onnxruntime's own static quantisation: what a compiled network must come near to."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import onnx
from onnx import version_converter
from onnxruntime import quantization as q
from onnxruntime.quantization.calibrate import CalibrationDataReader
from onnxruntime.quantization.shape_inference import quant_pre_process

from cudla_sim.compiler.runtime import session

PER_CHANNEL = 13
"""The opset that brought scales per channel."""


class Feeder(CalibrationDataReader):
    """Pictures one by one."""

    def __init__(self, file: Path, pictures: np.ndarray) -> None:
        from .zoo import input_of

        self._name = input_of(file)[0]
        self._rest = list(pictures)

    def get_next(self) -> dict[str, np.ndarray] | None:
        return {self._name: self._rest.pop(0)[None]} if self._rest else None


def sqnr(file: Path, calibration: np.ndarray, tests: list[dict[str, np.ndarray]]) -> float:
    """SQNR in dB of the worst output: symmetric int8, weights per kernel, MinMax."""
    with TemporaryDirectory() as folder:
        newer, ready = Path(folder) / "newer.onnx", Path(folder) / "ready.onnx"
        small = Path(folder) / "int8.onnx"
        model = onnx.load(file)
        if model.opset_import[0].version < PER_CHANNEL:
            model = version_converter.convert_version(model, PER_CHANNEL)
        onnx.save(model, newer)
        quant_pre_process(str(newer), str(ready), skip_symbolic_shape=True)
        q.quantize_static(
            str(ready),
            str(small),
            Feeder(ready, calibration),
            quant_format=q.QuantFormat.QDQ,
            per_channel=True,
            activation_type=q.QuantType.QInt8,
            weight_type=q.QuantType.QInt8,
            extra_options={"ActivationSymmetric": True, "WeightSymmetric": True},
        )
        exact, rounded = session(file.read_bytes()), session(small.read_bytes())
        pairs = [(exact.run(None, feeds), rounded.run(None, feeds)) for feeds in tests]
    worst = np.inf
    for number in range(len(pairs[0][0])):
        x, y = (np.stack([p[side][number] for p in pairs]).astype(np.float64) for side in (0, 1))
        noise = float(((x - y) ** 2).sum())
        worst = min(worst, 10 * np.log10(float((x**2).sum()) / noise) if noise else np.inf)
    return float(worst)
