"""Rules for SDP: stages that exist, operands, converters, cubes.

Source: nvdla/hw register maps and specifications; nvdla/sw ``sdp.c``; hardware manual "SDP".
"""

from __future__ import annotations

from ..descriptors import (
    Activation,
    ConvOp,
    ConvSurface,
    DataCube,
    MemoryType,
    SdpMode,
    SdpOp,
    SdpOpType,
    SdpStage,
    SdpSurface,
)
from ..facts import precisions
from ..facts.modes import Alu
from ..facts.precisions import FP16, INT8, INT16, element_size
from .extent import Extent
from .inspection import Accesses, Inspection, accesses


def inspect(look: Inspection, op: SdpOp, surface: SdpSurface) -> Accesses:
    """Check one operation; return what it reads and writes."""
    for name in ("src_precision", "dst_precision"):
        look.precision(name, getattr(op, name))
    if op.batch_num != 1:
        look.require(look.config.batch, "batch_num", f"{look.config.name} has no batches")
        look.stored("batch_num", op.batch_num, "SDP.D_FEATURE_MODE_CFG.BATCH_NUMBER", 1)
        look.aligned("batch_stride", op.batch_stride)
    look.require(op.conv_mode in (0, 1), "conv_mode", f"{op.conv_mode}; 0 or 1 (Winograd)")
    if op.conv_mode:
        look.require(look.config.winograd, "conv_mode", f"{look.config.name} has no Winograd")
    look.stored("out_cvt.truncate", op.out_cvt.truncate, "SDP.D_CVT_SHIFT.CVT_SHIFT")
    _cubes(look, op, surface)
    reads: list[tuple[str, Extent | None]] = [
        ("surface.src", look.feature("surface.src", surface.src, op.src_precision))
    ]
    processing = INT8 if (op.src_precision, op.dst_precision) == (INT16, INT8) else op.src_precision
    for name, stage in (("x1", op.x1), ("x2", op.x2), ("y", op.y)):
        if not stage.enable:
            continue
        _stage(look, name, stage, processing)
        if stage.type != SdpOpType.NONE and stage.mode != SdpMode.PER_LAYER:
            cube = getattr(surface, name)
            reads.append(
                (f"surface.{name}", _operand(look, name, stage, cube, surface, processing))
            )
    _table(look, op)
    batch = (op.batch_num, op.batch_stride)
    written = look.feature(
        "surface.dst", surface.dst, op.dst_precision, batch=batch[0], batch_stride=batch[1]
    )
    return accesses(reads, [("surface.dst", written)])


def _cubes(look: Inspection, op: SdpOp, surface: SdpSurface) -> None:
    src, dst = surface.src, surface.dst
    look.cube("surface.src", src, op.src_precision)
    look.cube("surface.dst", dst, op.dst_precision)
    if op.batch_num == 1:
        atom = look.config.memory_atom
        _packed(look, "surface.src", src, src, op.src_precision, atom)
        _packed(look, "surface.dst", dst, src, op.dst_precision, atom)
    for name in ("width", "height", "channel"):
        mine, made = getattr(src, name), getattr(dst, name)
        look.require(
            mine == made, f"surface.dst.{name}", f"{made}; the source has {mine}, SDP keeps sizes"
        )


def _packed(
    look: Inspection, where: str, cube: DataCube, size: DataCube, precision: int, pixel: int
) -> None:
    """SDP takes the surfaces of one pixel as packed, *pixel* bytes apart."""
    single = (size.width, size.height) == (1, 1)
    if single and size.channel > look.config.channels_per_atom(precision):
        look.require(
            cube.type == MemoryType.HW or cube.surf_stride == pixel,
            f"{where}.surf_stride",
            f"{cube.surf_stride}; the surfaces of a 1 x 1 cube are read and written {pixel} bytes"
            " apart, whatever their stride",
        )


