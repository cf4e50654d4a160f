"""SDP and PDP in fp16, changes of precision in SDP, EQL and the NaN counters, against loops."""

from __future__ import annotations

import naive_fp16 as naive
import numpy as np
from bench_nvdla import Bench, address
from hypothesis import given, settings
from hypothesis import strategies as st
from naive_nvdla import Cube, rounding_shift, saturate
from test_nvdla_conv_modes import FP16, half_at, halves_everywhere, unsigned
from test_nvdla_units import pool_of, pools, program_pdp, valid

COMMON = settings(max_examples=40, deadline=None)
seeds = st.integers(0, 2**32)
HALF, FP17, SINGLE = naive.HALF, naive.FP17, naive.SINGLE
ALU = {0: naive.maximum, 1: naive.minimum, 2: naive.add}
BYPASS = {"D_DP_BS_CFG": 1, "D_DP_BN_CFG": 1, "D_DP_EW_CFG": 1}


def program(bench: Bench, source: Cube, out: Cube, formats: int, in_precision: int) -> None:
    """SDP from memory to memory, all stages bypassed."""
    cube = {
        "D_DATA_CUBE_WIDTH": source.width - 1,
        "D_DATA_CUBE_HEIGHT": source.height - 1,
        "D_DATA_CUBE_CHANNEL": source.channels - 1,
    }
    processing = formats & 3
    rdma = {
        **cube,
        "D_FEATURE_MODE_CFG": in_precision << 2 | processing << 4,
        "D_BRDMA_CFG": 1,
        "D_NRDMA_CFG": 1,
        "D_ERDMA_CFG": 1,
        "D_SRC_LINE_STRIDE": source.line_stride,
        "D_SRC_SURFACE_STRIDE": source.surface_stride,
        "D_SRC_DMA_CFG": 1,
        "D_PERF_ENABLE": 2,
    }
    main = {
        **cube,
        **BYPASS,
        "D_DATA_FORMAT": formats,
        "D_CVT_SCALE": 1,
        "D_DST_LINE_STRIDE": out.line_stride,
        "D_DST_SURFACE_STRIDE": out.surface_stride,
        "D_DST_DMA_CFG": 1,
        "D_PERF_ENABLE": 8,
    }
    rdma |= address("D_SRC_BASE_ADDR_HIGH", "D_SRC_BASE_ADDR_LOW", source.address)
    main |= address("D_DST_BASE_ADDR_HIGH", "D_DST_BASE_ADDR_LOW", out.address)
    bench.write("SDP_RDMA", rdma)
    bench.write("SDP", main)


def run_sdp(bench: Bench) -> None:
    bench.enable("SDP_RDMA", "SDP")
    bench.run()


def read(bench: Bench, block: str, register: str) -> int:
    return bench.chip.read(bench.chip.csb.blocks[block].layout.address(register))


half_numbers = st.one_of(st.integers(0, 0x7BFF), st.integers(0x8000, 0xFBFF), st.just(0x7E05))
single_numbers = st.one_of(
    st.integers(0x30000000, 0x48000000), st.integers(0xB0000000, 0xC8000000), st.just(0x7FC00003)
)


@st.composite
def float_stages(draw, numbers) -> dict:
    return {
        "on": draw(st.booleans()),
        "alu": draw(st.sampled_from([None, 0, 1, 2])),
        "alu_operand": draw(numbers),
        "mul": draw(st.booleans()),
        "mul_operand": draw(numbers),
        "prelu": draw(st.booleans()),
        "relu": draw(st.booleans()),
    }


def float_stage(p: dict, value: int, is_y: bool, flush: bool) -> int:
    """One stage on an FP32 pattern."""

    def operand(pattern: int) -> int:
        if is_y:
            return pattern
        if flush and naive.is_nan(pattern, HALF):
            pattern = 0
        return naive.convert(pattern, HALF, SINGLE)

    for step in ("mul", "alu") if is_y else ("alu", "mul"):
        if step == "alu" and p["alu"] is not None:
            value = ALU[p["alu"]](value, operand(p["alu_operand"]), SINGLE)
        if step == "mul" and p["mul"] and not (p["prelu"] and value >> 31 == 0):
            value = naive.multiply(value, operand(p["mul_operand"]), SINGLE)
    if not is_y and p["relu"] and value >> 31 and not naive.is_nan(value, SINGLE):
        value = 0
    return value


