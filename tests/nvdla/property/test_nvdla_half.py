"""SDP and CDP in fp16: compiled code and numpy agree in all that they write and count.

That numpy is right is said by the tests against loops and by recorded vectors."""

from __future__ import annotations

import numpy as np
from bench_nvdla import Bench
from hypothesis import given, settings
from hypothesis import strategies as st
from test_nvdla_conv_modes import FP16, halves_everywhere
from test_nvdla_lut import program
from test_nvdla_units import program_sdp, sdp_settings

COMMON = settings(max_examples=100, deadline=None)
singles = st.sampled_from(
    [0, 0x80000000, 0x3F800000, 0xBF800000, 0x41200000, 0xC1A00000, 0x7F7FFFFF, 0x7FC00003, 1]
)
halves = st.integers(0x3000, 0x4800) | st.integers(0xB000, 0xC800) | st.sampled_from([0, 0x7E01])


@st.composite
def tables(draw) -> dict:
    """LUT settings in the formats of fp16."""
    return {
        **{key: draw(st.booleans()) for key in ("linear", "under", "over", "hybrid")},
        "offset": draw(st.integers(-60, 10) | st.sampled_from([-128, 127])),
        "select": draw(st.integers(-12, 12) | st.sampled_from([-128, 127])),
        "lo_select": draw(st.integers(-12, 12)),
        "starts": (draw(singles), draw(singles)),
        "ends": (draw(singles), draw(singles)),
        "slopes": draw(st.lists(halves, min_size=4, max_size=4)),
        "shifts": [0] * 4,
        "ordinary": draw(st.booleans()),
    }


@COMMON
@given(
    sdp_settings(),
    st.none() | tables(),
    st.booleans(),
    st.booleans(),
    st.integers(0, 15),
    st.sampled_from([1, FP16]),
    st.integers(0, 2**32),
)
def test_sdp(stages, lut, ordinary, flush, counted, out_precision, seed) -> None:
    """Stages with operands from registers and memory, tables; twice, then as a known layer."""
    found = []
    for arithmetic in ("numpy", "native"):
        rng = np.random.default_rng(seed)
        bench = Bench("nv_full", rng, 2, arithmetic)
        if ordinary:
            bench.data.view(np.float16)[:] = rng.normal(size=bench.data.size // 2) * 3
        else:
            halves_everywhere(bench, rng)
        if lut is not None:
            sizes = (65, 257)
            entries = [[int(v) for v in rng.integers(0, 65536, size)] for size in sizes]
            if lut["ordinary"]:
                entries = [
                    [int(v) for v in rng.normal(size=size).astype(np.float16).view(np.uint16)]
                    for size in sizes
                ]
            program(bench, lut, entries)
        source, out = bench.cube(20, 2, 5, 1), bench.cube(20, 2, 5)
        for group in (0, 1):
            after, fixed = bench._next, np.random.default_rng(seed)
            operands = {
                key: None if stages[key] is None else {**stages[key], "two_bytes": True}
                for key in ("x1", "x2", "y")
            }
            if operands["y"] is not None:
                operands["y"]["relu"] = lut is not None  # switches the tables on
            layer = {**operands, "cvt": (0, 1, 0)}
            program_sdp(bench, fixed, layer, (20, 2, 5), group, False, out, source)
            bench._next = after
            formats = FP16 | out_precision << 2
            bench.write("SDP", {"D_DATA_FORMAT": formats, "D_PERF_ENABLE": counted})
            bench.write("SDP", {"D_FEATURE_MODE_CFG": int(flush) << 3})
            bench.write("SDP_RDMA", {"D_FEATURE_MODE_CFG": FP16 << 2 | FP16 << 4})
            bench.write("SDP_RDMA", {"D_PERF_ENABLE": 2 * (seed & 1)})
            bench.enable("SDP_RDMA", "SDP")
            bench.run()
            states = [bench.chip.csb.blocks[name] for name in ("SDP", "SDP_RDMA")]
            found.append((bench.data.tobytes(), [state.counted[group] for state in states]))
    assert found[0] == found[2]
    assert found[1] == found[3]
    assert found[0] == found[1]
