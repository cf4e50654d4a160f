"""Pad nodes: into the convolutions and pooling that read them, where that is the same."""

from __future__ import annotations

import numpy as np

from ...graph import Conv, Graph, Node, Pad, Pool
from .editing import Editing
from .signs import never_negative


def fold(graph: Graph) -> bool:
    """Every reader that can takes the padding over. True if something changed."""
    edit = Editing(graph)
    changed = False
    for node in edit.nodes():
        if not isinstance(node, Pad) or node.mode != "constant" or node.channels != (0, 0):
            continue
        if node.output.scale is not None:
            continue
        for reader in list(edit.readers[node.output]):
            if _takes(edit, node, reader):
                reader.inputs = [node.inputs[0]]
                edit.readers[node.output].remove(reader)
                edit.readers[node.inputs[0]].append(reader)
                changed = True
        if not edit.readers[node.output] and node.output not in edit.outputs:
            graph.nodes.remove(node)
            edit.readers[node.inputs[0]].remove(node)
    return changed


def _takes(edit: Editing, pad: Pad, reader: Node) -> bool:
    if isinstance(reader, Conv):
        if any(reader.pads) and reader.pad_value != pad.value:
            return False
        if not np.isfinite(pad.value):
            return False
        reader.pads = _sum(reader.pads, pad.pads)
        reader.pad_value = pad.value
        return True
    if not isinstance(reader, Pool):
        return False
    pads = _sum(reader.pads, pad.pads)
    inside = all(max(pads[2 * i : 2 * i + 2]) < reader.kernel[i] for i in (0, 1))
    if reader.mode == "average":
        fits = (
            pad.value == 0 and not any(reader.pads) and not isinstance(reader.divisor, np.ndarray)
        )
    elif reader.mode == "max":
        fits = pad.value == -np.inf or pad.value <= -3e38
        fits = fits or (inside and pad.value == 0 and never_negative(edit, pad.inputs[0]))
    else:
        fits = pad.value == np.inf or pad.value >= 3e38
    if not (fits and inside):
        return False
    reader.pads = pads
    return True


def _sum(a: tuple[int, int, int, int], b: tuple[int, int, int, int]) -> tuple[int, int, int, int]:
    return a[0] + b[0], a[1] + b[1], a[2] + b[2], a[3] + b[3]
