"""Every output of the network is a value of its own."""

from __future__ import annotations

import numpy as np

from ...graph import Affine, Graph, Value


def separate(graph: Graph) -> None:
    """Copies (x * 1 + 0) for outputs that are inputs or another output."""
    taken = {port.value for port in graph.inputs}
    names = {value.name for value in graph.values()}
    for port in graph.outputs:
        if port.value not in taken:
            taken.add(port.value)
            continue
        name = f"{port.name}:copy" if port.name in names else port.name
        names.add(name)
        copy = Value(name, port.value.shape, port.value.scale)
        one = np.ones((1, 1, 1, 1), np.float32)
        graph.nodes.append(
            Affine(name=port.name, inputs=[port.value], output=copy, scale=one, shift=one * 0)
        )
        port.value = copy
        taken.add(copy)
