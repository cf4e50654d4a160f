"""Convolutions of long kernels or strides: pixels become channels.

A kernel of 512 columns that moves by 160 (a short-time Fourier transform) is one of 13 columns
that moves by 4 over 40 times the channels; one of 512 columns that moves by 1 is one of 32 over
16 times the channels, each of them 32 pixels farther. One exact sum takes the place of many
rounded ones. The copy into channels is a convolution with weights of one: exact.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from cudla_sim.nvdla.facts.limits import (
    CONVOLUTION_DILATION,
    CONVOLUTION_KERNEL,
    CONVOLUTION_STRIDE,
    LARGEST,
)
from cudla_sim.nvdla.facts.windows import extent

from .builder import Rewriter
from .nodes import KernelConv


def axis_of(out: Rewriter, node: KernelConv) -> int | None:
    """The axis (0 lines, 1 columns) whose stride should become channels; None if neither."""
    if node.pad_value or node.inputs[0] in out.pictures:
        return None
    for axis in (0, 1):
        taps, stride = node.weights.shape[2 + axis], node.stride[axis]
        long = taps > CONVOLUTION_KERNEL or stride > CONVOLUTION_STRIDE
        # windows far apart: to copy what they read is less than to copy everything
        close = taps * 2 > stride
        if long and close and node.dilation[axis] == 1 and _step(node, axis) > 1:
            return axis
    return None


def _step(node: KernelConv, axis: int) -> int:
    """Pixels that become channels at once: they divide the stride."""
    channels = node.inputs[0].shape[1]
    most = min(CONVOLUTION_STRIDE, LARGEST // channels)
    return next((n for n in range(most, 1, -1) if node.stride[axis] % n == 0), 1)


def rewrite(out: Rewriter, node: KernelConv, axis: int) -> KernelConv:
    """Append the copy; return the convolution that reads it."""
    step = _step(node, axis)
    source = node.inputs[0]
    kernels, span, *taps = node.weights.shape
    pad = node.pads[2 * axis]
    shift = -pad % step  # zeros in front of the kernel: the pad becomes whole steps
    count = -(-(taps[axis] + shift) // step)
    before, stride = (pad + shift) // step, node.stride[axis] // step
    reach = (node.output.shape[2 + axis] - 1) * stride + count - before
    length = min(-(-source.shape[2 + axis] // step), reach)

    shape = list(source.shape)
    shape[1], shape[2 + axis] = source.shape[1] * step, length
    copies = np.zeros((source.shape[1], step, 1, *_on(axis, step, 1)), np.float32)
    for number in range(step):
        place = (slice(None), number, 0, *_on(axis, number, 0))
        copies[place] = 1.0
    wide = out.put(
        KernelConv,
        node,
        source,
        (shape[0], shape[1], shape[2], shape[3]),
        weights=copies.reshape(-1, 1, *_on(axis, step, 1)),
        first=np.repeat(np.arange(source.shape[1]), step),
        stride=_on(axis, step, 1),
        pads=_pads(axis, 0, max(length * step - source.shape[2 + axis], 0)),
    )
    filled = [(0, 0)] * 4
    filled[2 + axis] = (shift, count * step - shift - taps[axis])
    weights = np.moveaxis(np.pad(node.weights, filled), 2 + axis, -1)
    split = weights.reshape(*weights.shape[:-1], count, step)  # [k, c, other axis, tap, pixel]
    folded = split.transpose(0, 1, 4, 2, 3).reshape(kernels, span * step, weights.shape[2], count)
    pads = list(node.pads)
    pads[2 * axis : 2 * axis + 2] = [before, max(reach - length, 0)]
    return replace(
        node,
        inputs=[wide],
        weights=np.ascontiguousarray(np.moveaxis(folded, -1, 2 + axis)),
        first=node.first * step,
        stride=_on(axis, stride, node.stride[1 - axis]),
        pads=(pads[0], pads[1], pads[2], pads[3]),
    )


def long_axis(out: Rewriter, node: KernelConv) -> int | None:
    """The axis whose taps should become channels; None if that is not possible."""
    if node.pad_value or node.inputs[0] in out.pictures:
        return None
    for axis in (0, 1):
        taps = node.weights.shape[2 + axis]
        if taps > CONVOLUTION_KERNEL:
            parts = -(-taps // _run(node, axis))
            fits = parts <= CONVOLUTION_KERNEL and parts * node.inputs[0].shape[1] <= LARGEST
            return axis if fits else None
    return None


def _run(node: KernelConv, axis: int) -> int:
    """Taps that stay neighbours: the next ones are as far as a dilation reaches."""
    return min(CONVOLUTION_KERNEL, CONVOLUTION_DILATION // node.dilation[axis])


def shorten(out: Rewriter, node: KernelConv, axis: int) -> KernelConv:
    """Append the copy; return the convolution that reads it."""
    source, run, gap = node.inputs[0], _run(node, axis), node.dilation[axis]
    kernels, span, *taps = node.weights.shape
    parts = -(-taps[axis] // run)
    length = (node.output.shape[2 + axis] - 1) * node.stride[axis] + extent(run, gap)
    reach = length + (parts - 1) * run * gap - node.pads[2 * axis]

    shape = list(source.shape)
    shape[1], shape[2 + axis] = source.shape[1] * parts, length
    copies = np.tile(np.eye(parts, dtype=np.float32), (source.shape[1], 1))
    wide = out.value(node, (shape[0], shape[1], shape[2], shape[3]), source)
    copy = KernelConv(
        name=node.name,
        inputs=[source],
        output=wide,
        weights=copies.reshape(-1, 1, *_on(axis, parts, 1)),
        first=np.repeat(np.arange(source.shape[1]), parts),
        dilation=_on(axis, run * gap, 1),
        pads=_pads(axis, node.pads[2 * axis], max(reach - source.shape[2 + axis], 0)),
    )
    out.add(copy)
    filled = [(0, 0)] * 4
    filled[2 + axis] = (0, parts * run - taps[axis])
    weights = np.moveaxis(np.pad(node.weights, filled), 2 + axis, -1)
    split = weights.reshape(*weights.shape[:-1], parts, run)  # [k, c, other axis, part, tap]
    folded = split.transpose(0, 1, 3, 2, 4).reshape(kernels, span * parts, weights.shape[2], run)
    pads = list(node.pads)
    pads[2 * axis : 2 * axis + 2] = [0, 0]
    return replace(
        node,
        inputs=[wide],
        weights=np.ascontiguousarray(np.moveaxis(folded, -1, 2 + axis)),
        first=node.first * parts,
        pads=(pads[0], pads[1], pads[2], pads[3]),
    )


def _on(axis: int, here: int, there: int) -> tuple[int, int]:
    """A pair (lines, columns) from what an axis has and what the other one has."""
    return (here, there) if axis == 0 else (there, here)


def _pads(axis: int, before: int, after: int) -> tuple[int, int, int, int]:
    return (before, after, 0, 0) if axis == 0 else (0, 0, before, after)