@COMMON
@given(
    float_stages(half_numbers),
    float_stages(half_numbers),
    float_stages(single_numbers),
    st.booleans(),
    st.sampled_from([1, FP16]),
    st.sampled_from(["numpy", "native"]),
    seeds,
)
def test_sdp_in_fp16(x1, x2, y, flush, out_precision, arithmetic, seed) -> None:
    rng = np.random.default_rng(seed)
    bench = Bench("nv_full", rng, 2, arithmetic)
    halves_everywhere(bench, rng)
    source, out = bench.cube(20, 2, 3, 1), bench.cube(20, 2, 3)
    program(bench, source, out, FP16 | out_precision << 2, FP16)
    main = {"D_FEATURE_MODE_CFG": int(flush) << 3}
    for p, prefix in ((x1, "BS"), (x2, "BN"), (y, "EW")):
        main[f"D_DP_{prefix}_CFG"] = (
            int(not p["on"])
            | int(p["alu"] is None) << 1
            | (p["alu"] or 0) << 2
            | int(not p["mul"]) << 4
            | int(p["prelu"]) << 5
            | int(prefix == "EW" or not p["relu"]) << 6
        )
        main[f"D_DP_{prefix}_ALU_SRC_VALUE"] = p["alu_operand"]
        main[f"D_DP_{prefix}_MUL_SRC_VALUE"] = p["mul_operand"]
    bench.write("SDP", main)
    memory = bench.image()
    run_sdp(bench)
    found = unsigned(bench.result(out))
    nan_in = nan_out = 0
    for (c, yy, xx), result in found.items():
        pattern = half_at(memory, source.position(bench.hardware, c, yy, xx))
        nan_in += naive.is_nan(pattern, HALF)
        value = naive.convert(pattern, HALF, SINGLE)
        if flush and naive.is_nan(value, SINGLE):
            value = 0
        for p, is_y in ((x1, False), (x2, False), (y, True)):
            if p["on"]:
                value = float_stage(p, value, is_y, flush)
        half = naive.convert(value, SINGLE, HALF)
        nan_out += naive.is_nan(half, HALF)
        if out_precision == FP16:
            assert result == half
        else:
            assert result == half_to_integer(half) & 0xFFFF
    assert read(bench, "SDP_RDMA", "D_STATUS_NAN_INPUT_NUM") == nan_in
    if out_precision == FP16:
        assert read(bench, "SDP", "D_STATUS_NAN_OUTPUT_NUM") == nan_out


