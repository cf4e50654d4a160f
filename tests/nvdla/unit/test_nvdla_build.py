"""Networks of the builder compute what the float reference says."""

from __future__ import annotations

import json

import numpy as np
import pytest

from cudla_sim.core.memory import AddressSpace
from cudla_sim.nvdla import Engine, Loadable, LoadedNetwork, NvdlaError, layout
from cudla_sim.nvdla.build import Image, Network
from cudla_sim.nvdla.inspect import describe, render

TARGETS = [
    ("nv_small", "int8"),
    ("nv_large", "int8"),
    ("nv_full", "int8"),
    ("nv_full", "int16"),
    ("nv_full", "fp16"),
]


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
    if net.input.scale:  # what the input cannot represent is no error of the network
        images = net.quantize_input(images) * np.float32(net.input.scale)
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
    [
        "conv",
        "strided",
        "dilated",
        "max_pool",
        "min_pool",
        "avg_pool",
        "padded_avg",
        "scale",
        "relu",
        "fc",
    ],
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
    elif layer == "min_pool":
        net.min_pool((2, 3), (1, 2), (1, 0, 1, 1))
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
    if precision != "int16":
        net.softmax()
    check(net, rng.normal(size=(3, 3, 8, 8)).astype(np.float32), 8)


@pytest.mark.parametrize(("config", "precision"), TARGETS[1:])
@pytest.mark.parametrize("layer", ["sigmoid", "tanh", "lrn", "wide lrn"])
def test_table_layers(rng, config: str, precision: str, layer: str) -> None:
    net = Network(("data", (1, 20, 5, 4)), precision, config)
    if layer == "sigmoid":
        net.sigmoid()
    elif layer == "tanh":
        net.tanh()
    elif layer == "lrn":
        net.lrn(5, alpha=0.02)
    else:
        net.lrn(9, alpha=0.5, beta=0.5, k=2.0)
    steps = 100 if precision == "int16" else 2  # the table has 16 bits, too, and interpolates
    check(net, rng.normal(size=(3, 20, 5, 4)).astype(np.float32) * 3, steps)


def test_two_tables_in_one_network(rng) -> None:
    net = Network(("data", (1, 3, 6, 6)), "fp16")
    net.conv2d(weights(rng, 12, 3, 3, 3))
    net.tanh()
    net.lrn(3, alpha=0.1)
    net.sigmoid()
    check(net, rng.normal(size=(2, 3, 6, 6)).astype(np.float32))


def test_no_tables_in_a_configuration_without_them() -> None:
    with pytest.raises(NvdlaError, match="nv_small has no look-up tables"):
        Network(("data", (1, 3, 6, 6)), "int8", "nv_small").sigmoid()


def test_int16_has_finer_steps_than_int8(rng) -> None:
    images = rng.normal(size=(2, 3, 8, 8)).astype(np.float32)
    errors = {}
    for precision in ("int8", "int16"):
        net = Network(("data", (1, 3, 8, 8)), precision)
        net.conv2d(weights(rng, 8, 3, 3, 3), rng.normal(size=8), padding=1)
        data = net.build(calibration=images)
        errors[precision] = float(np.abs(infer(net, data, images) - net.reference(images)).max())
    assert errors["int16"] < errors["int8"] / 50


@pytest.mark.parametrize("precision", ["int8", "int16", "fp16"])
@pytest.mark.parametrize(("kernel", "stride"), [((2, 2), (2, 2)), ((4, 3), (2, 1)), ((3, 6), 3)])
def test_transposed_convolution(rng, precision: str, kernel: tuple, stride: object) -> None:
    net = Network(("data", (1, 5, 4, 3)), precision)
    taps = rng.normal(size=(5, 7, *kernel))
    net.deconv2d(taps, rng.normal(size=7), stride=stride)
    images = rng.normal(size=(2, 5, 4, 3)).astype(np.float32)
    check(net, images)
    sy, sx = (stride, stride) if isinstance(stride, int) else stride
    wanted = np.zeros((2, *net.output.shape))
    for y in range(4):
        for x in range(3):
            part = np.einsum("nc,ckij->nkij", images[:, :, y, x], taps)
            wanted[:, :, y * sy : y * sy + kernel[0], x * sx : x * sx + kernel[1]] += part
    found = net.reference(images) - net.reference(0 * images)
    np.testing.assert_allclose(found, wanted, atol=1e-4)


@pytest.mark.parametrize("precision", ["int8", "int16"])
def test_transposed_convolution_with_more_channels_than_an_atom(rng, precision: str) -> None:
    """RUBIK steps over surfaces: 32 bytes of channels each."""
    net = Network(("data", (1, 5, 4, 3)), precision)
    net.deconv2d(rng.normal(size=(5, 40, 2, 2)), rng.normal(size=40))
    check(net, rng.normal(size=(2, 5, 4, 3)).astype(np.float32))


