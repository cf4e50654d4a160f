"""Single functions of SDP, PDP's relatives and CDMA against vectors of the reference headers."""

from __future__ import annotations

import gzip
import json
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from cudla_sim.nvdla.facts.configs import config
from cudla_sim.nvdla.facts.precisions import RANGES
from cudla_sim.nvdla.hw.arithmetic import scaled
from cudla_sim.nvdla.hw.csb import LookupTable, RegisterFile
from cudla_sim.nvdla.hw.memory import DTYPES, Memory, Windows
from cudla_sim.nvdla.hw.units.cdp import reference as cdp
from cudla_sim.nvdla.hw.units.cdp.registers import Cdp
from cudla_sim.nvdla.hw.units.conv.fetch import Cdma, convert
from cudla_sim.nvdla.hw.units.conv.reference import winograd
from cudla_sim.nvdla.hw.units.lut.tables import Slope
from cudla_sim.nvdla.hw.units.sdp.lut import Lut
from cudla_sim.nvdla.hw.units.sdp.processor import Processor
from cudla_sim.nvdla.hw.units.sdp.reference import bands, stages
from cudla_sim.nvdla.hw.units.sdp.reference import lut as tables
from cudla_sim.nvdla.hw.units.sdp.registers import BsParams, EwParams
from cudla_sim.nvdla.hw.units.sdp.stages import Extent, Stage

FULL = config("nv_full")
NOWHERE = (Memory(Windows([])), Memory(Windows([])))
EXTENT = Extent(1, 1, 1, 32, 0)


@cache
def vectors(folder: Path) -> dict[str, Any]:
    with gzip.open(folder / "vectors" / "hls_int_vectors.json.gz", "rt") as file:
        return json.load(file)


def registers(block: str, values: dict[str, int]) -> list[int]:
    """Register values of one block by word offset, set through the register file."""
    file = RegisterFile("v1", lambda name: None)
    state = file.blocks[block]
    for name, value in values.items():
        file.write(state.layout.address(name), value & 0xFFFFFFFF)
    first = state.first
    return state.single[:first] + state.groups[0][first:]


def band(value: int) -> np.ndarray:
    return np.full((1, 1, 1), float(value))


def test_x_stage(data: Path) -> None:
    for values, (expected,) in vectors(data)["X"]["cases"]:
        x, alu, mul, alu_bypass, algorithm, alu_shift, mul_bypass, prelu, shift, relu, *_ = values
        params = BsParams(
            0, alu_bypass, algorithm, mul_bypass, prelu, relu, 0, 0, alu, mul, shift, alu_shift
        )
        stage = Stage(params, None, EXTENT, FULL, NOWHERE)
        assert int(stages.apply(stage, band(x), 0, False)[0, 0, 0]) == expected, values


def test_output_converter(data: Path) -> None:
    for values, (expected, _) in vectors(data)["C"]["cases"]:
        x, offset, scale, shift, _, precision, *_ = values
        group = registers(
            "SDP",
            {
                "D_DATA_FORMAT": precision << 2,
                "D_CVT_OFFSET": offset,
                "D_CVT_SCALE": scale,
                "D_CVT_SHIFT": shift,
                "D_DP_BS_CFG": 1,
                "D_DP_BN_CFG": 1,
                "D_DP_EW_CFG": 1,
                "D_FEATURE_MODE_CFG": 1,
            },
        )
        unit = Processor({"SDP": group}, group, LookupTable(), FULL, NOWHERE)
        assert int(bands.process(unit, band(x), 0)[0, 0, 0]) == expected, values


def test_y_operand_converter(data: Path) -> None:
    for values, (expected,) in vectors(data)["Ycvt"]["cases"]:
        x, bypass, offset, scale, truncate, *_ = values
        params = EwParams(
            0, 0, 2, 1, 0, 1, 1, 0, 0, 0, 0, bypass, offset, scale, truncate, *[0] * 4
        )
        result = stages._converted(params, np.array([x], np.int16), True)
        assert int(result[0]) == expected, values


def test_y_stage(data: Path) -> None:
    for values, (expected,) in vectors(data)["Ycore"]["cases"]:
        x, alu, mul, alu_bypass, algorithm, mul_bypass, truncate, prelu, _ = values
        params = EwParams(
            0, alu_bypass, algorithm, mul_bypass, prelu, 1, 0, 0, alu, mul, truncate, *[0] * 8
        )
        stage = Stage(params, None, EXTENT, FULL, NOWHERE)
        assert int(stages.apply(stage, band(x), 0, False)[0, 0, 0]) == expected, values


