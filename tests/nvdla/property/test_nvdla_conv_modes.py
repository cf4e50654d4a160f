"""fp16, Winograd, compressed weights, converted input and post-extension against naive loops."""

from __future__ import annotations

import naive_fp16 as naive
import numpy as np
import pytest
from bench_nvdla import Bench, address
from hypothesis import given, settings
from hypothesis import strategies as st
from naive_nvdla import BASE, Conv, Cube, Hardware, convolve, rounding_shift, saturate
from test_nvdla_units import CONV_BLOCKS, convolutions, program_conv

from cudla_sim.nvdla.facts.maps.enums import ENUMS

COMMON = settings(max_examples=25, deadline=None)
seeds = st.integers(0, 2**32)
FP16 = 2


def program_plain_sdp(bench: Bench, size: tuple, group: int, out: Cube, formats: int) -> None:
    """SDP that passes values on; *formats* is D_DATA_FORMAT."""
    channels, height, width = size
    bench.select(group, "SDP", "SDP_RDMA")
    registers = {
        "D_DATA_CUBE_WIDTH": width - 1,
        "D_DATA_CUBE_HEIGHT": height - 1,
        "D_DATA_CUBE_CHANNEL": channels - 1,
        "D_FEATURE_MODE_CFG": 1,
        "D_DATA_FORMAT": formats,
        "D_DP_BS_CFG": 1,
        "D_DP_BN_CFG": 1,
        "D_DP_EW_CFG": 1,
        "D_CVT_SCALE": 1,
        "D_DST_LINE_STRIDE": out.line_stride,
        "D_DST_SURFACE_STRIDE": out.surface_stride,
        "D_DST_DMA_CFG": 1,
    }
    bench.write(
        "SDP", registers | address("D_DST_BASE_ADDR_HIGH", "D_DST_BASE_ADDR_LOW", out.address)
    )


def run_conv(bench: Bench) -> None:
    """Enable the chain, keep the pointers of SDP_RDMA in step, run."""
    bench.write(
        "SDP_RDMA",
        {"D_OP_ENABLE": 1, "D_FEATURE_MODE_CFG": 1}
        | dict.fromkeys(("D_BRDMA_CFG", "D_NRDMA_CFG", "D_ERDMA_CFG"), 1),
    )
    bench.enable("SDP", *CONV_BLOCKS)
    bench.run()
    bench.chip.csb.glb.clear_bits(0xFFFFFFFF)


def set_precision(bench: Bench, source: int, processing: int, **more: int) -> None:
    """Set precisions (and other fields of D_MISC_CFG) of the whole chain."""
    misc = source << 8 | processing << 12 | more.get("misc", 0)
    for block in ("CDMA", "CSC"):
        bench.write(block, {"D_MISC_CFG": misc})


def halves_everywhere(bench: Bench, rng: np.random.Generator) -> None:
    """Fill memory with fp16 numbers, hardly any NaN or infinity."""
    patterns = bench.data.view(np.uint16)
    wild = rng.random(len(patterns)) < 0.5
    near = rng.normal(size=len(patterns)).astype(np.float16).view(np.uint16)
    finite = np.where(patterns & 0x7C00 == 0x7C00, patterns & 0xBBFF, patterns)
    finite[wild] = near[wild]
    finite[rng.random(len(patterns)) < 0.1] &= 0x8000
    rare = rng.random(len(patterns)) < 0.0005
    finite[rare] = 0x7E01
    bench.data.view(np.uint16)[:] = finite


def half_at(memory: bytearray, position: int) -> int:
    return int.from_bytes(memory[position : position + 2], "little")


def half_weights(memory: bytearray, p: Conv, hw: Hardware, channels: int) -> dict:
    """fp16 weights by (kernel, row, column, channel)."""
    found, position = {}, p.weight_address - BASE
    for first in range(0, p.kernels, hw.kernel_group):
        members = range(first, min(first + hw.kernel_group, p.kernels))
        for chunk in range(0, channels, hw.atomic_c):
            for r in range(p.rows):
                for s in range(p.columns):
                    for k in members:
                        for c in range(chunk, min(chunk + hw.atomic_c, channels)):
                            found[k, r, s, c] = half_at(memory, position)
                            position += 2
    return found


