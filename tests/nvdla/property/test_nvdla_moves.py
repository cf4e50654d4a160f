"""BDMA and RUBIK against loops over bytes and elements."""

from __future__ import annotations

import numpy as np
from bench_nvdla import PAGE, Bench, address
from hypothesis import given, settings
from hypothesis import strategies as st
from naive_nvdla import BASE

ATOM = 32
SMALL = st.integers(1, 4)
GROUPS = st.integers(0, 1)
SEEDS = st.integers(0, 2**32 - 1)


@settings(max_examples=40, deadline=None)
@given(
    copies=st.lists(st.tuples(SMALL, SMALL, SMALL, SMALL, SMALL), min_size=1, max_size=5),
    group=GROUPS,
    seed=SEEDS,
)
def test_bdma(copies: list[tuple[int, ...]], group: int, seed: int) -> None:
    """Some stored descriptors, launched together; strides are independent of the sizes."""
    bench = Bench("nv_full", np.random.default_rng(seed))
    expected = bench.image()
    for atoms, lines, surfaces, source_gap, target_gap in copies:
        source, target = bench.reserve(), bench.reserve()
        size = atoms * ATOM
        source_line, target_line = size + (source_gap - 1) * ATOM, size + (target_gap - 1) * ATOM
        source_surface, target_surface = source_line * lines, target_line * (lines + 1)
        for s in range(surfaces):
            for line in range(lines):
                a = source - BASE + s * source_surface + line * source_line
                b = target - BASE + s * target_surface + line * target_line
                for i in range(size):
                    expected[b + i] = expected[a + i]
        registers = {
            **address("CFG_SRC_ADDR_HIGH", "CFG_SRC_ADDR_LOW", source),
            **address("CFG_DST_ADDR_HIGH", "CFG_DST_ADDR_LOW", target),
            "CFG_LINE": atoms - 1,
            "CFG_CMD": 3,
            "CFG_LINE_REPEAT": lines - 1,
            "CFG_SRC_LINE": source_line,
            "CFG_DST_LINE": target_line,
            "CFG_SURF_REPEAT": surfaces - 1,
            "CFG_SRC_SURF": source_surface,
            "CFG_DST_SURF": target_surface,
            "CFG_OP": 1,
        }
        bench.write("BDMA", registers)
    bench.write("BDMA", {f"CFG_LAUNCH{group}": 1})
    assert bench.run() == 1 << (6 + group)
    assert bench.data.tobytes() == bytes(expected)


def run_rubik(bench: Bench, group: int, registers: dict[str, int]) -> None:
    """Group 1 gets its turn after group 0, whose work is undone."""
    before = bench.data.copy()
    for number in range(group + 1):
        bench.data[:] = before
        bench.select(number, "RBK")
        bench.write("RBK", {"D_DAIN_RAM_TYPE": 1, "D_DAOUT_RAM_TYPE": 1, **registers})
        bench.enable("RBK")
        assert bench.run() >> (8 + number) == 1


@settings(max_examples=40, deadline=None)
@given(
    stride=st.tuples(SMALL, SMALL),
    size=st.tuples(st.integers(1, 5), st.integers(1, 5)),
    channels=st.integers(1, 40),
    bpe=st.sampled_from([1, 2]),
    group=GROUPS,
    seed=SEEDS,
)
def test_rubik_contract(
    stride: tuple[int, int], size: tuple[int, int], channels: int, bpe: int, group: int, seed: int
) -> None:
    (sy, sx), (height, width) = stride, size
    bench = Bench("nv_full", np.random.default_rng(seed), bpe)
    expected = bench.image()
    surfaces = -(-channels * bpe // ATOM)
    source, target = bench.reserve(), BASE + 8 * PAGE
    line, out_line = width * ATOM, width * sx * ATOM + ATOM
    surface, out_surface = line * height, out_line * (height * sy + 1)
    before = bytes(expected)
    for s in range(surfaces):
        for y in range(height * sy):
            for x in range(width * sx):
                origin = ((y % sy) * sx + x % sx) * surfaces + s
                a = source - BASE + origin * surface + (y // sy) * line + (x // sx) * ATOM
                b = target - BASE + s * out_surface + y * out_line + x * ATOM
                expected[b : b + ATOM] = before[a : a + ATOM]
    run_rubik(bench, group, {
        "D_MISC_CFG": (bpe - 1) << 8,
        "D_DATAIN_SIZE_0": width - 1 | (height - 1) << 16,
        "D_DATAIN_SIZE_1": channels * sx * sy - 1,
        **address("D_DAIN_ADDR_HIGH", "D_DAIN_ADDR_LOW", source),
        "D_DAIN_LINE_STRIDE": line,
        "D_DAIN_SURF_STRIDE": surface,
        "D_DATAOUT_SIZE_1": channels - 1,
        **address("D_DAOUT_ADDR_HIGH", "D_DAOUT_ADDR_LOW", target),
        "D_DAOUT_LINE_STRIDE": out_line,
        "D_CONTRACT_STRIDE_1": out_line * sy,
        "D_DAOUT_SURF_STRIDE": out_surface,
        "D_DECONV_STRIDE": sx - 1 | (sy - 1) << 16,
    })  # fmt: skip
    assert bench.data.tobytes() == bytes(expected)


@settings(max_examples=40, deadline=None)
@given(
    shape=st.tuples(st.integers(1, 70), st.integers(1, 4), st.integers(1, 40)),
    bpe=st.sampled_from([1, 2]),
    group=GROUPS,
    split=st.booleans(),
    seed=SEEDS,
)
def test_rubik_split_and_merge(
    shape: tuple[int, int, int], bpe: int, group: int, split: bool, seed: int
) -> None:
    channels, height, width = shape
    bench = Bench("nv_full", np.random.default_rng(seed), bpe)
    expected = bench.image()
    per_atom = ATOM // bpe
    cube, planes = BASE, BASE + 8 * PAGE
    line, plane_line = width * ATOM, -(-width * bpe // ATOM) * ATOM
    surface, plane = line * height, plane_line * height
    padded = -(-channels // per_atom) * per_atom
    for c in range(channels if split else padded):
        for y in range(height):
            for x in range(plane_line // bpe if split else width):
                in_cube = c // per_atom * surface + y * line + x * ATOM + c % per_atom * bpe
                in_plane = planes - BASE + c * plane + y * plane_line + x * bpe
                a, b = (in_cube, in_plane) if split else (in_plane, in_cube)
                real = x < width and c < channels
                expected[b : b + bpe] = expected[a : a + bpe] if real else bytes(bpe)
    registers = {
        "D_MISC_CFG": (1 if split else 2) | (bpe - 1) << 8,
        "D_DATAIN_SIZE_0": width - 1 | (height - 1) << 16,
        "D_DATAIN_SIZE_1": channels - 1,
        "D_DATAOUT_SIZE_1": channels - 1,
        **address("D_DAIN_ADDR_HIGH", "D_DAIN_ADDR_LOW", cube if split else planes),
        **address("D_DAOUT_ADDR_HIGH", "D_DAOUT_ADDR_LOW", planes if split else cube),
        "D_DAIN_LINE_STRIDE": line if split else plane_line,
        "D_DAIN_SURF_STRIDE": surface,
        "D_DAIN_PLANAR_STRIDE": plane,
        "D_DAOUT_LINE_STRIDE": plane_line if split else line,
        "D_DAOUT_SURF_STRIDE": surface,
        "D_DAOUT_PLANAR_STRIDE": plane,
    }
    run_rubik(bench, group, registers)
    assert bench.data.tobytes() == bytes(expected)
