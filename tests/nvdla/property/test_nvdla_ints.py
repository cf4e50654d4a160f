"""Compiled integer layers: every implementation of this machine against numpy's integers."""

from __future__ import annotations

import numpy as np
import pytest
from bench_nvdla import Bench
from hypothesis import given, settings
from hypothesis import strategies as st
from naive_nvdla import BASE, Conv, Pool
from test_nvdla_units import CONV_BLOCKS, program_conv, program_pdp, program_sdp

from cudla_sim.constants.native_types import sim_sdp
from cudla_sim.native import ints
from cudla_sim.nvdla.hw.units.conv import native
from cudla_sim.nvdla.hw.units.conv.registers import Window

COMMON = settings(max_examples=120, deadline=None)
sizes = st.integers(1, 4)


@st.composite
def windows(draw) -> Window:
    return Window(
        *(draw(sizes) for _ in range(6)), draw(st.integers(1, 5)), draw(st.integers(1, 9))
    )


def correlate(padded: np.ndarray, weights: np.ndarray, w: Window) -> np.ndarray:
    """Sums [y, x, kernel] of a padded input [y, x, channel], tap by tap in 64 bits."""
    result = np.zeros((w.out_height, w.out_width, len(weights)), np.int64)
    for row in range(w.rows):
        for column in range(w.columns):
            y = row * w.dilation_y + np.arange(w.out_height) * w.stride_y
            x = column * w.dilation_x + np.arange(w.out_width) * w.stride_x
            result += padded[np.ix_(y, x)].astype(np.int64) @ weights[:, row, column].T
    return result


