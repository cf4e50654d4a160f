"""Convolutions in Winograd mode: near direct ones, where they are allowed and faster."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cudla_sim.nvdla.build import Network
from cudla_sim.nvdla.check import check
from cudla_sim.nvdla.descriptors import ConvOp
from cudla_sim.nvdla.errors import NvdlaError
from cudla_sim.nvdla.loadable import Loadable
from cudla_sim.nvdla.real_numbers import RealNetwork
from cudla_sim.nvdla.target import layers
from cudla_sim.nvdla.timing import runs
from cudla_sim.nvdla.timing.parameters import Surroundings

DECIBELS = {"int8": 18.0, "int16": 64.0, "fp16": 54.0}
"""Of random convolutions; direct ones reach 33, 80 and 65."""


def convolutions(loadable: bytes) -> list[ConvOp]:
    made = [item.operation for item in layers(Loadable.parse(loadable))]
    return [item for item in made if isinstance(item, ConvOp)]


def modes(loadable: bytes) -> list[int]:
    return [item.conv_mode for item in convolutions(loadable)]


def ratio(net: Network, loadable: bytes, images: np.ndarray) -> float:
    """10 log10 (signal / noise) of the output, on a loadable that hardware takes."""
    assert not check(Loadable.parse(loadable), "nv_full")
    expected = net.reference(images)
    with RealNetwork(loadable) as running:
        (found,) = running.run({net.input.name: images}).values()
    noise = float(((expected - found) ** 2).sum())
    return 10 * np.log10(float((expected**2).sum()) / max(noise, 1e-30))


def grown(
    random: np.random.Generator, precision: str, shape: tuple[int, int, int], kernels: int,
    padding: Any = 1,
) -> tuple[Network, np.ndarray]:  # fmt: skip
    """A 3 x 3 convolution and one of 1 x 1 behind it, with inputs."""
    channels = shape[0]
    net = Network(input=("x", (1, *shape)), precision=precision, config="nv_full")
    weights = random.normal(size=(kernels, channels, 3, 3)) / np.sqrt(9 * channels)
    net.conv2d(weights, random.normal(size=kernels) / 4, padding=padding, relu=True)
    net.conv2d(random.normal(size=(kernels, kernels, 1, 1)) / np.sqrt(kernels))
    return net, random.normal(size=(1, *shape)).astype(np.float32)


@pytest.mark.slow
@settings(max_examples=40, deadline=None)
@given(
    seed=st.integers(0, 1000),
    precision=st.sampled_from(["int8", "int16", "fp16"]),
    channels=st.sampled_from([16, 32, 48, 70]),
    kernels=st.sampled_from([16, 40, 64]),
    size=st.tuples(st.integers(4, 18), st.integers(4, 18)),
    pads=st.tuples(*[st.integers(0, 2)] * 4),
)
def test_results_are_near(
    seed: int, precision: str, channels: int, kernels: int, size: tuple[int, int],
    pads: tuple[int, int, int, int],
) -> None:  # fmt: skip
    random = np.random.default_rng(seed)
    net, images = grown(random, precision, (channels, *size), kernels, pads)
    plain = net.build(images)
    assert modes(plain) == [0, 0]
    found = ratio(net, net.build(images, winograd=True), images)
    assert found > DECIBELS[precision]


def test_a_filled_up_output_and_what_reads_it() -> None:
    """14 x 14 are made as 16 x 16; pooling, a sum and a convolution see the 14."""
    random = np.random.default_rng(3)
    net = Network(input=("x", (1, 64, 14, 14)), precision="int16", config="nv_full")
    weights = random.normal(size=(64, 64, 3, 3)) / 24
    first = net.conv2d(weights, padding=1, relu=True)
    second = net.conv2d(weights[::-1], padding=1)
    net.add(second, first)
    net.max_pool(2, source=net.output)
    images = random.normal(size=(1, 64, 14, 14)).astype(np.float32)
    loadable = net.build(images, winograd=True)
    assert modes(loadable) == [1, 0]  # the second takes a tensor on its way
    op = convolutions(loadable)[0]
    assert (op.input_width_csc, op.input_width_cmac, op.pad_x_right) == (20, 16, 5)
    assert ratio(net, loadable, images) > DECIBELS["int16"]


def test_what_does_not_fit_is_cut_into_lines() -> None:
    random = np.random.default_rng(4)
    net, images = grown(random, "int16", (128, 64, 60), 64)
    loadable = net.build(images, winograd=True)
    made = [item for item in convolutions(loadable) if item.conv_mode]
    assert len(made) > 1
    assert sum(item.input_height_cmac for item in made) == 64
    assert all(item.input_height_cmac % 4 == 0 for item in made)
    assert ratio(net, loadable, images) > DECIBELS["int16"]


def test_pictures_of_a_batch_are_computed_alike() -> None:
    random = np.random.default_rng(5)
    net, _ = grown(random, "int8", (64, 14, 14), 64)
    images = random.normal(size=(3, 64, 14, 14)).astype(np.float32)
    single = net.build(images, winograd=True)
    several = net.build(images, winograd=True, batch=3)
    with RealNetwork(single) as one, RealNetwork(several) as many:
        expected = np.concatenate([one.run({"x": image[None]})["conv1"] for image in images])
        np.testing.assert_array_equal(many.run({"x": images})["conv1"], expected)


@pytest.mark.parametrize(
    "change", [{"stride": 2}, {"dilation": 2, "padding": 2}, {"weights": (64, 64, 5, 5)}], ids=str
)
def test_other_convolutions_stay_direct(change: dict[str, Any]) -> None:
    random = np.random.default_rng(6)
    given = {"weights": (64, 64, 3, 3), "padding": 1, **change}
    net = Network(input=("x", (1, 64, 16, 16)), precision="int8", config="nv_full")
    net.conv2d(random.normal(size=given.pop("weights")), **given)
    assert 1 not in modes(net.build(random.normal(size=(1, 64, 16, 16)), winograd=True))


def test_an_output_of_the_network_is_not_filled_up() -> None:
    random = np.random.default_rng(7)
    for side, expected in ((14, [0]), (16, [1])):
        net = Network(input=("x", (1, 64, side, side)), precision="int8", config="nv_full")
        net.conv2d(random.normal(size=(64, 64, 3, 3)), padding=1)
        images = random.normal(size=(1, 64, side, side))
        assert modes(net.build(images, winograd=True)) == expected


def test_it_takes_less_time() -> None:
    """36 / 16 times less, as far as the multipliers decide."""
    random = np.random.default_rng(8)
    net, images = grown(random, "int8", (64, 56, 56), 64)
    cycles = [
        runs.loadable(
            Loadable.parse(net.build(images, winograd=on)), "", "nv_full", Surroundings()
        ).operations
        for on in (False, True)
    ]
    first = [item[0].end - item[0].start for item in cycles]
    assert 1.8 < first[0] / first[1] < 2.25


def test_a_configuration_without_it_is_an_error() -> None:
    net = Network(input=("x", (1, 8, 4, 4)), precision="int8", config="nv_large")
    net.conv2d(np.ones((8, 8, 3, 3)), padding=1)
    with pytest.raises(NvdlaError, match=r"nv_large has no Winograd mode \(winograd\); nv_full"):
        net.build(np.ones((1, 8, 4, 4)), winograd=True)


def test_the_checker_wants_the_sizes_that_hardware_asserts() -> None:
    random = np.random.default_rng(9)
    net, images = grown(random, "int8", (32, 16, 16), 32)
    loadable = Loadable.parse(net.build(images, winograd=True))
    operation = next(item for item in layers(loadable) if isinstance(item.operation, ConvOp))
    assert not check(loadable, "nv_full")
    from cudla_sim.nvdla.check import convolution
    from cudla_sim.nvdla.check.inspection import Inspection
    from cudla_sim.nvdla.facts.configs import config

    surface = replace(operation.surface, dst=replace(operation.surface.dst, width=18))
    look = Inspection(loadable, loadable.tasks[0], operation, config("nv_full"))
    changed = replace(operation.operation, input_width_cmac=18)
    convolution.inspect(look, changed, surface)
    assert [(item.field, item.message) for item in look.found] == [
        ("surface.dst.width", "18; Winograd makes it 16")
    ]
