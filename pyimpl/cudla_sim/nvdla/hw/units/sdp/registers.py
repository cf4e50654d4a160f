"""Registers of the SDP stages X1 (BS), X2 (BN), Y (EW) and of their operand DMA.

Source: nvdla hardware manual, SDP and SDP_RDMA registers.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ...fields import Params, address, bits


@dataclass(slots=True)
class StageParams(Params):
    """What all three stages have."""

    bypass: int
    alu_bypass: int
    alu_algorithm: int
    mul_bypass: int
    prelu: int
    last_bypass: int
    alu_memory: int
    mul_memory: int
    alu_operand: int
    mul_operand: int
    shift: int

    @property
    def from_memory(self) -> bool:
        """True if an operand that is used comes from memory."""
        return not self.bypass and bool(
            (not self.alu_bypass and self.alu_memory) or (not self.mul_bypass and self.mul_memory)
        )


@dataclass(slots=True)
class BsParams(StageParams):
    """Registers of X1."""

    _block = "SDP"

    bypass: int = bits("D_DP_BS_CFG.BS_BYPASS")
    alu_bypass: int = bits("D_DP_BS_CFG.BS_ALU_BYPASS")
    alu_algorithm: int = bits("D_DP_BS_CFG.BS_ALU_ALGO")
    mul_bypass: int = bits("D_DP_BS_CFG.BS_MUL_BYPASS")
    prelu: int = bits("D_DP_BS_CFG.BS_MUL_PRELU")
    last_bypass: int = bits("D_DP_BS_CFG.BS_RELU_BYPASS")
    alu_memory: int = bits("D_DP_BS_ALU_CFG.BS_ALU_SRC")
    mul_memory: int = bits("D_DP_BS_MUL_CFG.BS_MUL_SRC")
    alu_operand: int = bits("D_DP_BS_ALU_SRC_VALUE.BS_ALU_OPERAND", signed=True)
    mul_operand: int = bits("D_DP_BS_MUL_SRC_VALUE.BS_MUL_OPERAND", signed=True)
    shift: int = bits("D_DP_BS_MUL_CFG.BS_MUL_SHIFT_VALUE")
    alu_shift: int = bits("D_DP_BS_ALU_CFG.BS_ALU_SHIFT_VALUE")


@dataclass(slots=True)
class BnParams(StageParams):
    """Registers of X2."""

    _block = "SDP"

    bypass: int = bits("D_DP_BN_CFG.BN_BYPASS")
    alu_bypass: int = bits("D_DP_BN_CFG.BN_ALU_BYPASS")
    alu_algorithm: int = bits("D_DP_BN_CFG.BN_ALU_ALGO")
    mul_bypass: int = bits("D_DP_BN_CFG.BN_MUL_BYPASS")
    prelu: int = bits("D_DP_BN_CFG.BN_MUL_PRELU")
    last_bypass: int = bits("D_DP_BN_CFG.BN_RELU_BYPASS")
    alu_memory: int = bits("D_DP_BN_ALU_CFG.BN_ALU_SRC")
    mul_memory: int = bits("D_DP_BN_MUL_CFG.BN_MUL_SRC")
    alu_operand: int = bits("D_DP_BN_ALU_SRC_VALUE.BN_ALU_OPERAND", signed=True)
    mul_operand: int = bits("D_DP_BN_MUL_SRC_VALUE.BN_MUL_OPERAND", signed=True)
    shift: int = bits("D_DP_BN_MUL_CFG.BN_MUL_SHIFT_VALUE")
    alu_shift: int = bits("D_DP_BN_ALU_CFG.BN_ALU_SHIFT_VALUE")


@dataclass(slots=True)
class EwParams(StageParams):
    """Registers of Y."""

    _block = "SDP"

    bypass: int = bits("D_DP_EW_CFG.EW_BYPASS")
    alu_bypass: int = bits("D_DP_EW_CFG.EW_ALU_BYPASS")
    alu_algorithm: int = bits("D_DP_EW_CFG.EW_ALU_ALGO")
    mul_bypass: int = bits("D_DP_EW_CFG.EW_MUL_BYPASS")
    prelu: int = bits("D_DP_EW_CFG.EW_MUL_PRELU")
    last_bypass: int = bits("D_DP_EW_CFG.EW_LUT_BYPASS")
    alu_memory: int = bits("D_DP_EW_ALU_CFG.EW_ALU_SRC")
    mul_memory: int = bits("D_DP_EW_MUL_CFG.EW_MUL_SRC")
    alu_operand: int = bits("D_DP_EW_ALU_SRC_VALUE.EW_ALU_OPERAND", signed=True)
    mul_operand: int = bits("D_DP_EW_MUL_SRC_VALUE.EW_MUL_OPERAND", signed=True)
    shift: int = bits("D_DP_EW_TRUNCATE_VALUE.EW_TRUNCATE")
    alu_cvt_bypass: int = bits("D_DP_EW_ALU_CFG.EW_ALU_CVT_BYPASS")
    alu_offset: int = bits("D_DP_EW_ALU_CVT_OFFSET_VALUE.EW_ALU_CVT_OFFSET", signed=True)
    alu_scale: int = bits("D_DP_EW_ALU_CVT_SCALE_VALUE.EW_ALU_CVT_SCALE", signed=True)
    alu_truncate: int = bits("D_DP_EW_ALU_CVT_TRUNCATE_VALUE.EW_ALU_CVT_TRUNCATE")
    mul_cvt_bypass: int = bits("D_DP_EW_MUL_CFG.EW_MUL_CVT_BYPASS")
    mul_offset: int = bits("D_DP_EW_MUL_CVT_OFFSET_VALUE.EW_MUL_CVT_OFFSET", signed=True)
    mul_scale: int = bits("D_DP_EW_MUL_CVT_SCALE_VALUE.EW_MUL_CVT_SCALE", signed=True)
    mul_truncate: int = bits("D_DP_EW_MUL_CVT_TRUNCATE_VALUE.EW_MUL_CVT_TRUNCATE")


STAGES: tuple[type[BsParams] | type[BnParams] | type[EwParams], ...] = (
    BsParams,
    BnParams,
    EwParams,
)


@dataclass(slots=True)
class OperandDma(Params):
    """Where the operands of a stage lie."""

    disable: int
    data_use: int
    two_bytes: int
    per_element: int
    memory_mc: int
    base: int
    line_stride: int
    surface_stride: int


@dataclass(slots=True)
class BsDma(OperandDma):
    """Registers of BRDMA."""

    _block = "SDP_RDMA"

    disable: int = bits("D_BRDMA_CFG.BRDMA_DISABLE")
    data_use: int = bits("D_BRDMA_CFG.BRDMA_DATA_USE")
    two_bytes: int = bits("D_BRDMA_CFG.BRDMA_DATA_SIZE")
    per_element: int = bits("D_BRDMA_CFG.BRDMA_DATA_MODE")
    memory_mc: int = bits("D_BRDMA_CFG.BRDMA_RAM_TYPE")
    base: int = address("D_BS_BASE_ADDR_HIGH", "D_BS_BASE_ADDR_LOW")
    line_stride: int = bits("D_BS_LINE_STRIDE")
    surface_stride: int = bits("D_BS_SURFACE_STRIDE")


@dataclass(slots=True)
class BnDma(OperandDma):
    """Registers of NRDMA."""

    _block = "SDP_RDMA"

    disable: int = bits("D_NRDMA_CFG.NRDMA_DISABLE")
    data_use: int = bits("D_NRDMA_CFG.NRDMA_DATA_USE")
    two_bytes: int = bits("D_NRDMA_CFG.NRDMA_DATA_SIZE")
    per_element: int = bits("D_NRDMA_CFG.NRDMA_DATA_MODE")
    memory_mc: int = bits("D_NRDMA_CFG.NRDMA_RAM_TYPE")
    base: int = address("D_BN_BASE_ADDR_HIGH", "D_BN_BASE_ADDR_LOW")
    line_stride: int = bits("D_BN_LINE_STRIDE")
    surface_stride: int = bits("D_BN_SURFACE_STRIDE")


@dataclass(slots=True)
class EwDma(OperandDma):
    """Registers of ERDMA."""

    _block = "SDP_RDMA"

    disable: int = bits("D_ERDMA_CFG.ERDMA_DISABLE")
    data_use: int = bits("D_ERDMA_CFG.ERDMA_DATA_USE")
    two_bytes: int = bits("D_ERDMA_CFG.ERDMA_DATA_SIZE")
    per_element: int = bits("D_ERDMA_CFG.ERDMA_DATA_MODE")
    memory_mc: int = bits("D_ERDMA_CFG.ERDMA_RAM_TYPE")
    base: int = address("D_EW_BASE_ADDR_HIGH", "D_EW_BASE_ADDR_LOW")
    line_stride: int = bits("D_EW_LINE_STRIDE")
    surface_stride: int = bits("D_EW_SURFACE_STRIDE")


OPERAND_DMA: dict[type[StageParams], type[OperandDma]] = {
    BsParams: BsDma,
    BnParams: BnDma,
    EwParams: EwDma,
}


@dataclass(slots=True)
class Sdp(Params):
    """Registers of SDP outside its stages."""

    _block = "SDP"

    width: int = bits("D_DATA_CUBE_WIDTH.WIDTH", plus=1)
    height: int = bits("D_DATA_CUBE_HEIGHT.HEIGHT", plus=1)
    channels: int = bits("D_DATA_CUBE_CHANNEL.CHANNEL", plus=1)
    destination: int = address("D_DST_BASE_ADDR_HIGH", "D_DST_BASE_ADDR_LOW")
    line_stride: int = bits("D_DST_LINE_STRIDE")
    surface_stride: int = bits("D_DST_SURFACE_STRIDE")
    batch_stride: int = bits("D_DST_BATCH_STRIDE")
    flying: int = bits("D_FEATURE_MODE_CFG.FLYING_MODE")
    to_pdp: int = bits("D_FEATURE_MODE_CFG.OUTPUT_DST")
    winograd: int = bits("D_FEATURE_MODE_CFG.WINOGRAD")
    nan_to_zero: int = bits("D_FEATURE_MODE_CFG.NAN_TO_ZERO")
    batches: int = bits("D_FEATURE_MODE_CFG.BATCH_NUMBER", plus=1)
    destination_mc: int = bits("D_DST_DMA_CFG.DST_RAM_TYPE")
    proc_precision: int = bits("D_DATA_FORMAT.PROC_PRECISION")
    out_precision: int = bits("D_DATA_FORMAT.OUT_PRECISION")
    offset: int = bits("D_CVT_OFFSET.CVT_OFFSET", signed=True)
    scale: int = bits("D_CVT_SCALE.CVT_SCALE", signed=True)
    shift: int = bits("D_CVT_SHIFT.CVT_SHIFT")
    count_saturation: int = bits("D_PERF_ENABLE.PERF_SAT_EN")
    count_lut: int = bits("D_PERF_ENABLE.PERF_LUT_EN")
    count_nan: int = bits("D_PERF_ENABLE.PERF_NAN_INF_COUNT_EN")


@dataclass(slots=True)
class SdpRdma(Params):
    """Registers of SDP_RDMA for the main input."""

    _block = "SDP_RDMA"

    width: int = bits("D_DATA_CUBE_WIDTH.WIDTH", plus=1)
    height: int = bits("D_DATA_CUBE_HEIGHT.HEIGHT", plus=1)
    channels: int = bits("D_DATA_CUBE_CHANNEL.CHANNEL", plus=1)
    source: int = address("D_SRC_BASE_ADDR_HIGH", "D_SRC_BASE_ADDR_LOW")
    line_stride: int = bits("D_SRC_LINE_STRIDE")
    surface_stride: int = bits("D_SRC_SURFACE_STRIDE")
    flying: int = bits("D_FEATURE_MODE_CFG.FLYING_MODE")
    in_precision: int = bits("D_FEATURE_MODE_CFG.IN_PRECISION")
    source_mc: int = bits("D_SRC_DMA_CFG.SRC_RAM_TYPE")
    count_nan: int = bits("D_PERF_ENABLE.PERF_NAN_INF_COUNT_EN")


def needs_rdma(group: Sequence[int]) -> bool:
    """True if the enabled SDP group takes its input or an operand from memory."""
    p = Sdp.decode(group)
    return not p.flying or any(stage.decode(group).from_memory for stage in STAGES)
