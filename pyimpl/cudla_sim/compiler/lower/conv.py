"""One convolution as the operations that the buffer and the kernel groups ask for.

:mod:`.weights` says what its weights are, :mod:`.cuts` where it is cut.
Source: nvdla hardware manual "Convolution"; :mod:`.cbuf`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
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
from ..options import STACKING
from . import ahead, at_once, cbuf, sdp, stacked
from .at_once import ALONE, Together
from .cubes import Cube, Values
from .cuts import Block, Piece, blocks, pieces, restrict, sized, within
from .fit import Fit
from .onward import Lines, Pooling
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
    pooling: Pooling | None = None,
    pictures: Together = ALONE,
) -> bool:
    """Append the operations of a convolution with its SDP pass, and of the *pooling* behind it if
    that can take their results on the fly; return whether it does. *source* and *target* are those
    of the first of *pictures*."""
    weights = prepared(node, fit, source.precision, source.scale, mean, source.zero)
    together = None
    if STACKING not in task.without and pooling is None:
        together = stacked.of(node, fit, weights, source, target)
    if together is not None:
        node, fit, weights, source, target = together
    lookup = target.kernels()
    parts = [
        _part(task, node, source, weights, block, lookup[block.first : block.last])
        for block in sized(blocks(node, source, target), target)
    ]
    size = source.height, source.width
    turns = [_turns(task, part, size, target, pictures.count) for part in parts]
    flying = (
        pooling is not None
        and all(len(each) == pictures.count for each in turns)  # PDP takes one picture
        and all(
            pooling.fits(task.config, node, part.split, size, target, part.atoms) for part in parts
        )
    )
    for part, each in zip(parts, turns, strict=True):
        first = 0
        for count in each:
            _append(
                task,
                fit,
                replace(source, offset=source.offset + first * pictures.source),
                replace(target, offset=target.offset + first * pictures.target),
                values,
                part,
                pooling.of(first) if pooling is not None and flying else None,
                replace(pictures, count=count),
            )
            first += count
    return flying


@dataclass(frozen=True, slots=True)
class _Part:
    """A convolution of some kernels: *index* are theirs, at *place* in the block; *stored* are its
    weights, *channels* those that it reads in memory."""

    node: KernelConv
    weights: Weights
    block: Block
    index: NDArray[np.int64]
    place: NDArray[np.int64]
    stored: tuple[NDArray[np.uint8], ...]
    channels: int
    split: cbuf.Split
    atoms: int
    """Cycles of the core for one output position."""
    fitting: Callable[[int, bool], cbuf.Split | None]
    """The share for so many pictures at once, with weights that are compressed or not."""


def _part(
    task: Task,
    node: KernelConv,
    source: Cube,
    weights: Weights,
    block: Block,
    chosen: NDArray[np.int64],
) -> _Part:
    """Pack the weights of a block of kernels and find its share of the buffer. Raises Refused."""
    index, place = chosen[chosen >= 0], np.flatnonzero(chosen >= 0)
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

    def fitting(batch: int, compressed: bool) -> cbuf.Split | None:
        return cbuf.split(
            task.config,
            source.precision,
            size,
            kernels,
            per_kernel,
            window,
            node.stride,
            compressed,
            batch,
        )

    stored = compressed(task.config, packed, dense, source.precision, node.compress)
    for choice in (stored, (packed,)):
        if split is None and choice:
            stored = choice
            split = fitting(1, len(choice) > 1)
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
    config = task.config
    chunks = -(-channels // config.atomic_c)
    groups = -(-kernels // config.kernel_group(source.precision))
    atoms = rows * columns * chunks * groups
    return _Part(node, weights, block, index, place, stored, channels, split, atoms, fitting)


def _append(
    task: Task,
    fit: Fit,
    source: Cube,
    target: Cube,
    values: Values,
    part: _Part,
    pooling: Pooling | None,
    pictures: Together,
) -> None:
    """Append the operations of some kernels, cut where the buffer asks for it; *source* and
    *target* are those of the first of *pictures*."""
    node, weights, block, channels = part.node, part.weights, part.block, part.channels
    kernels = block.last - block.first
    data, _ = source.channel_range(block.low, max(block.high, block.low))
    out_base = target.channel_range(block.first, block.last - 1)[0]
    cut = ahead.Cut(part.split)
    if pictures.count > 1:
        found = part.fitting(pictures.count, len(part.stored) > 1)
        assert found is not None
        cut = ahead.Cut(found)
    elif pooling is None:
        cut = ahead.cut(task, node, part.split, data, target, kernels, part.atoms, part.stored)
    for number, (y, x, pooled) in enumerate(_places(node, source, target, cut.split, pooling)):
        piece = data.box(y.start, y.size, x.start, x.size)
        out = replace(out_base.box(y.first, y.count, x.first, x.count), positions=part.place)
        own = restrict(
            fit, part.index, slice(y.first, y.first + y.count), slice(x.first, x.first + x.count)
        )
        operands = sdp.settled(task, own, within(values, block, y, x))
        entries = entries_per_slice(task.config, x.size, channels, data.precision)
        lines = min(y.size, cut.split.lines)
        banks = cut.banks or (
            data_banks(task.config, entries, lines, pictures.count),
            cut.split.weight_banks,
        )
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
        op.weight_format = int(len(part.stored) > 1)
        if pictures.count > 1:
            op.batch, op.batch_stride = pictures.count, pictures.source
        flying = task.flying(kernels, y.count, x.count)
        cubes = surface(task, node, part.stored, task.cube(piece), flying, channels)
        task.append(OpType.CONV, op, cubes, {data.buffer, task.weights})
        if cut.reuse and number:
            task.reuse_weights()
        sums = sdp.Sums(kernels, y.count, x.count, weights.step[part.index], pictures)
        sdp.emit(task, own, sums, out, operands, onward=pooled is not None)
        if pooling is not None and pooled is not None:
            pooling.append(task, out, block.first, block.last - 1, pooled)


def _turns(
    task: Task, part: _Part, size: tuple[int, int], target: Cube, pictures: int
) -> list[int]:
    """How many pictures each operation takes of an input of *size* (lines, columns)."""
    if pictures == 1:
        return [1]
    config, kernels = task.config, part.block.last - part.block.first
    _, _, rows, columns = part.node.weights.shape

    def whole(batch: int) -> bool:
        found = part.fitting(batch, len(part.stored) > 1)
        return found is not None and (found.lines, found.columns) == size

    def cost(batch: int) -> float:
        weighs = sum(map(len, part.stored)) / config.timing.port_bytes
        shape, out = (part.channels, rows, columns), (target.height, target.width)
        core = at_once.core_cycles(config, target.precision, kernels, shape, out, batch)
        return max(core, weighs)

    return at_once.turns(config, pictures, whole, cost)


def _places(
    node: KernelConv, source: Cube, target: Cube, split: cbuf.Split, pooling: Pooling | None
) -> Iterator[tuple[Piece, Piece, Lines | None]]:
    """Lines and columns of each operation, and what is pooled of them on the fly."""
    if pooling is not None:
        size = source.height, source.width
        yield from pooling.places(node, size, target, split.lines)
        return
    for y in pieces(source.height, target.height, split.lines, node, 0):
        for x in pieces(source.width, target.width, split.columns, node, 1):
            yield y, x, None


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
