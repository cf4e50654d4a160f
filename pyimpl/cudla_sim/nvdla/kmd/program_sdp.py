"""Register programming of an SDP operation: SDP_RDMA, then SDP.

Source: nvdla/sw firmware, SDP processor; nvdla hardware manual, register descriptions.
"""

from __future__ import annotations

from ..descriptors import (
    Activation,
    DataCube,
    MemoryType,
    Precision,
    SdpMode,
    SdpOp,
    SdpOpType,
    SdpStage,
    SdpSurface,
)
from ..facts.modes import Alu
from .context import Context, Program, Writes, high_low
from .port import check_choice
from .program_lut import lut_writes

_STAGES = (("BS", "B"), ("BN", "N"), ("EW", "E"))
"""Register prefixes of X1, X2, Y: of the stage, and of its read DMA."""


def needs_rdma(op: SdpOp, surface: SdpSurface) -> bool:
    """True if the firmware enables SDP_RDMA for this operation."""
    stages = (op.x1, op.x2, op.y)
    operands = any(stage.enable and stage.mode != SdpMode.PER_LAYER for stage in stages)
    return surface.src.type != MemoryType.HW or operands


def _fetches(stage: SdpStage) -> bool:
    """True if the stage has operands in memory."""
    return bool(stage.enable and stage.type != SdpOpType.NONE and stage.mode != SdpMode.PER_LAYER)


def _check(op: SdpOp, surface: SdpSurface) -> None:
    check_choice("src_precision", op.src_precision, 3)
    check_choice("dst_precision", op.dst_precision, 3)
    for name, stage in (("x1", op.x1), ("x2", op.x2), ("y", op.y)):
        check_choice(f"{name}_op.enable", stage.enable, 2)
        check_choice(f"{name}_op.alu_type", stage.alu_type, len(Alu))
        check_choice(f"{name}_op.type", stage.type, 4)
        check_choice(f"{name}_op.mode", stage.mode, 3)
        check_choice(f"{name}_op.precision", stage.precision, 3)
    for name, cube in (("source", surface.src), ("destination", surface.dst)):
        check_choice(f"SDP {name} memory type", cube.type, 3)


def _processing(op: SdpOp) -> int:
    """Precision of the data path: that of the source, but int16 to int8 runs as int8."""
    if op.dst_precision == Precision.INT8 and op.src_precision == Precision.INT16:
        return Precision.INT8
    return op.src_precision


def _operand_config(stage: SdpStage, cube: DataCube) -> int:
    """Value of BRDMA_CFG, NRDMA_CFG or ERDMA_CFG."""
    use = {SdpOpType.ADD: 1, SdpOpType.BOTH: 2}.get(SdpOpType(stage.type), 0)
    two_bytes = int(stage.precision != Precision.INT8)
    per_element = int(stage.mode != SdpMode.PER_KERNEL)
    memory = int(cube.type == MemoryType.MC)
    disable = int(not _fetches(stage))
    return disable | use << 1 | two_bytes << 3 | per_element << 4 | memory << 5


def _rdma(op: SdpOp, surface: SdpSurface, context: Context) -> Writes:
    """Settings of the read DMA; first everything is put to a defined state."""
    flying = int(surface.src.type == MemoryType.HW)
    writes: Writes = [
        ("D_FEATURE_MODE_CFG", 0),
        ("D_BRDMA_CFG", 0),
        ("D_NRDMA_CFG", 0),
        ("D_ERDMA_CFG", 0),
        (
            "D_FEATURE_MODE_CFG",
            flying
            | int(op.conv_mode == 1) << 1
            | op.src_precision << 2
            | _processing(op) << 4
            | op.dst_precision << 6
            | (op.batch_num - 1) << 8,
        ),
    ]
    if not needs_rdma(op, surface):
        return writes
    src = surface.src
    writes += [
        ("D_DATA_CUBE_WIDTH", src.width - 1),
        ("D_DATA_CUBE_HEIGHT", src.height - 1),
        ("D_DATA_CUBE_CHANNEL", src.channel - 1),
    ]
    if not flying:
        high, low = high_low(context.input_address("source", src, 1))
        writes += [
            ("D_SRC_BASE_ADDR_LOW", low),
            ("D_SRC_BASE_ADDR_HIGH", high),
            ("D_SRC_LINE_STRIDE", src.line_stride),
            ("D_SRC_SURFACE_STRIDE", src.surf_stride),
            ("D_SRC_DMA_CFG", context.ram_type("source", src)),
        ]
    operands = ((op.x1, surface.x1), (op.x2, surface.x2), (op.y, surface.y))
    for (prefix, letter), (stage, cube) in zip(_STAGES, operands, strict=True):
        writes.append((f"D_{letter}RDMA_CFG", _operand_config(stage, cube)))
        if not _fetches(stage):
            continue
        context.ram_type(f"{prefix} operand", cube)
        high, low = high_low(context.cube_address(f"{prefix} operand", cube))
        writes += [
            (f"D_{prefix}_BASE_ADDR_LOW", low),
            (f"D_{prefix}_BASE_ADDR_HIGH", high),
            (f"D_{prefix}_LINE_STRIDE", cube.line_stride),
            (f"D_{prefix}_SURFACE_STRIDE", cube.surf_stride),
        ]
    return writes


