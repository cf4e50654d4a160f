"""Packing and unpacking are inverse, and elements lie where the formulas put them."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cudla_sim.nvdla import layout
from cudla_sim.nvdla.facts.configs import config
from cudla_sim.nvdla.facts.maps.enums import ENUMS
from cudla_sim.nvdla.loadable import TensorDesc

COMMON = settings(max_examples=60, deadline=None)
sizes = st.integers(1, 5)
shapes = st.tuples(st.integers(1, 2), st.integers(1, 40), sizes, sizes)
dtypes = st.sampled_from([np.int8, np.int16, np.float16])


def numbers(shape: tuple[int, ...], dtype: type) -> np.ndarray:
    return (np.arange(np.prod(shape)) % 120 - 60).reshape(shape).astype(dtype)


@COMMON
@given(shapes, dtypes, st.sampled_from([8, 16, 32]), st.integers(0, 2), st.integers(0, 3))
def test_feature(shape, dtype, atom, more_line, more_surface) -> None:
    array = numbers(shape, dtype)
    _, channels, height, width = shape
    line = (width + more_line) * atom
    surface = line * height + more_surface * atom
    surfaces = -(-channels * array.itemsize // atom)
    strides = (line, surface, surfaces * surface)
    packed = layout.pack_feature(array, atom, strides)
    result = layout.unpack_feature(packed, shape, array.dtype, atom, strides)
    np.testing.assert_array_equal(result, array)
    per_atom = atom // array.itemsize
    for n, c, h, w in ((0, 0, 0, 0), tuple(size - 1 for size in shape)):
        where = n * strides[2] + c // per_atom * surface + h * line + w * atom
        where += c % per_atom * array.itemsize
        assert packed[where : where + array.itemsize].view(dtype)[0] == array[n, c, h, w]


@COMMON
@given(shapes, dtypes, st.integers(0, 9))
def test_planar(shape, dtype, more) -> None:
    array = numbers(shape, dtype)
    line = (shape[3] + more) * array.itemsize
    packed = layout.pack_planar(array, line)
    result = layout.unpack_planar(packed, shape, array.dtype, line)
    np.testing.assert_array_equal(result, array)


@COMMON
@given(sizes, sizes, st.sampled_from([12, 13, 14, 15, 16, 6, 9, 10]), st.integers(1, 4))
def test_image(height, width, pixel_format, channels) -> None:
    dtype = np.int16 if pixel_format in (6, 9, 10) else np.int8
    array = numbers((1, channels, height, width), dtype)
    packed = layout.pack_image(array, pixel_format)
    result = layout.unpack_image(packed, array.shape, array.dtype, pixel_format)
    np.testing.assert_array_equal(result, array)
    name = {value: key for key, value in ENUMS["pixel_format"].items()}[pixel_format][2:].replace(
        "X", "A"
    )
    letters = [letter for letter in reversed(name) if letter.isalpha()]  # from the lowest address
    order = "YUVA" if "Y" in name else "RGBA"
    pixel = packed[: 4 * array.itemsize].view(dtype)
    for channel in range(channels):
        assert pixel[letters.index(order[channel])] == array[0, channel, 0, 0]


@COMMON
@given(
    st.integers(1, 40), st.integers(1, 70), sizes, sizes, st.sampled_from(["nv_small", "nv_full"])
)
def test_weights(kernels, channels, rows, columns, name) -> None:
    hardware = config(name)
    for precision in sorted(hardware.precisions):
        array = numbers((kernels, channels, rows, columns), layout.DTYPES[precision].type)
        packed = layout.pack_weights(array, hardware, precision)
        size, entry = array.nbytes, {"nv_small": 8, "nv_full": 128}[name]
        assert len(packed) == (size + entry - 1) // entry * entry
        result = layout.unpack_weights(packed, array.shape, hardware, precision)
        np.testing.assert_array_equal(result, array)


def test_weight_position_of_the_manual() -> None:
    array = np.zeros((10, 10, 1, 2), np.int8)
    array[9, 9, 0, 1] = 77
    packed = layout.pack_weights(array, config("nv_small"), 0)
    assert packed.tolist().index(77) == 199


@COMMON
@given(shapes, st.sampled_from([36, 37]))
def test_element_offset_agrees_with_packing(shape, pixel_format) -> None:
    atom = 32 if pixel_format == 36 else 8
    line, surface, batch = layout.feature_strides(shape, 1, atom)
    tensor = TensorDesc(
        "t", 0, 0, batch * shape[0], 0, 3, 4, 2, pixel_format, 0, *shape,
        strides=(1, line, surface, 0, 0, 0, 0, 0),
    )  # fmt: skip
    array = numbers(shape, np.int8)
    packed = layout.pack_tensor(tensor, array)
    last = tuple(size - 1 for size in shape)
    assert packed.view(np.int8)[layout.element_offset(tensor, *last)] == array[last]
    np.testing.assert_array_equal(layout.unpack_tensor(tensor, packed), array)


@pytest.mark.parametrize("kind", [np.int8, np.int16, np.float16])
def test_planes_without_strides_are_packed_densely(kind) -> None:
    array = np.arange(2 * 3 * 4 * 5).astype(kind).reshape(2, 3, 4, 5)
    assert layout.pack_planar(array).tobytes() == array.tobytes()
