"""One convolution as the operations that the buffer and the kernel groups ask for.

Kernels are cut into blocks that read the same channels, blocks into lines and columns that fit
into the convolution buffer. Weights are quantised per kernel.
Source: nvdla hardware manual "Convolution"; :mod:`.cbuf`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from math import ceil, log2
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cudla_sim.nvdla import layout
from cudla_sim.nvdla.descriptors import ConvOp, ConvSurface, CvtParam, DataCube, OpType
from cudla_sim.nvdla.facts.cbuf import data_banks, entries_per_slice
from cudla_sim.nvdla.facts.configs import HardwareConfig
from cudla_sim.nvdla.facts.formats import FEATURE
from cudla_sim.nvdla.facts.limits import LARGEST
from cudla_sim.nvdla.facts.precisions import FP16, FP16_TOP, INT8, INT16, TOPS, element_size
from cudla_sim.nvdla.facts.windows import extent

from ..errors import Refusal, Refused
from ..legalise.nodes import KernelConv
from . import cbuf, sdp
from .cubes import Cube, Positions
from .fit import Fit, Limit, Operand, channels_of
from .real import RealWeights
from .task import Task

_BIAS_BITS = {INT8: 20, INT16: 35}
"""A bias may be 2**bits steps of its kernel's sums: beyond, its kernel gets coarser weights."""

_SPARSE, _WORTH = 0.6, 0.75
"""Compression is tried below this share of weights that are not zero, and kept below this share
of the bytes."""


@dataclass(frozen=True, slots=True)
class Weights:
    """Elements as hardware takes them [kernels, channels, rows, columns], the real value of one
    step of each kernel's sums, and how many bits CACC drops."""

    elements: NDArray[np.generic]
    step: NDArray[np.float64]
    truncate: int = 0


def absorb(node: KernelConv, fit: Fit) -> tuple[RealWeights, NDArray[np.float64]]:
    """Move X1's factor per kernel into the weights, the bias into X1; return both.

    A factor per element stays in X1.
    """
    factor = np.ones(len(node.weights))
    bias = node.bias.astype(np.float64)
    if fit.scale is not None and fit.scale.ndim == 1:
        factor = np.broadcast_to(fit.scale, bias.shape)
        bias = bias * factor
        fit.scale = None
    if fit.shift is not None:
        bias = bias + fit.shift
    fit.shift = bias if np.any(bias) else None
    return RealWeights(node.weights, factor), bias


def quantised(
    weights: RealWeights,
    bias: NDArray[np.float64],
    precision: int,
    input_scale: float,
    given: NDArray[np.float64] | None = None,
) -> Weights:
    """Weights per kernel as integers (or halves)."""
    kernels = weights.shape[0]
    if precision == FP16:
        halves = np.empty(weights.shape, np.float16)
        for part, real in weights.parts():
            # -0 would be stored by compression
            halves[part] = np.clip(real * input_scale, -FP16_TOP, FP16_TOP) + 0.0
        return Weights(halves, np.ones(kernels))
    limit = TOPS[precision]
    largest, plain = np.zeros(kernels), np.zeros(kernels, bool)
    for part, real in weights.parts():
        flat = np.abs(real).reshape(len(real), -1)
        largest[part] = flat.max(axis=1)
        # kernels of zeros and one magnitude (copies, sums) need no steps in between: are exact
        plain[part] = ((flat == 0) | (flat == largest[part, None])).all(axis=1)
    if precision != INT8 and not plain.all():
        plain[:] = False  # CACC drops the same bits of all kernels
    scale = np.where(plain, largest, largest / limit)
    if given is not None and precision == INT8:
        scale = np.where(given > 0, given, scale)
    floor = np.abs(bias) / (input_scale * 2.0 ** _BIAS_BITS[precision])
    live = scale[scale > 0]
    usual = float(np.median(live)) if len(live) else 1.0
    scale = np.maximum(np.where(scale > 0, scale, usual), floor)
    elements = np.empty(weights.shape, np.int16)
    top = 0.0
    for part, real in weights.parts():
        steps = np.clip(np.rint(real / scale[part, None, None, None]), -limit, limit)
        elements[part] = steps
        top = max(top, float(np.abs(steps).reshape(len(steps), -1).sum(axis=1).max()))
    top *= limit + 1
    # CACC keeps 32 bits; X1's summand has 32 bits, too
    top = max(top / 2**31, float(np.max(np.abs(bias) / (scale * input_scale))) / 2**30)
    truncate = max(ceil(log2(top)), 0) if top > 0 else 0
    step = scale * input_scale * 2.0**truncate
    return Weights(elements, step, truncate)


@dataclass(frozen=True, slots=True)
class Block:
    """Kernels of the target's channels first..last - 1 and the source channels they read."""

    first: int
    last: int
    low: int
    high: int