@pytest.mark.parametrize("name", ints.kinds())
@COMMON
@given(
    windows(),
    st.sampled_from([1, 3, 4, 5, 32, 40]),
    st.sampled_from([1, 15, 16, 17, 48, 64, 65, 130]),
    st.integers(0, 3),
    st.integers(0, 3),
    st.sampled_from([-128, -1, 0, 77, 127]),
    st.sampled_from([8, 32]),
    st.booleans(),
    st.integers(0, 2**32),
)
def test_sums(name, window, channels, kernels, top, left, pad, atom, extreme, seed) -> None:
    rng = np.random.default_rng(seed)
    unit = ints.Ints(name)
    need_y, need_x = window.extent()
    height, width = max(1, need_y - top - seed % 3), max(1, need_x - left - seed % 2)
    low = 127 if extreme else -128
    surfaces = -(-channels // atom)
    source = rng.integers(-128, 128, (surfaces, height, width, atom), np.int8)
    taps = (kernels, window.rows, window.columns, channels)
    weights = rng.integers(low, 128, taps).astype(np.int8)
    if extreme:
        source[...] = -128
    packed = native.prepare_weights(unit, weights.reshape(kernels, -1), window)
    frame = native.frame(window, channels, top, left, pad, 0)
    padded = np.full((max(need_y, top + height), max(need_x, left + width), channels), pad, np.int8)
    pixels = source.transpose(1, 2, 0, 3).reshape(height, width, -1)[:, :, :channels]
    padded[top : top + height, left : left + width] = pixels
    expected = correlate(padded, weights, window)
    found, cut = unit.sums(frame, packed, source)
    np.testing.assert_array_equal(found, expected)
    assert cut == 0


@pytest.mark.slow
@pytest.mark.parametrize("name", ints.wide_kinds())
@COMMON
@given(
    windows(),
    st.sampled_from([1, 3, 4, 16, 40, 300]),
    st.sampled_from([1, 15, 16, 17, 33, 50]),
    st.tuples(*[st.integers(0, 3)] * 2),
    st.sampled_from([-32768, -1, 0, 77, 32767]),
    st.sampled_from([4, 16]),
    st.sampled_from([0, 0, 1, 7, 20, 31]),
    st.booleans(),
    st.integers(0, 2**32),
)
def test_wide_sums(name, window, channels, kernels, edges, pad, atom, truncate, extreme, seed):
    """64-bit sums of 16-bit numbers, truncated and cut to 32 bits, and how many were cut."""
    rng = np.random.default_rng(seed)
    unit = ints.Ints(name)
    top, left = edges
    need_y, need_x = window.extent()
    height, width = max(1, need_y - top - seed % 3), max(1, need_x - left - seed % 2)
    surfaces = -(-channels // atom)
    source = rng.integers(-32768, 32768, (surfaces, height, width, atom), np.int16)
    taps = (kernels, window.rows, window.columns, channels)
    weights = rng.integers(-32768, 32768, taps).astype(np.int16)
    if extreme:
        source[...] = rng.choice([-32768, 32767])
        weights[...] = rng.choice(np.array([-32768, 32767, 127, 128, -129], np.int16))
    packed = native.prepare_weights(unit, weights.reshape(kernels, -1), window)
    frame = native.frame(window, channels, top, left, pad, truncate)
    full = (max(need_y, top + height), max(need_x, left + width), channels)
    padded = np.full(full, pad, np.int16)
    pixels = source.transpose(1, 2, 0, 3).reshape(height, width, -1)[:, :, :channels]
    padded[top : top + height, left : left + width] = pixels
    sums = correlate(padded, weights, window)
    if truncate:
        half = 1 << (truncate - 1)
        sums = np.where(sums < 0, -((-sums + half) >> truncate), (sums + half) >> truncate)
    expected = np.clip(sums, -(1 << 31), (1 << 31) - 1)
    found, cut = unit.sums(frame, packed, source)
    np.testing.assert_array_equal(found, expected)
    assert cut == np.count_nonzero(expected != sums)


@pytest.mark.parametrize("name", ints.diagonal_kinds())
@COMMON
@given(
    windows(),
    st.sampled_from([8, 16, 20, 32, 40, 70]),
    st.integers(0, 40),
    st.tuples(*[st.integers(0, 3)] * 2),
    st.sampled_from([-128, 0, 77]),
    st.sampled_from([8, 32]),
    st.integers(0, 2**32),
)
def test_depthwise_sums(name, window, channels, missing, edges, pad, atom, seed) -> None:
    """Weights that are zero but for kernel k and channel k are computed as such."""
    rng = np.random.default_rng(seed)
    unit = ints.Ints(name)
    kernels = max(1, channels - missing)
    top, left = edges
    need_y, need_x = window.extent()
    height, width = max(1, need_y - top - seed % 3), max(1, need_x - left - seed % 2)
    surfaces = -(-channels // atom)
    source = rng.integers(-128, 128, (surfaces, height, width, atom), np.int8)
    weights = np.zeros((kernels, window.rows, window.columns, channels), np.int8)
    own = np.arange(kernels)
    weights[own, :, :, own] = rng.integers(-128, 128, (kernels, window.rows, window.columns))
    packed = native.prepare_weights(unit, weights.reshape(kernels, -1), window)
    assert packed.kind.diagonal
    frame = native.frame(window, channels, top, left, pad, 0, diagonal=True)
    full = (max(need_y, top + height), max(need_x, left + width), channels)
    padded = np.full(full, pad, np.int8)
    pixels = source.transpose(1, 2, 0, 3).reshape(height, width, -1)[:, :, :channels]
    padded[top : top + height, left : left + width] = pixels
    found, _ = unit.sums(frame, packed, source)
    np.testing.assert_array_equal(found, correlate(padded, weights, window))


def test_one_weight_beside_the_diagonal_is_enough_for_a_dense_layer() -> None:
    weights = np.zeros((16, 9, 16), np.int8)
    weights[np.arange(16), :, np.arange(16)] = 3
    assert ints.Ints().pack_diagonal(weights) is not None
    weights[4, 8, 5] = 1
    assert ints.Ints().pack_diagonal(weights) is None


def rounded(value: int, shift: int) -> int:
    """``value / 2**shift``, half away from zero."""
    half = 1 << shift >> 1
    return (abs(value) + half >> shift) * (1 if value >= 0 else -1)


FACTORS = st.sampled_from([1, -1, 2, 3, 255, 32767, -32768, 12345])


@pytest.mark.slow
@pytest.mark.parametrize("name", ints.kinds())
@COMMON
@given(
    st.sampled_from([1, 16, 17, 32, 50, 64, 90]),
    st.sampled_from([8, 32]),
    st.tuples(st.booleans(), st.booleans(), st.booleans()),
    st.sampled_from([0, 1, 2, 7, 14, 20, 31]),
    st.tuples(st.sampled_from([0, 0, 3, -200]), FACTORS, st.sampled_from([0, 1, 8, 20])),
    st.sampled_from([1, 100, 1 << 15]),
    st.sampled_from([0, 0, 3]),
    st.integers(0, 2**32),
)
def test_sums_to_bytes(name, kernels, atom, uses, shift, convert, size, truncate, seed) -> None:
    """Bias, factor of each channel, ReLU and output converter behind a convolution, in Python's
    integers; also where results lie in the middle of two integers."""
    rng = np.random.default_rng(seed)
    unit = ints.Ints(name)
    adds, multiplies, relu = uses
    channels, window = 5, Window(1, 1, 1, 1, 1, 1, 3, 7)
    source = rng.integers(-128, 128, (1, 3, 7, 8), np.int8)
    weights = rng.integers(-128, 128, (kernels, channels), np.int8)
    padded = -(-kernels // atom) * atom
    bias = rng.integers(-size, size + 1, padded).astype(np.int16 if size < 1 << 15 else np.int32)
    bias = np.clip(bias, -32768, 32767).astype(np.int16)
    factor = rng.choice(np.array([1, -1, 2, 77, 16384, 32767, -32768], np.int16), padded)
    stage = ints.Stage(
        {"alu": 2 if adds else ints.NO_ALU, "mul": multiplies, "relu": relu, "shift": shift},
        ints.Operand(values=bias, shift=seed % 3),
        ints.Operand(values=factor),
    )
    offset, scale, by = convert if not (multiplies or shift) or seed % 4 == 0 else (0, 1, 0)
    target = np.zeros((padded // atom, 3, 7, atom), np.int8)
    job = sim_sdp(
        height=3, width=7, channels=padded, offset=offset, factor=scale * 2.0**-by, round=by > 0,
        low=-128, high=127,
    )  # fmt: skip
    sdp = ints.Sdp(job, [stage], target)
    packed = native.prepare_weights(unit, weights, window)
    frame = native.frame(window, channels, 0, 0, 0, truncate)
    layer = unit.convolution(frame, packed, source, sdp)
    layer.run()
    sums = source[0, :, :, :channels].astype(np.int64) @ weights.T.astype(np.int64)
    clipped = 0
    expected = np.zeros_like(target)
    for y, x, c in np.ndindex(3, 7, padded):
        v = rounded(int(sums[y, x, c]), truncate) if c < kernels else 0
        v += int(bias[c]) << seed % 3 if adds else 0
        v = rounded(v * (int(factor[c]) if multiplies else 1), shift)
        v = min(max(v, 0 if relu else -(1 << 31)), (1 << 31) - 1)
        v = rounded((v - offset) * scale, by)
        kept = min(max(v, -128), 127)
        clipped += kept != v
        expected[c // atom, y, x, c % atom] = kept
    np.testing.assert_array_equal(target, expected)
    assert layer.clipped == clipped


def test_large_sums_of_bytes_are_left_to_wide_arithmetic() -> None:
    unit = ints.Ints()
    fits = np.full((1, 1, (1 << 24) // 128 - 1), 128 - 256, np.int8)
    assert not unit.pack(fits).kind.wide
    weights = np.full((1, 1, (1 << 24) // 128), -128, np.int8)
    packed = unit.pack(weights)
    assert packed.kind.wide
    channels = weights.size
    frame = native.frame(Window(1, 1, 1, 1, 1, 1, 1, 2), channels, 0, 0, 0, 0)
    source = np.full((1, 1, 2, channels), -128, np.int8)
    source[0, 0, 1, 0] = -127
    found, cut = unit.sums(frame, packed, source)
    assert found.tolist() == [[[(1 << 31) - 1], [(1 << 31) - 128]]]
    assert cut == 1


@COMMON
@given(
    st.sampled_from([(0, 0), (0, 1), (1, 0), (1, 1)]),
    st.tuples(
        st.sampled_from([0, 5, -300, 32000]),
        st.sampled_from([1, -3, 700, 32767, -32768]),
        st.sampled_from([0, 1, 8, 20, 63]),
    ),
    st.sampled_from([0, 3, 12]),
    st.sampled_from([1, 7, 20]),
    st.sampled_from([*ints.kinds(), *ints.wide_kinds()]),
    st.integers(0, 2**32),
)
def test_input_converter(precisions, convert, truncate, channels, arithmetic, seed) -> None:
    """From each precision to each: compiled code and numpy agree in all they write and count."""
    rng = np.random.default_rng(seed)
    images, counts = [], []
    for how in ("numpy", arithmetic):
        bench = Bench("nv_full", np.random.default_rng(seed), 1 + precisions[1], how)
        source, out = bench.cube(channels, 4, 5, 1), bench.cube(18, 2, 4)
        p = Conv(18, 3, 2, (1, 1), (1, 1), 0, 0, -3, truncate, (2, 4), bench.reserve(), convert)
        program_conv(bench, p, source, 0)
        formats = precisions[0] << 8 | precisions[1] << 12
        bench.write("CDMA", {"D_MISC_CFG": formats})
        stages = {"x1": None, "x2": None, "y": None, "cvt": (0, 1, 24 * (seed & 1))}
        program_sdp(bench, rng, stages, (18, 2, 4), 0, True, out)
        bench.enable("SDP", *CONV_BLOCKS)
        for _ in range(2):  # the second time as a known layer
            bench.run()
            images.append(bench.data.tobytes())
            state = bench.chip.csb.blocks["CACC"]
            group = 1 - state.consumer
            index = state.layout.by_name["D_OUT_SATURATION"].offset // 4
            counts.append(state.counted[group][index])
            program_conv(bench, p, source, 1)
            bench.write("CDMA", {"D_MISC_CFG": formats})
            program_sdp(bench, rng, stages, (18, 2, 4), 1, True, out)
            bench.enable("SDP", *CONV_BLOCKS)
    assert len(set(images)) == 1
    assert len(set(counts)) == 1


def test_unknown_instructions_are_refused() -> None:
    with pytest.raises(ValueError, match=r"cannot run 'mmx', only .*portable"):
        ints.Ints("mmx")


@pytest.mark.parametrize("arithmetic", ["numpy", *ints.kinds()])
def test_large_layer_on_several_threads(arithmetic) -> None:
    """More than one piece of pixels and block of kernels, residual added from memory."""
    rng = np.random.default_rng(11)
    bench = Bench("nv_large", rng, 1, arithmetic)
    bench._next = 1 << 16
    source = bench.cube(64, 30, 30)
    bench._next = 0
    p = Conv(96, 3, 3, (1, 1), (1, 1), 1, 1, -3, 2, (30, 30), 0x1_0000_0000)
    bench._next = 3 << 16
    out = bench.cube(96, 12, 12)
    p.out = (12, 12)
    program_conv(bench, p, source, 0)
    stage = {
        "alu": "sum", "alu_shift": 0, "mul": False, "prelu": False, "mul_shift": 0, "relu": True,
        "source": "kernel", "two_bytes": True,
    }  # fmt: skip
    bench._next = 15 << 14
    settings_ = {"x1": stage, "x2": None, "y": None, "cvt": (3, 77, 14)}
    program_sdp(bench, rng, settings_, (96, 12, 12), 0, True, out)
    bias = bench.data[15 << 14 :].view("<i2")[:96].astype(np.int64)
    memory = bench.data.copy()
    bench.enable("SDP_RDMA", "SDP", *CONV_BLOCKS)
    bench.run()
    start = source.address - 0x1_0000_0000
    cube = memory[start : start + 64 * 900].view(np.int8).reshape(2, 30, 30, 32)
    padded = np.full((32, 32, 64), -3, np.int8)
    padded[1:31, 1:31] = cube.transpose(1, 2, 0, 3).reshape(30, 30, 64)
    raw = memory[: 96 * 9 * 64].view(np.int8).reshape(3, 9, 32, 64)
    weights = raw.transpose(0, 2, 1, 3).reshape(96, 3, 3, 64)
    sums = correlate(padded, weights, Window(3, 3, 1, 1, 1, 1, 12, 12))
    sums = np.where(sums < 0, -((-sums + 2) >> 2), (sums + 2) >> 2)  # CACC truncates by 2
    values = (np.maximum(sums + bias, 0) - 3) * 77
    values = np.where(values < 0, -((-values + (1 << 13)) >> 14), (values + (1 << 13)) >> 14)
    start = out.address - 0x1_0000_0000
    found = bench.data[start : start + 96 * 144].view(np.int8).reshape(3, 12, 12, 32)
    found = found.transpose(1, 2, 0, 3).reshape(12, 12, 96)
    np.testing.assert_array_equal(found, np.clip(values, -128, 127))


@pytest.mark.parametrize("arithmetic", ["numpy", "native"])
def test_order_of_ready_units_is_the_same_every_time(arithmetic) -> None:
    """What starts first depends on registers only, not on what is known from earlier runs: whoever
    repeats the accesses of an earlier run (a plan does) meets the same interrupts."""
    rng = np.random.default_rng(5)
    bench = Bench("nv_large", rng, 1, arithmetic)
    source, out, pooled = bench.cube(33, 4, 4), bench.cube(33, 4, 4), bench.cube(33, 2, 2)
    weights = bench.reserve()
    layers = []
    bench.chip.on_layer = lambda layer: layers.append(layer.chain)
    for run in range(4):
        group = run % 2
        p = Conv(33, 1, 1, (1, 1), (1, 1), 0, 0, 0, 0, (4, 4), weights)
        program_conv(bench, p, source, group)
        none = {"x1": None, "x2": None, "y": None, "cvt": (0, 1, 0)}
        program_sdp(bench, rng, none, (33, 4, 4), group, True, out)
        bench.select(group, "PDP", "PDP_RDMA")
        pool_ = Pool("max", (2, 2), (2, 2), 0, 0, (2, 2), [0] * 8, (32768, 32768), 8)
        program_pdp(bench, pool_, (33, 4, 4), pooled, source)
        bench.enable("SDP", *CONV_BLOCKS, "PDP", "PDP_RDMA")
        bench.run()
        if run >= 1:  # weights of a known layer change
            bench.data[weights - BASE] += 1
    assert layers == ["CONV+SDP", "PDP"] * 4


@COMMON
@given(st.booleans(), st.booleans(), st.integers(1, 40), st.integers(0, 2**32))
def test_factors_of_halves(relu: bool, odd: bool, width: int, seed: int) -> None:
    """A factor of each channel, product by product; an infinity is the largest FP32 number."""
    rng = np.random.default_rng(seed)
    most = float(np.finfo(np.float32).max)
    patterns = rng.integers(0, 1 << 16, (2, 3, width, 16), np.uint16)
    if not odd:  # as networks have them
        patterns = rng.normal(size=patterns.shape).astype(np.float16).view(np.uint16)
    factors = rng.integers(0, 1 << 16, 32).astype(np.uint16)
    factors = np.where(factors & 0x7FFF > 0x7C00, 0x8000, factors).astype(np.uint16)
    target = np.zeros(patterns.shape, np.float16)
    stage = ints.Stage(
        {"alu": ints.NO_ALU, "mul": 1, "relu": relu},
        ints.Operand(),
        ints.Operand(values=factors.view(np.float16)),
    )
    job = sim_sdp(height=3, width=width, channels=32, factor=1.0)
    sdp = ints.Sdp(job, [stage], target, half=True)
    ints.Ints().pointwise(patterns.view(np.float16), sdp).run()

    nan = patterns & 0x7FFF > 0x7C00
    some = np.where(nan, 0, patterns).astype(np.uint16).view(np.float16)
    numbers = np.clip(some.astype(np.float64), -most, most)
    factor = np.clip(factors.view(np.float16).astype(np.float64), -most, most)
    product = numbers * factor.reshape(2, 1, 1, 16)
    if relu:
        product[np.signbit(product)] = 0.0
    expected = np.clip(product, -65504, 65504).astype(np.float16).view(np.uint16)
    np.testing.assert_array_equal(target.view(np.uint16), np.where(nan, patterns, expected))


@COMMON
@given(st.integers(0, 20), st.integers(1, 40), st.booleans(), st.integers(0, 2**32))
def test_bytes_times_factors(shift: int, width: int, whole: bool, seed: int) -> None:
    """A factor of each channel, shifted; also in the middle of two integers, cut and counted."""
    rng = np.random.default_rng(seed)
    source = rng.integers(-128, 128, (2, 3, width, 32), np.int8)
    most = 32768 if whole else 1 << shift if shift < 15 else 32767
    factors = rng.integers(-most, min(most, 32767) + 1, 64).astype(np.int16)
    if seed % 2:
        factors[seed % 64] = rng.choice([-32768, 32767, 0, 1 << 14])
    target = np.zeros_like(source)
    stage = ints.Stage(
        {"alu": ints.NO_ALU, "mul": 1, "shift": shift}, ints.Operand(), ints.Operand(values=factors)
    )
    low, high = (-128, 127) if seed % 3 else (-50, 60)
    job = sim_sdp(height=3, width=width, channels=64, factor=1.0, low=low, high=high)
    layer = ints.Ints().pointwise(source, ints.Sdp(job, [stage], target))
    layer.run()
    products = source.astype(np.int64) * factors.reshape(2, 1, 1, 32)
    half = 1 << shift >> 1
    expected = np.where(products < 0, -(-products + half >> shift), products + half >> shift)
    np.testing.assert_array_equal(target, np.clip(expected, low, high))
    assert layer.clipped == int(((expected < low) | (expected > high)).sum())
