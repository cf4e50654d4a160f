"""Grouping nodes into passes: a convolution or a tensor, and what SDP does to it on the way."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

import numpy as np

from cudla_sim.nvdla.facts.configs import HardwareConfig
from cudla_sim.nvdla.facts.precisions import FP16

from .. import graph as g
from ..errors import Refusal, Refused
from ..legalise.nodes import KernelConv
from .fit import Fit, Level

CHAIN = (g.Affine, g.Clip, g.PRelu, g.Curve, g.Binary)


@dataclass(eq=False)
class Pass:
    """A convolution or a tensor with the nodes that SDP does to it; or a single other node.

    *precision* is that of the arithmetic; values may be stored in another.
    """

    head: g.Node
    fit: Fit | None
    main: g.Value
    output: g.Value
    order: int
    precision: int

    @property
    def nodes(self) -> list[g.Node]:
        """All nodes of the pass."""
        return [self.head, *([] if self.fit is None else self.fit.nodes)]


@dataclass(frozen=True)
class Former:
    """Forms the passes of a network; nodes of the names in *kept* compute in fp16."""

    config: HardwareConfig
    precision: int
    kept: frozenset[str]
    outputs: Collection[g.Value]
    readers: dict[g.Value, list[g.Node]]

    def form(self, nodes: list[g.Node]) -> list[Pass]:
        """Group nodes into passes, in the order in which they will run. Raises Refused."""
        order = {node: number for number, node in enumerate(nodes)}
        taken: set[g.Node] = set()
        passes: list[Pass] = []
        refusals: list[Refusal] = []
        for node in nodes:
            if node in taken:
                continue
            taken.add(node)
            precision = self.arithmetic(node)
            if isinstance(node, KernelConv):
                fit = Fit(self.config, precision, True, len(node.weights))
                if np.any(node.bias):
                    fit.level = Level.X1
                found = Pass(node, fit, node.inputs[0], node.output, order[node], precision)
            elif isinstance(node, CHAIN):
                chain = self._chain(node, order[node], precision)
                if chain is None:
                    what = node.function if isinstance(node, g.Curve | g.Binary) else node.kind
                    refusals.append(Refusal(node.name, node.kind, f"{what} does not fit into SDP"))
                    continue
                found = chain
            else:
                main = node.inputs[0]
                passes.append(Pass(node, None, main, node.output, order[node], self.precision))
                continue
            self._extend(found, order, taken)
            passes.append(found)
        if refusals:
            raise Refused(refusals)
        return sorted(passes, key=lambda item: item.order)

    def arithmetic(self, node: g.Node) -> int:
        """Precision in which a node computes."""
        mine = isinstance(node, (*CHAIN, KernelConv))
        return FP16 if mine and self.kept.intersection(node.name.split(" + ")) else self.precision

    def _chain(self, node: g.Node, order: int, precision: int) -> Pass | None:
        for main in dict.fromkeys((node.inputs[-1], node.inputs[0])):
            if main.shape != node.output.shape:
                continue
            fit = Fit(self.config, precision, False, main.shape[1])
            if fit.take(node, main):
                return Pass(node, fit, main, node.output, order, precision)
        return None

    def _extend(self, found: Pass, order: dict[g.Node, int], taken: set[g.Node]) -> None:
        """Take over readers as long as they fit and nobody else needs the value."""
        assert found.fit is not None
        while True:
            value = found.output
            readers = self.readers.get(value, [])
            if value in self.outputs or len(readers) != 1:
                return
            node = readers[0]
            if node in taken or not isinstance(node, CHAIN):
                return
            if node.output.shape != value.shape or node.inputs.count(value) != 1:
                return
            if self.arithmetic(node) != found.precision or not found.fit.take(node, value):
                return
            taken.add(node)
            found.output, found.order = node.output, order[node]
