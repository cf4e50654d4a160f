"""One convolution as the operations that the buffer and the kernel groups ask for.

:mod:`.weights` says what its weights are, :mod:`.cuts` where it is cut.
Source: nvdla hardware manual "Convolution"; :mod:`.cbuf`.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cudla_sim.nvdla import layout
from cudla_sim.nvdla.descriptors import ConvOp, ConvSurface, CvtParam, DataCube, OpType
from cudla_sim.nvdla.facts.cbuf import data_banks, entries_per_slice
from cudla_sim.nvdla.facts.configs import CONFIGS
from cudla_sim.nvdla.facts.formats import FEATURE
from cudla_sim.nvdla.facts.limits import LARGEST
from cudla_sim.nvdla.facts.precisions import FP16, INT8, TOPS, element_size
from cudla_sim.nvdla.facts.windows import extent

from ..errors import Refusal, Refused
from ..legalise.nodes import KernelConv
from . import cbuf, sdp
from .cubes import Cube, Values
from .cuts import Block, Piece, blocks, pieces, restrict, sized, within
from .fit import Fit
from .task import Task
from .weights import Weights, compressed, prepared


def emit(
    task: Task,
    node: KernelConv,
    fit: Fit,
    source: Cube,
    target: Cube,
    values: Values,
    mean: NDArray[Any] | None = None,
) -> None:
    """Append the operations of a convolution with its SDP pass."""
    weights = prepared(node, fit, source.precision, source.scale, mean, source.zero)
    lookup = target.kernels()
    for block in sized(blocks(node, source, target), target):
        chosen = lookup[block.first : block.last]
        index = chosen[chosen >= 0]
        place = np.flatnonzero(chosen >= 0)
        _block(task, node, fit, source, target, values, weights, block, index, place)


def _block(
    task: Task,
    node: KernelConv,
    fit: Fit,
    source: Cube,
    target: Cube,
    values: Values,
    weights: Weights,
    block: Block,
    index: NDArray[np.int64],
    place: NDArray[np.int64],
) -> None:
    kernels = block.last - block.first
    data, base = source.channel_range(block.low, max(block.high, block.low))
    channels = data.channels
    if channels > LARGEST:
        why = f"it reads {channels} channels as they lie in memory, at most {LARGEST} can be"
        raise Refused([Refusal(node.name, "Conv", why, "make the input smaller")])
    _, span, rows, columns = node.weights.shape
    dtype = np.float16 if source.precision == FP16 else np.int16
    dense = np.zeros((kernels, channels, rows, columns), dtype)
    for at, kernel in zip(place, index, strict=True):
        reads = source.positions[node.first[kernel] : node.first[kernel] + span] - base
        inside = (reads >= 0) & (reads < channels)
        dense[at, reads[inside]] = weights.elements[kernel][inside]
    packed = layout.pack_weights(dense, task.config, source.precision)
    per_kernel = rows * columns * channels * element_size(source.precision)
    window = (extent(rows, node.dilation[0]), extent(columns, node.dilation[1]))
    window = (min(window[0], source.height), min(window[1], source.width))
    size = (channels, source.height, source.width)
    split = None
    stored = compressed(task.config, packed, dense, source.precision, node.compress)
    for choice in (stored, (packed,)):
        if split is None and choice:
            stored = choice
            split = cbuf.split(
                task.config,
                source.precision,
                size,
                kernels,
                per_kernel,
                window,
                node.stride,
                len(choice) > 1,
            )
    if split is None:
        why = (
            f"{kernels} kernels of {columns} x {rows} x {channels} do not fit into the"
            f" convolution buffer of {task.config.name}"
        )
        larger = [
            other.name
            for other in CONFIGS.values()
            if source.precision in other.precisions
            and cbuf.split(
                other, source.precision, size, kernels, per_kernel, window, node.stride, False
            )
        ]
        cure = f", or a configuration with a larger buffer ({', '.join(larger)})" if larger else ""
        raise Refused([Refusal(node.name, "Conv", why, f"take a smaller kernel{cure}")])
    step = np.ones(kernels)
    step[place] = weights.step[index]
    out_base = target.channel_range(block.first, block.last - 1)[0]
    for y in pieces(source.height, target.height, split.lines, node, 0):
        for x in pieces(source.width, target.width, split.columns, node, 1):
            piece = data.box(y.start, y.size, x.start, x.size)
            out = replace(out_base.box(y.first, y.count, x.first, x.count), positions=place)
            part = restrict(
                fit, index, slice(y.first, y.first + y.count), slice(x.first, x.first + x.count)
            )
            operands = sdp.settled(task, part, within(values, block, y, x))
            entries = entries_per_slice(task.config, x.size, channels, data.precision)
            lines = min(y.size, split.lines)
            banks = data_banks(task.config, entries, lines), split.weight_banks
            op = operation(
                node,
                weights,
                data.precision,
                data.scale,
                data.zero,
                y,
                x,
                channels=channels,
                entries=entries,
                banks=banks,
            )
            op.weight_format = int(len(stored) > 1)
            flying = task.flying(kernels, y.count, x.count)
            cubes = surface(task, node, stored, task.cube(piece), flying, channels)
            task.append(OpType.CONV, op, cubes, {data.buffer, task.weights})
            sums = sdp.Sums(kernels, y.count, x.count, weights.step[index])
            sdp.emit(task, part, sums, out, operands)


def operation(
    node: KernelConv,
    weights: Weights,
    precision: int,
    scale: float,
    zero: int,
    y: Piece,
    x: Piece,
    *,
    channels: int,
    entries: int,
    banks: tuple[int, int],
) -> ConvOp:
    """A convolution of a piece of its input, of *channels* in memory.

    *entries* are those of a line in the buffer, *banks* those of data and weights.
    """
    _, _, rows, columns = node.weights.shape
    return ConvOp(
        entry_per_slice=entries,
        data_format=FEATURE,
        fetch_grain=1,
        data_bank=max(banks[0], 1),
        weight_bank=banks[1],
        pixel_override=1,
        release=y.size,
        input_width_csc=x.size,
        input_height_csc=y.size,
        input_channel_csc=channels,
        kernel_width_csc=columns,
        kernel_height_csc=rows,
        kernel_channel_csc=channels,
        input_width_cmac=x.count,
        input_height_cmac=y.count,
        bytes_per_kernel=rows * columns * channels * element_size(precision),
        conv_stride_x=node.stride[1],
        conv_stride_y=node.stride[0],
        pad_x_left=x.before,
        pad_x_right=x.after,
        pad_y_top=y.before,
        pad_y_bottom=y.after,
        dilation_x=node.dilation[1],
        dilation_y=node.dilation[0],
        pad_val=pad_value(node, precision, scale, zero),
        in_precision=precision,
        out_precision=precision,
        in_cvt=CvtParam(1, 0, int(precision == INT8), 0),
        out_cvt=CvtParam(1, weights.truncate, 1, 0),
    )


def surface(
    task: Task,
    node: KernelConv,
    stored: tuple[NDArray[np.uint8], ...],
    source: DataCube,
    flying: DataCube,
    channels: int,
) -> ConvSurface:
    """The cubes of a convolution; *stored* are weights, and mask and sizes of compressed ones."""
    _, _, rows, columns = node.weights.shape
    shape = {"width": columns, "height": rows, "channel": channels}
    cubes = [
        task.at(DataCube(size=len(part), **shape), task.weights, task.constant(part))
        for part in stored
    ]
    weight, mask, groups, *_ = [*cubes, DataCube(address=0), DataCube(address=0)]
    return ConvSurface(weight=weight, wmb=mask, wgs=groups, src=source, dst=flying)


def pad_value(node: KernelConv, precision: int, scale: float, zero: int) -> int:
    """What lies outside the input, as the pad register has it."""
    if not node.pad_value:
        return zero
    if precision == FP16:
        return int(np.float16(node.pad_value / scale).view(np.int16))
    limit = TOPS[precision]
    return int(np.clip(np.rint(node.pad_value / scale) + zero, -limit - 1, limit))
