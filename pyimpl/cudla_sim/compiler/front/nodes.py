"""The nodes of the graph, in the order in which the model is read."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeVar

from ..errors import Refusal, Unsupported
from ..graph import Node, Port, Shape, Value

AnyNode = TypeVar("AnyNode", bound=Node)


LARGEST_VALUE = 2**28
"""Elements of one value: constants as large (1 GiB of float32) are made while a model is read."""


class Nodes:
    """Nodes, values and notes; *node* is the ONNX node that is being read."""

    def __init__(self) -> None:
        self.nodes: list[Node] = []
        self.inputs: list[Port] = []
        self.notes: list[str] = []
        self.refusals: list[Refusal] = []
        self.unsigned: dict[Value, Port] = {}
        """Inputs of unsigned integers: the value of their numbers, and the port."""
        self.zero_points: list[str] = []
        """QuantizeLinear nodes whose integers are not symmetric about 0."""
        self.precise: set[str] = set()
        """Names of nodes that integers of 8 bits cannot compute well."""
        self.node = ""
        self.target = ""
        self._names: set[str] = set()

    def note(self, text: str) -> None:
        """Says something in the report, once."""
        if text not in self.notes:
            self.notes.append(text)

    def value(self, name: str, shape: Shape) -> Value:
        """A new value; a name that is taken gets a number."""
        unique, number = name, 1
        while unique in self._names:
            number += 1
            unique = f"{name}:{number}"
        self._names.add(unique)
        return Value(unique, shape)

    def add(
        self,
        kind: type[AnyNode],
        inputs: Sequence[Value],
        shape: Sequence[int],
        name: str = "",
        **fields: Any,
    ) -> Value:
        """A node of *kind*; its output is called *name* or after the tensor that is computed."""
        n, c, h, w = (int(size) for size in shape)
        if min(n, c, h, w) < 1:
            why = f"its result has no elements ({n} x {c} x {h} x {w})"
            raise Unsupported(why, "repair the model")
        if n * c * h * w > LARGEST_VALUE:
            raise Unsupported(
                f"its result has {n} x {c} x {h} x {w} elements; {LARGEST_VALUE} are possible"
            )
        output = self.value(name or self.target, (n, c, h, w))
        self.nodes.append(kind(name=self.node, inputs=list(inputs), output=output, **fields))
        return output
