"""Activations that a model writes as several operators (SiLU, HardSwish, GELU, Mish, ...).

They are recognised by what they compute: the part of the graph between a value and a later one,
where only element-wise operations with numbers lie between, is a function of one variable; its
values at sample points are compared with those of the curves that a table can hold.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ...curves import CURVES
from ...errors import Refusal
from ...graph import Affine, Binary, Clip, Curve, Graph, Node, PRelu, Value
from .editing import Editing, joined

_X = np.concatenate([np.linspace(-18, 18, 721), [-3.0, 3.0, 0.001, -0.001]])
_CANDIDATES = (
    "SiLU",
    "HardSwish",
    "GELU",
    "GELUTanh",
    "Mish",
    "Softplus",
    "Sigmoid",
    "Tanh",
    "Softsign",
    "HardSigmoid",
)
_LONGEST = 16


def recognise(graph: Graph) -> None:
    """Each becomes one Curve, with an Affine behind it where the model has a factor."""
    edit = Editing(graph)
    for node in reversed(edit.nodes()):
        if edit.alive(node) and _is_simple(node):
            _try(edit, node)


def refuse_comparisons(graph: Graph) -> None:
    """Comparisons that were not recognised as a part of something."""
    left = [node for node in graph.nodes if isinstance(node, Curve) and node.function == "Greater"]
    why = "comparisons and logic at run time have no hardware"
    graph.refusals += [Refusal(node.name, "Greater", why) for node in left]


def _is_simple(node: Node) -> bool:
    if isinstance(node, Affine):
        return node.scale.size == 1 and node.shift.size == 1
    if isinstance(node, PRelu):
        return node.slope.size == 1
    if isinstance(node, Binary):
        return node.inputs[0].shape == node.inputs[1].shape
    return isinstance(node, Clip | Curve)


def _try(edit: Editing, end: Node) -> None:
    """Walks back from *end*; where the walked part depends on one value only, compares."""
    part: list[Node] = [end]
    places = {id(node): i for i, node in enumerate(edit.graph.nodes)}
    frontier = set(end.inputs)
    while len(part) <= _LONGEST:
        if len(frontier) == 1 and len(part) > 1:
            (root,) = frontier
            if _closed(edit, part, end) and _replace(edit, part, end, root):
                return
        makers = [edit.makers[v] for v in frontier if v in edit.makers]
        makers = [maker for maker in makers if _is_simple(maker)]
        if not makers:
            return
        latest = max(makers, key=lambda maker: places[id(maker)])
        others = {places[id(edit.makers[v])] for v in frontier if v in edit.makers}
        if max(others) > places[id(latest)]:
            return  # something later is no function of a number
        part.append(latest)
        frontier.discard(latest.output)
        frontier |= set(latest.inputs)


def _closed(edit: Editing, part: list[Node], end: Node) -> bool:
    """Nobody outside reads what lies inside."""
    inside = set(map(id, part))
    for node in part:
        if node is end:
            continue
        if node.output in edit.outputs:
            return False
        if any(id(reader) not in inside for reader in edit.readers[node.output]):
            return False
    return True


def _evaluate(part: list[Node], end: Node, root: Value) -> NDArray[np.float64] | None:
    known: dict[Value, NDArray[np.float64]] = {root: _X}
    for node in reversed(part):
        inputs = [known[value] for value in node.inputs]
        known[node.output] = _apply(node, inputs)
    result = known[end.output]
    return result if np.isfinite(result).all() else None


def _apply(node: Node, inputs: list[NDArray[np.float64]]) -> NDArray[np.float64]:
    x = inputs[0]
    with np.errstate(all="ignore"):
        if isinstance(node, Affine):
            return np.asarray(
                x * float(node.scale.reshape(-1)[0]) + float(node.shift.reshape(-1)[0])
            )
        if isinstance(node, PRelu):
            return np.where(x >= 0, x, x * float(node.slope.reshape(-1)[0]))
        if isinstance(node, Clip):
            return np.clip(x, node.low, node.high)
        if isinstance(node, Curve):
            return np.asarray(CURVES[node.function](x, **node.parameters))
        assert isinstance(node, Binary)
        functions = {
            "add": np.add,
            "sub": np.subtract,
            "mul": np.multiply,
            "max": np.maximum,
            "min": np.minimum,
        }
        return np.asarray(functions[node.function](x, inputs[1]))


@dataclass(frozen=True, slots=True)
class _Match:
    function: str
    factor: float
    parameters: dict[str, float]


def _identified(y: NDArray[np.float64]) -> _Match | None:
    """The curve that *y* is a multiple of."""
    for name in _CANDIDATES:
        parameters = {"alpha": 1 / 6, "beta": 0.5} if name == "HardSigmoid" else {}
        curve = CURVES[name](_X, **parameters)
        factor = float(np.dot(curve, y) / np.dot(curve, curve))
        if factor and np.allclose(y, factor * curve, rtol=1e-5, atol=2e-6 * abs(factor)):
            rounded = float(np.float32(round(factor, 6)))
            close = abs(factor - rounded) < 1e-5 * abs(factor)
            return _Match(name, rounded if close else factor, parameters)
    return None


def _simple_cheaper(y: NDArray[np.float64]) -> tuple[str, float] | None:
    """Abs and LeakyRelu need no table."""
    below, above = y[_X < 0] / _X[_X < 0], y[_X > 0] / _X[_X > 0]
    if np.ptp(below) > 1e-6 or np.ptp(above) > 1e-6 or abs(above[0] - 1) > 1e-6:
        return None
    return "slope", float(below[0])


def _replace(edit: Editing, part: list[Node], end: Node, root: Value) -> bool:
    y = _evaluate(part, end, root)
    if y is None:
        return False
    name = joined(*(node.name for node in reversed(part)))
    slope = _simple_cheaper(y)
    has_table = any(isinstance(node, Binary | Curve) for node in part)
    if not has_table:
        return False
    if slope is not None and slope[1] not in (0.0, 1.0):
        array = np.full((1, 1, 1, 1), slope[1], np.float32)
        edit.replace(part, PRelu(name=name, inputs=[root], output=end.output, slope=array))
        return True
    match = _identified(y)
    if match is None:
        return False
    output = end.output
    if match.factor != 1:
        output = Value(f"{end.output.name}/{match.function}", end.output.shape)
        one = np.ones((1, 1, 1, 1), np.float32)
        scaled = Affine(
            name=name,
            inputs=[output],
            output=end.output,
            scale=one * np.float32(match.factor),
            shift=one * 0,
        )
        edit.graph.nodes.insert(edit.graph.nodes.index(end) + 1, scaled)
        edit.makers[end.output] = scaled
        edit.readers[output] = [scaled]
        end.output = output
    curve = Curve(
        name=name,
        inputs=[root],
        output=output,
        function=match.function,
        parameters=match.parameters,
    )
    edit.replace(part, curve)
    return True
