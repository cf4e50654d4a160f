"""Cross-layer equalisation: the same function, and channels of like ranges."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
from click.testing import CliRunner

from cudla_sim.compiler import accuracy, calibrate, render
from cudla_sim.compiler import graph as g
from cudla_sim.compiler.backend import compile_graph
from cudla_sim.compiler.equalise import equalise
from cudla_sim.compiler.options import Options
from cudla_sim.tools.onnx.compile import compile_model

from .blocks import Builder
from .naive_graph import evaluate


def uneven(seed: int = 2) -> tuple[g.Graph, Builder]:
    """Convolution, depthwise convolution, convolution; channels of the first reach from 1 to 100
    times the least, and the next one takes that back."""
    b = Builder(seed)
    a = b.relu(b.conv(b.input(1, 4, 16, 16), 16, 3))
    d = b.relu(b.conv(b.pool(a, "max", 2, 2), 16, 3, groups=16))
    out = b.conv(d, 6)
    first, second = b.nodes[0], b.nodes[3]
    assert isinstance(first, g.Conv)
    assert isinstance(second, g.Conv)
    factors = np.geomspace(1, 100, 16).astype(np.float32)
    first.weights = first.weights * factors[:, None, None, None]
    first.bias = first.bias * factors
    second.weights = second.weights / factors[:, None, None, None]
    return b.graph(out), b


def data(b: Builder, count: int) -> list[dict[str, np.ndarray]]:
    return [{"input0": b.rng.normal(size=(1, 4, 16, 16)).astype(np.float32)} for _ in range(count)]


def sqnr(graph: g.Graph, samples: list, tests: list) -> float:
    seen = calibrate.statistics(graph, samples)
    scales = calibrate.ranges(graph, samples)
    made = compile_graph(graph, scales, Options(config="nv_small"), seen.means, None, seen.spans)
    return accuracy.measure(made.loadable, graph, tests, layers=False).worst


def test_the_function_stays_and_int8_gains() -> None:
    graph, b = uneven()
    samples, tests = data(b, 8), data(b, 4)
    before = [list(evaluate(graph, [item["input0"]]).values())[-1] for item in tests]
    worse = sqnr(graph, samples, tests)
    done = equalise(graph, samples)
    assert done[0].node == "Conv0"
    assert done[0].decibels > 3
    after = [evaluate(graph, [item["input0"]]) for item in tests]
    for old, new in zip(before, after, strict=True):
        np.testing.assert_allclose(list(new.values())[-1], old, rtol=1e-4, atol=1e-4)
    tensor = next(value for value in after[0] if value.name == "Clip1_out")
    tops = np.max([found[tensor].max((0, 2, 3)) for found in after], axis=0)
    assert tops.max() < 10 * tops.min()
    assert sqnr(graph, samples, tests) > worse + 6


def test_what_others_read_stays() -> None:
    graph, b = uneven()
    graph.outputs.append(
        g.Port(name="seen", shape=graph.nodes[2].output.shape, value=graph.nodes[2].output)
    )
    weights = [node.weights for node in graph.nodes if isinstance(node, g.Conv)]
    assert all(item.node != "Conv0" for item in equalise(graph, data(b, 4)))
    assert graph.nodes[0].weights is weights[0]  # type: ignore[attr-defined]


def test_limits_stay() -> None:
    """ReLU6 of a channel that is divided would be another function."""
    graph, b = uneven()
    clip = graph.nodes[1]
    assert isinstance(clip, g.Clip)
    clip.high = 6.0
    assert all(item.node != "Conv0" for item in equalise(graph, data(b, 4)))


def test_the_command(tmp_path: Path) -> None:
    graph, b = uneven()
    onnx.save(render.model(graph), tmp_path / "net.onnx")
    np.save(tmp_path / "calib.npy", np.concatenate([item["input0"] for item in data(b, 8)]))
    words = [str(tmp_path / "net.onnx"), "-o", str(tmp_path / "net.nvdla"), "--equalise"]
    run = CliRunner().invoke(compile_model, [*words, "--calib", str(tmp_path / "calib.npy")])
    assert run.exit_code == 0, run.output
    assert "equalised: the channels behind" in run.output
    run = CliRunner().invoke(compile_model, [*words, "--invent-ranges"])
    assert run.exit_code == 2
    assert "--equalise is for int8 with data" in run.output
