"""Accuracy of a compiled network, against a reference and figures computed here."""

from __future__ import annotations

import json
from collections.abc import Mapping
from math import isinf
from typing import Any

import numpy as np
import pytest

from cudla_sim.compiler import accuracy
from cudla_sim.compiler import graph as g
from cudla_sim.compiler.backend import compile_graph
from cudla_sim.compiler.options import Options
from cudla_sim.nvdla.real_numbers import RealNetwork
from cudla_sim.tools.onnx.compile import accuracy_tables

from .naive_graph import evaluate
from .running import ranges

rng = np.random.default_rng(3)
WEIGHTS = rng.normal(size=(16, 5, 3, 3)).astype(np.float32)
BIAS = rng.normal(size=16).astype(np.float32)
LAST = rng.normal(size=(7, 16, 1, 1)).astype(np.float32)
SAMPLES = [{"in": rng.normal(size=(1, 9, 8, 5)).astype(np.float32)} for _ in range(3)]


def network() -> g.Graph:
    """Two convolutions, a pooling between them; the input is NHWC, the output [n, c * h * w]."""
    x, a = g.Value("x", (1, 5, 9, 8)), g.Value("a", (1, 16, 9, 8))
    b, c = g.Value("b", (1, 16, 4, 4)), g.Value("c", (1, 7, 4, 4))
    r = g.Value("r", (1, 16, 9, 8))
    nodes: list[g.Node] = [
        g.Conv(name="first", inputs=[x], output=a, weights=WEIGHTS, bias=BIAS, pads=(1, 1, 1, 1)),
        g.Clip(name="relu", inputs=[a], output=r, low=0.0),
        g.Pool(name="pool", inputs=[r], output=b, mode="max", kernel=(2, 2), stride=(2, 2)),
        g.Conv(name="last", inputs=[b], output=c, weights=LAST, bias=BIAS[:7]),
    ]
    source = g.Port(name="in", shape=(1, 9, 8, 5), value=x, order=(0, 2, 3, 1))
    return g.Graph(
        inputs=[source], outputs=[g.Port(name="out", shape=(1, 112), value=c)], nodes=nodes
    )


def naive(graph: g.Graph) -> accuracy.Reference:
    def compute(sample: accuracy.Sample) -> Mapping[str, Any]:
        values = evaluate(graph, [port.to_value(sample[port.name]) for port in graph.inputs])
        return {value.name: array for value, array in values.items()}

    return compute


def compiled(graph: g.Graph, precision: str) -> bytes:
    inputs = [[port.to_value(s[port.name]) for port in graph.inputs] for s in SAMPLES]
    scales = ranges(graph, inputs, precision)
    return compile_graph(graph, scales, Options(config="nv_full", precision=precision)).loadable


@pytest.mark.parametrize(("precision", "least"), [("int8", 32), ("int16", 70), ("fp16", 55)])
def test_figures_are_those_of_the_definition(precision: str, least: float) -> None:
    graph = network()
    image = compiled(graph, precision)
    found = accuracy.measure(image, graph, SAMPLES, reference=naive(graph))
    with RealNetwork(image) as running:
        y = np.stack([running.run(s)["out"] for s in SAMPLES]).astype(np.float64)
    x = np.stack([naive(graph)(s)["c"].reshape(1, 112) for s in SAMPLES])
    (row,) = found.outputs
    assert row.name == "out"
    assert row.nodes == ("last",)
    assert row.precision == precision
    assert row.sqnr == pytest.approx(10 * np.log10((x**2).sum() / ((x - y) ** 2).sum()), abs=0.01)
    cosine = (x * y).sum() / np.sqrt((x**2).sum() * (y**2).sum())
    assert row.cosine == pytest.approx(cosine, abs=1e-6)
    assert row.largest == pytest.approx(np.abs(x - y).max() / np.abs(x).max(), rel=1e-3)
    mean = x.mean(axis=0)
    u, v = x - mean, y - mean
    assert row.centred_sqnr == pytest.approx(
        10 * np.log10((u**2).sum() / ((u - v) ** 2).sum()), abs=0.01
    )
    cosine = (u * v).sum() / np.sqrt((u**2).sum() * (v**2).sum())
    assert row.centred_cosine == pytest.approx(cosine, abs=1e-6)
    assert found.worst == row.sqnr > least
    assert row.centred_sqnr is not None
    assert row.centred_sqnr < row.sqnr


