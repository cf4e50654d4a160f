"""CDMA: fetches feature or image data and converts them.

Source: nvdla/hw ``cmod/cdma/NV_NVDLA_cdma.cpp``; nvdla hardware manual "Convolution DMA" and
"In-memory data formats" (pixel formats).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cudla_sim.nvdla.errors import HardwareFault
from cudla_sim.nvdla.hw import floats
from cudla_sim.nvdla.hw.arithmetic import RANGES, scaled
from cudla_sim.nvdla.hw.configs import FP16, HardwareConfig
from cudla_sim.nvdla.hw.fields import Params, address, bits
from cudla_sim.nvdla.hw.memory import DTYPES, Memory
from cudla_sim.nvdla.hw.units import pixels


@dataclass(slots=True)
class Cdma(Params):
    """Registers of CDMA that matter for the result."""

    _block = "CDMA"

    conv_mode: int = bits("D_MISC_CFG.CONV_MODE")
    in_precision: int = bits("D_MISC_CFG.IN_PRECISION")
    proc_precision: int = bits("D_MISC_CFG.PROC_PRECISION")
    data_reuse: int = bits("D_MISC_CFG.DATA_REUSE")
    weight_reuse: int = bits("D_MISC_CFG.WEIGHT_REUSE")
    image: int = bits("D_DATAIN_FORMAT.DATAIN_FORMAT")
    pixel_format: int = bits("D_DATAIN_FORMAT.PIXEL_FORMAT")
    sign_override: int = bits("D_DATAIN_FORMAT.PIXEL_SIGN_OVERRIDE")
    width: int = bits("D_DATAIN_SIZE_0.DATAIN_WIDTH", plus=1)
    height: int = bits("D_DATAIN_SIZE_0.DATAIN_HEIGHT", plus=1)
    channels: int = bits("D_DATAIN_SIZE_1.DATAIN_CHANNEL", plus=1)
    x_offset: int = bits("D_PIXEL_OFFSET.PIXEL_X_OFFSET")
    data_mc: int = bits("D_DAIN_RAM_TYPE.DATAIN_RAM_TYPE")
    data_address: int = address("D_DAIN_ADDR_HIGH_0", "D_DAIN_ADDR_LOW_0")
    uv_address: int = address("D_DAIN_ADDR_HIGH_1", "D_DAIN_ADDR_LOW_1")
    line_stride: int = bits("D_LINE_STRIDE")
    uv_line_stride: int = bits("D_LINE_UV_STRIDE")
    surface_stride: int = bits("D_SURF_STRIDE")
    batches: int = bits("D_BATCH_NUMBER.BATCHES", plus=1)
    batch_stride: int = bits("D_BATCH_STRIDE")
    compressed: int = bits("D_WEIGHT_FORMAT.WEIGHT_FORMAT")
    weight_mc: int = bits("D_WEIGHT_RAM_TYPE.WEIGHT_RAM_TYPE")
    weight_address: int = address("D_WEIGHT_ADDR_HIGH", "D_WEIGHT_ADDR_LOW")
    weight_bytes: int = bits("D_WEIGHT_BYTES")
    mask_address: int = address("D_WMB_ADDR_HIGH", "D_WMB_ADDR_LOW")
    mask_bytes: int = bits("D_WMB_BYTES")
    stride_x: int = bits("D_CONV_STRIDE.CONV_X_STRIDE", plus=1)
    stride_y: int = bits("D_CONV_STRIDE.CONV_Y_STRIDE", plus=1)
    nan_to_zero: int = bits("D_NAN_FLUSH_TO_ZERO.NAN_TO_ZERO")
    mean_enable: int = bits("D_MEAN_FORMAT.MEAN_FORMAT")
    mean_ry: int = bits("D_MEAN_GLOBAL_0.MEAN_RY", signed=True)
    mean_gu: int = bits("D_MEAN_GLOBAL_0.MEAN_GU", signed=True)
    mean_bv: int = bits("D_MEAN_GLOBAL_1.MEAN_BV", signed=True)
    mean_ax: int = bits("D_MEAN_GLOBAL_1.MEAN_AX", signed=True)
    convert: int = bits("D_CVT_CFG.CVT_EN")
    truncate: int = bits("D_CVT_CFG.CVT_TRUNCATE")
    offset: int = bits("D_CVT_OFFSET.CVT_OFFSET", signed=True)
    scale: int = bits("D_CVT_SCALE.CVT_SCALE", signed=True)
    pad_left: int = bits("D_ZERO_PADDING.PAD_LEFT")
    pad_right: int = bits("D_ZERO_PADDING.PAD_RIGHT")
    pad_top: int = bits("D_ZERO_PADDING.PAD_TOP")
    pad_bottom: int = bits("D_ZERO_PADDING.PAD_BOTTOM")


@dataclass(slots=True)
class Odd:
    """NaN and infinite elements that were fetched."""

    nan: int = 0
    infinite: int = 0

    def count(self, bits: NDArray[np.uint16]) -> bool:
        """Count among fp16 patterns; True if there are NaNs."""
        size = bits & 0x7FFF
        if not (size >= 0x7C00).any():
            return False
        nan = int(np.count_nonzero(size > 0x7C00))
        self.nan += nan
        self.infinite += int(np.count_nonzero(size == 0x7C00))
        return nan > 0


def _checked(p: Cdma, data: NDArray[Any], odd: Odd) -> NDArray[Any]:
    """Count the NaNs of fp16 data; replace them by zeros if that is set."""
    bits = data.view(np.uint16)
    if not odd.count(bits) or not p.nan_to_zero:
        return data
    return np.where((bits & 0x7FFF) > 0x7C00, np.uint16(0), bits).view(np.float16)


def convert(p: Cdma, data: NDArray[Any], offset: Any) -> NDArray[Any]:
    """Apply the input converter: sat17(RS((x - offset) * scale, truncate)), then saturate."""
    values = scaled(data, offset, p.scale, p.truncate)
    if p.proc_precision == FP16:
        return floats.integers_to_half(np.clip(values, -(1 << 16), (1 << 16) - 1))
    low, high = RANGES[p.proc_precision]
    return np.clip(values, low, high, out=values).astype(DTYPES[p.proc_precision])


def fetch_feature(
    p: Cdma, config: HardwareConfig, memory: Memory, batch: int, odd: Odd
) -> NDArray[Any]:
    """Return input *batch* as [surface, y, x, channel] in the processing precision."""
    cube = memory.cube(
        "CDMA data",
        p.data_address + batch * p.batch_stride,
        p.in_precision,
        (p.channels, p.height, p.width),
        p.line_stride,
        p.surface_stride,
        config.memory_atom,
    )
    if p.in_precision == FP16:
        if p.proc_precision != FP16:
            raise HardwareFault("CDMA", "fp16 input cannot be converted to integers")
        return _checked(p, cube, odd)
    if p.convert and not p.conv_mode:  # Winograd data pass by the converter
        return convert(p, cube, p.offset)
    if p.in_precision != p.proc_precision:
        raise HardwareFault("CDMA", "another precision needs the converter, which is off")
    return cube


def fetch_image(p: Cdma, memory: Memory, odd: Odd) -> NDArray[Any]:
    """Return the picture as [y, x, channel] in R, G, B, A order and processing precision."""
    data, floating = pixels.unpack(p, memory)
    if floating:
        if p.proc_precision != FP16:
            raise HardwareFault("CDMA", "a floating-point image needs fp16 processing")
        return _checked(p, np.ascontiguousarray(data), odd)
    if not p.convert:
        return data.astype(DTYPES[p.proc_precision])
    offset: Any = p.offset
    if p.mean_enable:
        offset = np.array([p.mean_ry, p.mean_gu, p.mean_bv, p.mean_ax])[: data.shape[-1]]
    return convert(p, data, offset)