def _stage_config(stage: SdpStage, last: Activation) -> int:
    """Bypass bits and ALU function; *last* is the activation behind the last bypass bit."""
    alu = stage.type in (SdpOpType.ADD, SdpOpType.BOTH)
    mul = stage.type in (SdpOpType.MUL, SdpOpType.BOTH)
    return (
        int(not stage.enable)
        | int(not alu) << 1
        | stage.alu_type << 2
        | int(not mul) << 4
        | int(stage.act == Activation.PRELU) << 5
        | int(stage.act != last) << 6
    )


def _x_stage(prefix: str, stage: SdpStage) -> Writes:
    writes: Writes = [(f"D_DP_{prefix}_CFG", _stage_config(stage, Activation.RELU))]
    if not stage.enable:
        return writes
    memory = int(stage.mode != SdpMode.PER_LAYER)
    if stage.type in (SdpOpType.ADD, SdpOpType.BOTH):
        writes.append((f"D_DP_{prefix}_ALU_CFG", memory | stage.shift_value << 8))
    if not memory:
        writes += [
            (f"D_DP_{prefix}_ALU_SRC_VALUE", stage.alu_operand),
            (f"D_DP_{prefix}_MUL_SRC_VALUE", stage.mul_operand),
        ]
    writes.append((f"D_DP_{prefix}_MUL_CFG", memory | stage.truncate << 8))
    return writes


def _y_stage(stage: SdpStage) -> Writes:
    writes: Writes = [("D_DP_EW_CFG", _stage_config(stage, Activation.LUT))]
    if not stage.enable:
        return writes
    memory = int(stage.mode != SdpMode.PER_LAYER)
    parts = (
        ("ALU", SdpOpType.ADD, stage.alu_operand, stage.alu_cvt),
        ("MUL", SdpOpType.MUL, stage.mul_operand, stage.mul_cvt),
    )
    for name, own, operand, cvt in parts:
        if stage.type not in (own, SdpOpType.BOTH):
            continue
        writes.append((f"D_DP_EW_{name}_CFG", memory | int(not cvt.enable) << 1))
        if memory:
            writes += [
                (f"D_DP_EW_{name}_CVT_OFFSET_VALUE", cvt.offset),
                (f"D_DP_EW_{name}_CVT_SCALE_VALUE", cvt.scale),
                (f"D_DP_EW_{name}_CVT_TRUNCATE_VALUE", cvt.truncate),
            ]
        else:
            writes.append((f"D_DP_EW_{name}_SRC_VALUE", operand))
    writes.append(("D_DP_EW_TRUNCATE_VALUE", stage.truncate))
    return writes


def _sdp(op: SdpOp, surface: SdpSurface, context: Context) -> Writes:
    src, dst = surface.src, surface.dst
    writes: Writes = [
        ("D_DATA_CUBE_WIDTH", src.width - 1),
        ("D_DATA_CUBE_HEIGHT", src.height - 1),
        ("D_DATA_CUBE_CHANNEL", src.channel - 1),
    ]
    to_memory = dst.type != MemoryType.HW
    if to_memory:
        high, low = high_low(context.cube_address("destination", dst))
        writes += [
            ("D_DST_BASE_ADDR_HIGH", high),
            ("D_DST_BASE_ADDR_LOW", low),
            ("D_DST_LINE_STRIDE", dst.line_stride),
            ("D_DST_SURFACE_STRIDE", dst.surf_stride),
        ]
    writes += _x_stage("BS", op.x1) + _x_stage("BN", op.x2) + _y_stage(op.y)
    writes += [
        (
            "D_FEATURE_MODE_CFG",
            int(src.type == MemoryType.HW)
            | int(not to_memory) << 1
            | int(op.conv_mode == 1) << 2
            | (op.batch_num - 1) << 8,
        ),
        ("D_DST_DMA_CFG", int(dst.type == MemoryType.MC)),
    ]
    if op.batch_num > 1:
        writes.append(("D_DST_BATCH_STRIDE", op.batch_stride))
    writes += [
        ("D_DATA_FORMAT", _processing(op) | op.dst_precision << 2),
        ("D_CVT_OFFSET", op.out_cvt.offset),
        ("D_CVT_SCALE", op.out_cvt.scale),
        ("D_CVT_SHIFT", op.out_cvt.truncate),
    ]
    return writes


def program(op: SdpOp, surface: SdpSurface, context: Context) -> Program:
    """Return the register writes of one SDP operation."""
    _check(op, surface)
    result: Program = [("SDP_RDMA", _rdma(op, surface, context))]
    if context.lut is not None:
        result.append(("SDP", lut_writes(context.lut, op.src_precision, sdp=True)))
    result.append(("SDP", _sdp(op, surface, context)))
    return result
