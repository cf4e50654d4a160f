"""Nodes that no output needs."""

from __future__ import annotations

from ...graph import Graph


def remove(graph: Graph) -> None:
    """Removes them."""
    needed = {port.value for port in graph.outputs}
    kept = []
    for node in reversed(graph.nodes):
        if node.output in needed:
            needed.update(node.inputs)
            kept.append(node)
    graph.nodes[:] = reversed(kept)
    unused = [port for port in graph.inputs if port.value not in needed]
    for port in unused:
        note = f"input {port.name!r} is not used and left out"
        if note not in graph.notes:
            graph.notes.append(note)
        graph.inputs.remove(port)
