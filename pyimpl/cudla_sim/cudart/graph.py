"""Graphs: nodes and what they wait for.

CUDA Programming Guide, "CUDA Graphs". An executable is a copy whose nodes lie in an order that the
edges allow; a launch puts them into one stream.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from graphlib import CycleError, TopologicalSorter
from typing import TYPE_CHECKING, Any, NamedTuple

from ..constants.cudart import cudaGraphExecUpdateResult as Result
from ..constants.cudart import cudaGraphNodeType as Type
from ..core.queue import Work
from .errors import invalid_value

if TYPE_CHECKING:
    from .condition import Condition
    from .graph_memory import NodeMemory


class Node:
    """Work in a graph. ``origin`` is the node of the graph that an executable was made from.

    What a kind needs: ``bodies`` are the graphs inside (of a child, of a condition), ``marks`` is
    what an event's node does to the stream of the launch, ``memory`` what begins or ends here.
    """

    def __init__(self, work: Work | None, kind: int, after: list[Node]) -> None:
        self.work = work
        self.kind = kind
        self.after = after
        self.origin = self
        self.handle = 0
        self.bodies: list[Graph] = []
        self.condition: Condition | None = None
        self.marks: Callable[[Any], None] | None = None
        self.memory: NodeMemory | None = None
        self.shown: Any = None  # the list of bodies that the program was given

    def take(self, other: Node) -> None:
        """What ``other`` does, from now on."""
        self.work, self.bodies, self.condition = other.work, other.bodies, other.condition
        self.marks, self.memory = other.marks, other.memory

    def run(self) -> None:
        """All of it, in order, in the thread that calls."""
        if self.condition is not None:
            self.condition.run(self.bodies)
        elif self.work is not None:
            self.work()
        else:
            for body in self.bodies:
                body.run()


class Graph:
    """Nodes in the order in which they came. ``conditions`` are the values that kernels set."""

    def __init__(self, nodes: list[Node]) -> None:
        self.nodes = nodes
        self.handle = 0
        self.flags = 0
        self.conditions: list[Condition] = []

    def copy(self) -> Graph:
        """The same with nodes of its own."""
        made = {node: Node(None, node.kind, []) for node in self.nodes}
        for node, twin in made.items():
            twin.take(node)
            twin.after = [made[before] for before in node.after]
            twin.bodies = [body.copy() for body in node.bodies]
            twin.origin = node
        copied = Graph(list(made.values()))
        copied.conditions = self.conditions
        return copied

    def executable(self) -> Graph:
        """A copy in an order to run in. Raises CudaError (InvalidValue) for a circle."""
        made = self.copy()
        try:
            ordered = TopologicalSorter({n: n.after for n in made.nodes}).static_order()
            made.nodes = list(ordered)
        except CycleError:
            raise invalid_value("the graph has a circle; no node may wait for itself") from None
        for node in made.nodes:
            node.bodies = [body.executable() for body in node.bodies]
        return made

    def flat(self) -> Iterator[Node]:
        """The nodes, those of child graphs in their place."""
        for node in self.nodes:
            if node.kind == Type.cudaGraphNodeTypeGraph:
                for body in node.bodies:
                    yield from body.flat()
            else:
                yield node

    def run(self) -> None:
        for node in self.nodes:
            node.run()

    def remove(self, node: Node) -> None:
        """With its edges."""
        self.nodes.remove(node)
        for other in self.nodes:
            other.after = [before for before in other.after if before is not node]


class Difference(NamedTuple):
    """Why a graph does not fit an executable: a cudaGraphExecUpdateResult, and where."""

    result: int
    node: Node | None
    text: str


def difference(executable: Graph, wanted: Graph) -> Difference | None:
    """Between two executables; None where one can do what the other does."""
    if len(executable.nodes) != len(wanted.nodes):
        text = f"hGraph has {len(wanted.nodes)} nodes, hGraphExec {len(executable.nodes)}"
        return Difference(Result.cudaGraphExecUpdateErrorTopologyChanged, None, text)
    pairs = zip(executable.nodes, wanted.nodes, edges(executable), edges(wanted), strict=True)
    for number, (node, other, before, after) in enumerate(pairs):
        if node.kind != other.kind:
            text = (
                f"node {number} of hGraph is a {Type(other.kind).name}, that of hGraphExec a "
                f"{Type(node.kind).name}"
            )
            return Difference(Result.cudaGraphExecUpdateErrorNodeTypeChanged, other, text)
        if before != after:
            text = f"node {number} of hGraph waits for other nodes than that of hGraphExec"
            return Difference(Result.cudaGraphExecUpdateErrorTopologyChanged, other, text)
        if node.memory is not other.memory:
            text = f"node {number} of hGraph is about other memory than that of hGraphExec"
            return Difference(Result.cudaGraphExecUpdateErrorNotSupported, other, text)
        if node.condition is not other.condition:
            text = f"node {number} of hGraph has another condition than that of hGraphExec"
            return Difference(Result.cudaGraphExecUpdateErrorNotSupported, other, text)
    return None


def edges(graph: Graph) -> list[list[int]]:
    """For each node of an executable the numbers of those it waits for."""
    numbers = {node: number for number, node in enumerate(graph.nodes)}
    return [sorted(numbers[before] for before in node.after) for node in graph.nodes]
