"""Averages by channel, and what the correction of biases makes of them."""

from __future__ import annotations

import numpy as np
import pytest

from cudla_sim.compiler import accuracy, calibrate
from cudla_sim.compiler import graph as g
from cudla_sim.compiler.backend import compile_graph
from cudla_sim.compiler.errors import CompileError
from cudla_sim.compiler.options import Options

rng = np.random.default_rng(9)
WEIGHTS = rng.normal(size=(8, 6, 3, 3)).astype(np.float32)
SAMPLES = [{"x": (2 + rng.normal(size=(1, 6, 9, 7))).astype(np.float32)} for _ in range(5)]


def network() -> g.Graph:
    x, y = g.Value("x", (1, 6, 9, 7)), g.Value("y", (1, 8, 7, 5))
    nodes: list[g.Node] = [
        g.Conv(name="conv", inputs=[x], output=y, weights=WEIGHTS, bias=np.zeros(8, np.float32))
    ]
    ports = [g.Port(name=v.name, shape=v.shape, value=v) for v in (x, y)]
    return g.Graph(inputs=ports[:1], outputs=ports[1:], nodes=nodes)


def test_they_are_averages_over_samples_and_pixels() -> None:
    found = calibrate.channel_means(network(), SAMPLES)
    data = np.concatenate([s["x"] for s in SAMPLES]).astype(np.float64)
    np.testing.assert_allclose(found["x"], data.mean((0, 2, 3)), rtol=1e-6)
    made = np.lib.stride_tricks.sliding_window_view(data, (3, 3), axis=(2, 3))
    expected = np.einsum("nchwrs,kcrs->k", made, WEIGHTS) / (5 * 7 * 5)
    np.testing.assert_allclose(found["y"], expected, rtol=1e-4)


def test_no_samples() -> None:
    with pytest.raises(CompileError, match="no samples"):
        calibrate.channel_means(network(), [])


def test_biases_are_corrected_with_them() -> None:
    """Inputs have a mean, so what rounding does to the weights shifts every output."""
    graph = network()
    scales = calibrate.ranges(graph, SAMPLES)
    means = calibrate.channel_means(graph, SAMPLES)
    plain, corrected = (
        accuracy.measure(compile_graph(graph, scales, Options(), given).loadable, graph, SAMPLES)
        for given in (None, means)
    )
    assert corrected.worst > plain.worst
