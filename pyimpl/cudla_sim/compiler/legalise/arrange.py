"""Slices, paddings, permutations and shapes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from cudla_sim.nvdla.facts.limits import CONVOLUTION_KERNEL, LARGEST

from .. import graph as g
from .builder import Rewriter
from .nodes import GatherLines, Interleave, KernelConv, PermuteChannels, View


def slice_(out: Rewriter, node: g.Slice) -> None:
    steps, starts = node.steps, node.starts
    source = node.inputs[0]
    n, channels, height, width = node.output.shape
    if steps[0] != 1:
        picked = (
            node.output
            if steps[1:] == (1, 1) and source.shape[2:] == (height, width)
            else (out.value(node, (n, channels, *source.shape[2:]), node.output))
        )
        index = starts[0] + np.arange(channels) * steps[0]
        out.put(PermuteChannels, node, source, picked, channels=index)
        source, starts = picked, (0, *starts[1:])
        if picked is node.output:
            return
    if steps[1:] != (1, 1):
        if channels != source.shape[1]:
            cut = out.value(node, (n, channels, *source.shape[2:]), node.output)
            source = out.put(g.Slice, node, source, cut, starts=(starts[0], 0, 0))
        out.put(
            GatherLines,
            node,
            source,
            node.output,
            rows=starts[1] + np.arange(height) * steps[1],
            columns=starts[2] + np.arange(width) * steps[2],
        )
        return
    out.put(g.Slice, node, source, node.output, starts=starts)


def channel_gather(out: Rewriter, node: g.ChannelGather) -> None:
    out.put(
        PermuteChannels, node, node.inputs, node.output, channels=np.array(node.channels, np.int64)
    )


def depth_to_space(out: Rewriter, node: g.DepthToSpace) -> None:
    block, channels = node.block, node.output.shape[1]
    index = np.arange(node.inputs[0].shape[1])
    if node.crd:
        phases = index.reshape(channels, block * block).T
    else:
        phases = index.reshape(block * block, channels)
    _spread(out, node, node.inputs[0], phases, (block, block))


def _spread(
    out: Rewriter, node: g.Node, source: g.Value, phases: NDArray[np.int64], stride: g.Pair
) -> None:
    """Interleave *phases* [sy * sx, channels] of source channels into the node's output."""
    group = -(-phases.shape[1] // out.per_atom) * out.per_atom
    order = np.full((len(phases), group), -1, np.int64)
    order[:, : phases.shape[1]] = phases
    n, _, height, width = source.shape
    moved = source
    flat = order.reshape(-1)
    if len(flat) != source.shape[1] or (flat != np.arange(len(flat))).any():
        moved = out.put(PermuteChannels, node, source, (n, len(flat), height, width), channels=flat)
    out.put(Interleave, node, moved, node.output, stride=stride, group=group)


def space_to_depth(out: Rewriter, node: g.SpaceToDepth) -> None:
    source, block = node.inputs[0], node.block
    n, channels, height, width = source.shape
    parts = []
    for y in range(block):
        for x in range(block):
            part = out.value(node, (n, channels, height // block, width // block), node.output)
            parts.append(
                out.put(
                    GatherLines,
                    node,
                    source,
                    part,
                    rows=np.arange(y, height, block)[: height // block],
                    columns=np.arange(x, width, block)[: width // block],
                )
            )
    out.put(g.Concat, node, parts, node.output, axis=1)


def pad(out: Rewriter, node: g.Pad) -> None:
    source = node.inputs[0]
    n, channels, height, width = source.shape
    top, bottom, left, right = node.pads
    if any(node.channels):
        if node.value or node.mode != "constant":
            out.refuse(node, "padding of channels with anything but zeros")
            return
        before, after = node.channels
        index = np.concatenate(
            [np.full(before, -1), np.arange(channels), np.full(after, -1)]
        ).astype(np.int64)
        inner = node.output
        if any(node.pads):
            inner = out.value(node, (n, len(index), height, width), source)
        source = out.put(PermuteChannels, node, source, inner, channels=index)
        channels = len(index)
        if not any(node.pads):
            return
    if node.mode != "constant":
        mode = {"edge": "edge", "reflect": "reflect", "wrap": "wrap"}[node.mode]
        rows = np.pad(np.arange(height), (top, bottom), mode=mode)  # type: ignore[call-overload]
        columns = np.pad(np.arange(width), (left, right), mode=mode)  # type: ignore[call-overload]
        out.put(GatherLines, node, source, node.output, rows=rows, columns=columns)
        return
    if min(node.pads) < 0:
        out.refuse(node, f"negative pads {node.pads}")
        return
    taps = (top + bottom + 1, left + right + 1)
    if max(taps) > CONVOLUTION_KERNEL:
        _wide_pad(out, node, source, int(taps[1] > CONVOLUTION_KERNEL))
        return
    weights = np.zeros((channels, 1, *taps), np.float32)
    weights[:, 0, bottom, right] = 1.0
    out.put(
        KernelConv,
        node,
        source,
        node.output,
        weights=weights,
        pads=(taps[0] - 1, taps[0] - 1, taps[1] - 1, taps[1] - 1),
        pad_value=node.value,
    )


def _wide_pad(out: Rewriter, node: g.Pad, source: g.Value, axis: int) -> None:
    """Join borders of one value to the lines (*axis* 0) or columns (1), then pad the other axis."""
    before, after = node.pads[2 * axis : 2 * axis + 2]
    length = source.shape[2 + axis]

    def sized(size: int) -> g.Shape:
        n, channels, height, width = source.shape
        return (n, channels, size, width) if axis == 0 else (n, channels, height, size)

    def border(size: int) -> Iterator[g.Value]:
        for start in range(0, size, length):
            part = out.put(
                g.Slice, node, source, sized(min(length, size - start)), starts=(0, 0, 0)
            )
            scale, shift = np.zeros((1, 1, 1, 1)), np.full((1, 1, 1, 1), node.value)
            yield out.put(g.Affine, node, part, part.shape, scale=scale, shift=shift)

    rest = list(node.pads)
    rest[2 * axis : 2 * axis + 2] = [0, 0]
    size = sized(before + length + after)
    joined = out.value(node, size, source) if any(rest) else node.output
    parts = [*border(before), source, *border(after)]
    out.put(g.Concat, node, parts, joined, axis=2 + axis)
    if any(rest):
        pads = (rest[0], rest[1], rest[2], rest[3])
        pad(out, replace(node, inputs=[joined], pads=pads, channels=(0, 0)))


def transpose(out: Rewriter, node: g.Transpose) -> None:
    shape = node.inputs[0].shape
    order = tuple(node.order)
    moved = [axis for axis in order if shape[axis] != 1]
    if moved == sorted(moved):  # only axes of size 1 change places
        reshape(out, g.Reshape(name=node.name, inputs=node.inputs, output=node.output))
    elif order == (0, 1, 3, 2):
        out.add(node)
    else:
        out.refuse(node, f"a transposition {order} of {shape} moves channels")


def reshape(out: Rewriter, node: g.Reshape) -> None:
    source, target = node.inputs[0].shape, node.output.shape
    if source == target:
        out.put(g.Slice, node, node.inputs, node.output, starts=(0, 0, 0))
    elif target[2:] == (1, 1) and source[0] == target[0]:
        out.put(View, node, node.inputs, node.output)
    elif source[2:] == (1, 1) and source[0] == target[0]:
        _unflatten(out, node)
    elif source[0] == target[0] and int(np.prod(source[1:])) <= LARGEST:
        middle = out.value(node, (source[0], int(np.prod(source[1:])), 1, 1), node.inputs[0])
        out.put(View, node, node.inputs, middle)
        _unflatten(out, g.Reshape(name=node.name, inputs=[middle], output=node.output))
    else:
        out.refuse(node, f"a reshape of {source} to {target} moves data")


def _unflatten(out: Rewriter, node: g.Reshape) -> None:
    """1 x 1 channels in the order in which the cube has its bytes; then only the shape."""
    n, channels, height, width = node.output.shape
    atom = out.per_atom
    groups = -(-channels // atom)
    if groups * atom * height * width > LARGEST:
        out.refuse(node, f"a reshape to {node.output.shape} needs more than {LARGEST} channels")
        return
    index = np.full((groups, height, width, atom), -1, np.int64)
    logical = np.arange(channels * height * width).reshape(channels, height, width)
    for group in range(groups):
        part = logical[group * atom : (group + 1) * atom]
        index[group, :, :, : len(part)] = part.transpose(1, 2, 0)
    flat = index.reshape(-1)
    moved = out.value(node, (n, len(flat), 1, 1), node.inputs[0])
    out.put(PermuteChannels, node, node.inputs, moved, channels=flat)
    out.put(View, node, moved, node.output)
