"""Registers of RUBIK."""

from __future__ import annotations

from dataclasses import dataclass

from ...fields import Params, address, bits


@dataclass(slots=True)
class Rubik(Params):
    """Registers of RUBIK that matter for the result."""

    _block = "RBK"

    mode: int = bits("D_MISC_CFG.RUBIK_MODE")
    precision: int = bits("D_MISC_CFG.IN_PRECISION")
    source_mc: int = bits("D_DAIN_RAM_TYPE.DATAIN_RAM_TYPE")
    width: int = bits("D_DATAIN_SIZE_0.DATAIN_WIDTH", plus=1)
    height: int = bits("D_DATAIN_SIZE_0.DATAIN_HEIGHT", plus=1)
    channels: int = bits("D_DATAIN_SIZE_1.DATAIN_CHANNEL", plus=1)
    source: int = address("D_DAIN_ADDR_HIGH", "D_DAIN_ADDR_LOW")
    line_stride: int = bits("D_DAIN_LINE_STRIDE")
    surface_stride: int = bits("D_DAIN_SURF_STRIDE")
    planar_stride: int = bits("D_DAIN_PLANAR_STRIDE")
    destination_mc: int = bits("D_DAOUT_RAM_TYPE.DATAOUT_RAM_TYPE")
    out_channels: int = bits("D_DATAOUT_SIZE_1.DATAOUT_CHANNEL", plus=1)
    destination: int = address("D_DAOUT_ADDR_HIGH", "D_DAOUT_ADDR_LOW")
    out_line_stride: int = bits("D_DAOUT_LINE_STRIDE")
    contract_stride: int = bits("D_CONTRACT_STRIDE_1")
    out_surface_stride: int = bits("D_DAOUT_SURF_STRIDE")
    out_planar_stride: int = bits("D_DAOUT_PLANAR_STRIDE")
    stride_x: int = bits("D_DECONV_STRIDE.DECONV_X_STRIDE", plus=1)
    stride_y: int = bits("D_DECONV_STRIDE.DECONV_Y_STRIDE", plus=1)
