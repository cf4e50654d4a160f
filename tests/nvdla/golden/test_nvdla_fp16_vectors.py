"""fp16 functions of CMAC, CACC and SDP against vectors of the reference headers."""

from __future__ import annotations

import gzip
import json
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from test_nvdla_vectors import EXTENT, FULL, NOWHERE, registers

from cudla_sim.nvdla.hw import floats
from cudla_sim.nvdla.hw.csb import LookupTable
from cudla_sim.nvdla.hw.units.conv import fp16
from cudla_sim.nvdla.hw.units.conv.reference import fp16 as steps
from cudla_sim.nvdla.hw.units.conv.reference import winograd
from cudla_sim.nvdla.hw.units.lut.reference import extrapolated, interpolated
from cudla_sim.nvdla.hw.units.lut.tables import Slope
from cudla_sim.nvdla.hw.units.sdp.lut import Lut
from cudla_sim.nvdla.hw.units.sdp.processor import Processor
from cudla_sim.nvdla.hw.units.sdp.reference import bands, stages
from cudla_sim.nvdla.hw.units.sdp.reference import lut as tables
from cudla_sim.nvdla.hw.units.sdp.registers import BsParams, EwParams
from cudla_sim.nvdla.hw.units.sdp.stages import Extent, Stage

MASK38 = (1 << 38) - 1
MASK40 = (1 << 40) - 1
HALF_EXTENT = Extent(*EXTENT[:4], 2)


@cache
def vectors(folder: Path, name: str) -> dict[str, Any]:
    with gzip.open(folder / "vectors" / f"fp16_{name}_vectors.json.gz", "rt") as file:
        return json.load(file)


def halves(patterns: list[int]) -> np.ndarray:
    return (np.array(patterns) & 0xFFFF).astype(np.uint16)


def band(pattern: int) -> np.ndarray:
    return floats.single(np.full((1, 1, 1), pattern & 0xFFFFFFFF, np.uint32))


def pattern(values: np.ndarray) -> int:
    """FP32 pattern as the vectors have it, signed."""
    return int(floats.single_bits(np.asarray(values, np.float64)).reshape(-1)[0].view(np.int32))


def accumulator(word: int) -> steps.Accumulators:
    mantissa = (word & MASK40 ^ 1 << 39) - (1 << 39)
    return steps.Accumulators(np.array([mantissa]), np.array([word >> 40]))


def test_multipliers(data: Path) -> None:
    for (folded, inputs, weights), expected in vectors(data, "conv")["cmac_fp16"]["cases"]:
        packed = fp16.prepare(halves(weights)[:, None], np.array([0, 64]))
        shifted, scales = steps.products(packed.packed[:, :1], halves(inputs)[None])
        sums = [int(shifted.sum())]
        if folded:
            grid = shifted.reshape(winograd.POSITIONS, winograd.BLOCK, 1).sum(axis=1)
            sums = [int(value) for value in winograd.back(grid).reshape(-1)]
        nan = int(steps.nan_of(packed.raw[:, :1], halves(inputs)[None])[0, 0])
        if nan:
            found = [63 << 38 | nan >> 2 & MASK38] * len(sums)
        else:
            found = [4 * int(scales[0, 0]) << 38 | value & MASK38 for value in sums]
        assert found == expected


