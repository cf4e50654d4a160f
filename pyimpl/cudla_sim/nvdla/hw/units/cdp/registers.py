"""Registers of CDP."""

from __future__ import annotations

from dataclasses import dataclass

from ...fields import Params, address, bits
from ..lut.tables import LutParams


@dataclass(slots=True)
class CdpRdma(Params):
    """Registers of CDP_RDMA that matter for the result."""

    _block = "CDP_RDMA"

    width: int = bits("D_DATA_CUBE_WIDTH.WIDTH", plus=1)
    height: int = bits("D_DATA_CUBE_HEIGHT.HEIGHT", plus=1)
    channels: int = bits("D_DATA_CUBE_CHANNEL.CHANNEL", plus=1)
    source: int = address("D_SRC_BASE_ADDR_HIGH", "D_SRC_BASE_ADDR_LOW")
    line_stride: int = bits("D_SRC_LINE_STRIDE")
    surface_stride: int = bits("D_SRC_SURFACE_STRIDE")
    source_mc: int = bits("D_SRC_DMA_CFG.SRC_RAM_TYPE")
    precision: int = bits("D_DATA_FORMAT.INPUT_DATA")


@dataclass(slots=True)
class Cdp(Params):
    """Registers of CDP that exist in groups."""

    _block = "CDP"

    sqsum_bypass: int = bits("D_FUNC_BYPASS.SQSUM_BYPASS")
    mul_bypass: int = bits("D_FUNC_BYPASS.MUL_BYPASS")
    destination: int = address("D_DST_BASE_ADDR_HIGH", "D_DST_BASE_ADDR_LOW")
    line_stride: int = bits("D_DST_LINE_STRIDE")
    surface_stride: int = bits("D_DST_SURFACE_STRIDE")
    destination_mc: int = bits("D_DST_DMA_CFG.DST_RAM_TYPE")
    precision: int = bits("D_DATA_FORMAT.INPUT_DATA_TYPE")
    reach: int = bits("D_LRN_CFG.NORMALZ_LEN", plus=1)
    in_offset: int = bits("D_DATIN_OFFSET.DATIN_OFFSET")
    in_scale: int = bits("D_DATIN_SCALE.DATIN_SCALE")
    in_shift: int = bits("D_DATIN_SHIFTER.DATIN_SHIFTER")
    out_offset: int = bits("D_DATOUT_OFFSET.DATOUT_OFFSET")
    out_scale: int = bits("D_DATOUT_SCALE.DATOUT_SCALE")
    out_shift: int = bits("D_DATOUT_SHIFTER.DATOUT_SHIFTER")
    nan_to_zero: int = bits("D_NAN_FLUSH_TO_ZERO.NAN_TO_ZERO")
    count_lut: int = bits("D_PERF_ENABLE.LUT_EN")


@dataclass(slots=True)
class CdpLut(LutParams):
    """LUT registers of CDP; 38-bit limits come in two words."""

    _block = "CDP"

    le_select: int = bits("S_LUT_INFO.LUT_LE_INDEX_SELECT")
    lo_select: int = bits("S_LUT_INFO.LUT_LO_INDEX_SELECT")
    le_start: int = address("S_LUT_LE_START_HIGH", "S_LUT_LE_START_LOW")
    le_end: int = address("S_LUT_LE_END_HIGH", "S_LUT_LE_END_LOW")
    lo_start: int = address("S_LUT_LO_START_HIGH", "S_LUT_LO_START_LOW")
    lo_end: int = address("S_LUT_LO_END_HIGH", "S_LUT_LO_END_LOW")


def signed(value: int, width: int) -> int:
    """Sign-extend the low *width* bits."""
    half = 1 << (width - 1)
    return ((value & ((1 << width) - 1)) ^ half) - half
