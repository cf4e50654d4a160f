"""The model's own names: its nodes with their operators, and who makes and reads tensors.

Messages speak of these; names of the compiler's values mean nothing to who wrote the model.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from .errors import Refusal

if TYPE_CHECKING:
    import onnx


@dataclass(frozen=True, slots=True)
class Step:
    """One node of the model; *inputs* are also those of its branches."""

    name: str
    operator: str
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]


@dataclass(frozen=True)
class Outline:
    """The nodes of a model and what it gives; *inside* are names of nodes in branches, with their
    operators and the node that has the branch."""

    steps: tuple[Step, ...]
    inputs: frozenset[str]
    outputs: tuple[str, ...]
    inside: dict[str, tuple[str, Step]] = field(default_factory=dict)

    @staticmethod
    def of(model: onnx.ModelProto) -> Outline:
        """The outline of a model without functions of its own."""
        graph = model.graph
        stored = {item.name for item in graph.initializer}
        inside: dict[str, tuple[str, Step]] = {}
        steps = []
        for node in graph.node:
            inner = [one for one in _nested(node) if one is not node]
            reads = dict.fromkeys(name for one in (node, *inner) for name in one.input if name)
            own = {name for one in inner for name in one.output}
            results = [port.name for graph in _branches(node) for port in graph.output]
            reads.update(dict.fromkeys(results))
            step = Step(
                _name(node),
                node.op_type,
                tuple(name for name in reads if name not in own),
                tuple(filter(None, node.output)),
            )
            steps.append(step)
            for one in inner:
                inside.setdefault(_name(one), (one.op_type, step))
        return Outline(
            tuple(steps),
            frozenset(port.name for port in graph.input if port.name not in stored),
            tuple(port.name for port in graph.output),
            inside,
        )

    def named(self, refusals: Iterable[Refusal]) -> list[Refusal]:
        """The same with nodes and operators as the model has them, each once."""
        found = []
        for refusal in refusals:
            names = self.nodes(refusal.node)
            if names:
                operators = tuple(self._operator(name) for name in names)
                refusal = replace(
                    refusal, node=" + ".join(names), operator=operators[0], operators=operators
                )
            if refusal not in found:
                found.append(refusal)
        return found

    def nodes(self, name: str) -> list[str]:
        """The model's nodes that *name* means: one, several joined by " + ", or a piece of one."""
        known = self._operators.keys()
        if name in known:
            return [name]
        parts = list(dict.fromkeys(part for part in name.split(" + ") if part in known))
        if parts:
            return parts
        near = max((one for one in known if one and name.startswith(one)), key=len, default="")
        return [near] if near else []

    def cut(self, refused: Collection[str], wanted: Collection[str] = ()) -> list[str]:
        """Tensors where the network ends if the nodes called *refused*, and all that depends on
        them, are left out. *wanted* are its outputs, the model's without any."""
        ends = wanted or self.outputs
        needed = self._needed(ends)
        steps = [step for step in self.steps if needed.intersection(step.outputs)]
        around = {self.inside[name][1].name for name in refused if name in self.inside}
        spoilt: set[str] = set()
        varying = set(self.inputs)
        again = True
        while again:  # nodes may stand in any order
            again = False
            for step in steps:
                for names, member in (
                    (varying, not varying.isdisjoint(step.inputs)),
                    (
                        spoilt,
                        step.name in refused
                        or step.name in around
                        or not spoilt.isdisjoint(step.inputs),
                    ),
                ):
                    if member and not names.issuperset(step.outputs):
                        names.update(step.outputs)
                        again = True
        read = {name for step in steps if spoilt.intersection(step.outputs) for name in step.inputs}
        good = [name for step in steps for name in step.outputs if name not in spoilt]
        return [name for name in good if name in varying and (name in read or name in ends)]

    def _needed(self, ends: Iterable[str]) -> set[str]:
        makers = {name: step for step in self.steps for name in step.outputs}
        found: set[str] = set()
        queue = list(ends)
        while queue:
            name = queue.pop()
            if name not in found:
                found.add(name)
                if name in makers:
                    queue += makers[name].inputs
        return found

    @property
    def _operators(self) -> dict[str, str]:
        inner = {name: operator for name, (operator, _) in self.inside.items()}
        return {**inner, **{step.name: step.operator for step in self.steps}}

    def _operator(self, name: str) -> str:
        return self._operators[name]


def _name(node: onnx.NodeProto) -> str:
    return node.name or next((name for name in node.output if name), "")


def _branches(node: onnx.NodeProto) -> Iterator[onnx.GraphProto]:
    for attribute in node.attribute:
        yield from [attribute.g] if attribute.HasField("g") else attribute.graphs


def _nested(node: onnx.NodeProto) -> Iterator[onnx.NodeProto]:
    """A node and all that are in its branches."""
    waiting = [node]
    while waiting:
        one = waiting.pop()
        yield one
        waiting += [inner for graph in _branches(one) for inner in graph.node]
