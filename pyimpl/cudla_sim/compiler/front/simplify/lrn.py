"""Local response normalisation that an exporter has taken to pieces."""

from __future__ import annotations

import numpy as np

from ...graph import Affine, Binary, Conv, Curve, Graph, Lrn, Node, Pad, Value
from .editing import Editing, joined


def recognise(graph: Graph) -> None:
    """x / (k + alpha * mean of x^2 over channels)^beta becomes one node."""
    edit = Editing(graph)
    for node in edit.nodes():
        if edit.alive(node) and isinstance(node, Binary) and node.function == "mul":
            for x, factor in (node.inputs, node.inputs[::-1]):
                if _match(edit, node, x, factor):
                    break


def _step(edit: Editing, value: Value, kind: type[Node], reader: Node) -> Node | None:
    """The node of *kind* that makes *value* for nobody but *reader*."""
    node = edit.makers.get(value)
    if not isinstance(node, kind) or any(r is not reader for r in edit.readers[value]):
        return None
    return None if value in edit.outputs else node


def _match(edit: Editing, node: Binary, x: Value, factor: Value) -> bool:
    parts: list[Node] = [node]
    beta = 1.0
    at: Value = factor
    reader: Node = node
    while True:  # ((...)^beta)^-1 in either order
        power = _step(edit, at, Curve, reader)
        if not isinstance(power, Curve) or power.function not in ("Reciprocal", "Pow", "Sqrt"):
            break
        exponent = {"Reciprocal": -1.0, "Sqrt": 0.5}.get(power.function)
        beta *= power.parameters.get("exponent", 2.0) if exponent is None else exponent
        parts.append(power)
        at, reader = power.inputs[0], power
    sum_ = _step(edit, at, Affine, reader)
    if beta >= 0 or not isinstance(sum_, Affine) or sum_.scale.size != 1 or sum_.shift.size != 1:
        return False
    window = _step(edit, sum_.inputs[0], Conv, sum_)
    if not isinstance(window, Conv):
        return False
    parts += [sum_, window]
    before = 0
    squares_of: Value = window.inputs[0]
    last: Node = window
    pad = _step(edit, squares_of, Pad, window)
    if isinstance(pad, Pad):
        if pad.mode != "constant" or pad.value or any(pad.pads):
            return False
        before, last, squares_of = pad.channels[0], pad, pad.inputs[0]
        parts.append(pad)
    squares = _step(edit, squares_of, Binary, last)
    if not isinstance(squares, Binary) or squares.function != "mul" or squares.inputs != [x, x]:
        return False
    parts.append(squares)
    size = _size(window, before, x.shape[1])
    if size is None:
        return False
    whole = Lrn(
        name=joined(*(part.name for part in reversed(parts))),
        inputs=[x],
        output=node.output,
        size=size,
        alpha=float(sum_.scale.reshape(-1)[0]),
        beta=-beta,
        k=float(sum_.shift.reshape(-1)[0]),
    )
    edit.replace(parts, whole)
    return True


def _size(window: Conv, before: int, channels: int) -> int | None:
    """The number of channels that are averaged, if it is ONNX's window."""
    weights = window.weights
    if weights.shape[0] != channels or weights.shape[2:] != (1, 1) or window.bias.any():
        return None
    matrix = weights[:, before : before + channels, 0, 0]
    size = int(np.count_nonzero(weights[channels // 2]))
    for candidate in (size, size + 1):
        first, last = (candidate - 1) // 2, candidate // 2
        row, column = np.arange(channels)[:, None], np.arange(channels)
        band = (column >= row - first) & (column <= row + last)
        if matrix.shape == band.shape and np.allclose(matrix, band / candidate, rtol=1e-5):
            return candidate
    return None
