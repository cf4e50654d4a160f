"""Register programming of CDP, RUBIK and BDMA operations.

Source: nvdla/sw firmware, the respective processors; nvdla hardware manual.
"""

from __future__ import annotations

from ..descriptors import (
    BdmaOp,
    BdmaSurface,
    BdmaTransfer,
    CdpOp,
    CdpSurface,
    MemoryType,
    RubikOp,
    RubikSurface,
)
from ..facts.limits import LARGEST
from ..facts.modes import Rubik
from .context import Context, Program, Writes, high_low
from .port import Destination, check_choice, require
from .program_lut import lut_writes


def cdp(op: CdpOp, surface: CdpSurface, context: Context) -> Program:
    """Return the register writes of one CDP operation."""
    src, dst = surface.src, surface.dst
    for name, cube in (("source", src), ("destination", dst)):
        require(cube.type != MemoryType.HW, f"CDP {name} must be in memory")
    require(op.in_precision == op.out_precision, "CDP does not convert precisions")
    check_choice("CDP precision", op.in_precision, 3)
    high, low = high_low(context.input_address("source", src, 1))
    out_high, out_low = high_low(context.cube_address("destination", dst))
    rdma: Writes = [
        ("D_DATA_CUBE_WIDTH", src.width - 1),
        ("D_DATA_CUBE_HEIGHT", src.height - 1),
        ("D_DATA_CUBE_CHANNEL", src.channel - 1),
        ("D_SRC_BASE_ADDR_LOW", low),
        ("D_SRC_BASE_ADDR_HIGH", high),
        ("D_SRC_LINE_STRIDE", src.line_stride),
        ("D_SRC_SURFACE_STRIDE", src.surf_stride),
        ("D_SRC_DMA_CFG", context.ram_type("source", src)),
        ("D_DATA_FORMAT", op.in_precision),
    ]
    main: Writes = [
        ("D_DST_BASE_ADDR_LOW", out_low),
        ("D_DST_BASE_ADDR_HIGH", out_high),
        ("D_DST_LINE_STRIDE", dst.line_stride),
        ("D_DST_SURFACE_STRIDE", dst.surf_stride),
        ("D_DST_DMA_CFG", context.ram_type("destination", dst)),
        ("D_DATA_FORMAT", op.in_precision),
        ("D_LRN_CFG", max(op.local_size - 1, 0) // 2 - 1),  # the register keeps two bits
        ("D_DATIN_OFFSET", op.in_cvt.offset),
        ("D_DATIN_SCALE", op.in_cvt.scale),
        ("D_DATIN_SHIFTER", op.in_cvt.truncate),
        ("D_DATOUT_OFFSET", op.out_cvt.offset),
        ("D_DATOUT_SCALE", op.out_cvt.scale),
        ("D_DATOUT_SHIFTER", op.out_cvt.truncate),
        ("D_FUNC_BYPASS", int(bool(op.bypass_sqsum)) | int(bool(op.bypass_out_mul)) << 1),
    ]
    result: Program = [("CDP_RDMA", rdma)]
    if context.lut is not None:
        result.append(("CDP", lut_writes(context.lut, op.in_precision, sdp=False)))
    result.append(("CDP", main))
    return result


def rubik(op: RubikOp, surface: RubikSurface, context: Context) -> Program:
    """Return the register writes of one RUBIK operation."""
    src, dst = surface.src, surface.dst
    require(context.config.rubik_enable, "this hardware has no RUBIK")
    for name, cube in (("source", src), ("destination", dst)):
        require(cube.type != MemoryType.HW, f"RUBIK {name} must be in memory")
    check_choice("RUBIK mode", op.mode, len(Rubik))
    check_choice("RUBIK precision", op.precision, 3)
    high, low = high_low(context.input_address("source", src, 1))
    out_high, out_low = high_low(context.cube_address("destination", dst))
    writes: Writes = [
        ("D_MISC_CFG", op.mode | op.precision << 8),
        ("D_DAIN_RAM_TYPE", context.ram_type("source", src)),
        ("D_DATAIN_SIZE_0", (src.width - 1) | (src.height - 1) << 16),
        ("D_DATAIN_SIZE_1", src.channel - 1),
        ("D_DAIN_ADDR_LOW", low),
        ("D_DAIN_ADDR_HIGH", high),
    ]
    if op.mode == Rubik.MERGE:
        stride = src.plane_stride
        require(stride != 0 and stride % 32 == 0, f"RUBIK merge with plane stride {stride}")
        writes.append(("D_DAIN_PLANAR_STRIDE", stride))
    else:
        writes.append(("D_DAIN_SURF_STRIDE", src.surf_stride))
    writes += [
        ("D_DAIN_LINE_STRIDE", src.line_stride),
        ("D_DAOUT_RAM_TYPE", context.ram_type("destination", dst)),
        ("D_DATAOUT_SIZE_1", dst.channel - 1),
        ("D_DAOUT_ADDR_LOW", out_low),
        ("D_DAOUT_ADDR_HIGH", out_high),
        ("D_DAOUT_LINE_STRIDE", dst.line_stride),
    ]
    if op.mode == Rubik.SPLIT:
        writes.append(("D_DAOUT_PLANAR_STRIDE", dst.plane_stride))
    else:
        writes.append(("D_DAOUT_SURF_STRIDE", dst.surf_stride))
    if op.mode == Rubik.CONTRACT:
        surfaces = (dst.channel * (1 if op.precision == 0 else 2) + 31) >> 5
        writes += [
            ("D_CONTRACT_STRIDE_0", surfaces * src.surf_stride),
            ("D_CONTRACT_STRIDE_1", op.stride_y * dst.line_stride),
            ("D_DECONV_STRIDE", (op.stride_x - 1) | (op.stride_y - 1) << 16),
        ]
    return [("RBK", writes)]


def _transfer(surface: BdmaSurface, item: BdmaTransfer, context: Context) -> Writes:
    for name in ("line_repeat", "surface_repeat"):
        value = getattr(item, name)
        require(value <= LARGEST, f"BDMA {name} = {value}: at most {LARGEST}")
    require(item.line_size % 32 == 0, f"BDMA line_size = {item.line_size}: a multiple of 32")
    for side in ("source", "destination"):
        line, plane = getattr(item, side + "_line"), getattr(item, side + "_surface")
        require(line >= item.line_size, f"BDMA {side}_line = {line} is less than a line")
        require(plane >= line * item.line_repeat, f"BDMA {side}_surface = {plane} is too small")
    source = context.port.dma_address(item.source_address, Destination.DMA)
    destination = context.port.dma_address(item.destination_address, Destination.DMA)
    high, low = high_low(source)
    out_high, out_low = high_low(destination)
    ram = int(surface.source_type == 0) | int(surface.destination_type == 0) << 1
    return [
        ("CFG_SRC_ADDR_LOW", low),
        ("CFG_SRC_ADDR_HIGH", high),
        ("CFG_DST_ADDR_LOW", out_low),
        ("CFG_DST_ADDR_HIGH", out_high),
        ("CFG_LINE", (item.line_size >> 5) - 1),
        ("CFG_CMD", ram),
        ("CFG_LINE_REPEAT", item.line_repeat - 1),
        ("CFG_SRC_LINE", item.source_line),
        ("CFG_DST_LINE", item.destination_line),
        ("CFG_SURF_REPEAT", item.surface_repeat - 1),
        ("CFG_SRC_SURF", item.source_surface),
        ("CFG_DST_SURF", item.destination_surface),
        ("CFG_OP", 1),
    ]


def bdma(op: BdmaOp, surface: BdmaSurface, context: Context) -> Program:
    """Return the register writes of one BDMA operation."""
    require(context.config.bdma_enable, "this hardware has no BDMA")
    count = surface.num_transfers
    require(count <= len(surface.transfers), f"BDMA num_transfers = {count}: at most 20")
    check_choice("BDMA source_type", surface.source_type, 2)
    check_choice("BDMA destination_type", surface.destination_type, 2)
    return [("BDMA", _transfer(surface, item, context)) for item in surface.transfers[:count]]
