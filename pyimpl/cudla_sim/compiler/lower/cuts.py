"""Where a convolution is cut: kernels into blocks that read the same channels, blocks into lines
and columns that fit into the convolution buffer, and what of the pass behind goes with each.

Source: nvdla hardware manual "Convolution"; :mod:`.cbuf`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from cudla_sim.nvdla.facts.configs import HardwareConfig
from cudla_sim.nvdla.facts.limits import LARGEST
from cudla_sim.nvdla.facts.precisions import element_size
from cudla_sim.nvdla.facts.windows import extent

from ..legalise.nodes import KernelConv
from . import cbuf
from .cubes import Cube, Positions, Values
from .fit import Fit, Limit, Operand, channels_of


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
            ranges.append((start, end, first, last))
        elif ranges:  # zeros: whoever wrote before them writes them, too
            ranges[-1] = (ranges[-1][0], end, *ranges[-1][2:])
        else:
            ranges.append((start, end, 0, 0))
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


def sized(found: Iterator[Block], target: Cube) -> Iterator[Block]:
    """Cut blocks where the target has gaps for kernels that do not fit together."""
    atom, count = target.per_atom, np.arange(len(target.positions))
    most = int(np.count_nonzero(target.positions < atom))
    # only what natural_positions makes: slices and concatenations have gaps of other forms
    if not most or most == len(count) or target.channels <= len(count):
        yield from found
        return
    if not np.array_equal(target.positions, count // most * atom + count % most):
        yield from found
        return
    for block in found:
        for first in range(block.first, block.last, atom):
            yield replace(block, first=first, last=min(first + most, block.last))


@dataclass(frozen=True, slots=True)
class Piece:
    """Output positions *first* ... and the input *start*, *size* they read with their pads."""

    first: int
    count: int
    start: int
    size: int
    before: int = 0
    after: int = 0


def pieces(length: int, out: int, most: int, node: KernelConv, axis: int) -> Iterator[Piece]:
    """Cut one axis so that no piece reads more than *most*."""
    stride, gap = node.stride[axis], node.dilation[axis]
    taps = extent(node.weights.shape[2 + axis], gap)
    before = node.pads[2 * axis]
    first = 0
    while first < out:
        count = min(out - first, LARGEST)
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


def covering(node: KernelConv, axis: int, first: int, count: int, length: int) -> Piece:
    """The piece with *count* output positions from *first* on, of an input of *length*."""
    taps = extent(node.weights.shape[2 + axis], node.dilation[axis])
    return _piece(first, count, length, node.stride[axis], taps, node.pads[2 * axis])


def _piece(first: int, count: int, length: int, stride: int, taps: int, pad: int) -> Piece:
    low = first * stride - pad
    high = (first + count - 1) * stride - pad + taps
    start, end = max(low, 0), min(high, length)
    return Piece(first, count, start, max(end - start, 1), start - low, max(high - end, 0))


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


def within(values: Values, block: Block, y: Piece, x: Piece) -> Values:
    """Operands of the same channels, lines and columns as the piece that is written."""

    def cube(value: object) -> Cube:
        whole = values.cube(value)  # type: ignore[arg-type]
        part, _ = whole.channel_range(block.first, min(block.last, whole.channels) - 1)
        if (whole.height, whole.width) == (1, 1):
            return part
        return part.box(y.first, y.count, x.first, x.count)

    return Values(cube, values.scale)


def boxes(
    fit: Fit, source: Cube, target: Cube, values: Values
) -> Iterator[tuple[Fit, Cube, Cube, Values]]:
    """Cut a pass over memory that has more lines or columns than an operation can have."""
    everything, block = np.arange(len(target.positions)), Block(0, target.channels, 0, 0)
    for y, lines, x, columns in places(target):
        yield (
            restrict(fit, everything, slice(y, y + lines), slice(x, x + columns)),
            source.box(y, lines, x, columns),
            target.box(y, lines, x, columns),
            within(values, block, Piece(y, lines, y, lines), Piece(x, columns, x, columns)),
        )


def places(cube: Cube) -> Iterator[tuple[int, int, int, int]]:
    """First line, lines, first column, columns of pieces that an operation can have."""
    for y in range(0, cube.height, LARGEST):
        for x in range(0, cube.width, LARGEST):
            yield y, min(LARGEST, cube.height - y), x, min(LARGEST, cube.width - x)
