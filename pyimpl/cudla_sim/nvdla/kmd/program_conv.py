"""Register programming of a convolution: CACC, CMAC, CSC, CDMA, in this order.

Source: nvdla/sw firmware, convolution processor; nvdla hardware manual, register descriptions.
"""

from __future__ import annotations

from ..descriptors import ConvOp, ConvSurface, MemoryType
from ..facts.formats import FEATURE
from ..hw.units.conv.pixels import NAMES, channel_count, element_bytes
from .context import Context, Program, Writes, high_low
from .port import check_choice, require

"""data_format of feature cubes; smaller numbers are pixel formats."""


def _bytes_per_pixel(data_format: int) -> int:
    if data_format == FEATURE:
        return 2
    name = NAMES[data_format]
    if "___" in name:
        return element_bytes(name)
    return 4 if "A2" in name else channel_count(name) * element_bytes(name)


def _check(op: ConvOp, surface: ConvSurface, context: Context) -> None:
    check_choice("conv_mode", op.conv_mode, 2)
    check_choice("weight_format", op.weight_format, 2)
    check_choice("data_format", op.data_format, FEATURE + 1)
    check_choice("pixel_mapping", op.pixel_mapping, 1)
    check_choice("in_precision", op.in_precision, 3)
    check_choice("out_precision", op.out_precision, 3)
    check_choice("mean_format", op.mean_format, 2)
    require(op.out_cvt.scale == 1, f"convolution out_cvt.scale = {op.out_cvt.scale}: 1 expected")
    require(op.out_cvt.offset == 0, f"convolution out_cvt.offset = {op.out_cvt.offset}: 0 expected")
    if op.weight_format:
        require(context.config.weight_compress_support, "this hardware has no weight compression")
        for name, cube in (("wmb", surface.wmb), ("wgs", surface.wgs)):
            require(cube.address != -1, f"compressed weights without {name} address")
    dst = surface.dst
    if dst.width == 1 and dst.height == 1:
        require(
            dst.line_stride == context.config.atom_size,
            f"a 1 x 1 output has line stride {dst.line_stride}:"
            f" {context.config.atom_size} expected",
        )


def _cacc(op: ConvOp, surface: ConvSurface, output_address: int) -> Writes:
    dst = surface.dst
    packed = 0x00010001 if dst.width == 1 and dst.height == 1 else 0
    return [
        ("D_MISC_CFG", op.conv_mode | op.out_precision << 12),
        ("D_DATAOUT_SIZE_0", (dst.width - 1) | (dst.height - 1) << 16),
        ("D_DATAOUT_SIZE_1", dst.channel - 1),
        ("D_DATAOUT_ADDR", high_low(output_address)[1]),
        ("D_BATCH_NUMBER", op.batch - 1),
        ("D_LINE_STRIDE", dst.line_stride),
        ("D_SURF_STRIDE", dst.surf_stride),
        ("D_DATAOUT_MAP", packed),
        ("D_CLIP_CFG", op.out_cvt.truncate),
    ]


def _reuse(op: ConvOp) -> int:
    return (
        op.data_reuse << 16
        | op.weight_reuse << 20
        | op.skip_data_rls << 24
        | op.skip_weight_rls << 28
    )


def _csc(op: ConvOp, surface: ConvSurface) -> Writes:
    dst = surface.dst
    direct = op.conv_mode == 0
    stride = (op.conv_stride_x - 1) | (op.conv_stride_y - 1) << 16 if direct else 0
    pads = op.pad_x_left | op.pad_y_top << 16 if direct else 0
    precision = op.out_precision << 8 | op.out_precision << 12
    return [
        ("D_MISC_CFG", op.conv_mode | precision | _reuse(op)),
        ("D_DATAIN_FORMAT", int(op.data_format < FEATURE)),
        ("D_DATAIN_SIZE_EXT_0", (op.input_width_csc - 1) | (op.input_height_csc - 1) << 16),
        ("D_DATAIN_SIZE_EXT_1", op.input_channel_csc - 1),
        ("D_BATCH_NUMBER", op.batch - 1),
        ("D_POST_Y_EXTENSION", op.post_extension),
        ("D_ENTRY_PER_SLICE", op.entry_per_slice - 1),
        ("D_WEIGHT_FORMAT", op.weight_format),
        ("D_WEIGHT_SIZE_EXT_0", (op.kernel_width_csc - 1) | (op.kernel_height_csc - 1) << 16),
        ("D_WEIGHT_SIZE_EXT_1", (op.kernel_channel_csc - 1) | (dst.channel - 1) << 16),
        ("D_WEIGHT_BYTES", surface.weight.size),
        ("D_WMB_BYTES", surface.wmb.size),
        ("D_DATAOUT_SIZE_0", (op.input_width_cmac - 1) | (op.input_height_cmac - 1) << 16),
        ("D_DATAOUT_SIZE_1", dst.channel - 1),
        ("D_ATOMICS", dst.width * dst.height - 1),
        ("D_RELEASE", op.release - 1),
        ("D_CONV_STRIDE_EXT", stride),
        ("D_DILATION_EXT", (op.dilation_x - 1) | (op.dilation_y - 1) << 16),
        ("D_ZERO_PADDING", pads),
        ("D_ZERO_PADDING_VALUE", op.pad_val & 0xFFFF),
        ("D_BANK", (op.data_bank - 1) | (op.weight_bank - 1) << 16),
        ("D_PRA_CFG", op.pra_truncate),
    ]


