"""Rarer layouts: packed and two-plane images, compressed and Winograd weights, pictures."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cudla_sim.core.memory import AddressSpace
from cudla_sim.nvdla import NvdlaError, layout
from cudla_sim.nvdla.facts.configs import config
from cudla_sim.nvdla.facts.maps.enums import ENUMS
from cudla_sim.nvdla.hw.memory import DTYPES, Memory
from cudla_sim.nvdla.hw.units.conv import pixels
from cudla_sim.nvdla.hw.units.conv.fetch import Cdma
from cudla_sim.nvdla.hw.units.conv.reference import winograd
from cudla_sim.nvdla.hw.units.conv.weights import WeightShape, fetch_weights
from cudla_sim.nvdla.loadable import TensorDesc

FORMATS = ENUMS["pixel_format"]
FULL = config("nv_full")
COMMON = settings(max_examples=30, deadline=None)
BASE = 0x1_0000_0000


def registers(**values: int) -> Cdma:
    """CDMA settings, all others 0."""
    names = [item.name for item in dataclasses.fields(Cdma)]
    return Cdma(**(dict.fromkeys(names, 0) | values))


def memory_of(*parts: np.ndarray) -> Memory:
    """Parts one after the other, 4096 bytes apart."""
    data = np.zeros(4096 * len(parts), np.uint8)
    for number, part in enumerate(parts):
        data[4096 * number : 4096 * number + len(part)] = part
    space = AddressSpace()
    space.map(BASE, len(data), name="test", data=data)
    return Memory(space)


@pytest.mark.parametrize("name", sorted(pixels.TEN_BIT))
def test_ten_bit_images(name: str) -> None:
    array = np.random.default_rng(0).integers(0, 1024, (1, 4, 3, 5))
    array[:, 3] &= 3
    packed = layout.pack_ten_bit(array, FORMATS["T_" + name], 32)
    p = registers(
        pixel_format=FORMATS["T_" + name], width=5, height=3, channels=4, data_address=BASE,
        line_stride=32, convert=1,
    )  # fmt: skip
    found, _ = pixels.unpack(p, memory_of(packed))
    np.testing.assert_array_equal(found[:, :, :3] >> 6, array[0, :3].transpose(1, 2, 0))
    np.testing.assert_array_equal(found[:, :, 3] >> 14, array[0, 3])


@pytest.mark.parametrize("name", [name for name in pixels.NAMES.values() if "___" in name])
def test_two_plane_images(name: str) -> None:
    array = np.random.default_rng(0).integers(0, 256, (1, 3, 3, 5))
    luma, chroma = layout.pack_two_planes(array, FORMATS["T_" + name], 32, 64)
    p = registers(
        pixel_format=FORMATS["T_" + name], width=5, height=3, channels=3, data_address=BASE,
        uv_address=BASE + 4096, line_stride=32, uv_line_stride=64, convert=1,
    )  # fmt: skip
    found, _ = pixels.unpack(p, memory_of(luma, chroma))
    np.testing.assert_array_equal(found, array[0].transpose(1, 2, 0))


@COMMON
@given(st.integers(1, 40), st.integers(1, 9), st.sampled_from([0, 1, 2]), st.integers(0, 2**32))
def test_compression_is_undone(kernels, channels, precision, seed) -> None:
    rng = np.random.default_rng(seed)
    shape = (kernels, channels, 2, 1)
    weights = rng.integers(-100, 100, shape) * (rng.random(shape) < rng.random())
    packed = layout.pack_weights(weights, FULL, precision)
    small, mask, groups = layout.compress_weights(packed, shape, FULL, precision)
    assert int(groups.view("<u4").sum()) == np.count_nonzero(weights) * DTYPES[precision].itemsize
    p = registers(
        compressed=1, weight_address=BASE, weight_bytes=len(small), mask_address=BASE + 4096,
        mask_bytes=len(mask),
    )  # fmt: skip
    wanted = WeightShape(kernels, 2, 1, channels, precision)
    dense = fetch_weights(p, wanted, FULL, memory_of(small, mask))
    np.testing.assert_array_equal(dense, packed[: wanted.size])


@COMMON
@given(st.integers(1, 40), st.integers(1, 4), st.sampled_from([0, 1]), st.integers(0, 2**32))
def test_winograd_weights(kernels, blocks, precision, seed) -> None:
    weights = np.random.default_rng(seed).integers(-128, 128, (kernels, 4 * blocks, 4, 4))
    packed = layout.pack_winograd_weights(weights, FULL, precision)
    shape = WeightShape(kernels, 4, 4, 4 * blocks, precision)
    found = winograd.unpack(packed[: shape.size], shape, FULL).values
    wanted = weights.reshape(kernels, 4 * blocks, 16).transpose(2, 1, 0)
    np.testing.assert_array_equal(found, wanted)


def test_shapes_are_checked() -> None:
    with pytest.raises(NvdlaError):
        layout.pack_ten_bit(np.zeros((1, 3, 2, 2)), FORMATS["T_A2B10G10R10"])
    with pytest.raises(NvdlaError):
        layout.pack_two_planes(np.zeros((1, 3, 2, 2)), FORMATS["T_R8"])
    with pytest.raises(NvdlaError):
        layout.pack_winograd_weights(np.zeros((1, 3, 4, 4)), FULL, 0)


def test_picture_marks_the_element() -> None:
    tensor = TensorDesc(
        name="data", id=0, mem_id=0, size=2048, offset=0, data_format=3, data_type=4,
        data_category=2, pixel_format=layout.FEATURE_X8, pixel_mapping=0, n=1, c=11, h=8, w=8,
        strides=(1, 64, 512, 0, 0, 0, 0, 0),
    )  # fmt: skip
    text = layout.picture(tensor, c=9, h=2, w=3)
    offset = layout.element_offset(tensor, 0, 9, 2, 3)
    assert f"is at byte {offset} = 0 * 2048 (image) + 1 * 512 (surface) + 2 * 64 (line)" in text
    assert "c8 [c9] c10 -- -- -- -- --" in text
