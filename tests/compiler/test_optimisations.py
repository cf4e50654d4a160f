"""Optimisations change when and where things are computed, never what."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cudla_sim.compiler import graph as g
from cudla_sim.compiler.backend import Compiled, compile_graph
from cudla_sim.compiler.errors import CompileError
from cudla_sim.compiler.options import (
    BLOCKS,
    CUTS,
    FLYING,
    IN_PLACE,
    OPTIMISATIONS,
    OVERLAP,
    STACKING,
    Options,
)
from cudla_sim.nvdla import Loadable, target
from cudla_sim.nvdla.descriptors import ConvOp, Event, OpType
from cudla_sim.nvdla.timing import runs
from cudla_sim.nvdla.timing.parameters import Surroundings

from .blocks import Builder
from .running import ranges, run

CHOICES = [("nv_small", "int8"), ("nv_large", "int8"), ("nv_full", "int16"), ("nv_full", "fp16")]


def compiled(graph: g.Graph, config: str, precision: str, *without: str) -> Compiled:
    """Checked by the compiler's last pass."""
    shape = graph.inputs[0].value.shape
    samples = [[np.random.default_rng(3).normal(size=shape).astype(np.float32)]]
    options = Options(config=config, precision=precision, without=without)
    return compile_graph(graph, ranges(graph, samples, precision), options)


def outputs(found: Compiled, graph: g.Graph, config: str) -> list[np.ndarray]:
    """What it computes."""
    shape = graph.inputs[0].value.shape
    return run(found, config, [np.random.default_rng(5).normal(size=shape).astype(np.float32)])


def same(graph: g.Graph, config: str, precision: str, *names: str) -> tuple[Compiled, Compiled]:
    """Compiled with and without these; both compute the same."""
    with_, without = (compiled(graph, config, precision, *left) for left in ((), names))
    for one, two in zip(
        outputs(with_, graph, config), outputs(without, graph, config), strict=True
    ):
        np.testing.assert_array_equal(one, two)
    return with_, without


def cycles(found: Compiled, config: str) -> int:
    return runs.loadable(Loadable.parse(found.loadable), "", config, Surroundings()).cycles


@st.composite
def graphs(draw: st.DrawFn, least: int = 6, most: int = 18) -> g.Graph:
    """Small networks with branches, sums, joins and pooling, of *least* ... *most* lines."""
    b = Builder(draw(st.integers(0, 99)))
    size = draw(st.integers(least, most))
    values = [b.input(1, draw(st.sampled_from([3, 8, 16, 33])), size, size)]
    for _ in range(draw(st.integers(2, 7))):
        x = values[draw(st.integers(max(len(values) - 3, 0), len(values) - 1))]
        height = x.shape[2]
        kind = draw(
            st.sampled_from(["conv", "conv", "conv", "relu", "max", "average", "add", "join"])
        )
        others = [v for v in values if v.shape[2:] == x.shape[2:] and v is not x]
        alike = [v for v in others if v.shape == x.shape]
        if kind == "conv":
            kernel = draw(st.sampled_from([1, 3])) if height >= 3 else 1
            x = b.conv(
                x, draw(st.sampled_from([4, 8, 16, 40])), kernel, draw(st.sampled_from([1, 1, 2]))
            )
            values.append(b.relu(x) if draw(st.booleans()) else x)
        elif kind == "relu":
            values.append(b.relu(x))
        elif kind in ("max", "average") and height >= 3:
            window, stride, pad = draw(
                st.sampled_from([(2, 2, 0), (3, 2, 1), (3, 1, 1), (3, 3, 0)])
            )
            values.append(b.pool(x, kind, window, stride, pad))
        elif kind == "add" and alike:
            values.append(b.binary("add", x, draw(st.sampled_from(alike))))
        elif kind == "join" and others:
            values.append(b.concat(x, draw(st.sampled_from(others))))
    if len(values) == 1:
        values.append(b.relu(values[0]))
    read = {v for node in b.nodes for v in node.inputs}
    return b.graph(*[v for v in values[1:] if v not in read])


