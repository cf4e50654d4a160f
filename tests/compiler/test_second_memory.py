"""Activations in the second memory: the same results, on the bytes that there are."""

from __future__ import annotations

from dataclasses import fields

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from cudla_sim.compiler import front
from cudla_sim.compiler.backend import compile_graph
from cudla_sim.compiler.errors import CompileError, Refused
from cudla_sim.compiler.options import Options
from cudla_sim.nvdla.build import Network
from cudla_sim.nvdla.check import check
from cudla_sim.nvdla.descriptors import DataCube, MemoryType, OpType
from cudla_sim.nvdla.errors import NvdlaError
from cudla_sim.nvdla.loadable import Loadable, MemoryDomain
from cudla_sim.nvdla.real_numbers import RealNetwork
from cudla_sim.nvdla.target import layers
from cudla_sim.nvdla.timing import runs
from cudla_sim.nvdla.timing.parameters import Surroundings
from tests.compiler.random_networks import network


def cubes(loadable: Loadable) -> list[DataCube]:
    """All cubes of operations that lie in the second memory."""
    parts = [getattr(i.surface, f.name) for i in layers(loadable) for f in fields(i.surface)]
    return [part for part in parts if isinstance(part, DataCube) and part.type == MemoryType.CV]


def second(loadable: Loadable) -> list[int]:
    """Sizes of the memories in SRAM."""
    return [item.size for item in loadable.memories if item.domain == MemoryDomain.SRAM]


@pytest.mark.slow
@settings(max_examples=25, deadline=None)
@given(
    st.integers(0, 2**31),
    st.integers(2, 10),
    st.sampled_from([256, 1024, 4096, 1 << 20]),
    st.sampled_from([("nv_full", "fp16"), ("nv_full", "int8"), ("nv_large", "int8")]),
)
def test_random_networks_compute_the_same(
    seed: int, length: int, size: int, machine: tuple[str, str]
) -> None:
    config, precision = machine
    options = Options(config=config, precision=precision)
    try:
        graph = front.load(network(seed, length))
        scales = {} if precision == "fp16" else {v.name: 0.05 for v in graph.values()}
        plain = compile_graph(graph, scales, options).loadable
    except Refused:
        assume(False)
        return
    other = Options(config=config, precision=precision, cvsram=size)
    placed = compile_graph(graph, scales, other).loadable
    assert not check(Loadable.parse(placed), config)
    assert sum(second(Loadable.parse(placed))) <= size
    x = np.random.default_rng(seed).normal(size=graph.inputs[0].shape).astype(np.float32)
    with RealNetwork(plain) as one, RealNetwork(placed) as two:
        expected, found = one.run({"x": x}), two.run({"x": x})
    for name, array in expected.items():
        np.testing.assert_array_equal(found[name], array)


def chain(size: int, config: str = "nv_large", **options: int) -> bytes:
    """Three convolutions: two tensors between them, of 64 x 16 x 16 bytes each."""
    random = np.random.default_rng(1)
    net = Network(input=("x", (1, 32, 16, 16)), precision="int8", config=config)
    for channels in (32, 64, 64):
        net.conv2d(random.normal(size=(64, channels, 3, 3)), padding=1, relu=True)
    return net.build(calibration=random.normal(size=(1, 32, 16, 16)), cvsram=size, **options)


def test_what_fits_goes_there() -> None:
    tensor = 64 * 16 * 16
    for size, expected in ((0, []), (tensor - 1, []), (tensor, [tensor]), (1 << 20, [2 * tensor])):
        loadable = Loadable.parse(chain(size))
        assert second(loadable) == expected
        assert len(cubes(loadable)) == 2 * sum(expected) // tensor  # each written, and read


def test_a_shortcut_that_waits_long_goes_last() -> None:
    random = np.random.default_rng(2)
    net = Network(input=("x", (1, 32, 8, 8)), precision="int8", config="nv_full")
    start = net.conv2d(random.normal(size=(32, 32, 3, 3)), padding=1)
    for _ in range(3):
        net.conv2d(random.normal(size=(32, 32, 3, 3)), padding=1)
    net.add(net.output, start)
    net.conv2d(random.normal(size=(32, 32, 1, 1)))
    tensor, images = 32 * 8 * 8, random.normal(size=(1, 32, 8, 8))
    written = {}
    for count in (2, 3):
        loadable = Loadable.parse(net.build(calibration=images, cvsram=count * tensor))
        assert second(loadable) == [count * tensor]
        ends = [item.surface.dst.type for item in layers(loadable) if item.op_type == OpType.SDP]
        written[count] = ends[0]
    assert written == {2: MemoryType.MC, 3: MemoryType.CV}


@pytest.mark.parametrize("config", ["nv_full", "nv_large"])
def test_it_spares_the_first_memory_time(config: str) -> None:
    slow = Surroundings(latency=100, bytes_per_cycle=4, sram_latency=20)
    cycles = [
        runs.loadable(Loadable.parse(chain(size, config)), "", config, slow).cycles
        for size in (0, 1 << 20)
    ]
    assert cycles[1] < 0.8 * cycles[0]


def test_a_configuration_without_one_is_an_error() -> None:
    with pytest.raises(
        NvdlaError, match=r"nv_small has no second memory \(cvsram\); nv_full, .* have"
    ):
        chain(4096, "nv_small")
    graph = front.load(network(1, 3))
    with pytest.raises(CompileError, match="in bytes, 0 or more"):
        compile_graph(graph, {}, Options(precision="fp16", cvsram=-1))