def _stage(look: Inspection, name: str, stage: SdpStage, processing: int) -> None:
    config, x_stage = look.config, name != "y"
    if not x_stage:
        look.require(config.lut, f"{name}.enable", f"{config.name} has no Y stage")
    alu = stage.type in (SdpOpType.ADD, SdpOpType.BOTH)
    mul = stage.type in (SdpOpType.MUL, SdpOpType.BOTH)
    look.between(f"{name}.type", stage.type, 0, 3)
    look.between(f"{name}.mode", stage.mode, 0, 2)
    look.between(f"{name}.act", stage.act, 0, 3)
    if alu:
        most = Alu.EQL - 1 if x_stage else max(Alu)
        look.between(f"{name}.alu_type", stage.alu_type, 0, most)
    if stage.act == Activation.PRELU:
        look.require(mul, f"{name}.act", "PReLU needs a multiplier")
    if stage.act == Activation.LUT:
        look.require(not x_stage, f"{name}.act", "only the Y stage has look-up tables")
    if x_stage:
        block = "BS" if name == "x1" else "BN"
        look.stored(
            f"{name}.shift_value",
            stage.shift_value,
            f"SDP.D_DP_{block}_ALU_CFG.{block}_ALU_SHIFT_VALUE",
        )
        look.stored(
            f"{name}.truncate", stage.truncate, f"SDP.D_DP_{block}_MUL_CFG.{block}_MUL_SHIFT_VALUE"
        )
    if stage.mode == SdpMode.PER_LAYER and processing != FP16 and x_stage:
        if alu:
            look.signed(f"{name}.alu_operand", stage.alu_operand, 16)
        if mul:
            look.signed(f"{name}.mul_operand", stage.mul_operand, 16)
    if stage.mode != SdpMode.PER_LAYER and stage.type != SdpOpType.NONE:
        floating = processing == FP16
        look.require(
            (stage.precision == FP16) == floating,
            f"{name}.precision",
            f"{precisions.name(stage.precision)} operands for {precisions.name(processing)} data",
        )
    if not x_stage and stage.mode != SdpMode.PER_LAYER:
        for label, used, cvt in (("alu", alu, stage.alu_cvt), ("mul", mul, stage.mul_cvt)):
            if used:
                upper = label.upper()
                look.stored(
                    f"{name}.{label}_cvt.truncate",
                    cvt.truncate,
                    f"SDP.D_DP_EW_{upper}_CVT_TRUNCATE_VALUE.EW_{upper}_CVT_TRUNCATE",
                )


def _operand(
    look: Inspection,
    name: str,
    stage: SdpStage,
    cube: DataCube,
    surface: SdpSurface,
    processing: int,
) -> Extent | None:
    """Operands in memory: where they lie, and the bytes of the real channels."""
    where = f"surface.{name}"
    if cube.type not in (MemoryType.MC, MemoryType.CV):
        look.bad(f"{where}.type", f"memory type {cube.type}; operands come from memory")
        return None
    if look.at(where, cube) is None:
        return None
    parts = (2 if stage.type == SdpOpType.BOTH else 1) * element_size(stage.precision)
    src = surface.src
    if stage.mode == SdpMode.PER_KERNEL:
        return look.surface(cube, src.channel * parts)
    per_atom = look.config.channels_per_atom(processing)
    atom = per_atom * parts
    look.aligned(f"{where}.line_stride", cube.line_stride)
    look.aligned(f"{where}.surf_stride", cube.surf_stride)
    _packed(look, where, cube, src, processing, atom)
    start = look.surface(cube, src.width * atom)
    if start is None:
        return None
    surfaces = -(-src.channel // per_atom)
    levels = ((src.height, cube.line_stride), (surfaces, cube.surf_stride))
    return Extent(start.memory, start.start, start.run, levels)


def _table(look: Inspection, op: SdpOp) -> None:
    uses = bool(op.y.enable) and op.y.act == Activation.LUT
    if uses:
        look.require(look.config.lut, "y.act", f"SDP of {look.config.name} has no look-up tables")
        look.require(op.lut_index >= 0, "lut_index", "the Y stage looks up, but no table is named")
    if op.lut_index >= 0:
        look.require(
            look.config.lut, "lut_index", f"SDP of {look.config.name} has no look-up tables"
        )


def behind(
    look: Inspection, op: SdpOp, surface: SdpSurface, before: tuple[ConvOp, ConvSurface]
) -> None:
    """What SDP takes on the fly must be what the convolution gives."""
    conv, made = before[0], before[1].dst
    for name in ("width", "height", "channel"):
        mine, given = getattr(surface.src, name), getattr(made, name)
        look.require(
            mine == given, f"surface.src.{name}", f"{mine}; the convolution before gives {given}"
        )
    for name, value, given in (
        ("src_precision", op.src_precision, conv.out_precision),
        ("conv_mode", op.conv_mode, conv.conv_mode),
        ("batch_num", op.batch_num, conv.batch),
    ):
        look.require(value == given, name, f"{value}; the convolution before has {given}")
