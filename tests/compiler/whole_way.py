"""An ONNX model, compiled and run on the model of the hardware, beside onnxruntime."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import onnx

from cudla_sim.compiler import calibrate, front
from cudla_sim.compiler.backend import compile_graph
from cudla_sim.compiler.options import Options
from cudla_sim.nvdla.check import check
from cudla_sim.nvdla.facts.configs import config as hardware
from cudla_sim.nvdla.loadable import Loadable
from cudla_sim.nvdla.real_numbers import RealNetwork
from tests.compiler.reference import run

ALLOWED = {"int8": 3 / 127, "int16": 1e-3, "fp16": 4e-3}
"""Shares of the largest value: a few steps, as rounded inputs, weights and outputs take."""


def compare(
    model: onnx.ModelProto,
    config: str,
    precision: str,
    allowed: Mapping[str, float] = ALLOWED,
) -> dict[str, int]:
    """Outputs agree within a share of the largest value, on the numbers that calibrated it; the
    loadable is one that hardware takes. Returns the operations by unit."""
    graph = front.load(model)
    random = np.random.default_rng(4)
    feeds = {
        item.name: random.uniform(-1, 1, [d.dim_value for d in item.type.tensor_type.shape.dim])
        for item in model.graph.input
    }
    feeds = {name: array.astype(np.float32) for name, array in feeds.items()}
    scales = {} if precision == "fp16" else calibrate.ranges(graph, [feeds])
    compiled = compile_graph(graph, scales, Options(config=config, precision=precision))
    assert not check(Loadable.parse(compiled.loadable), hardware(config))
    with RealNetwork(compiled.loadable) as network:
        found = network.run(feeds)
    for name, expected in run(model, feeds).items():
        largest = max(float(np.abs(expected).max()), 1e-3)
        assert np.abs(found[name] - expected).max() <= allowed[precision] * largest
    operations: dict[str, int] = compiled.report["operations"]
    return operations
