"""The structures through which the driver tells the firmware what to run (dla_interface).

Two generations exist: ``new=False`` has data cubes of 28 bytes, ``new=True`` (interface version
0.12) of 32 bytes with an ``offset``. Lists of them are arrays of fixed-size containers.
Source: nvdla/sw ``dla_interface.h`` and its history.
"""

# ruff: noqa: RUF009 - the member helpers return dataclasses.field(), nothing is shared

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum
from functools import lru_cache

from .facts.tables import LE_ENTRIES, LO_ENTRIES
from .record import (
    Record,
    numbers,
    record,
    records,
    reserved,
    s8,
    s16,
    s32,
    s64,
    u8,
    u16,
    u32,
    u64,
)

NETWORK_SIZE = 40
DEPENDENCY_SIZE = 36
OPERATION_SIZE = 116
SURFACE_SIZE = 644
STAT_SIZE = 44
LUT_SIZE = 700


class OpType(IntEnum):
    """Processor that runs an operation."""

    BDMA = 0
    CONV = 1
    SDP = 2
    PDP = 3
    CDP = 4
    RUBIK = 5


class Event(IntEnum):
    """What a consumer waits for."""

    OP_COMPLETED = 1
    OP_PROGRAMMED = 2
    OP_ENABLED = 3
    CDMA_WT_DONE = 4
    CDMA_DT_DONE = 5


class MemoryType(IntEnum):
    """Where a data cube lives: DRAM, on-chip SRAM, or nowhere (handed on by another unit)."""

    MC = 0
    CV = 1
    HW = 2


class Precision(IntEnum):
    """Number format of an operand."""

    INT8 = 0
    INT16 = 1
    FP16 = 2


class SdpOpType(IntEnum):
    """Which parts of an SDP stage are used."""

    NONE = 0
    MUL = 1
    ADD = 2
    BOTH = 3


class SdpMode(IntEnum):
    """How many operands an SDP stage has."""

    PER_LAYER = 0
    PER_KERNEL = 1
    PER_POINT = 2


class Activation(IntEnum):
    """Activation of an SDP stage."""

    NONE = 0
    RELU = 1
    LUT = 2
    PRELU = 3


@dataclass(slots=True)
class NetworkDesc(Record):
    """Entry 0 of a task's address list: where the other lists are (address list indices)."""

    operation_desc_index: int = s16(-1)
    surface_desc_index: int = s16(-1)
    dependency_graph_index: int = s16(-1)
    lut_data_index: int = s16(-1)
    roi_array_index: int = s16(-1)
    surface_index: int = s16(-1)
    stat_list_index: int = s16(-1)
    reserved1: int = s16()
    op_head: list[int] = numbers("h", 6)
    num_rois: int = u16(1)
    num_operations: int = u16()
    num_luts: int = u16()
    num_addresses: int = u16()
    input_layer: int = s16(-1)
    dynamic_roi: int = u8()
    reserved0: int = u8()


@dataclass(slots=True)
class Consumer(Record):
    """An operation that waits for an event of another one; index -1 for none."""

    index: int = s16(-1)
    event: int = u8()
    res: int = u8()


@dataclass(slots=True)
class CommonOpDesc(Record):
    """Entry of the dependency graph."""

    index: int = s16()
    roi_index: int = s8()
    op_type: int = u8()
    dependency_count: int = u8()
    reserved0: bytes = reserved(3)
    consumers: list[Consumer] = records(Consumer, 6)
    fused_parent: Consumer = record(Consumer)


@dataclass(slots=True)
class DataCube(Record):
    """A tensor as an engine sees it; ``address`` indexes the task's address list."""

    type: int = u16()
    address: int = s16(-1)
    offset: int = u32(since="new")
    size: int = u32()
    width: int = u16()
    height: int = u16()
    channel: int = u16()
    reserved0: int = u16()
    line_stride: int = u32()
    surf_stride: int = u32()
    plane_stride: int = u32()


@dataclass(slots=True)
class CvtParam(Record):
    """A converter: (x - offset) * scale >> truncate."""

    scale: int = s16()
    truncate: int = u8()
    enable: int = u8()
    offset: int = s32()


@dataclass(slots=True)
class BdmaTransfer(Record):
    """One block copy; source and destination index the address list."""

    source_address: int = s16()
    destination_address: int = s16()
    line_size: int = u32()
    line_repeat: int = u32()
    source_line: int = u32()
    destination_line: int = u32()
    surface_repeat: int = u32()
    source_surface: int = u32()
    destination_surface: int = u32()


@dataclass(slots=True)
class BdmaSurface(Record):
    """Surface descriptor of a BDMA operation."""

    source_type: int = u8()
    destination_type: int = u8()
    num_transfers: int = u16()
    transfers: list[BdmaTransfer] = records(BdmaTransfer, 20)


@dataclass(slots=True)
class BdmaOp(Record):
    """Operation descriptor of a BDMA operation."""

    num_transfers: int = u16()
    reserved0: int = u16()


