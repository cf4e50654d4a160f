"""Resizing: nearest by copies of lines and pixels, linear and cubic by convolutions or by weighted
sums.

An integer factor and half-pixel centres: each position modulo the factor is a fixed stencil (3 x 3
for linear, 5 x 5 for cubic) on the cube with copied edges, so one convolution computes all
positions as channels and they are interleaved. Anything else: a convolution of some lines for every
line of the output, then of some pixels for every pixel; where these would be too many and are two
each, copies of both neighbours of every line and first + weight * (second - first).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..graph import Affine, Array, Binary, Concat, Resize, Slice, Value
from .builder import Rewriter
from .convolution import kernel_conv
from .nodes import GatherLines, Interleave, KernelConv

_MOST_LINES, _MOST_CHANNELS = 512, 128
_FARTHEST = 2
"""Lines before and behind that a stencil takes."""


def rewrite(out: Rewriter, node: Resize) -> None:
    """Append the nodes of a resize."""
    rows, columns = node.rows, node.columns
    if _one_hot(rows) and _one_hot(columns):
        out.put(
            GatherLines,
            node,
            node.inputs,
            node.output,
            rows=rows.argmax(axis=1),
            columns=columns.argmax(axis=1),
        )
        return
    stencils = (_stencil(rows), _stencil(columns))
    if stencils[0] is not None and stencils[1] is not None:
        _by_stencil(out, node, stencils[0], stencils[1])
        return
    pairs = max((rows != 0).sum(axis=1).max(), (columns != 0).sum(axis=1).max()) <= 2
    lines = len(rows) + len(columns)
    if lines > _MOST_LINES and not pairs:
        out.refuse(
            node,
            f"{lines} lines and pixels that each depend on others, {_MOST_LINES} are possible",
            "use a whole factor, linear or nearest",
        )
        return
    few = lines <= _MOST_LINES and node.inputs[0].shape[1] <= _MOST_CHANNELS
    step = _lines if few or not pairs else _lerp
    middle = step(out, node, node.inputs[0], rows, 0, None)
    step(out, node, middle, columns, 1, node.output)


def _lines(
    out: Rewriter, node: Resize, source: Value, matrix: Array, axis: int, output: Value | None
) -> Value:
    """One axis: every line of the output is a convolution of the lines it depends on."""
    n, channels, height, width = source.shape
    shape = [n, channels, height, width]
    shape[2 + axis] = len(matrix)
    if output is None:
        most = max(1.0, float(np.abs(matrix).sum(axis=1).max()))
        output = out.value(node, (shape[0], shape[1], shape[2], shape[3]), source, most)
    parts = []
    for row in matrix:
        used = np.flatnonzero(row)
        first, last = (int(used[0]), int(used[-1])) if len(used) else (0, 0)
        starts, size = [0, 0, 0], [n, channels, height, width]
        starts[1 + axis], size[2 + axis] = first, last - first + 1
        cut = out.put(
            Slice,
            node,
            source,
            (size[0], size[1], size[2], size[3]),
            starts=(starts[0], starts[1], starts[2]),
        )
        taps = row[first : last + 1].astype(np.float32)
        size[2 + axis] = 1
        line = out.value(node, (size[0], size[1], size[2], size[3]), output)
        kernel = taps[:, None] if axis == 0 else taps[None, :]
        kernel_conv(
            out,
            KernelConv(
                name=node.name,
                inputs=[cut],
                output=line,
                weights=np.broadcast_to(kernel, (channels, 1, *kernel.shape)).copy(),
            ),
        )
        parts.append(line)
    return out.put(Concat, node, parts, output, axis=2 + axis)


def _one_hot(matrix: Array) -> bool:
    return bool(((matrix == 1).sum(axis=1) == 1).all() and ((matrix != 0).sum(axis=1) == 1).all())


def _stencil(matrix: Array) -> NDArray[np.float64] | None:
    """[factor, 2 r + 1] weights of the lines before, at and behind, if the map is that of a whole
    factor; what falls on a copied line at the edge counts for the line it copies."""
    out, size = matrix.shape
    factor = out // size
    if out % size or factor < 1 or factor > 8:
        return None
    if factor == 1:
        same = np.array_equal(matrix, np.eye(size, dtype=matrix.dtype))
        return np.array([[1.0]]) if same else None
    middle = min(max(size // 2, 0), size - 1)
    inner = matrix[middle * factor : (middle + 1) * factor]
    used = np.flatnonzero((inner != 0).any(axis=0))
    reach = int(np.abs(used - middle).max())
    if reach > _FARTHEST or middle < reach or middle + reach >= size:
        return None
    stencil = inner[:, middle - reach : middle + reach + 1].astype(np.float64)
    expected = np.zeros((out, size))
    for y in range(out):
        for tap in range(2 * reach + 1):
            line = min(max(y // factor + tap - reach, 0), size - 1)
            expected[y, line] += stencil[y % factor, tap]
    return stencil if np.allclose(expected, matrix, atol=1e-6) else None


def _by_stencil(
    out: Rewriter, node: Resize, rows: NDArray[np.float64], columns: NDArray[np.float64]
) -> None:
    source = node.inputs[0]
    n, channels, height, width = source.shape
    (sy, high), (sx, wide) = rows.shape, columns.shape
    framed = out.put(
        GatherLines,
        node,
        source,
        (n, channels, height + high - 1, width + wide - 1),
        rows=np.clip(np.arange(height + high - 1) - high // 2, 0, height - 1),
        columns=np.clip(np.arange(width + wide - 1) - wide // 2, 0, width - 1),
    )
    group = -(-channels // out.per_atom) * out.per_atom
    weights = np.zeros((sy, sx, group, 1, high, wide), np.float32)
    weights[:, :, :channels, 0] = np.einsum("ya,xb->yxab", rows, columns)[:, :, None]
    first = np.zeros((sy, sx, group), np.int64)
    first[:, :, :channels] = np.arange(channels)
    middle = out.value(node, (n, sy * sx * group, height, width), node.output)
    kernel_conv(
        out,
        KernelConv(
            name=node.name,
            inputs=[framed],
            output=middle,
            weights=weights.reshape(-1, 1, high, wide),
            first=first.reshape(-1),
        ),
    )
    out.put(Interleave, node, middle, node.output, stride=(sy, sx), group=group)


def _lerp(
    out: Rewriter, node: Resize, source: Value, matrix: Array, axis: int, output: Value | None
) -> Value:
    """One axis: first + weight * (second - first)."""
    shape = list(source.shape)
    shape[2 + axis] = len(matrix)
    size = (shape[0], shape[1], shape[2], shape[3])
    if output is None:
        output = out.value(node, size, source)
    first = (matrix != 0).argmax(axis=1)
    second = matrix.shape[1] - 1 - (matrix != 0)[:, ::-1].argmax(axis=1)
    lines = np.arange(len(matrix))
    weight = np.where(second == first, 0.0, matrix[lines, second])
    keep = [np.arange(source.shape[2]), np.arange(source.shape[3])]
    ends = []
    for index in (first, second):
        taken = list(keep)
        taken[axis] = index
        ends.append(
            out.put(
                GatherLines,
                node,
                source,
                out.value(node, size, source),
                rows=taken[0],
                columns=taken[1],
            )
        )
    if not weight.any():
        weight = np.zeros(len(matrix))
    difference = out.value(node, size, source, 2.0)
    out.put(Binary, node, [ends[1], ends[0]], difference, function="sub")
    shaped = weight.reshape((1, 1, -1, 1) if axis == 0 else (1, 1, 1, -1)).astype(np.float32)
    part = out.value(node, size, source, 2.0)
    out.put(Affine, node, difference, part, scale=shaped)
    return out.put(Binary, node, [part, ends[0]], output, function="add")