@pytest.mark.slow
@settings(max_examples=25, deadline=None)
@given(graph=graphs(), choice=st.sampled_from(CHOICES))
def test_results_do_not_depend_on_optimisations(graph: g.Graph, choice: tuple[str, str]) -> None:
    names = [name for name in OPTIMISATIONS if (choice[1], name) != ("fp16", BLOCKS)]
    same(graph, *choice, *names)  # sums of blocks have another order


@pytest.mark.slow
@settings(max_examples=12, deadline=None)
@given(graph=graphs(), name=st.sampled_from([*OPTIMISATIONS]))
def test_nor_on_one_of_them(graph: g.Graph, name: str) -> None:
    same(graph, "nv_small", "int8", name)


def inception(b: Builder) -> g.Graph:
    x = b.relu(b.conv(b.input(1, 16, 14, 14), 32, 3))
    parts = [b.relu(b.conv(x, 16)), b.relu(b.conv(b.relu(b.conv(x, 16)), 32, 3))]
    parts.append(b.relu(b.conv(b.pool(x, "max", 3, 1, 1), 16)))
    return b.graph(b.concat(*parts))


@pytest.mark.parametrize(("config", "precision"), CHOICES)
def test_branches_overlap(config: str, precision: str) -> None:
    found, serial = same(inception(Builder()), config, precision, OVERLAP)
    assert cycles(found, config) < cycles(serial, config)


def waits(found: Compiled) -> list[tuple[int, int]]:
    """(who, on whom) of all waits for completion."""
    return [
        (consumer.index, layer.index)
        for layer in target.layers(Loadable.parse(found.loadable))
        for consumer in layer.dependency.consumers
        if consumer.index != -1 and consumer.event == Event.OP_COMPLETED
    ]


def test_a_pooling_waits_for_its_input_only() -> None:
    """The convolutions that read the same value run beside it."""
    found = compiled(inception(Builder()), "nv_small", "int8")
    layers = list(target.layers(Loadable.parse(found.loadable)))
    (pool,) = [item.index for item in layers if item.op_type == OpType.PDP]
    first = next(item.index for item in layers if item.op_type == OpType.SDP)
    assert [on for who, on in waits(found) if who == pool] == [first]


@pytest.mark.parametrize(("config", "precision"), CHOICES)
@pytest.mark.parametrize(("kernel", "stride", "height", "width"), [(7, 2, 24, 25), (5, 3, 22, 31)])
def test_pixels_of_a_step_become_channels(
    config: str, precision: str, kernel: int, stride: int, height: int, width: int
) -> None:
    b = Builder()
    graph = b.graph(b.conv(b.input(1, 3, height, width), 64, kernel, stride))
    found, plain = (compiled(graph, config, precision, *left) for left in ((), (BLOCKS,)))
    results = [outputs(each, graph, config)[0] for each in (found, plain)]
    close = 2e-3 * float(np.abs(results[1]).max()) * (precision == "fp16")  # another order of sums
    np.testing.assert_allclose(*results, rtol=0, atol=close)


@pytest.mark.parametrize("precision", ["int8", "fp16"])
def test_channels_with_weights_of_their_own_are_no_average(precision: str) -> None:
    b = Builder()
    x = b.input(1, 64, 4, 4)
    weights = b.rng.normal(size=(64, 1, 4, 4)).astype(np.float32)
    bias = np.zeros(64, np.float32)
    y = b.add(g.Conv, [x], (1, 64, 1, 1), weights=weights, bias=bias, groups=64)
    same(b.graph(y), "nv_full", precision, STACKING)


def chains_of(found: Compiled) -> list[str]:
    """The units of each operation that runs."""
    return [
        o.unit for o in runs.loadable(
            Loadable.parse(found.loadable), "", "nv_small", Surroundings()
        ).operations
    ]  # fmt: skip


def pooled(b: Builder, sums: bool, size: int, window: int, stride: int, pad: int) -> g.Graph:
    x = b.input(1, 16, size, size)
    made = b.binary("add", x, b.affine(x)) if sums else b.relu(b.conv(x, 24, 3))
    return b.graph(b.pool(made, "max", window, stride, pad))


