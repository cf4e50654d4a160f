"""Registers of CDMA, CSC and CACC, and the geometry of the sliding window.

Source: nvdla hardware manual, CDMA, CSC and CACC registers.
"""

from __future__ import annotations

from dataclasses import dataclass

from ...fields import Params, address, bits


@dataclass(slots=True)
class Cdma(Params):
    """Registers of CDMA that matter for the result, and for the time."""

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
    data_banks: int = bits("D_BANK.DATA_BANK", plus=1)
    weight_banks: int = bits("D_BANK.WEIGHT_BANK", plus=1)
    entries: int = bits("D_ENTRY_PER_SLICE.ENTRIES", plus=1)
    line_packed: int = bits("D_DAIN_MAP.LINE_PACKED")
    surface_packed: int = bits("D_DAIN_MAP.SURF_PACKED")
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
class Csc(Params):
    """Registers of CSC that matter for the result."""

    _block = "CSC"

    proc_precision: int = bits("D_MISC_CFG.PROC_PRECISION")
    conv_mode: int = bits("D_MISC_CFG.CONV_MODE")
    data_reuse: int = bits("D_MISC_CFG.DATA_REUSE")
    weight_reuse: int = bits("D_MISC_CFG.WEIGHT_REUSE")
    image: int = bits("D_DATAIN_FORMAT.DATAIN_FORMAT")
    batches: int = bits("D_BATCH_NUMBER.BATCHES", plus=1)
    skip_data_release: int = bits("D_MISC_CFG.SKIP_DATA_RLS")
    skip_weight_release: int = bits("D_MISC_CFG.SKIP_WEIGHT_RLS")
    y_extension: int = bits("D_POST_Y_EXTENSION.Y_EXTENSION")
    entries: int = bits("D_ENTRY_PER_SLICE.ENTRIES", plus=1)
    data_banks: int = bits("D_BANK.DATA_BANK", plus=1)
    weight_banks: int = bits("D_BANK.WEIGHT_BANK", plus=1)
    compressed: int = bits("D_WEIGHT_FORMAT.WEIGHT_FORMAT")
    columns: int = bits("D_WEIGHT_SIZE_EXT_0.WEIGHT_WIDTH_EXT", plus=1)
    rows: int = bits("D_WEIGHT_SIZE_EXT_0.WEIGHT_HEIGHT_EXT", plus=1)
    channels: int = bits("D_WEIGHT_SIZE_EXT_1.WEIGHT_CHANNEL_EXT", plus=1)
    kernels: int = bits("D_WEIGHT_SIZE_EXT_1.WEIGHT_KERNEL", plus=1)
    out_width: int = bits("D_DATAOUT_SIZE_0.DATAOUT_WIDTH", plus=1)
    out_height: int = bits("D_DATAOUT_SIZE_0.DATAOUT_HEIGHT", plus=1)
    stride_x: int = bits("D_CONV_STRIDE_EXT.CONV_X_STRIDE_EXT", plus=1)
    stride_y: int = bits("D_CONV_STRIDE_EXT.CONV_Y_STRIDE_EXT", plus=1)
    dilation_x: int = bits("D_DILATION_EXT.X_DILATION_EXT", plus=1)
    dilation_y: int = bits("D_DILATION_EXT.Y_DILATION_EXT", plus=1)
    pad_left: int = bits("D_ZERO_PADDING.PAD_LEFT")
    pad_top: int = bits("D_ZERO_PADDING.PAD_TOP")
    pad_value: int = bits("D_ZERO_PADDING_VALUE.PAD_VALUE", signed=True)
    transform_truncate: int = bits("D_PRA_CFG.PRA_TRUNCATE")

    @property
    def products(self) -> int:
        """Multiplications for one picture, those with padding included; Winograd's are 16 for 2 x 2
        outputs."""
        positions = self.out_width * self.out_height
        if self.conv_mode:
            positions = -(-self.out_width // 2) * -(-self.out_height // 2)
        return self.kernels * self.rows * self.columns * self.channels * positions


@dataclass(slots=True)
class Cacc(Params):
    """Registers of CACC that matter for the result."""

    _block = "CACC"

    truncate: int = bits("D_CLIP_CFG.CLIP_TRUNCATE")


@dataclass(slots=True)
class Window:
    """Geometry of the sliding window in the padded input."""

    rows: int
    columns: int
    stride_y: int
    stride_x: int
    dilation_y: int
    dilation_x: int
    out_height: int
    out_width: int

    def extent(self) -> tuple[int, int]:
        """Height and width of the padded input that the windows touch."""
        return (
            (self.out_height - 1) * self.stride_y + (self.rows - 1) * self.dilation_y + 1,
            (self.out_width - 1) * self.stride_x + (self.columns - 1) * self.dilation_x + 1,
        )
