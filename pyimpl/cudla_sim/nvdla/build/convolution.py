"""Turning a convolution into operations: numbers, weights, image input.

Source: nvdla hardware manual "Convolution"; nvdla software manual "Runtime".
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from .. import layout
from ..descriptors import Activation as Act
from ..descriptors import (
    ConvOp,
    ConvSurface,
    CvtParam,
    DataCube,
    MemoryType,
    OpType,
    SdpMode,
    SdpOpType,
    SdpStage,
)
from ..facts.cbuf import data_banks, entries_per_slice, image_entries, usable_banks, weight_banks
from ..facts.formats import FEATURE
from ..facts.modes import Alu
from ..facts.precisions import FP16, INT8, INT16, RANGES, element_size
from . import quantize
from .layers import Conv, Image, Tensor
from .places import INPUT, WEIGHTS
from .program import Program


def add(program: Program, layer: Conv) -> None:
    """Append a convolution with the SDP operation behind it."""
    source = layer.inputs[0]
    channels, height, width = source.shape
    _, _, rows, columns = layer.weights.shape
    out_shape = layer.output.shape
    stage, table, packed, shift = _numbers(program, layer)
    bytes_per_kernel = rows * columns * channels * element_size(program.precision)
    mask = groups = DataCube(address=0)
    if layer.compress:
        packed, *extra = layout.compress_weights(
            packed, layer.weights.shape, program.config, program.precision
        )
        mask, groups = (
            DataCube(
                type=MemoryType.MC, address=WEIGHTS, offset=program.constant(part), size=len(part)
            )
            for part in extra
        )
    weight = DataCube(
        type=MemoryType.MC,
        address=WEIGHTS,
        offset=program.constant(packed),
        size=len(packed),
        width=columns,
        height=rows,
        channel=channels,
    )
    top, bottom, left, right = layer.pads
    pictured = program.image is not None and program.cube(source).address == INPUT
    if pictured:
        entries = image_entries(program.config, width, (left, right), channels, program.precision)
    else:
        entries = entries_per_slice(program.config, width, channels, program.precision)
    # As many as there are at most: where they are too few, the checker says so.
    banks = usable_banks(program.config, layer.compress)
    data_bank = min(data_banks(program.config, entries, height), banks - 1)
    weight_bank = min(weight_banks(program.config, len(packed)), banks - data_bank)
    operation = ConvOp(
        entry_per_slice=entries,
        data_format=FEATURE,
        fetch_grain=1,
        data_bank=data_bank,
        weight_bank=weight_bank,
        pixel_override=1,
        release=height,
        input_width_csc=width,
        input_height_csc=height,
        input_channel_csc=channels,
        kernel_width_csc=columns,
        kernel_height_csc=rows,
        kernel_channel_csc=channels,
        input_width_cmac=out_shape[2],
        input_height_cmac=out_shape[1],
        bytes_per_kernel=bytes_per_kernel,
        weight_format=int(layer.compress),
        conv_stride_x=layer.stride[1],
        conv_stride_y=layer.stride[0],
        pad_x_left=left,
        pad_x_right=right,
        pad_y_top=top,
        pad_y_bottom=bottom,
        dilation_x=layer.dilation[1],
        dilation_y=layer.dilation[0],
        in_precision=program.precision,
        out_precision=program.precision,
        in_cvt=CvtParam(1, 0, int(program.precision == INT8), 0),
        out_cvt=CvtParam(1, shift, 1, 0),
    )
    input_cube = program.cube(source)
    if program.image is not None and pictured:
        _read_image(program, operation, program.image, source)
        input_cube = picture(source)
    surface = ConvSurface(
        weight=weight,
        wmb=mask,
        wgs=groups,
        src=input_cube,
        dst=program.flying(out_shape),
    )
    program.append(OpType.CONV, operation, surface)
    program.append_sdp(layer, program.flying(out_shape), [(stage, table)], CvtParam(1, 0, 1, 0))


def picture(tensor: Tensor) -> DataCube:
    """Describe the input image in memory."""
    channels, height, width = tensor.shape
    line = -(-width * channels // 32) * 32
    return DataCube(
        type=MemoryType.MC,
        address=INPUT,
        size=line * height,
        width=width,
        height=height,
        channel=channels,
        line_stride=line,
    )


def _read_image(program: Program, op: ConvOp, image: Image, source: Tensor) -> None:
    """Let CDMA convert pixels; kernel columns are folded into channels (pre-extension)."""
    op.data_format, op.pixel_override, op.in_precision = image.number, 0, INT8
    op.kernel_channel_csc *= op.kernel_width_csc
    op.kernel_width_csc = 1
    op.mean_format = 1
    means = (*image.mean, 0, 0, 0, 0)
    op.mean_ry, op.mean_gu, op.mean_bv, op.mean_ax = means[:4]
    op.in_cvt = CvtParam(1, 0, 1, 0)
    if program.precision != FP16:
        factor = quantize.factors(np.array([image.factor / source.scale]))
        op.in_cvt = CvtParam(int(factor.values[0]), factor.shift, 1, 0)


def _pack(program: Program, layer: Conv, values: NDArray[Any]) -> NDArray[np.uint8]:
    """Pack weights for the input format of the layer."""
    if program.image is None or program.places[layer.inputs[0]].address != INPUT:
        return layout.pack_weights(values, program.config, program.precision)
    if program.precision == FP16:  # the converter of CDMA leaves the factor to the weights
        values = values * program.image.factor
    return layout.pack_image_weights(values, program.config, program.precision)


def _numbers(program: Program, layer: Conv) -> tuple[SdpStage, DataCube, NDArray[np.uint8], int]:
    """Return the X1 stage, its operand table, the packed weights and the CACC truncation."""
    kernels = len(layer.weights)
    act = Act.RELU if layer.relu else Act.NONE
    if program.precision == FP16:
        packed = _pack(program, layer, layer.weights + 0.0)  # -0 becomes 0: compressible
        stage = SdpStage(
            enable=1,
            alu_type=Alu.SUM,
            type=SdpOpType.ADD,
            mode=SdpMode.PER_KERNEL,
            act=act,
            precision=FP16,
        )
        return stage, program.table(kernels, layer.bias.astype(np.float16)), packed, 0
    limit = RANGES[program.precision][1]
    integers, scale = quantize.weights(layer.weights, limit)
    shift = quantize.accumulator_shift(integers, limit)
    step = layer.inputs[0].scale * scale * 2.0**shift
    factor = quantize.factors(step / layer.output.scale)
    bias = quantize.offsets(np.rint(layer.bias / step))
    stage = SdpStage(
        enable=1,
        alu_type=Alu.SUM,
        type=SdpOpType.BOTH,
        mode=SdpMode.PER_KERNEL,
        act=act,
        shift_value=bias.shift,
        truncate=factor.shift,
        precision=INT16,
    )
    packed = _pack(program, layer, integers)
    return stage, program.table(kernels, bias.values, factor.values), packed, shift