def half_convolve(memory: bytearray, p: Conv, hw: Hardware, source: Cube) -> dict:
    """FP32 patterns by (kernel, y, x)."""
    weights = half_weights(memory, p, hw, source.channels)
    result = {}
    for k in range(p.kernels):
        for oy in range(p.out[0]):
            for ox in range(p.out[1]):
                steps = []
                for chunk in range(0, source.channels, hw.atomic_c):
                    channels = range(chunk, min(chunk + hw.atomic_c, source.channels))
                    for r in range(p.rows):
                        for s in range(p.columns):
                            y = oy * p.stride[0] - p.pad_top + r * p.dilation[0]
                            x = ox * p.stride[1] - p.pad_left + s * p.dilation[1]
                            if 0 <= y < source.height and 0 <= x < source.width:
                                data = [
                                    half_at(memory, source.position(hw, c, y, x)) for c in channels
                                ]
                            else:
                                data = [p.pad_value & 0xFFFF for _ in channels]
                            steps.append((data, [weights[k, r, s, c] for c in channels]))
                result[k, oy, ox] = naive.accumulate(steps)
    return result


def to_half(pattern: int) -> int:
    return naive.convert(pattern, naive.SINGLE, naive.HALF)


def unsigned(values: dict) -> dict:
    return {key: item & 0xFFFF for key, item in values.items()}


def conv_of(bench: Bench, shape: dict, kernels: int | None = None) -> Conv:
    return Conv(
        kernels or shape["kernels"],
        *(shape[key] for key in ("rows", "columns", "stride", "dilation")),
        *(shape[key] for key in ("pad_top", "pad_left", "pad_value", "truncate", "out")),
        bench.reserve(),
    )


@settings(max_examples=12, deadline=None)
@given(convolutions(), seeds)
def test_fp16_convolution(shape, seed) -> None:
    rng = np.random.default_rng(seed)
    bench = Bench("nv_full", rng, 2)
    halves_everywhere(bench, rng)
    for group in (0, 1):
        bench._next = 0
        source = bench.cube(shape["channels"], shape["height"], shape["width"], 1)
        p = conv_of(bench, shape, min(shape["kernels"], 5))
        bench.reserve()
        out = bench.cube(p.kernels, *p.out)
        program_conv(bench, p, source, group)
        set_precision(bench, FP16, FP16)
        program_plain_sdp(bench, (p.kernels, *p.out), group, out, FP16 | FP16 << 2)
        expected = half_convolve(bench.image(), p, bench.hardware, source)
        run_conv(bench)
        found = unsigned(bench.result(out))
        for (k, y, x), pattern in expected.items():
            assert found[k, y, x] == to_half(pattern)


