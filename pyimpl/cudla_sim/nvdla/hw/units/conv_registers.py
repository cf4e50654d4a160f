"""Registers of CSC and CACC, and the geometry of the sliding window.

Source: nvdla hardware manual, CSC and CACC registers.
"""

from __future__ import annotations

from dataclasses import dataclass

from cudla_sim.nvdla.hw.fields import Params, bits


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
