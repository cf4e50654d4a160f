"""DLA subgraphs as TensorRT forms them: connected layers, no way out of one and back into it.

Each becomes one loadable, printed as ``{ForeignNode[first...last]}``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import prod

from .decisions import Decision, Finding
from .layers import Layer, Network, Tensor, batch

SUBGRAPHS = "subgraphs"
"""The rule of the limit."""
_SIZES = {"int8": 1, "fp16": 2}


@dataclass(frozen=True, slots=True)
class Subgraph:
    """Layers in graph order, with the tensors that cross its edge."""

    decisions: tuple[Decision, ...]
    inputs: tuple[Tensor, ...]
    outputs: tuple[Tensor, ...]

    @property
    def layers(self) -> list[Layer]:
        return [decision.layer for decision in self.decisions]

    @property
    def name(self) -> str:
        first, last = self.decisions[0].layer.name, self.decisions[-1].layer.name
        return (
            f"{{ForeignNode[{first}]}}" if first == last else f"{{ForeignNode[{first}...{last}]}}"
        )

    @property
    def local_bytes(self) -> int:
        """All tensors that are not inputs or outputs of the subgraph (NvInfer.h,
        kDLA_LOCAL_DRAM)."""
        outside = {tensor.name for tensor in (*self.inputs, *self.outputs)}
        return sum(
            tensor.elements * _SIZES[decision.precision]
            for decision in self.decisions
            for tensor in decision.layer.outputs
            if tensor.name not in outside
        )

    @property
    def global_bytes(self) -> int:
        """Weights (NvInfer.h, kDLA_GLOBAL_DRAM)."""
        return sum(
            prod(shape) * _SIZES[decision.precision]
            for decision in self.decisions
            for shape in decision.layer.weights.values()
        )


def limited(decisions: Sequence[Decision], network: Network, most: int) -> list[Decision]:
    """The decisions after the limit of subgraphs a core, which acts in graph order: the first
    *most* stay, the layers of all later ones go to the GPU."""
    groups = _groups(decisions)
    late = {index for group in groups[most:] for index in group}
    finding = Finding(
        SUBGRAPHS,
        f"the network falls into {len(groups)} subgraphs; {most} are possible for a core, in "
        "graph order",
        "a message of TensorRT 8.5 and 10.3 (16), of 5.x to 7.x (8)",
        "measured by others",
        message=f"DLA supports only {most} subgraphs per DLA core. Switching to GPU for layer "
        "{layer}",
    )
    return [
        replace(
            decision,
            device="GPU",
            findings=(finding, *decision.findings),
            taken_by="",
            mark=finding.mark,
        )
        if index in late
        else decision
        for index, decision in enumerate(decisions)
    ]


def formed(decisions: Sequence[Decision], network: Network) -> list[Subgraph]:
    """The subgraphs of what is on the DLA, in graph order."""
    kept = {tensor.name for tensor in network.outputs}
    readers: dict[str, list[int]] = {}
    for index, decision in enumerate(decisions):
        for tensor in decision.layer.inputs:
            readers.setdefault(tensor.name, []).append(index)
    found = []
    for group in _groups(decisions):
        inside = set(group)
        members = [decisions[index] for index in group]
        made = {t.name for member in members for t in member.layer.outputs}
        inputs = {t.name: t for m in members for t in m.layer.inputs if t.name not in made}
        outputs = [
            tensor
            for member in members
            for tensor in member.layer.outputs
            if tensor.name in kept or not inside.issuperset(readers.get(tensor.name, ()))
        ]
        found.append(Subgraph(tuple(members), tuple(inputs.values()), tuple(outputs)))
    return found


def _groups(decisions: Sequence[Decision]) -> list[list[int]]:
    """Indices of layers, a list for each subgraph, in graph order.

    A layer joins the subgraphs whose tensors it reads as long as nothing outside lies between
    them: such a subgraph would wait for itself. Source of the equal batch: developer guide
    (latest), general restrictions: layers of another batch size are partitioned into other graphs.
    """
    units = _Units()
    makers: dict[str, int] = {}
    for index, decision in enumerate(decisions):
        sources = [makers[t.name] for t in decision.layer.inputs if t.name in makers]
        makers.update((tensor.name, index) for tensor in decision.layer.outputs)
        shape = decision.layer.outputs[0].shape if decision.layer.outputs else ()
        units.add(index, sources, decision.device == "DLA", batch(shape))
    return units.subgraphs()


class _Units:
    """Subgraphs and layers of the GPU, and what each waits for; a unit is called by a number."""

    def __init__(self) -> None:
        self._unit_of: dict[int, int] = {}
        self._members: dict[int, list[int]] = {}
        self._waits_for: dict[int, set[int]] = {}
        self._on_dla: set[int] = set()
        self._batch: dict[int, int] = {}

    def add(self, layer: int, sources: Sequence[int], on_dla: bool, batch: int) -> None:
        needs = {self._unit_of[source] for source in sources}
        joined: set[int] = set()
        for unit in sorted(needs & self._on_dla) if on_dla else ():
            if self._batch[unit] == batch and self._may_be_one({*joined, unit}, needs):
                joined.add(unit)
        self._unit_of[layer] = layer
        self._batch[layer] = batch
        self._members[layer] = [layer]
        self._waits_for[layer] = needs
        if on_dla:
            self._on_dla.add(layer)
        for unit in joined:
            self._merge(unit, layer)

    def subgraphs(self) -> list[list[int]]:
        found = [sorted(self._members[unit]) for unit in self._on_dla]
        return sorted(found, key=lambda group: group[0])

    def _may_be_one(self, units: set[int], needs: set[int]) -> bool:
        """Whether nothing that they wait for waits for one of them."""
        seen: set[int] = set()
        queue = list(needs.union(*(self._waits_for[unit] for unit in units)) - units)
        while queue:
            unit = queue.pop()
            if unit in units:
                return False
            if unit not in seen:
                seen.add(unit)
                queue += self._waits_for[unit]
        return True

    def _merge(self, unit: int, into: int) -> None:
        for member in self._members[unit]:
            self._unit_of[member] = into
        self._members[into] += self._members.pop(unit)
        self._waits_for[into] |= self._waits_for.pop(unit)
        self._on_dla.discard(unit)
        for needs in self._waits_for.values():
            if unit in needs:
                needs.remove(unit)
                needs.add(into)
        self._waits_for[into].discard(into)