@pytest.mark.parametrize("sums", [False, True])
@pytest.mark.parametrize(("window", "stride", "pad"), [(2, 2, 0), (3, 2, 1), (3, 1, 1), (5, 3, 2)])
def test_pooling_takes_results_on_the_fly(sums: bool, window: int, stride: int, pad: int) -> None:
    graph = pooled(Builder(), sums, 16, window, stride, pad)
    found, apart = same(graph, "nv_small", "int8", FLYING)
    assert chains_of(found)[-1] == ("SDP+PDP" if sums else "CONV+SDP+PDP")
    assert chains_of(apart)[-1] == "PDP"
    for config, precision in CHOICES[1:]:
        same(graph, config, precision, FLYING)


@pytest.mark.parametrize(("size", "flies"), [(32, True), (33, False)])
def test_not_where_the_line_buffer_is_too_narrow(size: int, flies: bool) -> None:
    """Windows of three lines that step by one are in three lines at once, of 32 columns each."""
    graph = pooled(Builder(), False, size, 3, 1, 1)
    found = compiled(graph, "nv_small", "int8")
    assert ("CONV+SDP+PDP" in chains_of(found)) == flies


def test_a_convolution_that_is_cut_computes_common_lines_twice() -> None:
    b = Builder()
    graph = b.graph(b.pool(b.conv(b.input(1, 64, 60, 60), 8, 3), "max", 3, 2, 1))
    found, _ = same(graph, "nv_small", "int8", FLYING)
    assert chains_of(found) == ["CONV+SDP+PDP"] * 2
    layers = [o.surface.dst for o in target.layers(Loadable.parse(found.loadable))]
    made = [item.height for item in layers[1::3]]
    pools = [item.height for item in layers[2::3]]
    assert sum(pools) == 30
    assert sum(made) == 60 + 1


def test_sums_lie_where_their_operand_lay() -> None:
    b = Builder()
    x = b.relu(b.conv(b.input(1, 8, 12, 12), 16, 3))
    for _ in range(2):
        x = b.relu(b.binary("add", b.conv(b.relu(b.conv(x, 16, 3)), 16, 3), x))
    graph = b.graph(b.conv(x, 8, 3))
    found, apart = same(graph, "nv_small", "int8", IN_PLACE)
    size = 16 * 12 * 12
    assert found.report["activation_bytes"] == 2 * size
    assert apart.report["activation_bytes"] == 3 * size


def test_an_operand_that_is_read_again_keeps_its_memory() -> None:
    b = Builder()
    x = b.relu(b.conv(b.input(1, 8, 12, 12), 16, 3))
    y = b.binary("add", b.conv(x, 16, 3), x)
    graph = b.graph(b.conv(y, 8), b.conv(x, 8))
    same(graph, "nv_small", "int8", IN_PLACE)


def test_a_convolution_is_cut_to_load_ahead() -> None:
    b = Builder()
    graph = b.graph(b.relu(b.conv(b.input(1, 64, 40, 40), 16, 1)))
    found, whole = same(graph, "nv_small", "int8", CUTS)
    convolutions = [
        item.operation
        for item in target.layers(Loadable.parse(found.loadable))
        if isinstance(item.operation, ConvOp)
    ]
    assert len(convolutions) > 1
    assert len({(op.data_bank, op.weight_bank) for op in convolutions}) == 1
    assert [op.weight_reuse for op in convolutions] == [0] + [1] * (len(convolutions) - 1)
    assert [op.skip_weight_rls for op in convolutions] == [1] * (len(convolutions) - 1) + [0]
    assert cycles(found, "nv_small") < cycles(whole, "nv_small")


@pytest.mark.parametrize("name", ["overlaps", ""])
def test_names_that_there_are_not(name: str) -> None:
    with pytest.raises(CompileError, match=f"{name!r} is no optimisation: overlap, "):
        compiled(inception(Builder()), "nv_small", "int8", name)


def test_an_average_over_all_pixels_is_one_operation() -> None:
    b = Builder()
    x = b.relu(b.conv(b.input(1, 8, 7, 7), 256))
    graph = b.graph(b.pool(x, "average", 7, 1))
    same(graph, "nv_small", "int8", STACKING)
    found, each = (compiled(graph, "nv_small", "int8", CUTS, *w) for w in ((), (STACKING,)))
    count = [len(list(target.layers(Loadable.parse(c.loadable)))) for c in (found, each)]
    assert count[0] == 4 < count[1]
    assert cycles(found, "nv_small") < cycles(each, "nv_small")
