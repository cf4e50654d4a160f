"""Normalisation by the data's own mean and variance, in pieces: refused as its operators are."""

from __future__ import annotations

from ...errors import Refusal
from ...graph import Affine, Binary, Conv, Curve, Graph, Node, Pool, Value
from .editing import Editing, joined

REASON = "its mean and variance come from the data at run time"
CURE = "train with BatchNormalization"


def refuse(graph: Graph) -> None:
    """LayerNormalization and its kin: d / sqrt(mean(d * d) + epsilon)."""
    edit = Editing(graph)
    for node in graph.nodes:
        if not isinstance(node, Binary) or node.function != "mul":
            continue
        for centred, factor in (node.inputs, node.inputs[::-1]):
            parts = _deviation(edit, factor, centred)
            if parts is not None:
                name = joined(*(part.name for part in reversed(parts)), node.name)
                why = f"together they are LayerNormalization: {REASON}"
                graph.refusals.append(Refusal(name, "LayerNormalization", why, CURE))
                break


def _deviation(edit: Editing, value: Value, centred: Value) -> list[Node] | None:
    """The nodes that make 1 / sqrt(mean of *centred* squared + epsilon), if that is it."""
    parts: list[Node] = []
    exponent = 1.0
    while True:
        node = edit.makers.get(value)
        powers = {"Reciprocal": -1.0, "Sqrt": 0.5}
        if not isinstance(node, Curve) or node.function not in (*powers, "Pow"):
            break
        exponent *= powers.get(node.function, node.parameters.get("exponent", 2.0))
        parts.append(node)
        value = node.inputs[0]
    if exponent != -0.5:
        return None
    if isinstance(node, Affine):
        parts.append(node)
        node = edit.makers.get(node.inputs[0])
    means = isinstance(node, Conv) or (isinstance(node, Pool) and node.mode == "average")
    if node is None or not means:
        return None
    parts.append(node)
    square = edit.makers.get(node.inputs[0])
    if not isinstance(square, Binary) or square.function != "mul":
        return None
    return [*parts, square] if square.inputs == [centred, centred] else None
