"""Convolutions of few channels in two steps: kernel columns become channels, then the rows.

The MAC array takes many channels at once; a 7 x 7 kernel on a picture's three channels leaves it
nearly empty 49 times a pixel. A first convolution with weights of one copies what the columns of
a kernel see into channels (exactly), a second one has the rows only. Where a kernel steps over
several pixels, another one before them makes these pixels channels of one. Pictures in the
interleaved format do this in hardware.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from cudla_sim.nvdla.facts.limits import LARGEST

from ..graph import Value
from ..options import BLOCKS
from .builder import Rewriter
from .nodes import KernelConv

_WORTH = 0.6


def pays(out: Rewriter, node: KernelConv) -> bool:
    """True if two steps take clearly fewer cycles."""
    _, span, _, columns = node.weights.shape
    source, target = node.inputs[0].shape, node.output.shape
    if columns == 1 or node.pad_value or span != source[1] or np.any(node.first):
        return False
    if span * columns > LARGEST or (node.weight_scale is not None and out.precision != 0):
        return False
    return _both(out, node) < _WORTH * _cycles(out, node.weights.shape, target[2] * target[3])


def _cycles(out: Rewriter, shape: tuple[int, ...], pixels: int) -> float:
    """Of a convolution with weights [kernels, channels, rows, columns]: groups of kernels, chunks
    of channels, taps, pixels; results leave in their time."""
    kernels, channels, rows, columns = shape
    config, group = out.config, out.config.kernel_group(out.precision)
    chunks = -(-channels // config.atomic_c)
    leaving = group / config.timing.sdp + config.timing.position_extra
    return -(-kernels // group) * pixels * max(chunks * rows * columns, leaving)


def _both(out: Rewriter, node: KernelConv) -> float:
    """Cycles of the two steps."""
    kernels, span, rows, columns = node.weights.shape
    _, _, height, width = node.output.shape
    lines = node.inputs[0].shape[2]
    wide = _cycles(out, (span * columns, span, 1, columns), lines * width)
    return wide + _cycles(out, (kernels, span * columns, rows, 1), height * width)


def rewrite(out: Rewriter, node: KernelConv) -> None:
    """Append the two convolutions, or three."""
    blocks = None if BLOCKS in out.without else _blocks(node)
    if blocks is not None:
        first, rest = blocks
        shape = (len(first.weights), node.weights.shape[1], *node.stride)
        pixels = first.output.shape[2] * first.output.shape[3]
        if _cycles(out, shape, pixels) + _both(out, rest) < _both(out, node):
            if node.inputs[0] in out.scales:
                out.scales[first.output] = out.scales[node.inputs[0]]
            out.add(first)
            node = rest
    kernels, span, rows, columns = node.weights.shape
    source = node.inputs[0]
    n, _, height, _ = source.shape
    middle = out.value(node, (n, span * columns, height, node.output.shape[3]), source)
    copies = np.zeros((columns, span, 1, 1, columns), np.float32)
    copies[np.arange(columns), :, 0, 0, np.arange(columns)] = 1.0
    out.put(
        KernelConv,
        node,
        source,
        middle,
        weights=copies.reshape(columns * span, 1, 1, columns),
        first=np.tile(np.arange(span), columns),
        stride=(1, node.stride[1]),
        pads=(0, 0, *node.pads[2:]),
        dilation=(1, node.dilation[1]),
    )
    folded = node.weights.transpose(0, 3, 1, 2).reshape(kernels, columns * span, rows, 1)
    out.add(
        replace(
            node,
            inputs=[middle],
            weights=np.ascontiguousarray(folded),
            first=np.zeros(kernels, np.int64),
            stride=(node.stride[0], 1),
            pads=(*node.pads[:2], 0, 0),
            dilation=(node.dilation[0], 1),
        )
    )


def _blocks(node: KernelConv) -> tuple[KernelConv, KernelConv] | None:
    """The pixels of a step as channels of one (copies), and the convolution over those, which takes
    one at a time; None for a kernel that steps by one."""
    kernels, span, rows, columns = node.weights.shape
    (down, across), pads = node.stride, node.pads
    if down * across == 1 or node.dilation != (1, 1):
        return None
    n, _, height, width = node.inputs[0].shape
    size = [-(-rows // down), -(-columns // across)]
    made, begins, ends, before, after = [], [], [], [], []
    for length, step, taps, pad, count in (
        (height, down, size[0], pads[0], node.output.shape[2]),
        (width, across, size[1], pads[2], node.output.shape[3]),
    ):
        lead, over = pad // step, pad % step
        needed = count - 1 - lead + taps
        made.append(min(-(-(length + over) // step), needed))
        begins.append(over)
        ends.append(max(made[-1] * step - over - length, 0))
        before.append(lead)
        after.append(needed - made[-1])
    if min(made) < 1:
        return None
    depth = down * across * span
    copies = np.zeros((down, across, span, 1, down, across), np.float32)
    for y in range(down):
        for x in range(across):
            copies[y, x, :, 0, y, x] = 1.0
    middle = Value(f"{node.output.name}:blocks", (n, depth, made[0], made[1]))
    first = replace(
        node,
        output=middle,
        weights=copies.reshape(depth, 1, down, across),
        bias=np.zeros(depth),
        first=np.tile(np.arange(span), down * across),
        pads=(begins[0], ends[0], begins[1], ends[1]),
        weight_scale=None,
    )
    whole = np.zeros((kernels, span, size[0] * down, size[1] * across), np.float32)
    whole[:, :, :rows, :columns] = node.weights
    parts = whole.reshape(kernels, span, size[0], down, size[1], across)
    rest = replace(
        node,
        inputs=[middle],
        weights=np.ascontiguousarray(parts.transpose(0, 3, 5, 1, 2, 4)).reshape(
            kernels, depth, *size
        ),
        first=np.zeros(kernels, np.int64),
        stride=(1, 1),
        pads=(before[0], after[0], before[1], after[1]),
    )
    return first, rest
