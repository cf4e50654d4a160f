"""Operations of the DLA: layers of a subgraph, joined as its engines run them.

A convolution takes along the scales, activations and sums behind it (names of published layer
statistics: "Conv+BN+Add+Relu"); what is left is an operation of its own.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from math import prod

from ..decisions import Decision
from ..layers import Layer, Tensor
from ..subgraphs import Subgraph

CPIPE, RUBIK, BDMA = "CPIPE", "Rubik", "BDMA"
"""Engines of Orin's DLA (layer statistics of Deep-Learning-Accelerator-SW); Xavier's units are
told by the same names."""
CONVOLUTIONS = ("CONVOLUTION", "DECONVOLUTION", "FULLY_CONNECTED")
_POINTWISE = ("SCALE", "ACTIVATION", "PARAMETRIC_RELU", "ELEMENTWISE")
_WITH_TABLE = ("SIGMOID", "TANH")
"""Activations that need a look-up table."""
_COPIES = ("CONCATENATION", "SLICE")
_SIZES = {"int8": 1, "fp16": 2}


@dataclass(frozen=True, slots=True)
class Operation:
    """*main* decides the engine and the work. *inputs* are tensors that are read from memory,
    *output* the last layer's; *table*: a look-up table is used. *precision*: "int8" or "fp16"."""

    main: Layer
    precision: str
    engine: str
    layers: tuple[Layer, ...]
    inputs: tuple[Tensor, ...]
    output: Tensor
    table: bool = False

    @property
    def name(self) -> str:
        return " + ".join(layer.name for layer in self.layers)

    @property
    def size(self) -> int:
        """Bytes of an element."""
        return _SIZES[self.precision]

    @property
    def weight_bytes(self) -> int:
        return self.size * sum(
            prod(shape) for layer in self.layers for shape in layer.weights.values()
        )


def engine(layer: Layer, precision: str, generation: str) -> str:
    """Which engine runs an operation of this layer."""
    if layer.kind in CONVOLUTIONS:
        return RUBIK if precision == "fp16" and generation == "orin" else CPIPE
    if layer.kind in _COPIES:
        return BDMA
    return RUBIK if layer.kind in ("RESIZE", "SHUFFLE") else CPIPE


@dataclass(slots=True)
class _Open:
    """An operation while layers are joined to it."""

    decision: Decision
    layers: list[Layer]
    inputs: list[Tensor]
    table: bool = False
    waits: str = ""
    """The tensor that a sigmoid was made of; its product with it may follow."""


def operations(subgraph: Subgraph, generation: str) -> list[Operation]:
    """In the order in which they run."""
    joiner = _Joiner(subgraph)
    for decision in subgraph.decisions:
        joiner.take(decision)
    return [_closed(found, generation) for found in joiner.found]


def _closed(found: _Open, generation: str) -> Operation:
    main, precision = found.decision.layer, found.decision.precision
    return Operation(
        main=main,
        precision=precision,
        engine=engine(main, precision, generation),
        layers=tuple(found.layers),
        inputs=tuple(found.inputs),
        output=found.layers[-1].outputs[0],
        table=found.table,
    )


@dataclass(slots=True)
class _Joiner:
    subgraph: Subgraph
    found: list[_Open] = field(default_factory=list)
    _last: dict[str, _Open] = field(default_factory=dict)
    """The operation that makes a tensor, as long as this is the last thing that it makes."""
    _readers: Mapping[str, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        readers: dict[str, int] = {}
        for layer in self.subgraph.layers:
            for tensor in layer.inputs:
                readers[tensor.name] = readers.get(tensor.name, 0) + 1
        for tensor in self.subgraph.outputs:  # has to be in memory in any case
            readers[tensor.name] = readers.get(tensor.name, 0) + 1
        self._readers = readers

    def take(self, decision: Decision) -> None:
        layer = decision.layer
        joined = self._before(layer) if layer.kind in _POINTWISE else None
        if joined is None:
            joined = _Open(decision, [], list(layer.inputs))
            self.found.append(joined)
        else:
            made = {tensor.name for other in joined.layers for tensor in other.outputs}
            joined.inputs += [t for t in layer.inputs if t.name not in made]
        function = str(layer.parameters.get("function", ""))
        joined.table |= function in _WITH_TABLE
        self._waits(joined, layer, function)
        joined.layers.append(layer)
        for tensor in layer.inputs:
            self._last.pop(tensor.name, None)
        self._last.update((tensor.name, joined) for tensor in layer.outputs)

    def _before(self, layer: Layer) -> _Open | None:
        """The operation that this layer ends. Of two, the later: the other's result is there."""
        waiting = [
            last
            for last in map(self._last.get, (t.name for t in layer.inputs))
            if last and last.waits in {t.name for t in layer.inputs} and last.waits
        ]
        if waiting:
            return waiting[0]
        able = [
            last
            for tensor in layer.inputs
            for last in (self._last.get(tensor.name),)
            if last and self._may_end(last, tensor, layer)
        ]
        return max(able, key=self.found.index, default=None)

    def _may_end(self, last: _Open, tensor: Tensor, layer: Layer) -> bool:
        if last.decision.layer.kind not in (*CONVOLUTIONS, *_POINTWISE) or last.waits:
            return False
        if layer.outputs[0].elements != tensor.elements:
            return False  # it is spread over a larger one
        sigmoid = layer.parameters.get("function") == "SIGMOID" and self._readers[tensor.name] == 2
        return self._readers[tensor.name] == 1 or (sigmoid and self._is_silu(tensor, layer))

    def _is_silu(self, tensor: Tensor, sigmoid: Layer) -> bool:
        """Whether the two readers are a sigmoid and the product of its result with the tensor."""
        result = sigmoid.outputs[0].name
        return self._readers.get(result) == 1 and any(
            other.parameters.get("function") == "PROD"
            and {tensor.name, result} == {t.name for t in other.inputs}
            for other in self.subgraph.layers
        )

    def _waits(self, joined: _Open, layer: Layer, function: str) -> None:
        source = layer.inputs[0]
        silu = function == "SIGMOID" and self._readers.get(source.name) == 2
        joined.waits = source.name if silu and self._is_silu(source, layer) else ""
