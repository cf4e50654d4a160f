"""Clip nodes in a row."""

from __future__ import annotations

from ...graph import Clip, Graph
from .editing import Editing


def merge(graph: Graph) -> bool:
    """Two in a row are one; one whose limits its input obeys already vanishes."""
    edit = Editing(graph)
    for node in edit.nodes():
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
