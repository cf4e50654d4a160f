"""One scale for every value that is stored, under what the units demand.

Pooling and copies cannot change a scale, joined tensors share one; a group takes the largest of
its members. Source: nvdla hardware manual "PDP".
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from . import graph as g
from .errors import CompileError
from .legalise.nodes import GatherLines, Interleave, PermuteChannels, View

_SAME = (g.Pool, g.Slice, g.Concat, g.Transpose, Interleave, GatherLines, PermuteChannels, View)
_CLOSE = (*_SAME, g.Clip)


def known(graph: g.Graph, scales: Mapping[str, float]) -> dict[g.Value, float]:
    """Scales of the graph's values: the model's own (Q/DQ) first, then calibrated ones."""
    found: dict[g.Value, float] = {}
    for value in graph.values():
        scale = value.scale if value.scale is not None else scales.get(value.name)
        if scale is None:
            continue
        if not scale > 0:
            raise CompileError(
                f"tensor {value.name!r} has scale {scale}: it must be positive; was it always 0"
                " in the calibration data?"
            )
        found[value] = float(scale)
    return found


def fill(nodes: Iterable[g.Node], scales: dict[g.Value, float]) -> None:
    """Give values without a scale that of a neighbour where it cannot be another."""
    nodes = list(nodes)
    for order in (nodes, list(reversed(nodes)), nodes):
        for node in order:
            if not isinstance(node, _CLOSE):
                continue
            values = [*node.inputs, node.output]
            have = [scales[value] for value in values if value in scales]
            for value in values:
                if have and value not in scales:
                    scales[value] = max(have)


def unite(nodes: Iterable[g.Node], scales: dict[g.Value, float]) -> None:
    """Give the members of every group the largest of their scales."""
    leader: dict[g.Value, g.Value] = {}

    def find(value: g.Value) -> g.Value:
        while leader.get(value, value) is not value:
            value = leader[value]
        return value

    members: set[g.Value] = set()
    for node in nodes:
        if isinstance(node, _SAME):
            members.update((*node.inputs, node.output))
            for value in node.inputs:
                leader[find(value)] = find(node.output)
    largest: dict[g.Value, float] = {}
    for value in members:
        head = find(value)
        largest[head] = max(largest.get(head, 0.0), scales.get(value, 0.0))
    for value in members:
        if largest[find(value)] > 0:
            scales[value] = largest[find(value)]


def missing(values: Iterable[g.Value], scales: Mapping[g.Value, float]) -> None:
    """Raise CompileError with all values that have no scale."""
    names = sorted({value.name for value in values if value not in scales})
    if names:
        shown = ", ".join(names[:20]) + (f" and {len(names) - 20} more" if len(names) > 20 else "")
        raise CompileError(
            f"no scale for {shown}: calibrate with data (--calib FOLDER or FILE.npy), complete the"
            " calibration cache, or compile with --precision fp16"
        )
