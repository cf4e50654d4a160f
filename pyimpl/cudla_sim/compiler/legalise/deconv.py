"""Transposed convolutions: one convolution for all positions modulo the stride, then spreading.

Output line oy + pad = s * q + j is the sum over t of input line q - t times kernel line j + s * t.
So each j is a convolution of its own with every s-th kernel line, reversed; all of them are kernels
of one convolution, whose channels are then interleaved to lines and pixels.
"""

from __future__ import annotations

import numpy as np

from cudla_sim.nvdla.facts.windows import extent

from ..graph import Deconv, Slice
from .builder import Rewriter
from .convolution import kernel_conv
from .nodes import Interleave, KernelConv


def rewrite(out: Rewriter, node: Deconv) -> None:
    """Append the nodes of a transposed convolution."""
    channels, per_group, rows, columns = node.weights.shape
    source = node.inputs[0]
    n, _, height, width = source.shape
    kernels = per_group * node.groups
    span = channels // node.groups
    reach = (extent(rows, node.dilation[0]), extent(columns, node.dilation[1]))
    dense = np.zeros((channels, per_group, *reach), np.float32)
    dense[:, :, :: node.dilation[0], :: node.dilation[1]] = node.weights
    (sy, sx), (top, _, left, _) = node.stride, node.pads
    _, _, oh, ow = node.output.shape
    taps = [-(-size // step) for size, step in zip(dense.shape[2:], (sy, sx), strict=True)]
    full = np.zeros((channels, per_group, taps[0] * sy, taps[1] * sx), np.float32)
    full[:, :, : dense.shape[2], : dense.shape[3]] = dense
    # [group, channel, kernel, tap y, phase y, tap x, phase x] with reversed taps
    split = full.reshape(node.groups, span, per_group, taps[0], sy, taps[1], sx)
    split = split[:, :, :, ::-1, :, ::-1]
    by_phase = split.transpose(4, 6, 0, 2, 1, 3, 5).reshape(sy, sx, kernels, span, *taps)
    group = -(-kernels // out.per_atom) * out.per_atom if (sy, sx) != (1, 1) else kernels
    weights = np.zeros((sy, sx, group, span, *taps), np.float32)
    weights[:, :, :kernels] = by_phase
    bias = np.zeros((sy, sx, group))
    bias[:, :, :kernels] = node.bias
    first = np.zeros((sy, sx, group), np.int64)
    first[:, :, :kernels] = np.arange(kernels) // per_group * span
    scale = None
    if node.weight_scale is not None:
        scale = np.zeros((sy, sx, group))
        scale[:, :, :kernels] = node.weight_scale
    size, pads, crop = [], [], []
    for length, result, step, tap, pad in (
        (height, oh, sy, taps[0], top),
        (width, ow, sx, taps[1], left),
    ):
        q0, q1 = pad // step, (pad + result - 1) // step
        size.append(q1 - q0 + 1)
        pads += [tap - 1 - q0, max(q1 - (length - 1), 0)]
        crop.append(pad - q0 * step)
    if pads[0] < 0 or pads[2] < 0:  # pads beyond the kernel: the first lines are never used
        starts = (0, max(-pads[0], 0), max(-pads[2], 0))
        source = out.put(
            Slice, node, source, (n, channels, height - starts[1], width - starts[2]), starts=starts
        )
    pads = [max(pad, 0) for pad in pads]
    plain = (sy, sx) == (1, 1)
    middle = (
        node.output
        if plain
        else out.value(node, (n, sy * sx * group, size[0], size[1]), node.output)
    )
    kernel_conv(
        out,
        KernelConv(
            name=node.name,
            inputs=[source],
            output=middle,
            weights=weights.reshape(-1, span, *taps),
            bias=bias.reshape(-1),
            first=first.reshape(-1),
            pads=(pads[0], pads[1], pads[2], pads[3]),
            weight_scale=None if scale is None else scale.reshape(-1),
        ),
    )
    if plain:
        return
    whole = (n, kernels, size[0] * sy, size[1] * sx)
    exact = whole == node.output.shape
    spread = node.output if exact else out.value(node, whole, node.output)
    out.put(Interleave, node, middle, spread, stride=(sy, sx), group=group)
    if not exact:
        starts = (0, crop[0], crop[1])
        out.put(Slice, node, spread, node.output, starts=starts)
