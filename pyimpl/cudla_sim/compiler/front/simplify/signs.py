"""What is known of the signs of a value."""

from __future__ import annotations

from ...curves import CURVES
from ...graph import Binary, ChannelGather, Clip, Concat, Curve, Pool, Resize, Slice, Softmax, Value
from .editing import Editing

_POSITIVE = {"Sigmoid", "HardSigmoid", "Softplus", "Exp", "Abs", "Sqrt", "Greater"}
assert set(CURVES) >= _POSITIVE
_FARTHEST = 20


def never_negative(edit: Editing, value: Value, depth: int = 0) -> bool:
    """No element can be below zero, by what made it."""
    node = edit.makers.get(value)
    if node is None or depth > _FARTHEST:
        return False
    if isinstance(node, Clip):
        return node.low >= 0
    if isinstance(node, Softmax):
        return True
    if isinstance(node, Curve):
        return node.function in _POSITIVE
    if isinstance(node, Resize) and (node.rows.min() < 0 or node.columns.min() < 0):
        return False
    if isinstance(node, Pool | Slice | ChannelGather | Resize | Concat):
        return all(never_negative(edit, x, depth + 1) for x in node.inputs)
    if isinstance(node, Binary) and node.function in ("add", "mul", "min"):
        return all(never_negative(edit, x, depth + 1) for x in node.inputs)
    return False
