"""One node of a model while its layers are made."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ...compiler.front.tensors import Constant
from ..layers import Layer, Number, Shape, Tensor

Item = Constant | Tensor | None
"""What an input is; None where the node leaves it out."""


@dataclass(slots=True)
class Call:
    """*outputs* have their shapes; ``-1`` is a size that only the data decide."""

    operator: str
    name: str
    attributes: Mapping[str, Any]
    inputs: Sequence[Item]
    outputs: Sequence[Tensor]
    version: int
    layers: list[Layer] = field(default_factory=list)

    def attribute(self, name: str, default: Any = None) -> Any:
        value = self.attributes.get(name, default)
        return default if value is None else value

    def item(self, index: int) -> Item:
        return self.inputs[index] if index < len(self.inputs) else None

    def constant(self, index: int) -> Constant | None:
        item = self.item(index)
        return item if isinstance(item, Constant) else None

    @property
    def tensors(self) -> list[Tensor]:
        """The inputs that vary."""
        return [item for item in self.inputs if isinstance(item, Tensor)]

    @property
    def input(self) -> Tensor:
        """The first input that varies."""
        return self.tensors[0]

    @property
    def output(self) -> Tensor:
        return self.outputs[0]

    def between(self, shape: Shape | None = None) -> Tensor:
        """A tensor from one layer of the node to the next."""
        number = len(self.layers)
        return Tensor(f"{self.output.name}:{number}", shape or self.input.shape, self.input.dtype)

    def add(
        self,
        kind: str,
        inputs: Sequence[Tensor],
        outputs: Sequence[Tensor],
        weights: Mapping[str, Shape] | None = None,
        **parameters: Number,
    ) -> None:
        """Further layers of a node are numbered, as TensorRT does."""
        number = len(self.layers)
        name = f"{self.name}_{number}" if number else self.name
        self.layers.append(
            Layer(
                name=name,
                kind=kind,
                inputs=tuple(inputs),
                outputs=tuple(outputs),
                node=self.name,
                operator=self.operator,
                parameters=parameters,
                weights=dict(weights or {}),
            )
        )

    def one(self, kind: str, **parameters: Number) -> None:
        """The node is one layer of all its varying inputs."""
        self.add(kind, self.tensors, self.outputs, None, **parameters)
