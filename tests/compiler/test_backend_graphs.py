"""Graphs of several nodes: fusion, joined cubes, views, several inputs and outputs."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from cudla_sim.compiler import graph as g
from cudla_sim.compiler.backend import compile_graph
from cudla_sim.compiler.errors import Refused
from cudla_sim.compiler.options import Options

from .blocks import Builder
from .running import compare, ranges

TARGETS = [
    ("nv_small", "int8"),
    ("nv_large", "int8"),
    ("nv_full", "int8"),
    ("nv_full", "int16"),
    ("nv_full", "fp16"),
]


def residual(b: Builder) -> list[g.Value]:
    x = b.input(1, 8, 9, 9)
    y = b.relu(b.conv(x, 24, 3))
    z = b.conv(b.relu(b.conv(y, 24, 3)), 24, 3)
    out = b.relu(b.binary("add", z, y))
    short = b.conv(out, 40, 1, 2)
    long = b.conv(b.relu(b.conv(out, 40, 3, 2)), 40, 3)
    return [b.relu(b.binary("add", long, short))]


def fire(b: Builder) -> list[g.Value]:
    x = b.relu(b.conv(b.input(1, 3, 13, 13), 10, 3, 2))
    left, right = b.relu(b.conv(x, 13)), b.relu(b.conv(x, 33, 3))
    joined = b.concat(left, right)
    again = b.concat(joined, b.relu(b.conv(joined, 5, 3)))
    return [b.conv(b.pool(again, "max", 3, 2), 11), joined]


def shuffled(b: Builder) -> list[g.Value]:
    x = b.relu(b.conv(b.input(1, 3, 8, 8), 22, 3))
    left, right = b.channels(x, 0, 11), b.channels(x, 11, 11)
    right = b.relu(b.conv(b.conv(b.relu(b.conv(right, 11)), 11, 3, groups=11), 11))
    y = b.shuffle(b.concat(left, right), 2)
    left, right = b.channels(y, 0, 11), b.channels(y, 11, 11)
    return [b.shuffle(b.concat(left, b.relu(b.conv(right, 11))), 2), y]


def excited(b: Builder) -> list[g.Value]:
    x = b.relu(b.conv(b.input(1, 3, 8, 8), 20, 3))
    return [b.conv(b.excite(x, "HardSigmoid"), 7)]


def classifier(b: Builder) -> list[g.Value]:
    x = b.pool(b.relu(b.conv(b.input(1, 3, 8, 8), 11, 3)), "max", 2, 2)
    y = b.relu(b.conv(b.reshape(x, 1, 11 * 16, 1, 1), 30))
    return [b.conv(y, 10)]


def generator(b: Builder) -> list[g.Value]:
    x = b.relu(b.reshape(b.conv(b.input(1, 16, 1, 1), 12 * 20), 1, 12, 4, 5))
    return [b.conv(b.upsample(x), 3, 3)]


def heads(b: Builder) -> list[g.Value]:
    x, y = b.input(1, 4, 6, 6), b.input(1, 4, 6, 6)
    z = b.leaky(b.conv(b.concat(x, y), 19, 3))
    return [b.conv(z, 3), b.prelu(b.conv(z, 35, 3, 2)), z]


def normalised(b: Builder) -> list[g.Value]:
    x = b.conv(b.input(1, 3, 9, 9), 12, 3)
    y = b.conv(b.relu(b.affine(x)), 12, 3)
    return [b.concat(b.binary("add", x, y), b.relu(b.affine(y)))]


def averaged(b: Builder) -> list[g.Value]:
    x = b.relu(b.conv(b.input(1, 3, 12, 12), 20, 3), 1.0)
    y = b.concat(b.pool(x, "average", 3, 1, 1), b.pool(x, "max", 3, 1, 1), x)
    return [b.conv(b.pool(y, "average", 12, 1), 10)]


def stacked(b: Builder) -> list[g.Value]:
    x = b.relu(b.conv(b.input(1, 3, 6, 6), 9, 3))
    tall = b.concat(x, b.conv(x, 9, 3), axis=2)
    return [b.concat(tall, b.relu(b.conv(tall, 9)), axis=3)]


GRAPHS: dict[str, Callable[[Builder], list[g.Value]]] = {
    item.__name__: item
    for item in (
        residual,
        fire,
        shuffled,
        excited,
        classifier,
        generator,
        heads,
        normalised,
        averaged,
        stacked,
    )
}


def tried(
    make: Callable[[Builder], list[g.Value]], config: str, precision: str, steps: float
) -> dict[str, int]:
    """The hardware's operations of the network, after it has computed the same."""
    b = Builder()
    graph = b.graph(*make(b))
    own = np.random.default_rng(7)
    data = [own.normal(size=value.shape) for value in b.inputs]
    compare(graph, data, config, precision, steps, 1e-2)
    scales = ranges(graph, [data], precision)
    found = compile_graph(graph, scales, Options(config=config, precision=precision))
    operations: dict[str, int] = found.report["operations"]
    return operations


@pytest.mark.parametrize(("config", "precision"), TARGETS)
@pytest.mark.parametrize("name", GRAPHS)
def test_graph(name: str, config: str, precision: str) -> None:
    tried(GRAPHS[name], config, precision, 9)


