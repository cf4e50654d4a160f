"""Zero points: tensors of 0 to 255 in steps of 1, which no symmetric int8 holds, come through every
reader exactly. The naive reference computes with the same whole numbers."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cudla_sim.compiler import accuracy, calibrate
from cudla_sim.compiler import graph as g
from cudla_sim.compiler.backend import Compiled, compile_graph
from cudla_sim.compiler.options import Options
from cudla_sim.nvdla import Loadable
from cudla_sim.nvdla.check import check
from cudla_sim.nvdla.facts.configs import config as hardware

from .blocks import Builder
from .naive_graph import evaluate
from .running import run

STEP = 5.0
"""Of outputs: multiples of a fifth are never halfway."""


def whole(
    b: Builder, x: g.Value, kernels: int, kernel: int = 1, pads: g.Pads | None = None, **more
):
    """A convolution with two weights of 1 or -1 a kernel: exact in int8."""
    n, c, h, w = x.shape
    weights = np.zeros((kernels, c, kernel, kernel), np.float32)
    for item in weights.reshape(kernels, -1):
        item[b.rng.choice(item.size, 2, replace=False)] = b.rng.choice([-1, 1], 2)
    pads = (kernel // 2,) * 4 if pads is None else pads
    stride = more.get("stride", (1, 1))
    size = [
        (length + sum(pads[2 * i : 2 * i + 2]) - kernel) // stride[i] + 1
        for i, length in enumerate((h, w))
    ]
    bias = np.ones(kernels, np.float32)
    return b.add(g.Conv, [x], (n, kernels, *size), weights=weights, bias=bias, pads=pads, **more)


def rich(b: Builder, x: g.Value, kernels: int = 24) -> g.Value:
    """0 to 255."""
    return b.relu(whole(b, x, kernels))


def held(b: Builder, x: g.Value) -> g.Value:
    """A copy that no pass in front takes in."""
    return b.pool(x, "max", 1, 1)


def compiled(graph: g.Graph, rich_ones: set[str], config: str, options: Options) -> Compiled:
    scales, spans = {}, {}
    outputs = {port.value for port in graph.outputs}
    for value in graph.values():
        scales[value.name] = 255 / 127
        if value.name in rich_ones:
            spans[value.name] = 0.0, 255.0
        elif value in outputs:
            scales[value.name] = STEP
    for port in graph.inputs:
        scales[port.name] = 1.0
    made = compile_graph(graph, scales, options, None, None, spans)
    assert not check(Loadable.parse(made.loadable), hardware(config))
    return made


def exact(b: Builder, out: g.Value, config: str, chosen: list[g.Value]) -> None:
    """The output is the naive one, rounded once to its step; without zero points it is not."""
    graph = b.graph(out)
    inputs = [b.rng.integers(-127, 128, value.shape).astype(np.float32) for value in b.inputs]
    expected = evaluate(graph, inputs)[out]
    expected = np.clip(np.rint(expected / STEP), -128, 127) * STEP
    names = {value.name for value in chosen}
    made = compiled(graph, names, config, Options(config=config))
    assert names <= made.report["zero_points"].keys()
    np.testing.assert_array_equal(run(made, config, inputs)[0], expected)
    without = compiled(graph, names, config, Options(config=config, zero_points=False))
    assert not without.report["zero_points"]
    assert not np.array_equal(run(without, config, inputs)[0], expected)


def _convolution(b: Builder, a: g.Value, x: g.Value) -> g.Value:
    return whole(b, a, 9, 3)


def _depthwise(b: Builder, a: g.Value, x: g.Value) -> g.Value:
    weights = np.where(b.rng.random((a.shape[1], 1, 3, 3)) < 0.2, 1, 0).astype(np.float32)
    bias = np.ones(a.shape[1], np.float32)
    return b.add(
        g.Conv, [a], a.shape, weights=weights, bias=bias, pads=(1, 1, 1, 1), groups=a.shape[1]
    )


def _maximum(b: Builder, a: g.Value, x: g.Value) -> g.Value:
    return whole(b, b.pool(a, "max", 3, 2, 1), 9, 3)


def _average(b: Builder, a: g.Value, x: g.Value) -> g.Value:
    return b.pool(a, "average", 3, 1, 1)


def _residual(b: Builder, a: g.Value, x: g.Value) -> g.Value:
    return b.relu(b.binary("add", whole(b, x, a.shape[1], 3), held(b, a)))


def _sum(b: Builder, a: g.Value, x: g.Value) -> g.Value:
    return b.binary("add", held(b, a), b.relu(whole(b, x, a.shape[1])))


def _factor(b: Builder, a: g.Value, x: g.Value) -> g.Value:
    factors = b.rng.integers(-2, 3, (1, a.shape[1], 1, 1)).astype(np.float32)
    return b.add(g.Affine, [held(b, a)], a.shape, scale=factors)


def _negative(b: Builder, a: g.Value, x: g.Value) -> g.Value:
    scale = np.full((1, 1, 1, 1), -1, np.float32)
    return b.add(g.Affine, [held(b, a)], a.shape, scale=scale)


def _slices(b: Builder, a: g.Value, x: g.Value) -> g.Value:
    parts = [b.channels(a, 5, 9), b.channels(a, 0, 8)]
    return whole(b, b.concat(*parts), 7, 3)


def _enlarged(b: Builder, a: g.Value, x: g.Value) -> g.Value:
    return whole(b, b.upsample(a), 7, 3)


def _shuffled(b: Builder, a: g.Value, x: g.Value) -> g.Value:
    return _depthwise(b, b.shuffle(held(b, a), 2), x)


def _flat(b: Builder, a: g.Value, x: g.Value) -> g.Value:
    return whole(b, b.reshape(a, 1, a.shape[1] * a.shape[2] * a.shape[3], 1, 1), 12)


def _padded(b: Builder, a: g.Value, x: g.Value) -> g.Value:
    n, c, h, w = a.shape
    wide = b.add(g.Pad, [a], (n, c, h + 3, w + 1), pads=(1, 2, 0, 1))
    return whole(b, wide, 7, 3, (0, 0, 0, 0))


READERS = [
    _convolution, _depthwise, _maximum, _average, _residual, _sum, _factor, _negative, _slices,
    _enlarged, _shuffled, _flat, _padded,
]  # fmt: skip


@pytest.mark.parametrize("config", ["nv_small", "nv_full"])
@pytest.mark.parametrize("reader", READERS, ids=lambda item: item.__name__[1:])
def test_readers_make_up_for_it(reader: Callable[..., g.Value], config: str) -> None:
    b = Builder(3)
    x = b.input(1, 6, 7, 9)
    a = rich(b, x)
    exact(b, reader(b, a, x), config, [a])


def test_operands_of_y_have_converters_of_their_own() -> None:
    b = Builder(4)
    x = b.input(1, 6, 5, 5)
    one, two = held(b, rich(b, x)), held(b, rich(b, x))
    last = b.binary("add", b.relu(b.binary("add", whole(b, x, 24), one)), two)
    exact(b, last, "nv_full", [one, two])


@given(
    channels=st.integers(2, 40),
    size=st.tuples(st.integers(3, 9), st.integers(3, 9)),
    kernel=st.integers(1, 3),
    pads=st.tuples(*[st.integers(0, 2)] * 4),
    stride=st.tuples(st.integers(1, 2), st.integers(1, 2)),
    config=st.sampled_from(["nv_small", "nv_full"]),
)
@settings(max_examples=25, deadline=None)
def test_convolutions_of_any_geometry(channels, size, kernel, pads, stride, config) -> None:
    b = Builder(5)
    x = b.input(1, 4, *size)
    a = rich(b, x, channels)
    graph = b.graph(whole(b, a, 5, kernel, pads, stride=stride))
    value = b.rng.integers(-127, 128, x.shape).astype(np.float32)
    expected = evaluate(graph, [value])[graph.outputs[0].value]
    made = compiled(graph, {a.name}, config, Options(config=config))
    assert made.report["zero_points"][a.name] == -128
    wanted = np.clip(np.rint(expected / STEP), -128, 127) * STEP
    np.testing.assert_array_equal(run(made, config, [value])[0], wanted)


@pytest.mark.parametrize("function", ["min", "max", "mul"])
def test_other_operands_stay_symmetric(function: str) -> None:
    b = Builder(6)
    x = b.input(1, 6, 4, 4)
    a = rich(b, x)
    graph = b.graph(b.binary(function, whole(b, x, 24), a))
    made = compiled(graph, {a.name}, "nv_small", Options(config="nv_small"))
    assert made.report["zero_points"] == {}


def test_what_programs_see_and_what_the_model_says_stays() -> None:
    b = Builder(7)
    x = b.input(1, 6, 4, 4)
    a, c = rich(b, x), rich(b, x)
    c.scale = 2.0
    ends = whole(b, a, 5), whole(b, c, 5)
    graph = b.graph(a, *ends)
    made = compiled(graph, {a.name, c.name}, "nv_small", Options(config="nv_small"))
    assert made.report["zero_points"] == {}


def test_a_stored_relu_is_nearer() -> None:
    """To the float one, as the annotation has its place."""
    b = Builder(8)
    a = b.relu(b.conv(b.input(1, 6, 24, 24), 32, 3))
    graph = b.graph(b.conv(a, 8, 3))
    samples = [{"input0": b.rng.normal(size=(1, 6, 24, 24)).astype(np.float32)} for _ in range(4)]
    seen = calibrate.statistics(graph, samples)
    scales = calibrate.ranges(graph, samples)
    found = {}
    for wanted in (False, True):
        options = Options(config="nv_small", zero_points=wanted)
        made = compile_graph(graph, scales, options, seen.means, None, seen.spans)
        rows = accuracy.measure(made.loadable, graph, samples).layers
        found[wanted] = next(row.sqnr for row in rows if row.name == a.name)
    assert found[True] > found[False] + 1.5


def test_without_spans_a_relu_is_known_by_itself() -> None:
    b = Builder(9)
    x = b.input(1, 6, 4, 4)
    a = rich(b, x)
    graph = b.graph(whole(b, a, 5))
    scales = {value.name: 255 / 127 for value in graph.values()}
    made = compile_graph(graph, scales, Options(config="nv_small"))
    assert made.report["zero_points"] == {a.name: -128}
    assert made.report["scales"][a.name] == pytest.approx(1.0)
