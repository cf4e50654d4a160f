"""Kernel lines and columns that only ever see padding are left out.

Dilated kernels on small inputs reach beyond them: a 3 x 3 kernel with dilation 36 on 8 x 8 pixels
is a 1 x 1 kernel.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from .nodes import KernelConv


def outside(node: KernelConv) -> KernelConv:
    """Return the convolution without taps that never meet the input."""
    if node.pad_value:
        return node
    shape, out = node.inputs[0].shape, node.output.shape
    keep, pads = [], list(node.pads)
    for axis in (0, 1):
        size, gap = node.weights.shape[2 + axis], node.dilation[axis]
        taps = np.arange(size) * gap - pads[2 * axis]
        last = taps + (out[2 + axis] - 1) * node.stride[axis]
        seen = np.flatnonzero((last >= 0) & (taps < shape[2 + axis]))
        if not len(seen):
            return node
        keep.append(slice(int(seen[0]), int(seen[-1]) + 1))
        pads[2 * axis] -= int(seen[0]) * gap
        pads[2 * axis + 1] -= (size - 1 - int(seen[-1])) * gap
    if min(pads) < 0 or all(
        piece == slice(0, size) for piece, size in zip(keep, node.weights.shape[2:], strict=True)
    ):
        return node
    weights = np.ascontiguousarray(node.weights[:, :, keep[0], keep[1]])
    gaps = [
        gap if size > 1 else 1 for gap, size in zip(node.dilation, weights.shape[2:], strict=True)
    ]
    return replace(
        node,
        weights=weights,
        pads=(pads[0], pads[1], pads[2], pads[3]),
        dilation=(gaps[0], gaps[1]),
    )
