"""Convolutions whose kernel, stride and pads the hardware may not have."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from cudla_sim.nvdla.facts.limits import (
    CONVOLUTION_DILATION,
    CONVOLUTION_KERNEL,
    CONVOLUTION_PAD,
    CONVOLUTION_STRIDE,
    LARGEST,
)
from cudla_sim.nvdla.facts.windows import extent

from .. import graph as g
from . import arrange, strided, thin, trim
from .builder import Rewriter
from .nodes import GatherLines, KernelConv, View


def rewrite(out: Rewriter, node: g.Conv) -> None:
    kernels, span, rows, columns = node.weights.shape
    shape = node.inputs[0].shape
    if (
        max(rows, columns) > CONVOLUTION_KERNEL
        and (rows, columns) == shape[2:]
        and not any(node.pads)
        and node.groups == 1
        and int(np.prod(shape[1:])) <= LARGEST
    ):
        count = int(np.prod(shape[1:]))
        flat = out.value(node, (shape[0], count, 1, 1), node.inputs[0])
        out.put(View, node, node.inputs, flat)
        weights = node.weights.reshape(kernels, count, 1, 1)
        node = replace(node, inputs=[flat], weights=weights)
        span = count
    first = np.arange(kernels) // (kernels // node.groups) * span
    kernel_conv(
        out,
        KernelConv(
            name=node.name,
            inputs=node.inputs,
            output=node.output,
            weights=node.weights,
            bias=np.asarray(node.bias, np.float64),
            first=first,
            stride=node.stride,
            pads=node.pads,
            dilation=node.dilation,
            pad_value=node.pad_value,
            weight_scale=node.weight_scale,
            compress=node.compress,
        ),
    )


def kernel_conv(out: Rewriter, node: KernelConv) -> None:
    """Append a convolution whose kernel, stride and pads the hardware may not have."""
    if not (out.direct and _possible(node)):
        node = trim.outside(node)
    rows, columns = node.weights.shape[2:]
    taps = (extent(rows, node.dilation[0]), extent(columns, node.dilation[1]))
    top, bottom, left, right = node.pads
    if (
        max(top, bottom) >= taps[0]
        or max(left, right) >= taps[1]
        or max(top, left) > CONVOLUTION_PAD
    ):
        shape = node.inputs[0].shape
        size = (shape[0], shape[1], shape[2] + top + bottom, shape[3] + left + right)
        wide = out.value(node, size, node.inputs[0])
        source = node.inputs[0]
        arrange.pad(
            out,
            g.Pad(
                name=node.name,
                inputs=[source],
                output=wide,
                pads=node.pads,
                value=node.pad_value,
            ),
        )
        node = replace(node, inputs=[wide], pads=(0, 0, 0, 0))
    axis = strided.axis_of(out, node)
    if axis is not None:
        kernel_conv(out, strided.rewrite(out, node, axis))
        return
    if max(node.stride) > CONVOLUTION_STRIDE:
        if max(rows, columns) > CONVOLUTION_STRIDE:
            _part_of_stride(out, node)
            return
        node = _long_stride(out, node)
    if max(node.dilation) > CONVOLUTION_DILATION:
        out.refuse(node, f"dilation {node.dilation} is more than {CONVOLUTION_DILATION}")
    elif max(node.weights.shape[:2]) > LARGEST:
        out.refuse(node, f"{node.weights.shape[:2]} kernels and channels: at most {LARGEST}")
    elif max(node.weights.shape[2:]) > CONVOLUTION_KERNEL:
        axis = strided.long_axis(out, node)
        if axis is None:
            _large_kernel(out, node)
        else:
            kernel_conv(out, strided.shorten(out, node, axis))
    elif not out.direct and node.inputs[0] not in out.pictures and thin.pays(out, node):
        thin.rewrite(out, node)
    else:
        out.add(node)


def _possible(node: KernelConv) -> bool:
    """True if the fields of a convolution have room for its kernel."""
    return (
        max(node.weights.shape[2:]) <= CONVOLUTION_KERNEL
        and max(node.pads) <= CONVOLUTION_PAD
        and max(node.dilation) <= CONVOLUTION_DILATION
    )


def _long_stride(out: Rewriter, node: KernelConv) -> KernelConv:
    """Copy the pixels that windows read next to each other, then take smaller steps."""
    rows, columns = node.weights.shape[2:]
    _, _, height, width = node.output.shape
    source = node.inputs[0]
    if any(node.pads):
        wide = (source.shape[2] + sum(node.pads[:2]), source.shape[3] + sum(node.pads[2:]))
        padded = out.value(node, (*source.shape[:2], *wide), source)
        arrange.pad(out, g.Pad(name=node.name, inputs=[source], output=padded, pads=node.pads))
        source = padded
    steps = [min(size, CONVOLUTION_STRIDE) for size in (rows, columns)]
    index = [
        (np.arange(count)[:, None] * stride + np.arange(taps)[None, :] * gap).reshape(-1)
        for count, stride, taps, gap in (
            (height, node.stride[0], rows, node.dilation[0]),
            (width, node.stride[1], columns, node.dilation[1]),
        )
    ]
    close = out.put(
        GatherLines,
        node,
        source,
        (*source.shape[:2], len(index[0]), len(index[1])),
        rows=index[0],
        columns=index[1],
    )
    return replace(
        node,
        inputs=[close],
        stride=(steps[0], steps[1]),
        pads=(0, 0, 0, 0),
        dilation=(1, 1),
    )


def _part_of_stride(out: Rewriter, node: KernelConv) -> None:
    """Take steps that divide the stride, then leave out what lies in between."""
    steps = [_divisor(stride) for stride in node.stride]
    n, kernels, height, width = node.output.shape
    rest = [stride // step for stride, step in zip(node.stride, steps, strict=True)]
    size = (extent(height, rest[0]), extent(width, rest[1]))
    dense = out.value(node, (n, kernels, *size), node.output)
    kernel_conv(out, replace(node, output=dense, stride=(steps[0], steps[1])))
    out.put(
        GatherLines,
        node,
        dense,
        node.output,
        rows=np.arange(height) * rest[0],
        columns=np.arange(width) * rest[1],
    )


def _large_kernel(out: Rewriter, node: KernelConv) -> None:
    """Sum the convolutions with parts of the kernel."""
    rows, columns = node.weights.shape[2:]
    axis = 0 if rows > CONVOLUTION_KERNEL else 1
    size = (rows, columns)[axis]
    total: g.Value | None = None
    for start in range(0, size, CONVOLUTION_KERNEL):
        count = min(CONVOLUTION_KERNEL, size - start)
        cut = [slice(None)] * 4
        cut[2 + axis] = slice(start, start + count)
        pads = list(node.pads)
        shape = list(node.inputs[0].shape)
        wanted = node.output.shape[2 + axis]
        low = start * node.dilation[axis] - node.pads[2 * axis]
        need = (wanted - 1) * node.stride[axis] + extent(count, node.dilation[axis])
        pads[2 * axis] = max(-low, 0)
        begin = max(low, 0)
        pads[2 * axis + 1] = max(low + need - shape[2 + axis], 0)
        length = min(low + need, shape[2 + axis]) - begin
        source = node.inputs[0]
        if begin or length != shape[2 + axis]:
            shape[2 + axis] = length
            starts = [0, 0, 0]
            starts[1 + axis] = begin
            source = out.put(
                g.Slice,
                node,
                source,
                (shape[0], shape[1], shape[2], shape[3]),
                starts=(starts[0], starts[1], starts[2]),
            )
        last = start + count == size
        result = out.value(node, node.output.shape, node.output)
        bias = node.bias if last else np.zeros_like(node.bias)
        kernel_conv(
            out,
            replace(
                node,
                inputs=[source],
                output=result,
                weights=np.ascontiguousarray(node.weights[tuple(cut)]),
                bias=bias,
                pads=(pads[0], pads[1], pads[2], pads[3]),
            ),
        )
        if total is not None:
            output = node.output if last else out.value(node, node.output.shape, node.output)
            result = out.put(g.Binary, node, [result, total], output, function="add")
        total = result


def _divisor(stride: int) -> int:
    """Largest step of the hardware that divides a stride."""
    return next(step for step in range(CONVOLUTION_STRIDE, 0, -1) if stride % step == 0)