def half_to_integer(half: int) -> int:
    if naive.is_nan(half, HALF):
        return -32768
    exact = naive.value(half, HALF)
    size = abs(exact) + naive.Fraction(1, 2)
    return saturate((size.numerator // size.denominator) * (1 if exact >= 0 else -1), 16)


@COMMON
@given(
    st.sampled_from([(0, 1, 1), (1, 1, 0), (0, 0, 1), (1, 1, 2), (0, 0, 0), (1, 0, 1), (0, 1, 2)]),
    st.sampled_from([1, 16, 20, 33]),
    st.tuples(st.integers(-9, 9), st.integers(-30, 30), st.integers(0, 4)),
    seeds,
)
def test_sdp_changes_precision(precisions, channels, converter, seed) -> None:
    """Input, processing and output precision of integers; the output also as fp16."""
    source_precision, processing, target = precisions
    bench = Bench("nv_full", np.random.default_rng(seed), 1 if source_precision == 0 else 2)
    source = bench.cube(channels, 2, 3)
    hw, memory = bench.hardware, bench.image()
    writer = Bench("nv_full", np.random.default_rng(0), 1 if target == 0 else 2).hardware
    out = bench.cube(channels, 2, 3)
    program(bench, source, out, processing | target << 2, source_precision)
    offset, scale, shift = converter
    bench.write("SDP", {"D_CVT_OFFSET": offset, "D_CVT_SCALE": scale, "D_CVT_SHIFT": shift})
    run_sdp(bench)
    result = bench.image()
    for c in range(channels):
        for y in range(2):
            for x in range(3):
                value = source.get(memory, hw, c, y, x)
                value = saturate(rounding_shift((value - offset) * scale, shift), 17)
                found = out.get(result, writer, c, y, x)
                if target == FP16:
                    half = naive.encode(int(value < 0), naive.Fraction(abs(value)), HALF)
                    assert found & 0xFFFF == half
                else:
                    assert found == saturate(value, 8 * writer.bpe)


@COMMON
@given(st.booleans(), st.sampled_from([(1, 1), (FP16, 2)]), seeds)
def test_equality_writes_a_flag_only(equal, kind, seed) -> None:
    precision, bpe = kind
    rng = np.random.default_rng(seed)
    bench = Bench("nv_full", rng, bpe)
    if precision == FP16:
        halves_everywhere(bench, rng)
    source, out = bench.cube(16, 2, 3), bench.cube(16, 2, 3)
    operand = bench.cube(16, 2, 3)
    size = 16 * 2 * 3 * 2
    start, other = (item.address - source.address for item in (source, operand))
    bench.data[other : other + size] = bench.data[start : start + size]
    if precision == FP16:  # a NaN pattern equals itself
        bench.data[other : other + 2] = bench.data[start : start + 2] = [1, 0x7E]
    if not equal:
        bench.data[other + 2 * int(rng.integers(0, size // 2))] ^= 1
    program(bench, source, out, precision | precision << 2, precision)
    bench.write("SDP", {"D_DP_EW_CFG": 3 << 2 | 1 << 4 | 1 << 6, "D_DP_EW_ALU_CFG": 3})
    registers = {
        "D_ERDMA_CFG": 1 << 1 | 1 << 3 | 1 << 4 | 1 << 5,
        "D_EW_LINE_STRIDE": operand.line_stride,
        "D_EW_SURFACE_STRIDE": operand.surface_stride,
    }
    registers |= address("D_EW_BASE_ADDR_HIGH", "D_EW_BASE_ADDR_LOW", operand.address)
    bench.write("SDP_RDMA", registers)
    before = bench.data.copy()
    run_sdp(bench)
    np.testing.assert_array_equal(bench.data, before)
    assert read(bench, "SDP", "D_STATUS") == int(not equal)


def float_pool(p, values: dict, size: tuple, pads: list[int], reciprocals: tuple) -> dict:
    """fp16 pooling, one window after the other; the second sum starts with the new line."""
    channels, height, width = size
    combine = {"max": naive.maximum, "min": naive.minimum}.get(p.method)
    result = {}
    for c in range(channels):
        for oy in range(p.out[0]):
            for ox in range(p.out[1]):
                y0, x0 = oy * p.stride[0] - p.pad_top, ox * p.stride[1] - p.pad_left
                ys = [y for y in range(y0, y0 + p.kernel[0]) if 0 <= y < height]
                xs = [x for x in range(x0, x0 + p.kernel[1]) if 0 <= x < width]
                lines = []
                for y in ys:
                    items = [values[c, y, x] for x in xs]
                    if combine is None:
                        items = [naive.convert(item, HALF, FP17) for item in items]
                    line = items[0]
                    for item in items[1:]:
                        line = combine(line, item, HALF) if combine else naive.add(line, item, FP17)
                    if combine is None:
                        line = naive.add(line, pads[p.kernel[1] - len(xs)], FP17)
                    lines.append(line)
                total = lines[0]
                for line in lines[1:]:
                    total = combine(line, total, HALF) if combine else naive.add(line, total, FP17)
                if combine is None:
                    wide = naive.encode(0, naive.Fraction(p.kernel[1]), FP17)
                    pad = naive.multiply(pads[p.kernel[0] - len(ys)], wide, FP17)
                    total = naive.add(total, pad, FP17)
                    for reciprocal in reciprocals:
                        total = naive.multiply(total, reciprocal, FP17)
                    total = naive.convert(total, FP17, HALF)
                result[c, oy, ox] = total
    return result


@COMMON
@given(
    pools().filter(valid),
    st.sampled_from([1, 16, 20]),
    st.booleans(),
    st.sampled_from(["numpy", "native"]),
    seeds,
)
def test_pooling_in_fp16(shape, channels, flush, arithmetic, seed) -> None:
    rng = np.random.default_rng(seed)
    bench = Bench("nv_full", rng, 2, arithmetic)
    halves_everywhere(bench, rng)
    size = (channels, shape["height"], shape["width"])
    p = pool_of(shape, 2)
    source, out = bench.cube(*size, 2), bench.cube(channels, *p.out, 1)
    program_pdp(bench, p, size, out, source)
    pads = [naive.convert(int(item) & 0xBFFF, HALF, FP17) for item in rng.integers(0, 65536, 8)]
    pads[0] = 0
    reciprocals = [naive.encode(0, naive.Fraction(1, p.kernel[axis]), FP17) for axis in (1, 0)]
    registers = {f"D_POOLING_PADDING_VALUE_{n}_CFG": pads[n] for n in range(1, 8)}
    registers |= {
        "D_DATA_FORMAT": FP16,
        "D_RECIP_KERNEL_WIDTH": reciprocals[0],
        "D_RECIP_KERNEL_HEIGHT": reciprocals[1],
        "D_NAN_FLUSH_TO_ZERO": int(flush),
    }
    bench.write("PDP", registers)
    bench.write("PDP_RDMA", {"D_DATA_FORMAT": FP16})
    hw, memory = bench.hardware, bench.image()
    padded = out.padded_channels(hw)
    values, nan = {}, 0
    for c in range(padded):
        for y in range(size[1]):
            for x in range(size[2]):
                pattern = half_at(memory, source.position(hw, c, y, x))
                nan += naive.is_nan(pattern, HALF)
                if flush and naive.is_nan(pattern, HALF):
                    pattern = 0
                values[c, y, x] = pattern
    expected = float_pool(p, values, (padded, *size[1:]), pads, tuple(reciprocals))
    bench.enable("PDP_RDMA", "PDP")
    bench.run()
    assert unsigned(bench.result(out)) == expected
    assert read(bench, "PDP", "D_NAN_INPUT_NUM") == nan
