"""The same network for several pictures at once: values [n, c, h, w] with more of them.

No operation of a graph moves data between the pictures of a batch, so nothing else changes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .errors import CompileError
from .graph import Graph, Port, Value

MOST = 1024
"""Pictures: each is one operation more of many layers."""


def batched(graph: Graph, count: int) -> Graph:
    """A copy of *graph* for *count* times its pictures, with values of the same names.

    Raises CompileError for an input or output whose first axis is not that of the pictures.
    """
    if not 1 <= count <= MOST:
        raise CompileError(f"batch is {count}; it is a number of pictures, 1 to {MOST}")
    if count == 1:
        return graph
    known = {
        value: Value(value.name, (value.shape[0] * count, *value.shape[1:]), value.scale)
        for value in graph.values()
    }
    nodes = [
        replace(node, inputs=[known[value] for value in node.inputs], output=known[node.output])
        for node in graph.nodes
    ]
    inputs, outputs, ends = (
        [_port(port, known[port.value], count) for port in ports]
        for ports in (graph.inputs, graph.outputs, graph.ends)
    )
    return replace(graph, inputs=inputs, outputs=outputs, ends=ends, nodes=nodes)


def grouped(
    samples: Sequence[Mapping[str, NDArray[Any]]], count: int
) -> list[dict[str, NDArray[Any]]]:
    """Samples of single pictures as those of *count* times as many; the first ones fill up the
    last."""
    filled = [samples[n % len(samples)] for n in range(-(-len(samples) // count) * count)]
    return [
        {
            name: np.concatenate([one[name] for one in filled[at : at + count]])
            for name in filled[at]
        }
        for at in range(0, len(filled), count)
    ]


def _port(port: Port, value: Value, count: int) -> Port:
    pictures = port.value.shape[0]
    if not port.shape or port.shape[0] != pictures or port.order[0] != 0:
        raise CompileError(
            f"batch: the first axis of {port.name!r}, {tuple(port.shape)}, is not that of the"
            f" {pictures} pictures: give the network inputs of more pictures with --shapes"
        )
    split = (port.split[0] * count, *port.split[1:]) if port.split else ()
    return replace(port, value=value, shape=(pictures * count, *port.shape[1:]), split=split)
