"""Clip nodes in a row."""

from __future__ import annotations

from math import inf

from ...graph import Clip, Graph
from .editing import Editing
from .signs import never_negative


def merge(graph: Graph) -> bool:
    """Two in a row are one; one whose limits its input obeys already vanishes."""
    edit = Editing(graph)
    inputs = {port.value for port in graph.inputs}
    for node in edit.nodes():
        if isinstance(node, Clip) and _idle(edit, node) and node.inputs[0] not in inputs:
            _drop(edit, node)
        while isinstance(node, Clip) and edit.alive(node):
            reader = edit.only_reader(node.output)
            if not isinstance(reader, Clip):
                break
            low, high = (
                min(max(limit, reader.low), reader.high) for limit in (node.low, node.high)
            )
            node.low, node.high = low, high
            edit.absorb(node, reader)
    return edit.changed


def _idle(edit: Editing, node: Clip) -> bool:
    """It limits nothing."""
    return node.high == inf and node.low <= 0 and never_negative(edit, node.inputs[0])


def _drop(edit: Editing, node: Clip) -> None:
    source, result = node.inputs[0], node.output
    if source.scale is not None and result.scale not in (None, source.scale):
        return
    if result in edit.outputs:
        if source in edit.outputs:
            return
        source.name, result.name = result.name, source.name
    source.scale = source.scale if result.scale is None else result.scale
    edit.bypass(node)