def natural_positions(
    config: HardwareConfig, precision: int, node: KernelConv, source: Cube
) -> Positions:
    """Where the kernels' outputs lie in a fresh cube: dense, or with gaps where an operation
    cannot have a whole group of kernels."""
    kernels, span, rows, columns = node.weights.shape
    group = config.kernel_group(precision)
    count = np.arange(kernels)
    used = source.channels
    if span < source.channels:  # the atoms that a group of kernels reads together
        reads = source.positions[node.first[:group, None] + np.arange(span)[None, :]]
        atom = config.channels_per_atom(precision)
        used = min((int(reads.max()) // atom - int(reads.min()) // atom + 1) * atom, used)
    window = extent(rows, node.dilation[0])
    narrow = min(extent(columns, node.dilation[1]), source.width)
    size = used * rows * columns * element_size(precision)
    lines = min(window, source.height)
    most = cbuf.most_kernels(config, precision, size, lines, narrow, used)
    if most >= min(group, kernels) or most == 0:
        return count
    if span < source.channels:  # parts of an atom of the source, never two
        most = 1 << (most.bit_length() - 1)
    return count // most * config.channels_per_atom(precision) + count % most


def blocks(node: KernelConv, source: Cube, target: Cube) -> Iterator[Block]:
    """Cut kernels where they read other channels of the source."""
    atom = target.per_atom
    span = node.weights.shape[1]
    low_of = np.zeros(target.channels, np.int64)
    high_of = np.full(target.channels, -1, np.int64)
    reads = source.positions[node.first[:, None] + np.arange(span)[None, :]]
    live = np.any(node.weights != 0, axis=(2, 3))
    low = np.where(live, reads, source.channels).min(axis=1)
    high = np.where(live, reads, -1).max(axis=1)
    low_of[target.positions], high_of[target.positions] = low, high
    ranges = []
    for start in range(0, target.channels, atom):
        end = min(start + atom, target.channels)
        used = high_of[start:end] >= 0
        if used.any():
            first = int(low_of[start:end][used].min()) // source.per_atom * source.per_atom
            last = int(high_of[start:end][used].max())
        else:
            first, last = 0, 0
        ranges.append((start, end, first, last))
    current = Block(*ranges[0])
    for start, end, first, last in ranges[1:]:
        joined = Block(current.first, end, min(current.low, first), max(current.high, last))
        same = joined.high // source.per_atom - joined.low // source.per_atom
        mine = current.high // source.per_atom - current.low // source.per_atom
        other = last // source.per_atom - first // source.per_atom
        if same == mine == other or span >= source.channels // 2:
            current = joined
        else:
            yield current
            current = Block(start, end, first, last)
    yield current


def restrict(fit: Fit, index: NDArray[np.int64], y: slice, x: slice) -> Fit:
    """The pass for some kernels, lines and columns."""

    def part(array: NDArray[np.float64] | None) -> NDArray[np.float64] | None:
        if array is None:
            return None
        if array.ndim == 3:
            rows = array if array.shape[1] == 1 else array[:, y]
            cut = rows if array.shape[2] == 1 else rows[:, :, x]
            return cut if len(array) == 1 else cut[index]
        return array if len(array) == 1 else array[index]

    result = replace(fit, scale=part(fit.scale), shift=part(fit.shift))
    for name in ("x2", "y_mul"):
        item = getattr(fit, name)
        if item is not None and not isinstance(item, Operand | Limit):
            slope = channels_of(item.slope)
            cut = part(slope)
            assert cut is not None
            shaped = cut if cut.ndim == 3 else cut[:, None, None]
            setattr(result, name, replace(item, slope=shaped[None].astype(np.float32)))
    return result


def correct(
    node: KernelConv,
    fit: Fit,
    real: RealWeights,
    weights: Weights,
    mean: NDArray[Any] | None,
    scale: float,
) -> None:
    """Take what the rounding of weights adds to the mean of the output from the bias.

    *mean* [channels] is the average of the input, *scale* its step. Source: Nagel et al.,
    "Data-Free Quantization Through Weight Equalization and Bias Correction", 4.2.
    """
    if mean is None or (fit.scale is not None and fit.scale.ndim == 3):
        return
    unit = weights.step / (scale * 2.0**weights.truncate)
    taps = np.zeros(real.shape[:2])
    for part, wanted in real.parts():
        stored = weights.elements[part].astype(np.float64) * unit[part, None, None, None]
        taps[part] = (stored - wanted).sum(axis=(2, 3))
    reads = np.asarray(mean, np.float64)[node.first[:, None] + np.arange(taps.shape[1])[None, :]]
    total = (np.zeros(len(taps)) if fit.shift is None else fit.shift) - (taps * reads).sum(axis=1)
    fit.shift = total if np.any(total) else None


def prepared(
    node: KernelConv, fit: Fit, precision: int, scale: float, mean: NDArray[Any] | None
) -> Weights:
    """Weights for inputs of a scale, with what of the pass goes into them; the rest stays in X1."""
    real, bias = absorb(node, fit)
    weights = quantised(real, bias, precision, scale, node.weight_scale)
    if precision != FP16:
        correct(node, fit, real, weights, mean, scale)
    return weights


def emit(
    task: Task,
    node: KernelConv,
    fit: Fit,
    source: Cube,
    target: Cube,
    values: sdp.Values,
    mean: NDArray[Any] | None = None,
) -> None:
    """Append the operations of a convolution with its SDP pass."""
    weights = prepared(node, fit, source.precision, source.scale, mean)
    lookup = target.kernels()
    for block in _sized(task, node, blocks(node, source, target), target):
        chosen = lookup[block.first : block.last]
        index = chosen[chosen >= 0]
        place = np.flatnonzero(chosen >= 0)
        _block(task, node, fit, source, target, values, weights, block, index, place)


def _compressed(
    config: HardwareConfig,
    packed: NDArray[np.uint8],
    dense: NDArray[Any],
    precision: int,
    wanted: bool | None,
) -> tuple[NDArray[np.uint8], ...]:
    """Weights without zeros, with mask and group sizes, where that is *wanted*; if nobody says so,
    where it is clearly less to read."""
    if not config.compression or wanted is False:
        return ()
    if wanted is None and np.count_nonzero(dense) > _SPARSE * dense.size:
        return ()
    shape = (dense.shape[0], dense.shape[1], dense.shape[2], dense.shape[3])
    parts = layout.compress_weights(packed, shape, config, precision)
    worth = len(parts[0]) > 0 and sum(map(len, parts)) < _WORTH * len(packed)
    return parts if worth or wanted else ()


def _sized(task: Task, node: KernelConv, found: Iterator[Block], target: Cube) -> Iterator[Block]:
    """Cut blocks where the target has gaps for kernels that do not fit together."""
    atom = target.per_atom
    gaps = len(target.positions) < target.channels and len(target.positions) > 1
    if gaps and np.diff(target.positions).max() > 1 and np.all(np.diff(target.positions) > 0):
        heads = np.flatnonzero(np.diff(target.positions) > 1)
        counts = np.diff(np.concatenate([[-1], heads]))
        if len(set(counts.tolist())) == 1 and counts[0] < atom:
            for block in found:
                for first in range(block.first, block.last, atom):
                    last = min(first + int(counts[0]), block.last)
                    yield replace(block, first=first, last=last)
            return
    yield from found


def _block(
    task: Task,
    node: KernelConv,
    fit: Fit,
    source: Cube,
    target: Cube,
    values: sdp.Values,
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
        cure = "cut the network there with --outputs, or make the input smaller"
        raise Refused([Refusal(node.name, "Conv", why, cure)])
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
    stored = _compressed(task.config, packed, dense, source.precision, node.compress)
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
        raise Refused(
            [
                Refusal(
                    node.name,
                    "Conv",
                    f"{kernels} kernels of {columns} x {rows} x {channels} do not fit into the"
                    f" convolution buffer of {task.config.name}",
                    "a smaller kernel, or a configuration with a larger buffer",
                )
            ]
        )
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


def within(values: sdp.Values, block: Block, y: Piece, x: Piece) -> sdp.Values:
    """Operands of the same channels, lines and columns as the piece that is written."""

    def cube(value: object) -> Cube:
        whole = values.cube(value)  # type: ignore[arg-type]
        part, _ = whole.channel_range(block.first, min(block.last, whole.channels) - 1)
        if (whole.height, whole.width) == (1, 1):
            return part
        return part.box(y.first, y.count, x.first, x.count)

    return sdp.Values(cube, values.scale)


@dataclass(frozen=True, slots=True)
class Piece:
    """Output positions *first* ... and the input *start*, *size* they read with their pads."""

    first: int
    count: int
    start: int
    size: int
    before: int
    after: int


def pieces(length: int, out: int, most: int, node: KernelConv, axis: int) -> Iterator[Piece]:
    """Cut one axis so that no piece reads more than *most*."""
    stride, gap = node.stride[axis], node.dilation[axis]
    taps = extent(node.weights.shape[2 + axis], gap)
    before = node.pads[2 * axis]
    first = 0
    while first < out:
        count = out - first
        piece = _piece(first, count, length, stride, taps, before)
        if piece.size > most:
            count = max((most - taps) // stride + 1, 1)
            while count + first < out and (
                _piece(first, count + 1, length, stride, taps, before).size <= most
            ):
                count += 1
            piece = _piece(first, min(count, out - first), length, stride, taps, before)
        yield piece
        first += piece.count


def _piece(first: int, count: int, length: int, stride: int, taps: int, pad: int) -> Piece:
    low = first * stride - pad
    high = (first + count - 1) * stride - pad + taps
    start, end = max(low, 0), min(high, length)
    return Piece(first, count, start, max(end - start, 1), start - low, max(high - end, 0))


def operation(
    node: KernelConv,
    weights: Weights,
    precision: int,
    scale: float,
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
        pad_val=pad_value(node, precision, scale),
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


def pad_value(node: KernelConv, precision: int, scale: float) -> int:
    """What lies outside the input, as the pad register has it."""
    if not node.pad_value:
        return 0
    if precision == FP16:
        return int(np.float16(node.pad_value / scale).view(np.int16))
    limit = TOPS[precision]
    return int(np.clip(np.rint(node.pad_value / scale), -limit - 1, limit))