def _cdma(op: ConvOp, surface: ConvSurface, context: Context) -> Writes:
    src, weight = surface.src, surface.weight
    atom = context.config.atom_size
    require(src.type != MemoryType.HW, "a convolution reads its input from memory")
    source = context.input_address("source", src, _bytes_per_pixel(op.data_format))
    high, low = high_low(source)
    high_uv, low_uv = high_low(source + surface.offset_u)
    weight_high, weight_low = high_low(context.optional_address("weight", weight))
    pixel_format = op.data_format if op.data_format < FEATURE else 0
    line_packed = int(src.line_stride == src.width * atom)
    surf_packed = int(src.surf_stride == src.width * src.height * atom)
    writes: Writes = [
        (
            "D_MISC_CFG",
            op.conv_mode | op.in_precision << 8 | op.out_precision << 12 | _reuse(op),
        ),
        (
            "D_DATAIN_FORMAT",
            int(op.data_format < FEATURE)
            | pixel_format << 8
            | op.pixel_mapping << 16
            | op.pixel_override << 20,
        ),
        ("D_DATAIN_SIZE_0", (src.width - 1) | (src.height - 1) << 16),
        ("D_DATAIN_SIZE_1", src.channel - 1),
        ("D_DATAIN_SIZE_EXT_0", (op.input_width_csc - 1) | (op.input_height_csc - 1) << 16),
        ("D_DAIN_RAM_TYPE", context.ram_type("source", src)),
        ("D_DAIN_ADDR_HIGH_0", high),
        ("D_DAIN_ADDR_LOW_0", low),
        ("D_DAIN_ADDR_HIGH_1", high_uv),
        ("D_DAIN_ADDR_LOW_1", low_uv),
        ("D_LINE_STRIDE", src.line_stride),
        ("D_SURF_STRIDE", src.surf_stride),
        ("D_LINE_UV_STRIDE", surface.in_line_uv_stride),
        ("D_DAIN_MAP", line_packed | surf_packed << 16),
        ("D_BATCH_NUMBER", op.batch - 1),
        ("D_BATCH_STRIDE", op.batch_stride),
        ("D_ENTRY_PER_SLICE", op.entry_per_slice - 1),
        ("D_FETCH_GRAIN", op.fetch_grain - 1),
        ("D_WEIGHT_FORMAT", op.weight_format),
        ("D_WEIGHT_SIZE_0", op.bytes_per_kernel - 1),
        ("D_WEIGHT_SIZE_1", surface.dst.channel - 1),
        ("D_WEIGHT_RAM_TYPE", context.ram_type("weight", weight)),
        ("D_WEIGHT_ADDR_HIGH", weight_high),
        ("D_WEIGHT_ADDR_LOW", weight_low),
        ("D_WEIGHT_BYTES", weight.size),
    ]
    if op.weight_format:
        wgs_high, wgs_low = high_low(context.cube_address("wgs", surface.wgs))
        wmb_high, wmb_low = high_low(context.cube_address("wmb", surface.wmb))
        writes += [
            ("D_WGS_ADDR_HIGH", wgs_high),
            ("D_WGS_ADDR_LOW", wgs_low),
            ("D_WMB_ADDR_HIGH", wmb_high),
            ("D_WMB_ADDR_LOW", wmb_low),
            ("D_WMB_BYTES", surface.wmb.size),
        ]
    writes.append(("D_MEAN_FORMAT", op.mean_format))
    if op.mean_format:
        writes += [
            ("D_MEAN_GLOBAL_0", (op.mean_ry & 0xFFFF) | (op.mean_gu & 0xFFFF) << 16),
            ("D_MEAN_GLOBAL_1", (op.mean_bv & 0xFFFF) | (op.mean_ax & 0xFFFF) << 16),
        ]
    if op.in_cvt.enable:
        writes += [
            ("D_CVT_CFG", 1 | op.in_cvt.truncate << 4),
            ("D_CVT_OFFSET", op.in_cvt.offset),
            ("D_CVT_SCALE", op.in_cvt.scale),
        ]
    else:
        writes.append(("D_CVT_CFG", 0))
    pads = op.pad_x_left | op.pad_x_right << 8 | op.pad_y_top << 16 | op.pad_y_bottom << 24
    writes += [
        ("D_CONV_STRIDE", (op.conv_stride_x - 1) | (op.conv_stride_y - 1) << 16),
        ("D_ZERO_PADDING", pads),
        ("D_ZERO_PADDING_VALUE", op.pad_val & 0xFFFF),
        ("D_BANK", (op.data_bank - 1) | (op.weight_bank - 1) << 16),
    ]
    return writes


def program(op: ConvOp, surface: ConvSurface, context: Context) -> Program:
    """Return the register writes of one convolution."""
    _check(op, surface, context)
    output = context.optional_address("destination", surface.dst)
    misc: Writes = [("D_MISC_CFG", op.conv_mode | op.out_precision << 12)]
    return [
        ("CACC", _cacc(op, surface, output)),
        ("CMAC_A", misc),
        ("CMAC_B", misc),
        ("CSC", _csc(op, surface)),
        ("CDMA", _cdma(op, surface, context)),
    ]
