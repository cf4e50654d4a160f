"""SDP, CDP, PDP and RUBIK give the same bits at each level of instructions, and those of numpy."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from benchmarks import nvdla_stages
from cudla_sim.core.config import ISA
from cudla_sim.core.memory import AddressSpace
from cudla_sim.native import load
from cudla_sim.nvdla import Engine, Loadable, LoadedNetwork
from cudla_sim.nvdla.build import Network

pytestmark = pytest.mark.slow

CASES = [(s, p) for s in nvdla_stages.STAGES for p in s[3]]
SHAPES = ((1, 64, 9, 13), (1, 64, 5, 31))


@pytest.fixture
def machine() -> Iterator[None]:
    yield
    load().limit("machine")


def _bits(stage: Any, precision: str, shape: tuple[int, ...], arithmetic: str) -> Any:
    """What the network of a stage makes of random bytes, NaNs and infinities among them."""
    net = Network(("data", shape), precision, "nv_full")
    stage[2](net)
    return _output(net, precision, shape, arithmetic)


def _output(net: Network, precision: str, shape: tuple[int, ...], arithmetic: str) -> Any:
    random = np.random.default_rng(shape[-1])
    floating = precision == "fp16"
    image = net.build(calibration=None if floating else random.normal(size=shape))
    loadable, space = Loadable.parse(image), AddressSpace()
    network = LoadedNetwork(loadable, space, net.config)
    source = space.allocate(loadable.inputs[0].size, name="input")
    target = space.allocate(loadable.outputs[0].size, name="output")
    source.data[:] = random.integers(0, 256, source.size, np.uint8)
    Engine(net.config, arithmetic=arithmetic).run(network, [source.base], [target.base])
    return target.data.copy()


@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize(
    ("stage", "precision"), CASES, ids=[f"{s[1]} {s[0]}, {p}" for s, p in CASES]
)
@pytest.mark.usefixtures("machine")
def test_each_level_gives_the_same_bits(
    stage: Any, precision: str, shape: tuple[int, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(nvdla_stages, "SHAPE", shape)
    expected = _bits(stage, precision, shape, "numpy")
    for isa in ISA:
        load().limit(isa)
        assert np.array_equal(_bits(stage, precision, shape, "native"), expected), isa


def _behind(what: str) -> Network:
    """An fp16 convolution with 20 kernels, and what SDP does with its sums."""
    random = np.random.default_rng(7)
    net = Network(("data", SHAPES[0]), "fp16", "nv_full")
    bias = None if what == "sums" else random.normal(size=20)
    net.conv2d(random.normal(size=(20, 64, 3, 3)) / 20, bias, padding=1, relu=what == "relu")
    if what == "table":
        net.sigmoid()
    if what == "elements":
        first = net.output
        net.conv2d(random.normal(size=(20, 20, 1, 1)) / 4, relu=True)
        net.add(net.output, first)
    return net


@pytest.mark.parametrize("what", ["sums", "bias", "relu", "table", "elements"])
@pytest.mark.usefixtures("machine")
def test_each_level_gives_the_same_bits_behind_an_fp16_convolution(what: str) -> None:
    expected = _output(_behind(what), "fp16", SHAPES[0], "numpy")
    for isa in ISA:
        load().limit(isa)
        assert np.array_equal(_output(_behind(what), "fp16", SHAPES[0], "native"), expected), isa