@pytest.mark.parametrize(("config", "precision"), TARGETS)
@pytest.mark.parametrize("form", ["R8", "A8B8G8R8", "R8G8B8A8"])
def test_image_input(rng, config: str, precision: str, form: str) -> None:
    channels, real = (1, 1) if form == "R8" else (4, 3)
    image = Image(form, (100, 110, 120, 0), 1 / 50)
    net = Network(("data", (1, channels, 9, 11)), precision, config, image)
    net.conv2d(weights(rng, 12, real, 3, 5), rng.normal(size=12), padding=(1, 1, 2, 1), stride=2)
    net.relu()
    net.conv2d(weights(rng, 5, 12, 1, 1))
    pixels = rng.integers(0, 256, (3, channels, 9, 11))
    data = net.build(calibration=pixels)
    reference = net.reference(pixels)
    steps = 6 * net.output.scale if net.output.scale else 0.01 * np.abs(reference).max()
    np.testing.assert_allclose(infer(net, data, pixels), reference, atol=steps)


def test_integers_need_calibration(rng) -> None:
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


@pytest.mark.parametrize("method", ["max", "min", "average"])
def test_poolings_larger_than_those_of_the_unit(rng, method: str) -> None:
    net = Network(("data", (1, 3, 14, 14)), "fp16")
    net.pool(method, 14)
    check(net, rng.normal(size=(2, 3, 14, 14)).astype(np.float32))


@pytest.mark.parametrize("padding", [(2, 0, 1, 0), (1, 0, 3, 0), (1, 1, 1, 2)])
def test_a_single_large_window_that_leaves_lines_out(rng, padding: tuple) -> None:
    net = Network(("data", (1, 3, 8, 8)))
    net.min_pool(9, 3, padding)
    assert net.output.shape == (3, 1, 1)
    check(net, rng.normal(size=(2, 3, 8, 8)).astype(np.float32))


def test_what_no_unit_does_is_refused_with_the_reason() -> None:
    net = Network(("data", (1, 3, 14, 14)), "fp16")
    net.max_pool(9, 2)
    with pytest.raises(NvdlaError, match=r"maxpool0: pooling kernel \(9, 9\) with stride"):
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


def test_fast_fp16_is_close_and_says_so(rng) -> None:
    net = Network(("data", (1, 8, 9, 9)), "fp16")
    net.conv2d(weights(rng, 16, 8, 3, 3), rng.normal(size=16))
    loadable, space = Loadable.parse(net.build()), AddressSpace()
    network = LoadedNetwork(loadable, space, "nv_full")
    source = space.allocate(loadable.inputs[0].size, name="input")
    target = space.allocate(loadable.outputs[0].size, name="output")
    image = rng.normal(size=(1, 8, 9, 9)).astype(np.float16)
    source.data[:] = layout.pack_tensor(loadable.inputs[0], image)
    results, notes = [], []
    for fp16 in ("exact", "fast"):
        report = Engine("nv_full", fp16).run(network, [source.base], [target.base])
        results.append(layout.unpack_tensor(loadable.outputs[0], target.data).astype(float))
        notes.append(report.note)
    assert notes == ["", "fp16: float32"]
    np.testing.assert_allclose(*results, rtol=2e-3, atol=2e-3)
    with pytest.raises(ValueError, match="exact or fast"):
        Engine("nv_full", "float32")


@pytest.mark.parametrize("precision", ["int8", "int16", "fp16"])
def test_compressed_weights_change_the_size_and_nothing_else(rng, precision: str) -> None:
    images = rng.normal(size=(2, 64, 7, 9)).astype(np.float32)
    dense = weights(rng, 40, 64, 3, 3)
    sparse = dense * (rng.random(dense.shape) < 0.2)
    bias = rng.normal(size=40)
    results, sizes = [], []
    for compress in (False, True):
        net = Network(("data", (1, 64, 7, 9)), precision)
        net.conv2d(sparse, bias, padding=1, compress=compress)
        data = net.build(calibration=images)
        sizes.append(len(data))
        results.append(infer(net, data, images))
    np.testing.assert_array_equal(results[1], results[0])
    assert sizes[1] < 0.7 * sizes[0]


def test_compression_needs_the_hardware(rng) -> None:
    net = Network(("data", (1, 3, 6, 6)), "int8", "nv_small")
    with pytest.raises(NvdlaError, match="no weight compression"):
        net.conv2d(weights(rng, 4, 3, 3, 3), compress=True)
