"""Arithmetic of the convolution buffer and of pooling's line buffer, against naive models."""

from __future__ import annotations

from math import ceil

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from cudla_sim.nvdla.facts import cbuf, fields, pooling
from cudla_sim.nvdla.facts.configs import CONFIGS, HardwareConfig
from cudla_sim.nvdla.facts.precisions import FP16, INT8

full, small = CONFIGS["nv_full"], CONFIGS["nv_small"]
configs = st.sampled_from(list(CONFIGS.values()))


def entries_one_by_one(config: HardwareConfig, width: int, channels: int) -> int:
    """Fill entries pixel by pixel: whole entries of a pixel first, then what is left of each.

    Left-over atoms of several pixels share an entry: four ones, two pairs, but one triple.
    """
    atoms = -(-channels // config.memory_atom)
    room = config.cbuf[1] // config.memory_atom
    entries = (atoms // room) * width
    left = atoms % room
    taken = 0
    for _ in range(width):
        if left == 0:
            break
        if taken == 0 or taken + left > room:
            entries, taken = entries + 1, 0
        taken += left
    return entries


@given(configs, st.integers(1, 700), st.integers(1, 1100))
def test_a_line_of_a_feature_cube(config: HardwareConfig, width: int, channels: int) -> None:
    assert cbuf.entries_per_slice(config, width, channels, INT8) == entries_one_by_one(
        config, width, channels
    )


@pytest.mark.parametrize(
    ("config", "size", "banks"),
    [
        # first fully connected layer of VGG-16: 32 kernels of 512 x 7 x 7, more than all banks
        (full, 32 * 25088, 25),
        # a group of 3 x 3 x 512: 147456 bytes in banks of 32 KiB, of 4 KiB
        (full, 32 * 4608, 5),
        (small, 8 * 4608, 9),
        (full, 1, 1),
    ],
)
def test_banks_of_weights(config: HardwareConfig, size: int, banks: int) -> None:
    assert cbuf.weight_banks(config, size) == banks


def test_an_image_line_counts_its_pads() -> None:
    # 224 pixels of 4 bytes and 3 + 3 pads: 920 bytes in entries of 128, of 8
    assert cbuf.image_entries(full, 224, (3, 3), 4, INT8) == 8
    assert cbuf.image_entries(full, 224, (3, 3), 4, FP16) == 15
    assert cbuf.image_entries(small, 224, (3, 3), 4, INT8) == 115


def test_winograd_counts_a_quarter_of_four_lines() -> None:
    # 4 lines of 16 pixels of 32 int8 channels are 2048 bytes, 16 entries
    assert cbuf.winograd_entries(full, 16, 32, INT8) == 4


@given(
    configs,
    st.integers(1, 300),
    st.integers(1, 600),
    st.integers(1, 600),
    st.integers(1, 9),
    st.booleans(),
)
def test_a_share_fits_and_is_not_beaten(
    config: HardwareConfig, size: int, channels: int, kernels: int, rows: int, compressed: bool
) -> None:
    assume(rows <= size)
    entries = cbuf.entries_per_slice(config, size, channels, INT8)
    each = channels * rows * rows
    found = cbuf.share(
        config,
        entries=entries,
        lines=size,
        kernels=kernels,
        bytes_per_kernel=each,
        precision=INT8,
        least_lines=rows,
        compressed=compressed,
    )
    banks, width, depth = config.cbuf
    room = (banks - compressed) * depth
    group = min(kernels, config.kernel_group(INT8)) * each
    least = ceil(ceil(group / width) / depth) * depth
    if found is None:
        assert (room - least) // entries < rows
        return
    assert found.data + found.weights <= banks - compressed
    assert rows <= found.lines <= size
    assert found.lines * entries <= found.data * depth
    assert found.weights * depth * width >= group
    if least + -(-entries * size // depth) * depth <= room:
        assert found.lines == size


@pytest.mark.parametrize(
    ("kernel", "stride", "columns"),
    [(2, 2, 128), (3, 2, 64), (3, 1, 32), (4, 1, 32), (5, 1, 16), (8, 1, 16), (8, 3, 32)],
)
def test_columns_of_the_line_buffer(kernel: int, stride: int, columns: int) -> None:
    assert pooling.widest(kernel, stride) == columns


@given(
    st.integers(1, 2000),
    st.integers(1, 8),
    st.integers(1, 8),
    st.integers(1, 8),
    st.integers(1, 8),
    st.integers(0, 7),
    st.integers(0, 7),
)
def test_stripes_read_what_their_windows_need(
    output: int, kh: int, kw: int, sy: int, sx: int, left: int, right: int
) -> None:
    assume(left < kw and right < kw)
    width = pooling.read_width(output, kw, sx, (left, right))
    assume(1 <= width <= 8192)
    found = pooling.stripes(output, (kh, kw), (sy, sx), (left, right))
    if found is None:
        return
    if found.count == 1:
        assert output <= pooling.widest(kh, sy)
        return
    assert found.count <= 64
    first, middle, last = found.outside
    assert first + middle * (found.count - 2) + last == output
    assert max(found.outside) <= pooling.widest(kh, sy)
    end = start = 0  # columns read so far, output columns made so far
    for stripe in range(found.count):
        part = 0 if stripe == 0 else 2 if stripe == found.count - 1 else 1
        begin = 0 if stripe == 0 else end - (kw - sx)
        assert 0 < found.inside[part] <= 1024
        end += found.inside[part]
        for column in range(start, start + found.outside[part]):
            window = range(max(column * sx - left, 0), min(column * sx - left + kw, width))
            assert begin <= window.start
            assert window.stop <= end
        start += found.outside[part]
    assert (start, end) == (output, width)


@pytest.mark.parametrize("output", [129, 200, 1000, 8000])
@pytest.mark.parametrize(("kernel", "stride"), [((2, 2), (2, 2)), ((3, 3), (1, 1))])
def test_common_poolings_can_be_striped(
    output: int, kernel: tuple[int, int], stride: tuple[int, int]
) -> None:
    found = pooling.stripes(output, kernel, stride, (0, 0))
    limit = pooling.widest(kernel[0], stride[0])
    assert (found is not None) == (-(-output // limit) <= 64)


def test_what_fields_hold() -> None:
    """Widths from the register descriptions of nvdla/hw."""
    assert fields.most(full, "CDMA.D_ENTRY_PER_SLICE.ENTRIES", 1) == 4096
    assert fields.most(small, "CDMA.D_ENTRY_PER_SLICE.ENTRIES", 1) == 16384
    assert fields.most(full, "CDMA.D_ZERO_PADDING.PAD_LEFT") == 31
    assert fields.most(full, "CDMA.D_ZERO_PADDING.PAD_RIGHT") == 63
    assert fields.most(full, "CSC.D_WEIGHT_SIZE_EXT_0.WEIGHT_WIDTH_EXT", 1) == 32