@dataclass(slots=True)
class ConvSurface(Record):
    """Surface descriptor of a convolution."""

    weight: DataCube = record(DataCube)
    wmb: DataCube = record(DataCube)
    wgs: DataCube = record(DataCube)
    src: DataCube = record(DataCube)
    dst: DataCube = record(DataCube)
    offset_u: int = s64()
    in_line_uv_stride: int = u32()


@dataclass(slots=True)
class ConvOp(Record):
    """Operation descriptor of a convolution. ``*_cmac`` is the output size."""

    conv_mode: int = u8()
    data_reuse: int = u8()
    weight_reuse: int = u8()
    skip_data_rls: int = u8()
    skip_weight_rls: int = u8()
    reserved0: int = u8()
    entry_per_slice: int = u16()
    data_format: int = u8()
    pixel_mapping: int = u8()
    fetch_grain: int = u16()
    reserved_b: bytes = reserved(8)
    batch: int = u8(1)
    weight_format: int = u8()
    data_bank: int = u8()
    weight_bank: int = u8()
    batch_stride: int = u32()
    post_extension: int = u8()
    pixel_override: int = u8()
    release: int = u16()
    input_width_csc: int = u16()
    input_height_csc: int = u16()
    input_channel_csc: int = u16()
    kernel_width_csc: int = u16()
    kernel_height_csc: int = u16()
    kernel_channel_csc: int = u16()
    input_width_cmac: int = u16()
    input_height_cmac: int = u16()
    bytes_per_kernel: int = u32()
    mean_ry: int = s16()
    mean_gu: int = s16()
    mean_bv: int = s16()
    mean_ax: int = s16()
    mean_format: int = u8()
    conv_stride_x: int = u8(1)
    conv_stride_y: int = u8(1)
    pad_x_left: int = u8()
    pad_x_right: int = u8()
    pad_y_top: int = u8()
    pad_y_bottom: int = u8()
    dilation_x: int = u8(1)
    dilation_y: int = u8(1)
    reserved2: bytes = reserved(2)
    pra_truncate: int = u8()
    in_precision: int = u8()
    out_precision: int = u8()
    pad_val: int = s16()
    in_cvt: CvtParam = record(CvtParam)
    out_cvt: CvtParam = record(CvtParam)


@dataclass(slots=True)
class SdpStage(Record):
    """One of the three stages of an SDP operation (X1, X2, Y)."""

    enable: int = u8()
    alu_type: int = u8()
    type: int = u8()
    mode: int = u8()
    act: int = u8()
    shift_value: int = u8()
    truncate: int = u8()
    precision: int = u8()
    alu_operand: int = s32()
    mul_operand: int = s32()
    alu_cvt: CvtParam = record(CvtParam)
    mul_cvt: CvtParam = record(CvtParam)


@dataclass(slots=True)
class SdpSurface(Record):
    """Surface descriptor of an SDP operation."""

    src: DataCube = record(DataCube)
    x1: DataCube = record(DataCube)
    x2: DataCube = record(DataCube)
    y: DataCube = record(DataCube)
    dst: DataCube = record(DataCube)


@dataclass(slots=True)
class SdpOp(Record):
    """Operation descriptor of an SDP operation."""

    src_precision: int = u8()
    dst_precision: int = u8()
    lut_index: int = s16(-1)
    out_cvt: CvtParam = record(CvtParam)
    conv_mode: int = u8()
    batch_num: int = u8(1)
    reserved0: int = u16()
    batch_stride: int = u32()
    x1: SdpStage = record(SdpStage)
    x2: SdpStage = record(SdpStage)
    y: SdpStage = record(SdpStage)


@dataclass(slots=True)
class PdpSurface(Record):
    """Surface descriptor of a PDP operation."""

    src: DataCube = record(DataCube)
    dst: DataCube = record(DataCube)


@dataclass(slots=True)
class PdpOp(Record):
    """Operation descriptor of a PDP operation; pool_width and pool_height are size - 1."""

    partial_in_width_first: int = u16()
    partial_in_width_mid: int = u16()
    partial_in_width_last: int = u16()
    partial_width_first: int = u16()
    partial_width_mid: int = u16()
    partial_width_last: int = u16()
    split_num: int = u8(1)
    pool_mode: int = u8()
    pool_width: int = u8()
    pool_height: int = u8()
    stride_x: int = u8(1)
    stride_y: int = u8(1)
    pad_left: int = u8()
    pad_right: int = u8()
    pad_top: int = u8()
    pad_bottom: int = u8()
    precision: int = u8()
    reserved0: int = u8()
    padding_value: list[int] = numbers("i", 7)


@dataclass(slots=True)
class CdpSurface(Record):
    """Surface descriptor of a CDP operation."""

    src: DataCube = record(DataCube)
    dst: DataCube = record(DataCube)