def silu(b: Builder) -> list[g.Value]:
    x = b.input(1, 3, 8, 8)
    y = b.curve(b.conv(x, 20, 3), "SiLU")
    z = b.binary("add", y, b.curve(b.conv(y, 20, 3), "SiLU"))
    p = b.pool(z, "max", 5, 1, 2)
    q = b.concat(z, p, b.pool(p, "max", 5, 1, 2))
    return [
        b.curve(b.conv(b.concat(b.upsample(q), b.upsample(b.channels(q, 3, 21))), 9), "Sigmoid")
    ]


@pytest.mark.parametrize(("config", "precision"), TARGETS[1:])
def test_silu_network(config: str, precision: str) -> None:
    tried(silu, config, precision, 80 if precision == "int16" else 9)


@pytest.mark.parametrize(("config", "precision"), [t for t in TARGETS if t[1] != "int16"])
@pytest.mark.parametrize("count", [1, 3])
def test_softmax_at_the_end(config: str, precision: str, count: int) -> None:
    def classes(b: Builder) -> list[g.Value]:
        x = b.relu(b.conv(b.input(count, 20, 1, 1), 45))
        y = b.conv(b.concat(b.channels(x, 3, 7), x), 37)
        return [b.add(g.Softmax, [b.channels(y, 5, 30)], (count, 30, 1, 1))]

    tried(classes, config, precision, 6)


@pytest.mark.parametrize(("config", "precision"), [t for t in TARGETS if t[1] != "int16"])
def test_softmax_at_every_pixel(config: str, precision: str) -> None:
    def classes(b: Builder) -> list[g.Value]:
        x = b.conv(b.relu(b.conv(b.input(1, 5, 6, 7), 20, 3)), 9)
        return [b.add(g.Softmax, [b.channels(x, 2, 6)], (1, 6, 6, 7))]

    tried(classes, config, precision, 6)


@pytest.mark.parametrize(("config", "precision"), [t for t in TARGETS if t[0] != "nv_small"])
@pytest.mark.parametrize("last", [True, False])
def test_softmax_of_two_channels_at_many_pixels(config: str, precision: str, last: bool) -> None:
    def face(b: Builder) -> list[g.Value]:
        x = b.conv(b.relu(b.conv(b.input(1, 5, 10, 9), 20, 3)), 2)
        y = b.add(g.Softmax, [x], (1, 2, 10, 9))
        return [y] if last else [b.conv(y, 7, 3)]

    found = tried(face, config, precision, 6)
    assert set(found) == {"CONV", "SDP"}


def test_softmax_at_more_pixels_than_the_emulator_should_do_is_refused() -> None:
    def classes(height: int) -> Callable[[Builder], list[g.Value]]:
        def network(b: Builder) -> list[g.Value]:
            return [b.add(g.Softmax, [b.conv(b.input(1, 5, height, 8), 5)], (1, 5, height, 8))]

        return network

    found = tried(classes(8), "nv_full", "fp16", 6)
    assert found == {"CONV": 1, "SDP": 1, "EMU": 64}
    with pytest.raises(Refused, match=r"emulator's softmax is of one pixel, .* up to 64 pixels"):
        tried(classes(9), "nv_full", "fp16", 6)


def test_a_curve_without_tables_is_refused_by_name() -> None:
    with pytest.raises(Refused, match=r"SiLU.*look-up table, nv_small has none"):
        tried(silu, "nv_small", "int8", 9)


@st.composite
def networks(draw: st.DrawFn) -> tuple[Builder, g.Graph]:
    """Random graphs of convolutions, joins, slices, sums and pools."""
    b = Builder(draw(st.integers(0, 10**6)))
    values = [b.input(1, draw(st.integers(1, 40)), 6, 6)]
    for _ in range(draw(st.integers(1, 7))):
        x = values[draw(st.integers(0, len(values) - 1))]
        kind = draw(
            st.sampled_from(["conv", "relu", "add", "concat", "slice", "pool", "leaky", "mul"])
        )
        if kind == "conv":
            made = b.conv(x, draw(st.integers(1, 50)), draw(st.sampled_from([1, 3])))
        elif kind == "relu":
            made = b.relu(x, draw(st.sampled_from([np.inf, 1.0])))
        elif kind == "leaky":
            made = b.leaky(x)
        elif kind == "pool":
            made = b.pool(x, draw(st.sampled_from(["max", "average"])), 3, 1, 1)
        elif kind == "slice":
            first = draw(st.integers(0, x.shape[1] - 1))
            made = b.channels(x, first, draw(st.integers(1, x.shape[1] - first)))
        elif kind == "concat":
            made = b.concat(x, values[draw(st.integers(0, len(values) - 1))])
        else:
            same = [value for value in values if value.shape == x.shape]
            made = b.binary(kind, x, same[draw(st.integers(0, len(same) - 1))])
        values.append(made)
    extra = draw(st.lists(st.sampled_from(values[1:]), max_size=2, unique=True))
    return b, b.graph(*dict.fromkeys([values[-1], *extra]))


@settings(max_examples=30, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(networks(), st.sampled_from(TARGETS))
def test_random_networks(made: tuple[Builder, g.Graph], target: tuple[str, str]) -> None:
    b, graph = made
    own = np.random.default_rng(11)
    data = [own.normal(size=value.shape) for value in b.inputs]
    compare(graph, data, *target, 25, 3e-2)