def test_accumulator(data: Path) -> None:
    for (before, step), expected in vectors(data, "conv")["cacc_fp16_add"]["cases"]:
        state, scale = accumulator(before), step >> 38
        mantissa = (step & MASK38 ^ 1 << 37) - (1 << 37)
        sums = np.array([mantissa])
        after = steps.accumulate(state, sums, np.array([min(scale, 60) // 4]))
        if scale == 63:
            after = steps.with_nan(state, after, sums >> 27 << 29)
        assert int(after.exponent[0]) << 40 | int(after.mantissa[0]) & MASK40 == expected


def test_accumulator_to_single(data: Path) -> None:
    for word, expected in vectors(data, "conv")["cacc_to_fp32"]["cases"]:
        assert int(steps.to_single(accumulator(word))[0]) == expected & 0xFFFFFFFF


def test_conversions(data: Path) -> None:
    cases = vectors(data, "sdp")["conversions"]
    for source, expected in cases["f16to32"]:
        wide = floats.widened(floats.half(halves([source])), floats.SINGLE)
        assert int(floats.single_bits(wide)[0]) == expected & 0xFFFFFFFF
    for source, expected in cases["f16to17"]:
        wide = floats.widened(floats.half(halves([source])), floats.FP17)
        np.testing.assert_array_equal(wide, floats.fp17(np.array([expected & 0x1FFFF])))
    for source, expected in cases["f32to16"]:
        assert int(floats.half_bits(band(source))[0, 0, 0]) == expected & 0xFFFF
    for source, expected in cases["f32to17"]:
        np.testing.assert_array_equal(
            floats.to_fp17(band(source)).reshape(-1), floats.fp17(np.array([expected & 0x1FFFF]))
        )
    for source, expected in cases["f16toi16"]:
        assert int(floats.half_to_int16(halves([source]))[0]) == expected
    for source, expected in cases["i17tof16"]:
        assert int(floats.half_bits(np.array([float(source)]))[0]) == expected & 0xFFFF


def test_x_stage(data: Path) -> None:
    for values, (expected,) in vectors(data, "sdp")["X"]["cases"]:
        x, alu, mul, alu_bypass, algorithm, _, mul_bypass, prelu, _, relu, flush, _ = values
        params = BsParams(0, alu_bypass, algorithm, mul_bypass, prelu, relu, 0, 0, alu, mul, 0, 0)
        stage = Stage(params, None, HALF_EXTENT, FULL, NOWHERE, bool(flush))
        assert pattern(stages.apply(stage, band(x), 0, True)) == expected, values


def test_y_stage(data: Path) -> None:
    for values, (expected,) in vectors(data, "sdp")["Ycore"]["cases"]:
        x, alu, mul, alu_bypass, algorithm, mul_bypass, _, prelu, _ = values
        params = EwParams(
            0, alu_bypass, algorithm, mul_bypass, prelu, 1, 0, 0, alu, mul, 0, *[0] * 8
        )
        stage = Stage(params, None, HALF_EXTENT, FULL, NOWHERE)
        found = stages.apply(stage, band(x), 0, True)
        if algorithm == 3 and not alu_bypass:  # a flag, not a number
            assert int(found[0, 0, 0]) == int(expected != 0), values
        else:
            assert pattern(found) == expected, values


def test_output_converter(data: Path) -> None:
    for values, (expected, *_) in vectors(data, "sdp")["C"]["cases"]:
        group = registers(
            "SDP",
            {
                "D_DATA_FORMAT": 2 | values[5] << 2,
                "D_DP_BS_CFG": 1,
                "D_DP_BN_CFG": 1,
                "D_DP_EW_CFG": 1,
                "D_FEATURE_MODE_CFG": 1,
            },
        )
        unit = Processor({"SDP": group}, group, LookupTable(), FULL, NOWHERE)
        found = bands.process(unit, band(values[0]), 0)
        if found.dtype == np.float16:
            assert int(found.view(np.uint16)[0, 0, 0]) == expected & 0xFFFF, values
        else:
            assert int(found[0, 0, 0]) == (expected & 0xFFFF ^ 0x8000) - 0x8000, values


def test_lut_index(data: Path) -> None:
    for values, expected in vectors(data, "sdp")["Yidx"]["cases"]:
        x, le_start, lo_start, offset, le_select, lo_select, linear, under, over, hybrid, _ = values
        single = registers(
            "SDP",
            {
                "S_LUT_CFG": linear | under << 4 | over << 5 | hybrid << 6,
                "S_LUT_INFO": (offset & 0xFF) | (le_select & 0xFF) << 8 | (lo_select & 0xFF) << 16,
                "S_LUT_LE_START": le_start,
                "S_LUT_LO_START": lo_start,
            },
        )
        lut = Lut(single, LookupTable(), True)
        le, lo, use_lo = tables.find(lut, band(x).reshape(-1))
        chosen = lo if use_lo[0] else le
        hits = [int(not (item.under[0] or item.over[0])) for item in (le, lo)]
        assert int(use_lo[0]) == expected[0], values
        assert [int(chosen.under[0]), int(chosen.over[0])] == expected[3:5], values
        assert hits == expected[5:7], values
        if not (expected[3] or expected[4]):
            assert [int(chosen.entry[0]), int(chosen.fraction[0])] == expected[1:3], values


def test_lut_value(data: Path) -> None:
    for values, (expected,) in vectors(data, "sdp")["Yinp"]["cases"]:
        x, fraction, y0, y1, scale, _, offset, bias, miss, _ = values
        low, high, slope = floats.widened(floats.half(halves([y0, y1, scale])), floats.FP17)
        if miss:
            origin = floats.add(band(offset), band(bias), floats.SINGLE)
            found = extrapolated(band(x), Slope(origin[0, 0, 0], slope, 0), low)
        else:
            found = interpolated(low, high, np.array([fraction * 2.0**-35]))
        assert pattern(found) == expected, values


@pytest.mark.parametrize("fmt", [floats.FP17, floats.SINGLE])
def test_sums_that_cancel_have_the_first_sign(fmt: floats.Format) -> None:
    one = np.array([1.0, -1.0])
    assert np.signbit(floats.add(one, -one, fmt)).tolist() == [False, True]
