"""Layers for the compiled functions: what numpy computes in bands, described as one call.

``sdp_stages``, ``sdp_lut``, ``sdp`` and ``conv`` are the same arithmetic in numpy. They also do
what is left out here: comparisons (EQL), Winograd, what follows an fp16 convolution, integers that
become fp16.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from .....native import ints
from ....facts.precisions import FP16, RANGES
from ..conv.registers import Window
from . import stages as sdp_stages
from .registers import EwParams

Weights = ints.Weights


DEPTHWISE = 8
"""Channels of depthwise convolutions that are computed as such; NVDLA knows dense ones only, and
software fills up with zeros."""


def prepare_weights(
    unit: ints.Ints, weights: NDArray[np.integer[Any]], window: Window, depthwise: bool = True
) -> ints.Weights:
    """Arrange weights [kernel, product] of int8 or int16. *depthwise*: look whether each kernel has
    weights for one channel only.

    Neighbouring columns and their channels are neighbours in the input, too, unless they are
    dilated: a run is then one column.
    """
    kernels = len(weights)
    taps = weights.reshape(kernels, window.rows * window.columns, -1)
    if depthwise and weights.dtype == np.int8 and taps.shape[2] >= DEPTHWISE:
        found = unit.pack_diagonal(taps)
        if found is not None:
            return found
    runs = window.rows if window.dilation_x == 1 else window.rows * window.columns
    return unit.pack(weights.reshape(kernels, runs, -1))


def frame(
    window: Window,
    channels: int,
    top: int,
    left: int,
    pad: int,
    truncate: int,
    table: NDArray[np.int16] | None = None,
    convert: ints.Converter | None = None,
    diagonal: bool = False,
) -> ints.Frame:
    """The frame of padded input that the window moves over; strides that skip whole lines or
    columns are taken when it is filled. *diagonal*: for such weights."""
    height, width = window.extent()
    stride_y, stride_x, step_y, step_x = window.stride_y, window.stride_x, 1, 1
    if window.rows == 1:
        stride_y, step_y, height = 1, stride_y, window.out_height
    if window.columns == 1:
        stride_x, step_x, width = 1, stride_x, window.out_width
    rows = np.arange(window.rows, dtype=np.int64) * (window.dilation_y * width * channels)
    if window.dilation_x != 1 or diagonal:
        columns = np.arange(window.columns, dtype=np.int64) * (window.dilation_x * channels)
        rows = np.add.outer(rows, columns).reshape(-1)
    if diagonal and len(rows) % 2:
        rows = np.append(rows, rows[-1])
    return ints.Frame(
        window.out_height, window.out_width, stride_y, stride_x, height, width, channels, rows,
        pad, top, left, step_y, step_x, truncate, table,
        convert,
    )  # fmt: skip


def _operand(stage: sdp_stages.Stage, alu: bool, floating: bool) -> ints.Operand:
    p = stage.p
    shift = getattr(p, "alu_shift", 0) if alu else 0
    if not (p.alu_memory if alu else p.mul_memory):
        return ints.Operand(float(stage.number(alu, floating)), shift=shift)
    assert stage.operands is not None
    part = stage.operands.component(1 if alu else 0)
    convert = None
    if floating:
        return ints.Operand(0.0, stage.operands.view[..., part])
    if isinstance(p, EwParams):
        if alu and not p.alu_cvt_bypass:
            convert = (p.alu_offset, p.alu_scale, p.alu_truncate)
        elif not alu and not p.mul_cvt_bypass:
            convert = (p.mul_offset, p.mul_scale, p.mul_truncate)
    return ints.Operand(0.0, stage.operands.view[..., part], convert, shift)


def _stage(stage: sdp_stages.Stage, floating: bool) -> ints.Stage:
    p = stage.p
    relu = not stage.is_y and not p.last_bypass
    return ints.Stage(
        stage.is_y,
        ints.NO_ALU if p.alu_bypass else p.alu_algorithm,
        not p.mul_bypass,
        bool(p.prelu),
        relu,
        p.shift,
        ints.Operand() if p.alu_bypass else _operand(stage, True, floating),
        ints.Operand() if p.mul_bypass else _operand(stage, False, floating),
    )


def touch(one: NDArray[Any], other: NDArray[Any]) -> bool:
    """Whether two arrays share memory without being the same elements in the same places."""
    if not np.may_share_memory(one, other):
        return False
    same = (
        one.__array_interface__["data"][0] == other.__array_interface__["data"][0]
        and one.strides == other.strides
        and one.shape == other.shape
    )
    return not same


def describe(
    processor: Any, stages: list[sdp_stages.Stage], target: NDArray[Any], source: Any
) -> ints.Sdp | None:
    """SDP for a layer that writes *target*; None when numpy has to do it.

    *source* is the input that lies in memory, if any. Elements are read just before those at their
    place are written, so inputs may share memory with the output only place by place.
    """
    p = processor.p
    active = [stage for stage in stages if not stage.p.bypass]
    if processor.equality or (processor.floating and (source is None or target.itemsize != 2)):
        return None
    if p.out_precision == FP16 and not processor.floating:
        return None
    described = [_stage(stage, processor.floating) for stage in active]
    inputs = [
        operand.values
        for stage in described
        for operand in (stage.alu_operand, stage.mul_operand)
        if operand.values is not None and operand.values.ndim > 1
    ]
    if source is not None:
        inputs.append(source)
    if any(touch(item, target) for item in inputs):
        return None
    return ints.Sdp(
        (p.height, p.width, processor.padded_channels),
        described,
        p.offset,
        p.scale * 2.0**-p.shift,
        bool(p.shift),
        bool(p.count_saturation),
        RANGES[0 if p.out_precision == FP16 else p.out_precision],
        target,
        None if processor.lut is None else processor.lut.described(),
        _half(processor) if processor.floating else None,
    )


def _half(processor: Any) -> ints.Half:
    p, rdma = processor.p, processor.rdma
    return ints.Half(bool(p.nan_to_zero), bool(rdma and rdma.count_nan), bool(p.count_nan))


def usable_weights(precision: int, winograd: int, unit: ints.Ints | None) -> bool:
    """Whether the compiled convolution knows this kind of layer."""
    return unit is not None and precision != FP16 and not winograd
