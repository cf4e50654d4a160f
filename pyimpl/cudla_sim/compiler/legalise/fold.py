"""Permutations of channels disappear into the kernels of convolutions around them.

Behind a convolution (also through operations that treat every element alike) its kernels change
their order; in front of convolutions their weights do. What is left becomes a 1 x 1 convolution
with one weight a kernel.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ..graph import Affine, Clip, Curve, Node, PRelu, Value
from .nodes import KernelConv, PermuteChannels


def permutations(nodes: list[Node], outputs: set[Value], scales: dict[Value, float]) -> list[Node]:
    """Return the nodes without PermuteChannels."""
    result = list(nodes)
    at = 0
    while at < len(result):
        node = result[at]
        if isinstance(node, PermuteChannels):
            at = _remove(result, at, node, outputs, scales)
        else:
            at += 1
    return result


def _readers(nodes: list[Node], value: Value) -> list[int]:
    return [index for index, node in enumerate(nodes) if value in node.inputs]


def _maker(nodes: list[Node], value: Value) -> int | None:
    return next((index for index, node in enumerate(nodes) if node.output is value), None)


def _alike(node: Node) -> bool:
    """True if the node treats all elements alike, so channels may be moved before it."""
    if isinstance(node, Clip | Curve):
        return True
    if isinstance(node, Affine):
        return node.scale.size == 1 and node.shift.size == 1
    return isinstance(node, PRelu) and node.slope.size == 1


def _remove(
    nodes: list[Node],
    at: int,
    node: PermuteChannels,
    outputs: set[Value],
    scales: dict[Value, float],
) -> int:
    """Fold the permutation at an index; return where to go on."""
    source = node.inputs[0]
    chain: list[int] = []
    value = source
    while True:
        made = _maker(nodes, value)
        if made is None or value in outputs or len(_readers(nodes, value)) != 1:
            break
        before = nodes[made]
        if isinstance(before, KernelConv):
            _reorder_kernels(nodes, made, chain, at, node, scales)
            return at
        if isinstance(before, PermuteChannels) or not _alike(before):
            break
        chain.append(made)
        value = before.inputs[0]
    readers = _readers(nodes, node.output)
    dense = [
        index
        for index in readers
        if isinstance(conv := nodes[index], KernelConv)
        and conv.weights.shape[1] == node.output.shape[1]
        and not conv.pad_value
    ]
    if readers and len(dense) == len(readers) and node.output not in outputs:
        for index in dense:
            _reorder_channels(nodes, index, node)
        del nodes[at]
        return at
    channels = np.asarray(node.channels)
    nodes[at] = KernelConv(
        name=node.name,
        inputs=[source],
        output=node.output,
        weights=(channels >= 0).astype(np.float32)[:, None, None, None],
        first=np.maximum(channels, 0),
    )
    return at + 1


def _reorder_kernels(
    nodes: list[Node],
    made: int,
    chain: list[int],
    at: int,
    node: PermuteChannels,
    scales: dict[Value, float],
) -> None:
    """Give the convolution its kernels in the new order; the chain behind it follows."""
    conv = nodes[made]
    assert isinstance(conv, KernelConv)
    channels = np.asarray(node.channels)
    there = (channels >= 0).astype(np.float32)
    index = np.maximum(channels, 0)
    scale = conv.weight_scale
    nodes[made] = replace(
        conv,
        weights=np.ascontiguousarray(conv.weights[index] * there[:, None, None, None]),
        bias=conv.bias[index] * there,
        first=conv.first[index],
        weight_scale=None if scale is None else scale[index],
    )
    steps = [made, *reversed(chain)]
    source: Value | None = None
    for step in steps:
        old = nodes[step]
        if source is not None:
            old = replace(old, inputs=[source])
        if step == steps[-1]:
            output = node.output
        else:
            shape = old.output.shape
            output = Value(old.output.name, (shape[0], len(channels), shape[2], shape[3]))
            if old.output in scales:
                scales[output] = scales[old.output]
        nodes[step] = replace(old, output=output)
        source = output
    del nodes[at]


def _reorder_channels(nodes: list[Node], index: int, node: PermuteChannels) -> None:
    conv = nodes[index]
    assert isinstance(conv, KernelConv)
    count = node.inputs[0].shape[1]
    weights = np.zeros((len(conv.weights), count, *conv.weights.shape[2:]), np.float32)
    for new, old in enumerate(np.asarray(node.channels)):
        if old >= 0:
            weights[:, old] += conv.weights[:, new]
    nodes[index] = replace(
        conv,
        inputs=[node.inputs[0]],
        weights=weights,
        first=np.zeros(len(weights), np.int64),
    )