def test_layers_are_named_and_sorted() -> None:
    graph = network()
    found = accuracy.measure(compiled(graph, "int8"), graph, SAMPLES, reference=naive(graph))
    assert {row.name for row in found.layers} >= {"b", "c"}
    figures = [row.sqnr for row in found.layers]
    assert figures == sorted(figures)
    assert all(figure > 30 for figure in figures)
    by_name = {row.name: row for row in found.layers}
    assert by_name["c"].sqnr == pytest.approx(found.outputs[0].sqnr, abs=1e-4)
    assert "pool" in by_name["b"].nodes


def test_a_bad_layer_is_the_worst() -> None:
    """A range eight times too large leaves four bits."""
    graph = network()
    inputs = [[port.to_value(s[port.name]) for port in graph.inputs] for s in SAMPLES]
    scales = ranges(graph, inputs, "int8")
    scales["b"] = scales["r"] = scales["a"] = 8 * max(scales["b"], scales["r"])
    options = Options(
        without=("flying",), zero_points=False
    )  # what is pooled on the fly is in no memory
    image = compile_graph(graph, scales, options).loadable
    found = accuracy.measure(image, graph, SAMPLES, reference=naive(graph))
    good = accuracy.measure(compiled(graph, "int8"), graph, SAMPLES, reference=naive(graph))
    assert found.worst < good.worst - 10
    assert found.layers[0].sqnr < 25


def test_only_outputs_and_progress() -> None:
    graph, told = network(), []
    found = accuracy.measure(
        compiled(graph, "int8"), graph, SAMPLES, layers=False, reference=naive(graph),
        progress=told.append,
    )  # fmt: skip
    assert found.layers == ()
    assert told == [1, 2, 3]
    assert found.samples == 3


def test_json_and_tables() -> None:
    graph = network()
    found = accuracy.measure(compiled(graph, "int8"), graph, SAMPLES, reference=naive(graph))
    data = json.loads(json.dumps(found.as_dict(), allow_nan=False))
    assert data["outputs"][0]["name"] == "out"
    assert data["layers"][0]["sqnr"] == found.layers[0].sqnr
    text = "\n".join(line for table in accuracy_tables(found) for line in table.lines())
    assert text.index("output") < text.index("worst first")
    assert f"{found.outputs[0].sqnr:.1f}" in text


def test_no_error_and_no_signal() -> None:
    sums = accuracy._Sums(centred=False)
    sums.add(np.array([1.0, 2.0]), np.array([1.0, 2.0]))
    row = sums.row("x", (), "fp16")
    assert isinf(row.sqnr)
    assert row.cosine == pytest.approx(1)
    assert accuracy.Accuracy(1, (row,), ()).as_dict()["outputs"][0]["sqnr"] is None
    silent = accuracy._Sums(centred=False)
    silent.add(np.zeros(2), np.array([0.0, 1.0]))
    assert silent.row("x", (), "fp16").sqnr == -np.inf
    assert silent.row("x", (), "fp16").cosine == 0


def test_the_reference_is_onnxruntime() -> None:
    graph = network()
    image = compiled(graph, "int8")
    mine = accuracy.measure(image, graph, SAMPLES, reference=naive(graph))
    theirs = accuracy.measure(image, graph, SAMPLES)
    for one, other in zip(mine.outputs + mine.layers, theirs.outputs + theirs.layers, strict=True):
        assert one.name == other.name
        assert one.sqnr == pytest.approx(other.sqnr, abs=1e-3)
