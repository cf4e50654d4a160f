"""Softmax over channels: the emulator's work, or two sigmoids where there are two channels.

The public emulator's operation is the softmax of one pixel: it does not look at height and width.
An operation a pixel is 536 bytes of descriptors, for a picture soon more than the network.
"""

from __future__ import annotations

import numpy as np

from cudla_sim.nvdla.facts.precisions import INT16

from .. import graph as g
from .builder import Rewriter
from .convolution import kernel_conv
from .nodes import KernelConv

MOST_PIXELS = 64
"""Emulator operations of one softmax, a picture."""


def rewrite(out: Rewriter, node: g.Softmax) -> None:
    _, channels, height, width = node.output.shape
    last = node is out.last and node.axis == 1
    pixels = height * width
    apart = pixels > 1 and (channels > out.per_atom or pixels > MOST_PIXELS)
    host = last and not apart and out.precision != INT16
    if not host and node.axis == 1 and channels == 2 and out.config.lut:
        _two(out, node)
    elif not last:
        out.refuse(node, "softmax runs on the host, as the last operator, over channels")
    elif apart:
        out.refuse(
            node,
            f"the emulator's softmax is of one pixel, and {channels} channels of {height} x {width}"
            f" pixels are left; it takes up to {MOST_PIXELS} pixels of {out.per_atom} channels",
        )
    elif out.precision == INT16:
        why = "the host's softmax knows int8 and fp16, not int16"
        out.refuse(node, why, "take --precision int8 or fp16")
    else:
        out.add(node)


def _two(out: Rewriter, node: g.Softmax) -> None:
    """exp(a) / (exp(a) + exp(b)) is the sigmoid of a - b."""
    source = node.inputs[0]
    difference = out.value(node, source.shape, source, 2.0)
    weights = np.array([[1, -1], [-1, 1]], np.float32).reshape(2, 2, 1, 1)
    kernel_conv(
        out,
        KernelConv(
            name=node.name,
            inputs=[source],
            output=difference,
            weights=weights,
            first=np.zeros(2, np.int64),
        ),
    )
    out.put(g.Curve, node, difference, node.output, function="Sigmoid")