def test_lut_index(data: Path) -> None:
    for values, expected in vectors(data)["Yidx"]["cases"]:
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
        lut = Lut(single, LookupTable(), False)
        le, lo, use_lo = tables.find(lut, np.array([float(x)]))
        chosen = lo if use_lo[0] else le
        hits = [int(not (item.under[0] or item.over[0])) for item in (le, lo)]
        assert int(use_lo[0]) == expected[0], values
        assert [int(chosen.under[0]), int(chosen.over[0])] == expected[3:5], values
        assert hits == expected[5:7], values
        if not (expected[3] or expected[4]):
            assert [int(chosen.entry[0]), int(chosen.fraction[0])] == expected[1:3], values


def test_lut_value(data: Path) -> None:
    for values, (expected,) in vectors(data)["Yinp"]["cases"]:
        x, fraction, y0, y1, scale, shift, offset, bias, miss, _ = values
        table = LookupTable()
        lut = Lut(registers("SDP", {}), table, False)
        if miss:
            found = tables._outside(
                lut, np.array([float(x)]), Slope(offset + bias, scale, shift), y0
            )
        else:
            lut.tables[1][:2] = (y0, y1)
            _, place, _ = tables.find(lut, np.array([0.0]))
            place = place._replace(
                under=np.array([False]),
                over=np.array([False]),
                entry=np.array([0]),
                fraction=np.array([float(fraction)]),
            )
            found = tables._value(lut, np.array([float(x)]), 1, place)
        assert int(found[0]) == expected, values


def test_cdma_converter(data: Path) -> None:
    for values, (expected,) in vectors(data)["cdma_cvt"]["cases"]:
        x, offset, scale, _, precision, truncate = values
        params = Cdma.decode(registers("CDMA", {"D_MISC_CFG": precision << 12}))
        params = replace(params, scale=scale, truncate=truncate)
        result = convert(params, np.array([x], np.int32), offset)
        assert int(result[0]) == expected, values


@pytest.mark.parametrize("precision", [0, 1])
def test_scaled_form_saturates_like_the_converters(precision: int) -> None:
    low, high = RANGES[precision]
    result = np.clip(scaled(np.array([5, -5, 3]), 0, 1, 1), low, high)
    assert result.tolist() == [3, -3, 2]


def fields(word: int, width: int, precision: int) -> list[int]:
    """Signed fields of a word: one, or two in int8."""
    count = 1 if precision else 2
    mask, half = (1 << width) - 1, 1 << (width - 1)
    return [((word >> width * i & mask) ^ half) - half for i in range(count)]


def test_cdp_input_converter(data: Path) -> None:
    for values, (expected,) in vectors(data)["icvt"]["cases"]:
        x, offset, scale, shift, precision = values
        group = registers(
            "CDP",
            {
                "D_DATA_FORMAT": precision,
                "D_DATIN_OFFSET": offset,
                "D_DATIN_SCALE": scale,
                "D_DATIN_SHIFTER": shift,
            },
        )
        inputs = np.array(fields(x, 16 if precision else 8, precision))
        found = cdp._normalise_in(Cdp.decode(group), inputs)
        assert found.astype(int).tolist() == fields(expected, 17 if precision else 9, precision)


def test_cdp_output_converter(data: Path) -> None:
    for values, (expected, flags) in vectors(data)["ocvt"]["cases"]:
        x, offset, scale, shift, precision = values
        group = registers(
            "CDP",
            {
                "D_DATA_FORMAT": precision,
                "D_DATOUT_OFFSET": offset,
                "D_DATOUT_SCALE": scale,
                "D_DATOUT_SHIFTER": shift,
            },
        )
        inputs = np.array([x] if precision else fields(x, 25, 0), np.float64)
        found, saturated = cdp._normalise_out(Cdp.decode(group), inputs)
        assert found.astype(int).tolist() == fields(expected, 16 if precision else 8, precision)
        assert saturated == flags.bit_count(), values


def test_winograd_transform(data: Path) -> None:
    for (*values, precision, truncate), expected in vectors(data)["pra"]["cases"]:
        window = np.array(values, DTYPES[precision]).reshape(4, 4, 1)
        found = winograd.transform(window, (1, 1), truncate, precision)
        assert found.reshape(-1).astype(int).tolist() == expected
