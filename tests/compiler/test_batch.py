"""Several pictures a submission: what single runs compute, with and without the batch mode."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from cudla_sim.compiler import front
from cudla_sim.compiler import graph as g
from cudla_sim.compiler.backend import compile_graph
from cudla_sim.compiler.batch import batched, grouped
from cudla_sim.compiler.errors import CompileError
from cudla_sim.compiler.lower.at_once import turns
from cudla_sim.compiler.options import Options
from cudla_sim.nvdla.build import Network
from cudla_sim.nvdla.check import check
from cudla_sim.nvdla.descriptors import ConvOp, SdpOp
from cudla_sim.nvdla.facts.configs import config as hardware
from cudla_sim.nvdla.loadable import Loadable
from cudla_sim.nvdla.real_numbers import RealNetwork
from cudla_sim.nvdla.target import layers
from cudla_sim.nvdla.timing import runs
from cudla_sim.nvdla.timing.parameters import Surroundings
from tests.compiler.random_networks import network


def convolutions(loadable: bytes) -> list[tuple[int, int]]:
    """Pictures of each convolution, and of the SDP operation behind it."""
    made = [item.operation for item in layers(Loadable.parse(loadable))]
    pairs = pairwise(made)
    return [
        (one.batch, two.batch_num)
        for one, two in pairs
        if isinstance(one, ConvOp) and isinstance(two, SdpOp)
    ]


def all_equal(single: bytes, several: bytes, name: str, pictures: np.ndarray) -> None:
    """Each picture by itself gives what it gives among the others."""
    with RealNetwork(single) as one, RealNetwork(several) as many:
        expected = [one.run({name: picture[None]}) for picture in pictures]
        found = many.run({name: pictures})
    for output in found:
        whole = np.concatenate([item[output] for item in expected])
        np.testing.assert_array_equal(found[output], whole)


@pytest.mark.slow
@settings(max_examples=30, deadline=None)
@given(
    st.integers(0, 2**31),
    st.integers(1, 8),
    st.integers(2, 5),
    st.sampled_from([("nv_full", "fp16"), ("nv_full", "int8"), ("nv_small", "int8")]),
    st.booleans(),
)
def test_random_networks_compute_what_single_runs_do(
    seed: int, length: int, count: int, machine: tuple[str, str], mode: bool
) -> None:
    config, precision = machine
    options = Options(config=config, precision=precision, batch_mode=mode)
    try:
        graph = front.load(network(seed, length))
        scales = {} if precision == "fp16" else {v.name: 0.05 for v in graph.values()}
        single = compile_graph(graph, scales, options).loadable
        several = compile_graph(batched(graph, count), scales, options).loadable
    except CompileError:  # refused, or an axis that is not the pictures'
        assume(False)
        return
    assert not check(Loadable.parse(several), config)
    shape = graph.inputs[0].shape[1:]
    pictures = np.random.default_rng(seed).normal(size=(count, *shape)).astype(np.float32)
    all_equal(single, several, "x", pictures)


@pytest.mark.slow
@settings(max_examples=20, deadline=None)
@given(
    channels=st.sampled_from([8, 40, 200]),
    kernels=st.sampled_from([10, 33, 100]),
    side=st.integers(1, 4),
    size=st.integers(1, 3),
    count=st.integers(2, 40),
    precision=st.sampled_from(["int8", "int16", "fp16"]),
    relu=st.booleans(),
)
def test_convolutions_compute_what_single_runs_do(
    channels: int, kernels: int, side: int, size: int, count: int, precision: str, relu: bool
) -> None:
    random = np.random.default_rng(channels + kernels)
    net = Network(input=("x", (1, channels, side, side)), precision=precision, config="nv_full")
    weights = random.normal(size=(kernels, channels, size, size)) / 8
    net.conv2d(weights, random.normal(size=kernels), padding=size // 2, relu=relu)
    images = random.normal(size=(count, channels, side, side)).astype(np.float32)
    single, several = net.build(images), net.build(images, batch=count)
    assert not check(Loadable.parse(several), "nv_full")
    all_equal(single, several, "x", images)


def dense(count: int, config: str = "nv_full", **options: bool) -> bytes:
    """Two fully connected layers."""
    random = np.random.default_rng(0)
    net = Network(input=("x", (1, 256, 1, 1)), precision="int8", config=config)
    net.fully_connected(random.normal(size=(512, 256)), relu=True)
    net.fully_connected(random.normal(size=(64, 512)))
    return net.build(random.normal(size=(4, 256, 1, 1)), batch=count, **options)


def test_fully_connected_layers_take_all_pictures_at_once() -> None:
    assert convolutions(dense(1)) == [(1, 1)] * 2
    assert convolutions(dense(16)) == [(16, 16)] * 2
    assert convolutions(dense(16, batch_mode=False)) == [(1, 1)] * 32
    assert convolutions(dense(16, "nv_large")) == [(1, 1)] * 32
    sizes = [count for count, _ in convolutions(dense(40))]
    assert sum(sizes) == 80
    assert max(sizes) <= 32  # five bits hold the number


def test_they_take_the_time_of_one() -> None:
    found = {
        count: runs.loadable(Loadable.parse(dense(count)), "", "nv_full", Surroundings())
        for count in (1, 16)
    }
    assert found[16].cycles < 1.5 * found[1].cycles
    assert found[16].macs == 16 * found[1].macs
    read = [found[count].bytes_read for count in (1, 16)]
    assert read[1] - read[0] == 15 * (256 + 512)  # the pictures' data; weights come once


def test_large_outputs_and_residuals_are_computed_one_by_one() -> None:
    random = np.random.default_rng(0)
    net = Network(input=("x", (1, 32, 32, 32)), precision="int8", config="nv_full")
    first = net.conv2d(random.normal(size=(32, 32, 3, 3)), padding=1)
    net.add(net.conv2d(random.normal(size=(32, 32, 1, 1))), first)
    loadable = net.build(random.normal(size=(2, 32, 32, 32)), batch=2)
    assert convolutions(loadable) == [(1, 1)] * 4


def test_turns_take_the_least_time() -> None:
    machine = hardware("nv_full")
    assert turns(machine, 10, lambda n: n <= 4, lambda n: 5 + n) == [4, 4, 2]
    assert turns(machine, 10, lambda n: n <= 4, lambda n: n * n) == [1] * 10
    assert turns(machine, 40, lambda n: True, lambda n: 1) == [20, 20]
    assert turns(hardware("nv_large"), 3, lambda n: True, lambda n: 1) == [1, 1, 1]


def test_tensors_have_the_pictures_of_the_batch() -> None:
    loadable = Loadable.parse(dense(3))
    assert [(t.n, t.c) for t in (*loadable.inputs, *loadable.outputs)] == [(3, 256), (3, 64)]
    assert loadable.inputs[0].size == 3 * 256
    assert loadable.outputs[0].size == 3 * 64


def test_an_axis_that_is_not_the_pictures_is_an_error() -> None:
    x, y = g.Value("x", (1, 4, 2, 2)), g.Value("y", (1, 4, 2, 2))
    graph = g.Graph(
        inputs=[g.Port(name="x", shape=(4, 2, 2), value=x)],
        outputs=[g.Port(name="y", shape=(1, 4, 2, 2), value=y)],
        nodes=[g.Clip(name="relu", inputs=[x], output=y, low=0.0)],
    )
    with pytest.raises(CompileError, match=r"first axis of 'x', \(4, 2, 2\), is not that of the 1"):
        batched(graph, 2)
    with pytest.raises(CompileError, match="batch is 0; it is a number of pictures, 1 to 1024"):
        batched(graph, 0)
    assert batched(graph, 1) is graph


def test_samples_are_grouped() -> None:
    samples = [{"x": np.full((1, 2), n)} for n in range(5)]
    found = [item["x"][:, 0].tolist() for item in grouped(samples, 2)]
    assert found == [[0, 1], [2, 3], [4, 0]]
