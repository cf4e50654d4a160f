"""The method is chosen by running the network."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from cudla_sim.compiler import accuracy, calibrate, front, render
from cudla_sim.compiler.backend import compile_graph
from cudla_sim.compiler.options import Options

from .blocks import Builder


def test_no_other_method_is_clearly_nearer_to_float(tmp_path: Path) -> None:
    b = Builder()
    x = b.input(1, 4, 16, 16)
    graph = b.graph(b.conv(b.relu(b.conv(x, 8, 3)), 4))
    graph = front.load(render.model(graph))
    own = np.random.default_rng(3)
    data = own.uniform(-1, 1, size=(4, 4, 16, 16)).astype(np.float32)
    np.save(tmp_path / "flat.npy", data)
    samples = calibrate.load_samples(graph, [tmp_path / "flat.npy"])
    built = []

    def build(scales: dict[str, float]) -> bytes:
        built.append(scales)
        return compile_graph(graph, scales, Options()).loadable

    scales, name = calibrate.best(samples, build)
    decibels = []
    for item in built:
        image = compile_graph(graph, item, Options()).loadable
        result = accuracy.measure(image, graph, list(samples), layers=False)
        decibels.append(result.outputs[0].sqnr)
    chosen = decibels[built.index(scales)]
    assert chosen >= max(decibels) - 0.3  # minimum and maximum are kept unless another is better
    assert (name == "minmax") == (scales == built[0])
    assert scales[graph.inputs[0].value.name] == np.float32(np.abs(data).max()) / 127
