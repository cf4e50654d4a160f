"""CDP against loops: int8, int16 and fp16, both tables, all bypasses."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from functools import cache

import naive_fp16 as naive
import numpy as np
from bench_nvdla import Bench, address
from hypothesis import given, settings
from hypothesis import strategies as st
from naive_nvdla import rounding_shift, saturate
from test_nvdla_conv_modes import FP16, half_at, halves_everywhere, unsigned

HALF, FP17, SINGLE = naive.HALF, naive.FP17, naive.SINGLE
COMMON = settings(max_examples=40, deadline=None)


@st.composite
def tables(draw, precision: int) -> dict:
    """LUT settings that hit, miss below and miss above."""
    floating = precision == FP16
    low = st.integers(-20, 200)
    start, other = draw(low), draw(low)
    extremes = [-128, -40, 60, 127] if floating else [-32, 31]
    return {
        "linear": draw(st.booleans()),
        "under": draw(st.booleans()),
        "over": draw(st.booleans()),
        "hybrid": draw(st.booleans()),
        "offset": draw(st.integers(-4, 6)),
        "select": draw(st.integers(-3, 12) | st.sampled_from(extremes)),
        "lo_select": draw(st.integers(-3, 12) | st.sampled_from(extremes)),
        "starts": (start, other),
        "ends": (draw(st.integers(200, 9000)), draw(st.integers(200, 9000))),
        "slopes": draw(
            st.lists(
                st.integers(0x3000, 0x4400) if floating else st.integers(-300, 300),
                min_size=4,
                max_size=4,
            )
        ),
        "shifts": draw(st.lists(st.integers(-3, 8), min_size=4, max_size=4)),
    }


def locate(p: dict, which: int, distance) -> tuple[str, int, Fraction]:
    """Where a distance from the start falls: (under, over or hit; entry; fraction)."""
    if distance <= 0:
        return "under", 0, Fraction(0)
    exact, last = Fraction(distance), (64, 256)[which]
    if which == 0 and not p["linear"]:
        power = naive.log2_floor(exact)
        entry = power - p["offset"]
        if entry < 0:
            return "under", 0, Fraction(0)
        if entry >= last:
            return "over", 0, Fraction(0)
        return "hit", entry, exact / Fraction(2) ** power - 1
    steps = exact / Fraction(2) ** (p["select"], p["lo_select"])[which]
    entry = steps.numerator // steps.denominator
    return ("over", 0, Fraction(0)) if entry >= last else ("hit", entry, steps - entry)


def choose(p: dict, le: str, lo: str) -> int:
    if le == lo == "under":
        return int(p["under"])
    if le == lo == "over":
        return int(p["over"])
    if (le == "hit") != (lo == "hit"):
        return int(lo == "hit")
    return int(p["hybrid"])


def case(le: str, lo: str) -> str:
    """The counter of CDP that counts a value."""
    if le == lo:
        return "HYBRID" if le == "hit" else {"under": "UFLOW", "over": "OFLOW"}[le]
    if "hit" not in (le, lo):
        return "HYBRID"
    return "LE_HIT" if le == "hit" else "LO_HIT"


def integer_lookup(p: dict, entries: list[list[int]], value: int, counts: Counter) -> int:
    results, kinds = [], []
    for which in (0, 1):
        start, end, table = p["starts"][which], p["ends"][which], entries[which]
        kind, entry, fraction = locate(p, which, value - start)
        kinds.append(kind)
        if kind == "hit":
            share = fraction * 65536
            step = (table[entry + 1] - table[entry]) * (share.numerator // share.denominator)
            results.append(saturate(table[entry] + rounding_shift(step, 16), 16))
            continue
        number = 2 * which + (kind == "over")
        origin = end
        if kind == "under":
            biased = which == 0 and not p["linear"] and p["offset"] >= 0
            origin = start + (1 << p["offset"] if biased else 0)
        step = rounding_shift((value - origin) * p["slopes"][number], p["shifts"][number])
        results.append(saturate(table[0 if kind == "under" else -1] + step, 16))
    counts[case(*kinds)] += 1
    return results[choose(p, *kinds)]


def single_of(number: Fraction) -> int:
    return naive.encode(int(number < 0), abs(number), SINGLE)


def half_lookup(p: dict, entries: list[list[int]], value: int, counts: Counter) -> int:
    """FP17 result for an FP32 pattern."""
    results, kinds = [], []
    for which in (0, 1):
        start, end = (single_of(Fraction(p[key][which])) for key in ("starts", "ends"))
        gap = naive.add(value, naive.negate(start, SINGLE), SINGLE)
        nan = naive.is_nan(gap, SINGLE)
        distance = Fraction(0) if nan else naive.value(gap, SINGLE)
        kind, entry, fraction = locate(p, which, distance)
        kinds.append(kind)
        if kind == "hit":
            raw = [naive.convert(entries[which][entry + i] & 0xFFFF, HALF, SINGLE) for i in (0, 1)]
            step = naive.add(raw[1], naive.negate(raw[0], SINGLE), SINGLE)
            share = fraction * 65536
            share = Fraction(share.numerator // share.denominator, 65536)
            part = naive.multiply(
                naive.convert(step, SINGLE, FP17), naive.encode(0, share, FP17), FP17
            )
            low = naive.convert(entries[which][entry] & 0xFFFF, HALF, FP17)
            results.append(naive.add(part, low, FP17))
            continue
        number = 2 * which + (kind == "over")
        origin = end
        if kind == "under":
            origin = start
            if which == 0 and not p["linear"]:
                origin = naive.add(start, single_of(Fraction(2) ** p["offset"]), SINGLE)
        gap = naive.add(value, naive.negate(origin, SINGLE), SINGLE)
        slope = naive.convert(p["slopes"][number], HALF, FP17)
        step = naive.multiply(naive.convert(gap, SINGLE, FP17), slope, FP17)
        edge = entries[which][0 if kind == "under" else -1]
        results.append(naive.add(step, naive.convert(edge & 0xFFFF, HALF, FP17), FP17))
    counts[case(*kinds)] += 1
    return results[choose(p, *kinds)]


@COMMON
@given(
    st.sampled_from([0, 1, FP16]).flatmap(lambda n: st.tuples(st.just(n), tables(n))),
    st.integers(0, 3),
    st.booleans(),
    st.booleans(),
    st.sampled_from([1, 5, 16, 33]),
    st.tuples(st.integers(-20, 20), st.integers(-9, 9), st.integers(0, 4)),
    st.tuples(st.integers(-500, 500), st.integers(-300, 300), st.integers(0, 20)),
    st.sampled_from(["numpy", "native"]),
    st.integers(0, 2**32),
)
def test_cdp(kind, length, plain, no_product, channels, into, outof, arithmetic, seed) -> None:
    precision, p = kind
    rng = np.random.default_rng(seed)
    bpe = 1 if precision == 0 else 2
    bench = Bench("nv_full", rng, bpe, arithmetic)
    if precision == FP16:
        halves_everywhere(bench, rng)
    source, out = bench.cube(channels, 2, 2, 1), bench.cube(channels, 2, 2)
    entries = [[int(item) for item in rng.integers(-3000, 3000, size)] for size in (65, 257)]
    if precision == FP16:
        entries = [[int(item) for item in rng.integers(0x3000, 0x4400, size)] for size in (65, 257)]
    lut = {
        "S_LUT_CFG": int(p["linear"])
        | int(p["under"]) << 4
        | int(p["over"]) << 5
        | int(p["hybrid"]) << 6,
        "S_LUT_INFO": (p["offset"] & 0xFF)
        | (p["select"] & 0xFF) << 8
        | (p["lo_select"] & 0xFF) << 16,
    }
    for which, name in ((0, "LE"), (1, "LO")):
        for edge, key in (("START", "starts"), ("END", "ends")):
            number = p[key][which]
            if precision == FP16:
                number = single_of(Fraction(number))
            lut[f"S_LUT_{name}_{edge}_LOW"] = number & 0xFFFFFFFF
            lut[f"S_LUT_{name}_{edge}_HIGH"] = number >> 32 & 0x3F
        slopes, shifts = p["slopes"][2 * which :], p["shifts"][2 * which :]
        lut[f"S_LUT_{name}_SLOPE_SCALE"] = (slopes[0] & 0xFFFF) | (slopes[1] & 0xFFFF) << 16
        lut[f"S_LUT_{name}_SLOPE_SHIFT"] = (shifts[0] & 0x1F) | (shifts[1] & 0x1F) << 5
        bench.write("CDP", {"S_LUT_ACCESS_CFG": which << 16 | 1 << 17})
        for item in entries[which]:
            bench.write("CDP", {"S_LUT_ACCESS_DATA": item & 0xFFFF})
    bench.write("CDP", lut)
    cube = {
        "D_DATA_CUBE_WIDTH": 1,
        "D_DATA_CUBE_HEIGHT": 1,
        "D_DATA_CUBE_CHANNEL": channels - 1,
    }
    rdma = {
        **cube,
        "D_DATA_FORMAT": precision,
        "D_SRC_LINE_STRIDE": source.line_stride,
        "D_SRC_SURFACE_STRIDE": source.surface_stride,
        "D_SRC_DMA_CFG": 1,
    }
    rdma |= address("D_SRC_BASE_ADDR_HIGH", "D_SRC_BASE_ADDR_LOW", source.address)
    main = {
        "D_DATA_FORMAT": precision,
        "D_FUNC_BYPASS": int(plain) | int(no_product) << 1,
        "D_LRN_CFG": length,
        "D_DATIN_OFFSET": into[0],
        "D_DATIN_SCALE": into[1],
        "D_DATIN_SHIFTER": into[2],
        "D_DATOUT_OFFSET": outof[0],
        "D_DATOUT_SCALE": outof[1],
        "D_DATOUT_SHIFTER": outof[2],
        "D_DST_LINE_STRIDE": out.line_stride,
        "D_DST_SURFACE_STRIDE": out.surface_stride,
        "D_DST_DMA_CFG": 1,
        "D_PERF_ENABLE": 2,
    }
    main |= address("D_DST_BASE_ADDR_HIGH", "D_DST_BASE_ADDR_LOW", out.address)
    bench.write("CDP_RDMA", rdma)
    bench.write("CDP", main)
    hw, memory = bench.hardware, bench.image()
    bench.enable("CDP_RDMA", "CDP")
    bench.run()
    found = unsigned(bench.result(out))
    counts: Counter[str] = Counter()
    clipped = 0
    for y in range(2):
        for x in range(2):

            @cache
            def centre(c: int, y: int = y, x: int = x) -> int:
                if not 0 <= c < channels:
                    return 0
                if precision == FP16:
                    pattern = half_at(memory, source.position(hw, c, y, x))
                    return naive.convert(pattern, HALF, FP17)
                raw = source.get(memory, hw, c, y, x)
                scaled = rounding_shift((raw - into[0]) * into[1], into[2])
                return saturate(scaled, 9 if precision == 0 else 17)

            for c in range(out.padded_channels(hw)):
                if precision == FP16:
                    expected = half_result(p, entries, centre, c, length, plain, no_product, counts)
                else:
                    value = centre(c)
                    if not plain:
                        reach = range(c - length - 1, c + length + 2)
                        value = sum(centre(i) ** 2 for i in reach)
                    value = integer_lookup(p, entries, value, counts)
                    value = value if no_product else value * centre(c)
                    scaled = rounding_shift((value - outof[0]) * outof[1], outof[2])
                    expected = saturate(scaled, 8 * bpe)
                    clipped += expected != scaled
                    expected &= 0xFFFF
                assert found[c, y, x] == expected
    state = bench.chip.csb.blocks["CDP"]
    counted = state.counted[1 - state.consumer]
    for name in ("UFLOW", "OFLOW", "HYBRID", "LE_HIT", "LO_HIT"):
        assert counted[state.layout.by_name[f"D_PERF_LUT_{name}"].offset // 4] == counts[name]
    assert counted[state.layout.by_name["D_OUT_SATURATION"].offset // 4] == clipped


def half_result(
    p, entries, centre, c: int, length: int, plain: bool, no_product: bool, counts: Counter
) -> int:
    """fp16 result of one element."""

    def square(i: int) -> int:
        wide = naive.convert(centre(i), FP17, SINGLE)
        return naive.multiply(wide, wide, SINGLE)

    total = naive.convert(centre(c), FP17, SINGLE)
    if not plain:
        total = naive.add(naive.add(square(c - 1), square(c + 1), SINGLE), square(c), SINGLE)
        for step in range(2, length + 2):
            pair = naive.add(square(c - step), square(c + step), SINGLE)
            total = naive.add(total, pair, SINGLE)
    factor = half_lookup(p, entries, total, counts)
    if no_product:
        result = centre(c) if naive.is_nan(centre(c), FP17) else factor
    else:
        result = naive.multiply(centre(c), factor, FP17)
    return naive.convert(result, FP17, HALF)
