"""What a rewriting collects: new nodes, scales of new values, refusals.

Intermediate values that come into being take the scale of a value they resemble.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from cudla_sim.nvdla.facts.configs import CONFIGS, HardwareConfig

from .. import graph as g
from ..errors import Refusal


def tables_in(precision: int) -> str:
    """Configurations whose SDP has look-up tables, for messages."""
    return ", ".join(c.name for c in CONFIGS.values() if c.lut and precision in c.precisions)


class Rewriter:
    """Builds the new list of nodes; *scales* grows with the values that come into being."""

    def __init__(
        self,
        config: HardwareConfig,
        precision: int,
        scales: dict[g.Value, float],
        last: g.Node,
        pictures: Collection[g.Value] = (),
        direct: bool = False,
        without: Collection[str] = (),
    ) -> None:
        self.config, self.precision, self.scales = config, precision, scales
        self.last, self.pictures, self.direct = last, pictures, direct
        self.without = without
        self.nodes: list[g.Node] = []
        self.refusals: list[Refusal] = []
        self._count = 0

    # -- building -----------------------------------------------------------------------------

    @property
    def per_atom(self) -> int:
        """Channels of a memory atom."""
        return self.config.channels_per_atom(self.precision)

    def value(
        self, node: g.Node, shape: g.Shape, like: g.Value | None = None, factor: float = 1.0
    ) -> g.Value:
        """A new value of *node* with the scale of *like* times a factor."""
        self._count += 1
        made = g.Value(f"{node.output.name}:{self._count}", shape)
        if like is not None and like in self.scales:
            self.scales[made] = self.scales[like] * factor
        return made

    def add(self, node: g.Node) -> g.Value:
        """Append a node; return its output."""
        self.nodes.append(node)
        return node.output

    def put(
        self,
        kind: type[g.Node],
        node: g.Node,
        source: g.Value | list[g.Value],
        output: g.Value | g.Shape,
        **members: Any,
    ) -> g.Value:
        """Append a node *kind* of what *node* becomes; a shape makes a new value like its input."""
        inputs = [source] if isinstance(source, g.Value) else source
        if not isinstance(output, g.Value):
            output = self.value(node, output, inputs[0])
        return self.add(kind(name=node.name, inputs=inputs, output=output, **members))

    def refuse(self, node: g.Node, reason: str, cure: str = "") -> None:
        """Note that a node cannot be done."""
        self.refusals.append(Refusal(node.name, node.kind, reason, cure))
