"""Look-up tables of SDP on integers against loops: both tables, behind a convolution and alone."""

from __future__ import annotations

from collections import Counter

import numpy as np
from bench_nvdla import Bench
from hypothesis import given, settings
from hypothesis import strategies as st
from naive_nvdla import Conv, convolve, rounding_shift, saturate, x_stage, y_stage
from test_nvdla_cdp import choose, locate
from test_nvdla_units import CONV_BLOCKS, arithmetics, program_conv, program_sdp

COMMON = settings(max_examples=80, deadline=None)
numbers = st.one_of(st.integers(-300, 300), st.integers(-(1 << 31), (1 << 31) - 1))


@st.composite
def tables(draw) -> dict:
    """LUT settings that hit, miss below and miss above."""
    wide = draw(st.booleans())
    return {
        "linear": draw(st.booleans()),
        "under": draw(st.booleans()),
        "over": draw(st.booleans()),
        "hybrid": draw(st.booleans()),
        "offset": draw(st.integers(-4, 10) | st.sampled_from([-128, 30])),
        "select": draw(st.integers(10, 31) if wide else st.integers(-3, 12)),
        "lo_select": draw(st.integers(10, 31) if wide else st.integers(-3, 12)),
        "starts": (draw(numbers), draw(numbers)),
        "ends": (draw(numbers), draw(numbers)),
        "slopes": draw(st.lists(st.integers(-32768, 32767), min_size=4, max_size=4)),
        "shifts": draw(st.lists(st.integers(-16, 15), min_size=4, max_size=4)),
    }


def program(bench: Bench, p: dict, entries: list[list[int]]) -> None:
    """Write the tables and their registers."""
    for which, table in enumerate(entries):
        bench.write("SDP", {"S_LUT_ACCESS_CFG": which << 16 | 1 << 17})
        for item in table:
            bench.write("SDP", {"S_LUT_ACCESS_DATA": item & 0xFFFF})
    registers = {
        "S_LUT_CFG": p["linear"] | p["under"] << 4 | p["over"] << 5 | p["hybrid"] << 6,
        "S_LUT_INFO": (p["offset"] & 0xFF)
        | (p["select"] & 0xFF) << 8
        | (p["lo_select"] & 0xFF) << 16,
    }
    for which, name in ((0, "LE"), (1, "LO")):
        slopes, shifts = p["slopes"][2 * which :], p["shifts"][2 * which :]
        registers |= {
            f"S_LUT_{name}_START": p["starts"][which],
            f"S_LUT_{name}_END": p["ends"][which],
            f"S_LUT_{name}_SLOPE_SCALE": (slopes[0] & 0xFFFF) | (slopes[1] & 0xFFFF) << 16,
            f"S_LUT_{name}_SLOPE_SHIFT": (shifts[0] & 0x1F) | (shifts[1] & 0x1F) << 5,
        }
    bench.write("SDP", registers)


def look_up(p: dict, entries: list[list[int]], value: int, counts: Counter) -> int:
    results, kinds = [], []
    for which, name in ((0, "LE"), (1, "LO")):
        start, table = p["starts"][which], entries[which]
        kind, entry, fraction = locate(p, which, value - start)
        kinds.append(kind)
        if kind == "hit":
            counts[f"{name}_HIT"] += 1
            one = 1 << 35
            share = (fraction * one).numerator // (fraction * one).denominator
            total = table[entry] * (one - share) + table[entry + 1] * share
            results.append(rounding_shift(total, 35))
            continue
        number = 2 * which + (kind == "over")
        origin = p["ends"][which]
        if kind == "under":
            biased = which == 0 and not p["linear"] and p["offset"] > 0
            origin = start + (1 << p["offset"] if biased else 0)
        step = rounding_shift((value - origin) * p["slopes"][number], p["shifts"][number])
        end = table[0 if kind == "under" else -1]
        results.append(saturate(saturate(step, 32) + end, 32))
    chosen = choose(p, *kinds)
    counts[{"hit": "HYBRID", "under": "UFLOW", "over": "OFLOW"}[kinds[chosen]]] += 1
    return results[chosen]


@COMMON
@given(
    st.sampled_from([("nv_full", 1), ("nv_full", 2), ("nv_large", 1)]),
    tables(),
    st.booleans(),
    st.tuples(st.booleans(), st.integers(-32768, 32767), st.integers(0, 12)),
    st.tuples(st.integers(-500, 500), st.integers(-300, 300), st.integers(0, 20)),
    st.sampled_from(["nothing", "entry", "register"]),
    arithmetics,
    st.integers(0, 2**32),
)
def test_tables(target, p, flying, spread, cvt, change, arithmetic, seed) -> None:
    """Two runs, the second perhaps with other tables in the same registers of the group."""
    rng = np.random.default_rng(seed)
    bench = Bench(target[0], rng, target[1], arithmetic)
    hw, size = bench.hardware, (9, 3, 4)
    entries = [[int(v) for v in rng.integers(-32768, 32768, n)] for n in (65, 257)]
    source, out = bench.cube(5 if flying else 9, 3, 4), bench.cube(*size)
    conv = Conv(9, 1, 1, (1, 1), (1, 1), 0, 0, 0, 2, (3, 4), bench.reserve())
    x1 = {
        "alu": None, "alu_shift": 0, "mul": spread[0], "prelu": False, "mul_shift": spread[2],
        "relu": False, "source": "register", "two_bytes": False,
    }  # fmt: skip
    y = {**x1, "mul": False, "alu": "sum" if seed & 1 else None, "mul_shift": 0}
    y["relu"] = True  # the bit that switches the tables on
    settings_ = {"x1": x1, "x2": None, "y": y, "cvt": cvt}
    for group in (0, 1):
        if group and change == "entry":
            entries[seed & 1][seed % 65] += 1 if entries[seed & 1][seed % 65] < 0 else -1
        elif group and change == "register":
            p = {**p, "starts": (p["starts"][0] ^ 5, p["starts"][1] ^ 9)}
        program(bench, p, entries)
        fixed = np.random.default_rng(seed)
        naive, _ = program_sdp(
            bench, fixed, settings_, size, group, flying, out, None if flying else source
        )
        bench.write("SDP", {"D_PERF_ENABLE": 2 | (seed & 1) << 2})
        memory = bench.image()
        padded = out.padded_channels(hw)
        if flying:
            program_conv(bench, conv, source, group)
            values = convolve(memory, hw, conv, source)
        else:
            values = {
                (c, y, x): source.get(memory, hw, c, y, x)
                for c in range(padded)
                for y in range(3)
                for x in range(4)
            }
        counts: Counter[str] = Counter()
        bench.enable("SDP_RDMA", "SDP", *(CONV_BLOCKS if flying else ()))
        bench.run()
        found = bench.result(out)
        for at in found:
            value = x_stage(naive.x1, values.get(at, 0), *at)
            value = look_up(p, entries, y_stage(naive.y, value, *at), counts)
            value = saturate(rounding_shift((value - cvt[0]) * cvt[1], cvt[2]), 17)
            assert found[at] == saturate(value, 8 * target[1])
        state = bench.chip.csb.blocks["SDP"]
        counted = state.counted[group]
        for name in ("UFLOW", "OFLOW", "HYBRID", "LE_HIT", "LO_HIT"):
            index = state.layout.by_name[f"D_PERF_LUT_{name}"].offset // 4
            assert counted[index] == counts[name], name
