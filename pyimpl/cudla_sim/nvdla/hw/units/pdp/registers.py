"""Registers of PDP, and what it counts."""

from __future__ import annotations

from dataclasses import dataclass

from ...fields import Params, address, bits


@dataclass(slots=True)
class Pdp(Params):
    """Registers of PDP that matter for the result."""

    _block = "PDP"

    width: int = bits("D_DATA_CUBE_IN_WIDTH.CUBE_IN_WIDTH", plus=1)
    height: int = bits("D_DATA_CUBE_IN_HEIGHT.CUBE_IN_HEIGHT", plus=1)
    channels: int = bits("D_DATA_CUBE_IN_CHANNEL.CUBE_IN_CHANNEL", plus=1)
    out_width: int = bits("D_DATA_CUBE_OUT_WIDTH.CUBE_OUT_WIDTH", plus=1)
    out_height: int = bits("D_DATA_CUBE_OUT_HEIGHT.CUBE_OUT_HEIGHT", plus=1)
    out_channels: int = bits("D_DATA_CUBE_OUT_CHANNEL.CUBE_OUT_CHANNEL", plus=1)
    method: int = bits("D_OPERATION_MODE_CFG.POOLING_METHOD")
    splits: int = bits("D_OPERATION_MODE_CFG.SPLIT_NUM", plus=1)
    off_flying: int = bits("D_OPERATION_MODE_CFG.FLYING_MODE")
    kernel_width: int = bits("D_POOLING_KERNEL_CFG.KERNEL_WIDTH", plus=1)
    kernel_height: int = bits("D_POOLING_KERNEL_CFG.KERNEL_HEIGHT", plus=1)
    stride_x: int = bits("D_POOLING_KERNEL_CFG.KERNEL_STRIDE_WIDTH", plus=1)
    stride_y: int = bits("D_POOLING_KERNEL_CFG.KERNEL_STRIDE_HEIGHT", plus=1)
    reciprocal_width: int = bits("D_RECIP_KERNEL_WIDTH.RECIP_KERNEL_WIDTH")
    reciprocal_height: int = bits("D_RECIP_KERNEL_HEIGHT.RECIP_KERNEL_HEIGHT")
    in_first: int = bits("D_PARTIAL_WIDTH_IN.PARTIAL_WIDTH_IN_FIRST", plus=1)
    in_middle: int = bits("D_PARTIAL_WIDTH_IN.PARTIAL_WIDTH_IN_MID", plus=1)
    in_last: int = bits("D_PARTIAL_WIDTH_IN.PARTIAL_WIDTH_IN_LAST", plus=1)
    out_first: int = bits("D_PARTIAL_WIDTH_OUT.PARTIAL_WIDTH_OUT_FIRST", plus=1)
    out_middle: int = bits("D_PARTIAL_WIDTH_OUT.PARTIAL_WIDTH_OUT_MID", plus=1)
    out_last: int = bits("D_PARTIAL_WIDTH_OUT.PARTIAL_WIDTH_OUT_LAST", plus=1)
    nan_to_zero: int = bits("D_NAN_FLUSH_TO_ZERO.NAN_TO_ZERO")
    pad_left: int = bits("D_POOLING_PADDING_CFG.PAD_LEFT")
    pad_top: int = bits("D_POOLING_PADDING_CFG.PAD_TOP")
    pad_right: int = bits("D_POOLING_PADDING_CFG.PAD_RIGHT")
    pad_bottom: int = bits("D_POOLING_PADDING_CFG.PAD_BOTTOM")
    pad_1: int = bits("D_POOLING_PADDING_VALUE_1_CFG.PAD_VALUE_1X", signed=True)
    pad_2: int = bits("D_POOLING_PADDING_VALUE_2_CFG.PAD_VALUE_2X", signed=True)
    pad_3: int = bits("D_POOLING_PADDING_VALUE_3_CFG.PAD_VALUE_3X", signed=True)
    pad_4: int = bits("D_POOLING_PADDING_VALUE_4_CFG.PAD_VALUE_4X", signed=True)
    pad_5: int = bits("D_POOLING_PADDING_VALUE_5_CFG.PAD_VALUE_5X", signed=True)
    pad_6: int = bits("D_POOLING_PADDING_VALUE_6_CFG.PAD_VALUE_6X", signed=True)
    pad_7: int = bits("D_POOLING_PADDING_VALUE_7_CFG.PAD_VALUE_7X", signed=True)
    destination: int = address("D_DST_BASE_ADDR_HIGH", "D_DST_BASE_ADDR_LOW")
    line_stride: int = bits("D_DST_LINE_STRIDE")
    surface_stride: int = bits("D_DST_SURFACE_STRIDE")
    destination_mc: int = bits("D_DST_RAM_CFG.DST_RAM_TYPE")
    precision: int = bits("D_DATA_FORMAT.INPUT_DATA")

    @property
    def pads(self) -> list[int]:
        """Value that n missing elements add, by n."""
        return [
            0, self.pad_1, self.pad_2, self.pad_3, self.pad_4, self.pad_5, self.pad_6, self.pad_7
        ]  # fmt: skip


@dataclass(slots=True)
class PdpRdma(Params):
    """Registers of PDP_RDMA that matter for the result."""

    _block = "PDP_RDMA"

    width: int = bits("D_DATA_CUBE_IN_WIDTH.CUBE_IN_WIDTH", plus=1)
    height: int = bits("D_DATA_CUBE_IN_HEIGHT.CUBE_IN_HEIGHT", plus=1)
    channels: int = bits("D_DATA_CUBE_IN_CHANNEL.CUBE_IN_CHANNEL", plus=1)
    source: int = address("D_SRC_BASE_ADDR_HIGH", "D_SRC_BASE_ADDR_LOW")
    line_stride: int = bits("D_SRC_LINE_STRIDE")
    surface_stride: int = bits("D_SRC_SURFACE_STRIDE")
    source_mc: int = bits("D_SRC_RAM_CFG.SRC_RAM_TYPE")
    splits: int = bits("D_OPERATION_MODE_CFG.SPLIT_NUM", plus=1)


@dataclass(slots=True)
class Odd:
    """NaN and infinite elements that were seen."""

    nan_inputs: int = 0
    infinite_inputs: int = 0
    nan_outputs: int = 0
