"""Whatever `Network` builds passes the checker and computes what its layers say; what would not is
refused with the reason."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cudla_sim.nvdla import Loadable, NvdlaError
from cudla_sim.nvdla.build import Network
from cudla_sim.nvdla.check import check
from cudla_sim.nvdla.descriptors import OpType
from cudla_sim.nvdla.facts.configs import CONFIGS
from cudla_sim.nvdla.facts.precisions import FP16_TOP, NAMES
from cudla_sim.nvdla.target import layers
from tests.nvdla.unit.test_nvdla_build import infer

RANDOM = np.random.default_rng(8)


def convolved(config: str, channels: int, kernels: int, size: int) -> Network:
    net = Network(("data", (1, channels, size, size)), config=config)
    net.conv2d(RANDOM.normal(size=(kernels, channels, 3, 3)), padding=1)
    return net


@pytest.mark.parametrize(
    ("config", "channels", "kernels", "size"),
    [("nv_small", 64, 64, 112), ("nv_full", 256, 512, 56)],
)
def test_a_convolution_that_the_buffer_cannot_hold_is_cut(
    config: str, channels: int, kernels: int, size: int
) -> None:
    made = Loadable.parse(
        convolved(config, channels, kernels, size).build(np.ones((1, channels, size, size)))
    )
    assert sum(layer.op_type == OpType.CONV for layer in layers(made)) > 1


def test_a_pooling_that_the_line_buffer_cannot_hold_is_cut() -> None:
    net = Network(("data", (1, 8, 7, 512)))
    net.pool("max", (7, 2), (1, 1))
    made = Loadable.parse(net.build(np.ones((1, 8, 7, 512))))
    assert sum(layer.op_type == OpType.PDP for layer in layers(made)) == 32


@pytest.mark.parametrize("padding", [(2, 0), (0, 2), (0, 5, 0, 0), (0, 0, 0, 3)])
def test_a_pooling_with_windows_of_nothing_but_padding_is_refused(padding: tuple[int, ...]) -> None:
    net = Network(("data", (1, 8, 6, 6)))
    with pytest.raises(NvdlaError, match="less than the window"):
        net.max_pool(2, 1, padding)


sizes = st.sampled_from([1, 2, 3, 7, 8, 9, 16, 17, 31, 64, 100, 300])


def add_layer(net: Network, draw: st.DrawFn) -> None:
    """One layer of any size; NvdlaError for one that cannot be described."""
    channels = net.output.shape[0]
    kernel = draw(st.tuples(st.integers(1, 9), st.integers(1, 9)))
    stride = draw(st.tuples(st.integers(1, 9), st.integers(1, 9)))
    padding = draw(st.tuples(*[st.integers(0, 8)] * 4))
    match draw(st.sampled_from(["conv", "deconv", "pool", "scale", "relu", "curve", "lrn", "add"])):
        case "conv":
            kernels = draw(st.sampled_from([1, 7, 16, 33, 80]))
            weights = RANDOM.normal(size=(kernels, channels, *kernel))
            dilation = draw(st.integers(1, 3))
            net.conv2d(weights, stride=stride, padding=padding, dilation=dilation)
        case "deconv":
            kernels = draw(st.sampled_from([1, 7, 33]))
            weights = RANDOM.normal(size=(channels, kernels, *kernel))
            net.deconv2d(weights, stride=draw(st.tuples(st.integers(1, 4), st.integers(1, 4))))
        case "pool":
            method = draw(st.sampled_from(["max", "min", "average"]))
            net.pool(method, kernel, stride, padding)
        case "scale":
            net.scale(RANDOM.normal(size=channels), 0.5)
        case "relu":
            net.relu()
        case "curve":
            net.sigmoid()
        case "lrn":
            net.lrn(draw(st.sampled_from([3, 5, 7, 9])))
        case "add":
            net.add(net.output, net.output)


@settings(max_examples=50, deadline=None)
@given(data=st.data(), config=st.sampled_from(sorted(CONFIGS)))
def test_what_is_written_passes_the_checker(data: st.DataObject, config: str) -> None:
    precision = NAMES[data.draw(st.sampled_from(sorted(CONFIGS[config].precisions)))]
    shape = 1, data.draw(sizes), data.draw(sizes), data.draw(sizes)
    if np.prod(shape) > 1 << 17:
        shape = 1, shape[1], 8, min(shape[3], 100)
    net = Network(("data", shape), precision, config)
    made, reason = b"", ""
    try:
        for _ in range(data.draw(st.integers(1, 3))):
            add_layer(net, data.draw)
        made = net.build(RANDOM.normal(size=shape))
    except NvdlaError as error:
        reason = str(error)
    assert "would not take this network" not in reason, "it is said before the checker finds it"
    assert reason or check(Loadable.parse(made), config) == []


@pytest.mark.slow
@settings(max_examples=60, deadline=None)
@given(data=st.data(), config=st.sampled_from(sorted(CONFIGS)))
def test_what_is_written_computes_what_the_layers_say(data: st.DataObject, config: str) -> None:
    precision = NAMES[data.draw(st.sampled_from(sorted(CONFIGS[config].precisions)))]
    sides = st.sampled_from([1, 3, 8, 12])
    shape = 1, data.draw(sizes.filter(lambda size: size < 64)), data.draw(sides), data.draw(sides)
    net = Network(("data", shape), precision, config)
    samples = RANDOM.normal(size=(2, *shape[1:])).astype(np.float32)
    try:
        for _ in range(data.draw(st.integers(1, 3))):
            add_layer(net, data.draw)
        made = net.build(samples)
    except NvdlaError:
        return
    expected = net.reference(samples)
    top = np.abs(expected).max()
    if top < FP16_TOP / 2:
        found = infer(net, made, samples)
        np.testing.assert_allclose(found, expected, atol=max(0.12 * top, 0.02))


@settings(max_examples=12, deadline=None)
@given(
    config=st.sampled_from(sorted(CONFIGS)),
    channels=st.sampled_from([8, 64, 128]),
    kernels=st.sampled_from([8, 64, 300]),
    size=st.sampled_from([4, 28, 56, 112]),
)
def test_convolutions_are_built_whatever_they_take(
    config: str, channels: int, kernels: int, size: int
) -> None:
    net = convolved(config, channels, kernels, size)
    made = net.build(np.ones((1, channels, size, size)), checked=False)
    assert check(Loadable.parse(made), config) == []