@COMMON
@given(convolutions(), st.sampled_from([1, 2]), st.floats(0, 1), seeds)
def test_compressed_weights(shape, bpe, density, seed) -> None:
    rng = np.random.default_rng(seed)
    bench = Bench("nv_full", rng, bpe)
    source = bench.cube(shape["channels"], shape["height"], shape["width"])
    p = conv_of(bench, shape)
    for _ in range(5):
        bench.reserve()
    packed, mask = bench.reserve(), 0
    for _ in range(5):
        bench.reserve()
    mask = bench.reserve()
    out = bench.cube(p.kernels, *p.out)
    count = p.kernels * p.rows * p.columns * shape["channels"]
    start = p.weight_address - BASE
    dense = bench.data[start : start + count * bpe].view(f"<i{bpe}")
    dense[rng.random(count) > density] = 0
    program_conv(bench, p, source, 0)
    program_plain_sdp(bench, (p.kernels, *p.out), 0, out, 5 * (bpe - 1))
    expected = convolve(bench.image(), bench.hardware, p, source)
    bits, values = bytearray(-(-count // 8)), bytearray()
    for number, item in enumerate(dense.tolist()):
        if item:
            bits[number // 8] |= 1 << number % 8
            values += item.to_bytes(bpe, "little", signed=True)
    dense[:] = 0
    bench.data[packed - BASE : packed - BASE + len(values)] = np.frombuffer(values, np.uint8)
    bench.data[mask - BASE : mask - BASE + len(bits)] = np.frombuffer(bits, np.uint8)
    bench.write("CSC", {"D_WEIGHT_FORMAT": 1})
    registers = {
        "D_WEIGHT_FORMAT": 1,
        "D_WEIGHT_BYTES": -(-len(values) // 128) * 128,
        "D_WMB_BYTES": -(-len(bits) // 128) * 128,
    }
    registers |= address("D_WEIGHT_ADDR_HIGH", "D_WEIGHT_ADDR_LOW", packed)
    registers |= address("D_WMB_ADDR_HIGH", "D_WMB_ADDR_LOW", mask)
    bench.write("CDMA", registers)
    run_conv(bench)
    found = bench.result(out)
    for key, value in expected.items():
        assert found[key] == saturate(saturate(value, 17), 8 * bpe)


@COMMON
@given(
    convolutions(),
    st.sampled_from([(0, 1), (1, 0), (0, 2), (1, 2)]),
    st.tuples(st.integers(-100, 100), st.integers(-300, 300), st.integers(0, 6)),
    seeds,
)
def test_input_of_another_precision(shape, precisions, converter, seed) -> None:
    rng = np.random.default_rng(seed)
    source_bpe, bpe = (1 if item == 0 else 2 for item in precisions)
    bench = Bench("nv_full", rng, bpe)
    if precisions[1] == FP16:
        halves_everywhere(bench, rng)
    source = bench.cube(shape["channels"], shape["height"], shape["width"])
    p = conv_of(bench, shape, min(shape["kernels"], 4))
    bench.reserve()
    out = bench.cube(p.kernels, *p.out)
    # what the converter makes of the input, as a cube of the processing precision
    clone = bench.cube(shape["channels"], shape["height"], shape["width"])
    reader = Hardware(32, 64, 32, source_bpe)
    offset, scale, shift = converter
    memory = bench.image()
    for c in range(source.channels):
        for y in range(source.height):
            for x in range(source.width):
                value = source.get(memory, reader, c, y, x)
                value = saturate(rounding_shift((value - offset) * scale, shift), 17)
                at = clone.position(bench.hardware, c, y, x)
                if precisions[1] == FP16:
                    pattern = naive.encode(int(value < 0), naive.Fraction(abs(value)), naive.HALF)
                    bench.data[at : at + 2] = list(pattern.to_bytes(2, "little"))
                else:
                    word = saturate(value, 8 * bpe).to_bytes(bpe, "little", signed=True)
                    bench.data[at : at + bpe] = list(word)
    program_conv(bench, p, source, 0)
    set_precision(bench, *precisions)
    bench.write("CDMA", {"D_CVT_CFG": 1 | shift << 4, "D_CVT_OFFSET": offset, "D_CVT_SCALE": scale})
    formats = precisions[1] | precisions[1] << 2
    program_plain_sdp(bench, (p.kernels, *p.out), 0, out, formats)
    memory = bench.image()
    if precisions[1] == FP16:
        results = half_convolve(memory, p, bench.hardware, clone)
        expected = {key: to_half(item) for key, item in results.items()}
    else:
        results = convolve(memory, bench.hardware, p, clone)
        expected = {
            key: saturate(saturate(item, 17), 8 * bpe) & 0xFFFF for key, item in results.items()
        }
    run_conv(bench)
    found = unsigned(bench.result(out))
    for key, value in expected.items():
        assert found[key] == value


# --- Winograd -----------------------------------------------------------------------------------


BT = [[1, 0, -1, 0], [0, 1, 1, 0], [0, -1, 1, 0], [0, 1, 0, -1]]
AT = [[1, 1, 1, 0], [0, 1, -1, -1]]


def multiplied(left: list, right: list) -> list:
    return [
        [
            sum(a * b for a, b in zip(row, column, strict=True))
            for column in zip(*right, strict=True)
        ]
        for row in left
    ]


def transposed(matrix: list) -> list:
    return [list(column) for column in zip(*matrix, strict=True)]


def half_transform(window: list) -> list:
    """BT * X * B in FP17, rows first; the result in fp16."""

    def combined(lines: list) -> list:
        result = []
        for i, j, sign in ((0, 2, 1), (1, 2, 0), (2, 1, 1), (1, 3, 1)):
            result.append(
                [
                    naive.add(a, naive.negate(b, naive.FP17) if sign else b, naive.FP17)
                    for a, b in zip(lines[i], lines[j], strict=True)
                ]
            )
        return result

    wide = [[naive.convert(item, naive.HALF, naive.FP17) for item in row] for row in window]
    done = transposed(combined(transposed(combined(wide))))
    return [[naive.convert(item, naive.FP17, naive.HALF) for item in row] for row in done]


def winograd_case(precision: int) -> st.SearchStrategy:
    return st.fixed_dictionaries(
        {
            "precision": st.just(precision),
            "stride": st.tuples(st.integers(1, 2), st.integers(1, 2)),
            "blocks": st.tuples(st.integers(1, 2), st.integers(1, 2)),
            "pads": st.tuples(*[st.integers(0, 3)] * 4),
            "channels": st.sampled_from([3, 16, 32, 40]),
            "kernels": st.sampled_from([1, 3, 18, 35]),
            "truncate": st.integers(0, 3),
            "pad_value": st.integers(-20, 20),
        }
    )


@pytest.mark.slow
@settings(max_examples=20, deadline=None)
@given(st.sampled_from([0, 1, 2]).flatmap(winograd_case), seeds)
def test_winograd(case, seed) -> None:
    precision, (sy, sx) = case["precision"], case["stride"]
    rng = np.random.default_rng(seed)
    bpe = 1 if precision == 0 else 2
    bench = Bench("nv_full", rng, bpe)
    if precision == FP16:
        halves_everywhere(bench, rng)
    top, bottom, left, right = case["pads"]
    full = (4 * sy * case["blocks"][0], 4 * sx * case["blocks"][1])
    height, width = max(full[0] - top - bottom, 1), max(full[1] - left - right, 1)
    bottom, right = full[0] - top - height, full[1] - left - width
    kernels = {0: case["kernels"], 1: min(case["kernels"], 18), FP16: 2}[precision]
    source = bench.cube(case["channels"], height, width, 1)
    weights_at = bench.reserve()
    for _ in range(8):
        bench.reserve()
    hw, memory = bench.hardware, bench.image()
    surfaces = -(-source.channels // hw.per_atom)
    extended = sy * sx * surfaces * hw.per_atom
    rows, columns = full[0] // sy, full[1] // sx
    size = (kernels, rows - 2, columns - 2)
    out = bench.cube(*size)

    def element(position: int) -> int:
        signed = precision != FP16
        return int.from_bytes(memory[position : position + bpe], "little", signed=signed)

    def pixel(y: int, x: int, channel: int) -> int:
        """Element of the folded cube."""
        outer, cc = divmod(channel, hw.per_atom)
        fold, surface = divmod(outer, surfaces)
        j, i = divmod(fold, sx)
        yy, xx = y * sy + j - top, x * sx + i - left
        if 0 <= yy < height and 0 <= xx < width:
            return element(source.position(hw, surface * hw.per_atom + cc, yy, xx))
        pad = case["pad_value"]
        return pad & 0xFFFF if precision == FP16 else pad

    kernel_of: dict = {}
    position = weights_at - BASE
    for first in range(0, kernels, hw.kernel_group):
        members = range(first, min(first + hw.kernel_group, kernels))
        for block in range(0, extended, 4):
            for k in members:
                for tap in range(16):
                    for c in range(block, block + 4):
                        kernel_of[k, c, tap] = element(position)
                        position += bpe

    expected: dict = {}
    windows: dict = {}
    for ty in range(size[1] // 2):
        for tx in range(size[2] // 2):
            for c in range(extended):
                window = [[pixel(2 * ty + y, 2 * tx + x, c) for x in range(4)] for y in range(4)]
                if precision == FP16:
                    done = half_transform(window)
                else:
                    product = multiplied(multiplied(BT, window), transposed(BT))
                    done = [
                        [saturate(rounding_shift(v, case["truncate"]), 8 * bpe) for v in row]
                        for row in product
                    ]
                windows[c] = [item for row in done for item in row]
            for k in range(kernels):
                states = [naive.Accumulator() for _ in range(4)]
                total = [[0, 0], [0, 0]]
                for block in range(0, extended, 4):
                    channels = range(block, block + 4)
                    if precision == FP16:
                        data = [windows[c][tap] for tap in range(16) for c in channels]
                        weights = [kernel_of[k, c, tap] for tap in range(16) for c in channels]
                        nan = naive.find_nan(data, weights)
                        shifted, scale = naive.products(data, weights)
                        sums = [sum(shifted[4 * tap : 4 * tap + 4]) for tap in range(16)]
                    else:
                        nan, scale = None, 0
                        sums = [
                            sum(windows[c][tap] * kernel_of[k, c, tap] for c in channels)
                            for tap in range(16)
                        ]
                    square = [sums[4 * y : 4 * y + 4] for y in range(4)]
                    part = multiplied(multiplied(AT, square), transposed(AT))
                    for number, state in enumerate(states):
                        if nan is not None:
                            state.put_nan(nan)
                        elif precision == FP16:
                            state.add(part[number // 2][number % 2], scale)
                        else:
                            total[number // 2][number % 2] += part[number // 2][number % 2]
                for number, state in enumerate(states):
                    y, x = 2 * ty + number // 2, 2 * tx + number % 2
                    if precision == FP16:
                        expected[k, y, x] = to_half(state.single())
                    else:
                        value = saturate(total[number // 2][number % 2], 32)
                        expected[k, y, x] = saturate(saturate(value, 17), 8 * bpe) & 0xFFFF

    p = Conv(kernels, 4, 4, (1, 1), (1, 1), 0, 0, case["pad_value"], 0, size[1:], weights_at)
    program_conv(bench, p, source, 0)
    set_precision(bench, precision, precision, misc=1)
    bench.write(
        "CSC",
        {
            "D_WEIGHT_SIZE_EXT_1": (extended - 1) | (kernels - 1) << 16,
            "D_PRA_CFG": case["truncate"],
        },
    )
    bench.write(
        "CDMA",
        {
            "D_CONV_STRIDE": (sx - 1) | (sy - 1) << 16,
            "D_ZERO_PADDING": left | right << 8 | top << 16 | bottom << 24,
        },
    )
    program_plain_sdp(bench, size, 0, out, precision | precision << 2)
    run_conv(bench)
    found = unsigned(bench.result(out))
    for key, value in expected.items():
        assert found[key] == value


# --- images ---------------------------------------------------------------------------------------


@COMMON
@given(
    st.sampled_from([("T_R16_F", 1), ("T_A16B16G16R16_F", 4)]),
    st.integers(0, 2),
    st.integers(1, 5),
    st.integers(1, 3),
    st.integers(1, 2),
    seeds,
)
def test_fp16_image_with_post_extension(form, extension, rows, columns, stride, seed) -> None:
    """A step holds 1, 2 or 4 lines, the last one what is left."""
    name, channels = form
    rng = np.random.default_rng(seed)
    bench = Bench("nv_full", rng, 2)
    halves_everywhere(bench, rng)
    lines, kernels, out_size = 1 << extension, 3, (2, 2)
    height, width = (out_size[0] - 1) * stride + rows - 1, (out_size[1] - 1) * stride + columns
    height, width = max(height, 1), max(width, 1)
    image, weights_at = bench.reserve(), bench.reserve()
    out = bench.cube(kernels, *out_size)
    hw, memory, folded = bench.hardware, bench.image(), columns * channels
    line_stride, pad, top = 256, 0x3555, 1
    weights, position = {}, weights_at - BASE
    for first in range(0, rows, lines):
        for k in range(kernels):
            for r in range(first, min(first + lines, rows)):
                for i in range(folded):
                    weights[k, r, i] = half_at(memory, position)
                    position += 2
    p = Conv(kernels, rows, 1, (stride,) * 2, (1, 1), top, 0, pad, 0, out_size, weights_at)
    program_conv(bench, p, Cube(image, channels, height, width, line_stride, 0), 0)
    set_precision(bench, FP16, FP16)
    bench.write(
        "CSC",
        {
            "D_DATAIN_FORMAT": 1,
            "D_POST_Y_EXTENSION": extension,
            "D_WEIGHT_SIZE_EXT_1": (folded - 1) | (kernels - 1) << 16,
        },
    )
    bench.write("CDMA", {"D_DATAIN_FORMAT": 1 | ENUMS["pixel_format"][name] << 8})
    program_plain_sdp(bench, (kernels, *out_size), 0, out, FP16 | FP16 << 2)
    run_conv(bench)
    found = unsigned(bench.result(out))
    for k in range(kernels):
        for oy in range(out_size[0]):
            for ox in range(out_size[1]):
                steps = []
                for first in range(0, rows, lines):
                    places = [
                        (r, i)
                        for r in range(first, min(first + lines, rows))
                        for i in range(folded)
                    ]
                    data = []
                    for r, i in places:
                        y, at = oy * stride - top + r, ox * stride * channels + i
                        inside = 0 <= y < height and at < width * channels
                        start = image - BASE + y * line_stride + 2 * at
                        data.append(half_at(memory, start) if inside else pad)
                    steps.append((data, [weights[k, r, i] for r, i in places]))
                assert found[k, oy, ox] == to_half(naive.accumulate(steps))
    assert hw.kernel_group >= kernels
