"""Networks of the builder compute what the float reference says."""

from __future__ import annotations

import json

import numpy as np
import pytest

from cudla_sim.core.memory import AddressSpace
from cudla_sim.nvdla import Engine, Loadable, LoadedNetwork, NvdlaError, layout
from cudla_sim.nvdla.build import Network
from cudla_sim.nvdla.inspect import describe, render

TARGETS = [("nv_small", "int8"), ("nv_large", "int8"), ("nv_full", "int8"), ("nv_full", "fp16")]


def infer(net: Network, data: bytes, images: np.ndarray) -> np.ndarray:
    """Run a built network on real-valued images."""
    loadable, space = Loadable.parse(data), AddressSpace()
    network = LoadedNetwork(loadable, space, net.config.name)
    engine = Engine(net.config.name)
    source = space.allocate(loadable.inputs[0].size, name="input")
    target = space.allocate(loadable.outputs[0].size, name="output")
    results = []
    for image in net.quantize_input(images):
        source.data[:] = layout.pack_tensor(loadable.inputs[0], image[None])
        engine.run(network, [source.base], [target.base])
        results.append(layout.unpack_tensor(loadable.outputs[0], target.data)[0])
    return net.dequantize_output(np.array(results))


def check(net: Network, images: np.ndarray, steps: float = 3.0) -> None:
    """Compare with the reference: within some int8 steps, or 1 % in fp16."""
    data = net.build(calibration=images)
    reference = net.reference(images)
    tolerance = steps * net.output.scale if net.output.scale else 0.01 * np.abs(reference).max()
    np.testing.assert_allclose(infer(net, data, images), reference, atol=tolerance)


@pytest.fixture
def rng() -> np.random.Generator:
    return np.random.default_rng(5)


def weights(rng: np.random.Generator, *shape: int) -> np.ndarray:
    return rng.normal(size=shape) * np.sqrt(2 / np.prod(shape[1:]))


@pytest.mark.parametrize(("config", "precision"), TARGETS)
@pytest.mark.parametrize(
    "layer",
    ["conv", "strided", "dilated", "max_pool", "avg_pool", "padded_avg", "scale", "relu", "fc"],
)
def test_single_layers(rng, config: str, precision: str, layer: str) -> None:
    net = Network(("data", (1, 3, 12, 10)), precision, config)
    if layer == "conv":
        net.conv2d(weights(rng, 20, 3, 3, 3), rng.normal(size=20), padding=1, relu=True)
    elif layer == "strided":
        net.conv2d(weights(rng, 9, 3, 3, 5), stride=(2, 1), padding=(1, 0, 2, 2))
    elif layer == "dilated":
        net.conv2d(weights(rng, 9, 3, 3, 3), dilation=2)
    elif layer == "max_pool":
        net.max_pool(3, 2, 1)
    elif layer == "avg_pool":
        net.avg_pool(2)
    elif layer == "padded_avg":
        net.avg_pool((3, 2), 2, (1, 1, 0, 0))
    elif layer == "scale":
        net.scale([0.5, -2.0, 1.5], [0.1, 0.2, -0.3])
    elif layer == "relu":
        net.relu()
    else:
        net.fully_connected(weights(rng, 11, 360), rng.normal(size=11))
    check(net, rng.normal(size=(3, 3, 12, 10)).astype(np.float32))


@pytest.mark.parametrize(("config", "precision"), TARGETS)
def test_residual_network(rng, config: str, precision: str) -> None:
    net = Network(("data", (1, 3, 8, 8)), precision, config)
    trunk = net.conv2d(weights(rng, 40, 3, 3, 3), padding=1, relu=True)
    branch = net.conv2d(weights(rng, 40, 40, 3, 3), padding=1)
    net.add(trunk, branch)
    net.relu()
    net.avg_pool(8)
    net.fully_connected(weights(rng, 10, 40))
    net.softmax()
    check(net, rng.normal(size=(3, 3, 8, 8)).astype(np.float32), 8)


def test_int8_needs_calibration(rng) -> None:
    net = Network(("data", (1, 1, 4, 4)))
    net.max_pool(2)
    with pytest.raises(NvdlaError, match="calibration"):
        net.build()


@pytest.mark.parametrize(
    "wrong",
    [
        lambda net: net.conv2d(np.zeros((2, 5, 3, 3))),
        lambda net: net.fully_connected(np.zeros((2, 7))),
        lambda net: net.conv2d(np.zeros((2, 3, 9, 9))),
        lambda net: net.softmax(),
        lambda net: net.add(net.input, net.max_pool(2)),
    ],
)
def test_shapes_are_checked(wrong) -> None:
    with pytest.raises(NvdlaError):
        wrong(Network(("data", (1, 3, 6, 6))))


def test_pooling_limits_are_explained(rng) -> None:
    net = Network(("data", (1, 3, 14, 14)), "fp16")
    net.avg_pool(14)
    with pytest.raises(NvdlaError, match="pooling kernel"):
        net.build()


def test_small_hardware_has_no_fp16() -> None:
    with pytest.raises(NvdlaError, match="nv_small cannot run fp16"):
        Network(("data", (1, 1, 4, 4)), "fp16", "nv_small")


def test_description_is_json_and_text(small_loadable: bytes) -> None:
    found = describe(Loadable.parse(small_loadable))
    assert json.loads(json.dumps(found)) == found
    assert found["target"]["possible"] == ["nv_small"]
    assert found["inputs"][0]["shape"] == [1, 3, 8, 8]
    assert [layer["unit"] for layer in found["layers"]] == [
        "CONV",
        "SDP",
        "PDP",
        "CONV",
        "SDP",
        "EMU",
    ]
    text = render(found)
    assert "compiled for nv_small" in text
    assert "max 2x2 stride 2,2" in text
    assert "softmax of 5 channels" in text