@dataclass(slots=True)
class CdpOp(Record):
    """Operation descriptor of a CDP operation."""

    in_precision: int = u8()
    out_precision: int = u8()
    lut_index: int = s16(-1)
    in_cvt: CvtParam = record(CvtParam)
    out_cvt: CvtParam = record(CvtParam)
    local_size: int = u8()
    bypass_sqsum: int = u8()
    bypass_out_mul: int = u8()
    reserved0: int = u8()


@dataclass(slots=True)
class RubikSurface(Record):
    """Surface descriptor of a RUBIK operation."""

    src: DataCube = record(DataCube)
    dst: DataCube = record(DataCube)


@dataclass(slots=True)
class RubikOp(Record):
    """Operation descriptor of a RUBIK operation."""

    mode: int = u8()
    precision: int = u8()
    stride_x: int = u8()
    stride_y: int = u8()


@dataclass(slots=True)
class Slope(Record):
    """Slope outside a table: integer scale and shift, or an fp16 pattern in ``scale``."""

    scale: int = s16()
    shifter: int = s8()
    reserved0: int = u8()


@dataclass(slots=True)
class LutParam(Record):
    """One entry of the LUT list."""

    linear_exp_table: list[int] = numbers("h", LE_ENTRIES)
    linear_only_table: list[int] = numbers("h", LO_ENTRIES)
    linear_exp_offset: int = s8()
    reserved0: int = u8()
    linear_only_offset: int = s8()
    reserved1: int = u8()
    linear_exp_start: int = u64()
    linear_exp_end: int = u64()
    linear_only_start: int = u64()
    linear_only_end: int = u64()
    linear_exp_underflow_slope: Slope = record(Slope)
    linear_exp_overflow_slope: Slope = record(Slope)
    linear_only_underflow_slope: Slope = record(Slope)
    linear_only_overflow_slope: Slope = record(Slope)
    hybrid_priority: int = u8()
    underflow_priority: int = u8()
    overflow_priority: int = u8()
    method: int = u8()


@dataclass(slots=True)
class RoiArray(Record):
    """Head of the region-of-interest array."""

    array_length: int = u32()
    array_reserved: int = u32()


@dataclass(slots=True)
class Roi(Record):
    """One region of interest."""

    left: int = u32()
    top: int = u32()
    right: int = u32()
    bottom: int = u32()


STATISTICS: dict[OpType, tuple[str, ...]] = {
    OpType.BDMA: ("read_stall", "write_stall", "runtime"),
    OpType.CONV: (
        "data_read_stall",
        "weight_read_stall",
        "data_read_latency",
        "weight_read_latency",
        "saturation_count",
        "nan_data_num",
        "nan_weight_num",
        "inf_data_num",
        "inf_weight_num",
        "runtime",
    ),
    OpType.SDP: (
        "nan_input_num",
        "inf_input_num",
        "nan_output_num",
        "wdma_write_stall",
        "lut_underflow",
        "lut_overflow",
        "lut_hybrid",
        "lut_le_hit",
        "lut_lo_hit",
        "saturation_count",
        "runtime",
    ),
    OpType.PDP: ("inf_input_num", "nan_input_num", "nan_output_num", "write_stall", "runtime"),
    OpType.CDP: (
        "nan_input_num",
        "inf_input_num",
        "nan_output_num",
        "write_stall",
        "lut_uflow",
        "lut_oflow",
        "lut_hybrid",
        "lut_le_hit",
        "lut_lo_hit",
        "saturation_count",
        "runtime",
    ),
    OpType.RUBIK: ("read_stall", "write_stall", "runtime"),
}
"""Members of the statistics descriptor of each processor, all unsigned 32 bit."""

Operation = BdmaOp | ConvOp | SdpOp | PdpOp | CdpOp | RubikOp
Surface = BdmaSurface | ConvSurface | SdpSurface | PdpSurface | CdpSurface | RubikSurface

_OPERATIONS: dict[int, type[Operation]] = {
    OpType.BDMA: BdmaOp,
    OpType.CONV: ConvOp,
    OpType.SDP: SdpOp,
    OpType.PDP: PdpOp,
    OpType.CDP: CdpOp,
    OpType.RUBIK: RubikOp,
}
_SURFACES: dict[int, type[Surface]] = {
    OpType.BDMA: BdmaSurface,
    OpType.CONV: ConvSurface,
    OpType.SDP: SdpSurface,
    OpType.PDP: PdpSurface,
    OpType.CDP: CdpSurface,
    OpType.RUBIK: RubikSurface,
}


@lru_cache(maxsize=2048)
def operation(op_type: int, data: bytes) -> Operation:
    """Decode an operation container (116 bytes). The result is shared: do not change it."""
    return _OPERATIONS[op_type].decode(data)


@lru_cache(maxsize=2048)
def surface(op_type: int, data: bytes, new: bool) -> Surface:
    """Decode a surface container (644 bytes). The result is shared: do not change it."""
    return _SURFACES[op_type].decode(data, new)


@lru_cache(maxsize=64)
def lut(data: bytes) -> LutParam:
    """Decode a LUT entry (700 bytes). The result is shared: do not change it."""
    return LutParam.decode(data)
