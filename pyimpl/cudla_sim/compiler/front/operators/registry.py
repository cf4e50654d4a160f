"""One ONNX node on its way into the graph, and the table of those who take it there."""

from __future__ import annotations

from collections.abc import Callable, Sequence, Set
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...errors import Unsupported
from ..builder import Builder
from ..tensors import Constant, Item, Several, Tensor


@dataclass(slots=True)
class Call:
    """A node with its inputs as far as they are known.

    *attributes* are Python values (int, float, str, list, numpy array, GraphProto); *version* is
    the opset of the node's domain; *read* are the names that some node, or the user, reads.
    """

    op: str
    domain: str
    name: str
    attributes: dict[str, Any]
    inputs: list[Item | Several | None]
    outputs: list[str]
    read: Set[str]
    version: int
    build: Builder

    def wants(self, index: int) -> bool:
        """Somebody reads the output."""
        return index < len(self.outputs) and self.outputs[index] in self.read

    def given(self, index: int) -> bool:
        """The optional input is there."""
        return index < len(self.inputs) and self.inputs[index] is not None

    def item(self, index: int) -> Item:
        """An input that must be there."""
        if not self.given(index):
            raise Unsupported(f"its input {index} is missing", "repair the model")
        found = self.inputs[index]
        if found is None or isinstance(found, Several):
            raise Unsupported("it computes with a sequence", "export tensors only")
        return found

    def several(self, index: int) -> Several:
        """An input that is a sequence."""
        found = self.inputs[index] if self.given(index) else None
        if not isinstance(found, Several):
            raise Unsupported(f"its input {index} is no sequence", "export tensors only")
        return found

    def tensor(self, index: int = 0) -> Tensor:
        """An input that is computed at run time."""
        item = self.item(index)
        if isinstance(item, Constant):
            raise Unsupported(f"its input {index} is a constant", "let the network compute it")
        return item

    def constant(self, index: int, what: str) -> Constant:
        """An input that must be known at compile time."""
        item = self.item(index)
        if isinstance(item, Tensor):
            raise Unsupported(
                f"its {what} (input {index}) is computed at run time",
                f"make {what} a constant of the model",
            )
        return item

    def optional(self, index: int, what: str) -> Constant | None:
        """The same for an input that may be absent."""
        return self.constant(index, what) if self.given(index) else None

    def attribute(self, name: str, default: Any = None) -> Any:
        """An attribute or its default."""
        return self.attributes.get(name, default)

    def ints(self, name: str, index: int, default: Sequence[int] | None = None) -> list[int] | None:
        """Integers that are an attribute in old opsets, input *index* in newer ones."""
        if name in self.attributes:
            value = self.attributes[name]
            return [int(value)] if isinstance(value, int) else [int(x) for x in value]
        found = self.optional(index, name) if index >= 0 else None
        if found is not None:
            return found.ints()
        return list(default) if default is not None else None

    def number(self, name: str, index: int, default: float | None = None) -> float | None:
        """A number that is an attribute in old opsets, input *index* in newer ones."""
        if name in self.attributes:
            return float(self.attributes[name])
        found = self.optional(index, name)
        if found is None or found.array.size == 0:
            return default
        return float(found.array.reshape(-1)[0])


Converted = Item | Several | list[Item]
Converter = Callable[[Call], Converted]
CONVERTERS: dict[tuple[str, str], Converter] = {}
"""By domain ("" is ONNX itself) and operator."""
ON_INTEGERS: set[str] = set()
"""Operators that do the same to integers, quantised ones included, as to real numbers."""


def operator(
    *names: str, domain: str = "", integers: bool = False
) -> Callable[[Converter], Converter]:
    """Registers a converter; *integers* if it only moves or orders elements."""

    def register(function: Converter) -> Converter:
        for name in names:
            CONVERTERS[domain, name] = function
        if integers:
            ON_INTEGERS.update(names)
        return function

    return register


def floats(constant: Constant) -> NDArray[np.float32]:
    """A constant as finite float32. Raises Unsupported."""
    array = constant.floats()
    if not np.isfinite(array).all():
        raise Unsupported(
            "a constant of it holds NaN or infinity", "export the model again from sound weights"
        )
    return array


def axis_of(axis: int, rank: int) -> int:
    """An axis counted from either end, counted from the front."""
    if not -rank <= axis < max(rank, 1):
        raise Unsupported(f"axis {axis} of a tensor of {rank} dimensions")
    return axis + rank if axis < 0 else axis
