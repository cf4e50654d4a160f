"""Convolutions of few channels in two steps: kernel columns become channels, then the rows.

The MAC array takes many channels at once; a 7 x 7 kernel on a picture's three channels leaves it
nearly empty 49 times a pixel. A first convolution with weights of one copies what the columns of
a kernel see into channels (exactly), a second one has the rows only. Pictures in the interleaved
format do this in hardware.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from cudla_sim.nvdla.facts.limits import LARGEST

from .builder import Rewriter
from .nodes import KernelConv

_WORTH = 0.6


def pays(out: Rewriter, node: KernelConv) -> bool:
    """True if two steps take clearly fewer cycles."""
    kernels, span, rows, columns = node.weights.shape
    source, target = node.inputs[0].shape, node.output.shape
    config, group = out.config, out.config.kernel_group(out.precision)
    if columns == 1 or node.pad_value or span != source[1] or np.any(node.first):
        return False
    if span * columns > LARGEST or (node.weight_scale is not None and out.precision != 0):
        return False

    def cycles(kernel_count: int, channels: int, taps: int, pixels: int) -> int:
        """Groups of kernels, chunks of channels, taps, pixels: each pair is a cycle."""
        chunks = -(-channels // config.atomic_c)
        return -(-kernel_count // group) * chunks * taps * pixels

    pixels = target[2] * target[3]
    before = cycles(kernels, span, rows * columns, pixels)
    wide = cycles(span * columns, span, columns, source[2] * target[3])
    return wide + cycles(kernels, span * columns, rows, pixels) < _WORTH * before


def rewrite(out: Rewriter, node: KernelConv) -> None:
    """Append the two convolutions."""
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
