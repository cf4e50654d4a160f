"""Resizing: nearest by copies of lines and pixels, linear by convolutions or by weighted sums.

Linear with an integer factor and half-pixel centres: each position modulo the factor is a fixed
3 x 3 stencil on the cube with copied edges, so one convolution computes all positions as channels
and they are interleaved. Any other two-point scheme: a convolution of two lines for every line of
the output, then of two pixels for every pixel; where these would be too many, copies of both
neighbours of every line and first + weight * (second - first).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..graph import Affine, Array, Binary, Concat, Resize, Slice, Value
from .builder import Rewriter
from .convolution import kernel_conv
from .nodes import GatherLines, Interleave, KernelConv

_MOST_LINES, _MOST_CHANNELS = 512, 128


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
    if max((rows != 0).sum(axis=1).max(), (columns != 0).sum(axis=1).max()) > 2:
        out.refuse(node, "an output that depends on more than two lines or pixels")
        return
    few = len(rows) + len(columns) <= _MOST_LINES and node.inputs[0].shape[1] <= _MOST_CHANNELS
    step = _pairs if few else _lerp
    middle = step(out, node, node.inputs[0], rows, 0, None)
    step(out, node, middle, columns, 1, node.output)


def _pairs(
    out: Rewriter, node: Resize, source: Value, matrix: Array, axis: int, output: Value | None
) -> Value:
    """One axis: every line of the output is a convolution of the lines it depends on."""
    n, channels, height, width = source.shape
    shape = [n, channels, height, width]
    shape[2 + axis] = len(matrix)
    if output is None:
        output = out.value(node, (shape[0], shape[1], shape[2], shape[3]), source)
    parts = []
    for row in matrix:
        used = np.flatnonzero(row)
        first, last = int(used[0]), int(used[-1])
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
        line = out.value(node, (size[0], size[1], size[2], size[3]), source)
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
    """[factor, 3] weights of the lines before, at and behind, if the map is that of a factor."""
    out, size = matrix.shape
    factor = out // size
    if out % size or factor < 1 or factor > 8:
        return None
    if factor == 1:
        same = np.array_equal(matrix, np.eye(size, dtype=matrix.dtype))
        return np.array([[0.0, 1.0, 0.0]]) if same else None
    padded = np.zeros((out, size + 2))
    padded[:, 1:-1] = matrix
    # edges: what falls on a copied line counts for the line it copies
    stencil = np.zeros((factor, 3))
    middle = min(max(size // 2, 0), size - 1)
    if size < 3:
        return None
    for phase in range(factor):
        stencil[phase] = padded[middle * factor + phase, middle : middle + 3]
    expected = np.zeros((out, size))
    for y in range(out):
        for tap in range(3):
            line = min(max(y // factor + tap - 1, 0), size - 1)
            expected[y, line] += stencil[y % factor, tap]
    return stencil if np.allclose(expected, matrix, atol=1e-6) else None


def _by_stencil(
    out: Rewriter, node: Resize, rows: NDArray[np.float64], columns: NDArray[np.float64]
) -> None:
    source = node.inputs[0]
    n, channels, height, width = source.shape
    framed = out.put(
        GatherLines,
        node,
        source,
        (n, channels, height + 2, width + 2),
        rows=np.clip(np.arange(-1, height + 1), 0, height - 1),
        columns=np.clip(np.arange(-1, width + 1), 0, width - 1),
    )
    sy, sx = len(rows), len(columns)
    group = -(-channels // out.per_atom) * out.per_atom
    weights = np.zeros((sy, sx, group, 1, 3, 3), np.float32)
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
            weights=weights.reshape(-1, 1, 3, 3),
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
