"""Averages as convolutions with ones: one rounding instead of PDP's two.

PDP rounds twice, half away from zero; on non-negative values that is a bias of a third of a step
(nvdla hardware manual "PDP"). A depthwise convolution with ones and one factor behind it rounds
once.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from cudla_sim.nvdla.facts.cbuf import buffer_bytes
from cudla_sim.nvdla.facts.limits import CONVOLUTION_KERNEL, CONVOLUTION_STRIDE
from cudla_sim.nvdla.facts.precisions import INT8, INT8_TOP, INT16, TOPS

from ..graph import Affine, Pool
from .builder import Rewriter
from .convolution import kernel_conv
from .nodes import KernelConv

_MOST_TAPS = 1024
_LEAST_KERNELS = 4


def rewrite(out: Rewriter, node: Pool) -> None:
    """Append the nodes of an average pooling."""
    kh, kw = node.kernel
    source = node.inputs[0]
    channels = source.shape[1]
    room = buffer_bytes(out.config) * 3 // 4
    per_tap = out.config.memory_atom * _LEAST_KERNELS
    most = min(room // per_tap, _MOST_TAPS)
    if kh * kw > most or max(kh, kw) > CONVOLUTION_KERNEL:
        _two_steps(out, node)
        return
    divisor = np.asarray(node.divisor, np.float32)
    summed = out.value(node, node.output.shape)
    top = TOPS[INT8 if out.precision == INT8 else INT16]
    if max(node.stride) > CONVOLUTION_STRIDE and node.output in out.scales:
        out.scales[summed] = out.scales[node.output] * float(np.max(node.divisor))
    elif source in out.scales:
        out.scales[summed] = out.scales[source] * max(kh * kw, 1) * INT8_TOP / top
    kernel_conv(
        out,
        KernelConv(
            name=node.name,
            inputs=[source],
            output=summed,
            weights=np.ones((channels, 1, kh, kw), np.float32),
            stride=node.stride,
            pads=node.pads,
        ),
    )
    scale = (1.0 / divisor).reshape(1, 1, *(divisor.shape or (1, 1))).astype(np.float32)
    out.put(Affine, node, summed, node.output, scale=scale)


def _two_steps(out: Rewriter, node: Pool) -> None:
    """A window as large as the input: sums of tiles (zeros fill the last), then their sum."""
    source = node.inputs[0]
    n, channels, height, width = source.shape
    divisor = float(np.asarray(node.divisor).reshape(-1)[0])
    if node.output.shape[2:] != (1, 1) or any(node.pads):
        out.refuse(node, f"an average over {node.kernel[1]} x {node.kernel[0]}")
        return
    tile = (min(CONVOLUTION_STRIDE, height), min(CONVOLUTION_STRIDE, width))
    if height <= CONVOLUTION_KERNEL and width <= CONVOLUTION_KERNEL:
        tile = (height, 1)  # many small sums: their roundings cancel out
    rest = (-(-height // tile[0]), -(-width // tile[1]))
    middle = out.value(node, (n, channels, *rest), source)
    first = float(tile[0] * tile[1])
    pads = (0, rest[0] * tile[0] - height, 0, rest[1] * tile[1] - width)
    stride = (min(tile[0], CONVOLUTION_STRIDE), min(tile[1], CONVOLUTION_STRIDE))
    rewrite(
        out,
        replace(node, output=middle, kernel=tile, stride=stride, pads=pads, divisor=first),
    )
    rewrite(
        out,
        replace(node, inputs=[middle], kernel=rest, stride=(1, 1), divisor=divisor / first),
    )
