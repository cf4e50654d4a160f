"""Graphs: nodes and what they wait for.

CUDA Programming Guide, "CUDA Graphs". An executable is a copy whose nodes lie in an order that the
edges allow; a launch puts them into one stream.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from graphlib import CycleError, TopologicalSorter
from typing import TYPE_CHECKING, Any, NamedTuple

from ..constants.cudart import CUgraphNodeType_enum as DriverType
from ..constants.cudart import cudaGraphExecUpdateResult as Result
from ..constants.cudart import cudaGraphNodeType as Type
from ..core.queue import Work
from .errors import invalid_value

if TYPE_CHECKING:
    from .condition import Condition
    from .graph_memory import NodeMemory
    from .user_objects import UserObject


def kind_name(kind: int) -> str:
    """Of a node; one kind has a name of the driver only."""
    return (Type(kind) if kind in Type._value2member_map_ else DriverType(kind)).name


class HostCall(NamedTuple):
    """What a node of the program's own function is given."""

    function: int
    user_data: int


class Filling(NamedTuple):
    """What a node that fills is given: ``height`` rows of ``width`` elements, a pitch in bytes."""

    address: int
    pitch: int
    value: int
    element: int
    width: int
    height: int


class Node:
    """Work in a graph. ``origin`` is the node of the graph that an executable was made from.

    What a kind needs: ``bodies`` are the graphs inside (of a child, of a condition), ``marks`` is
    what an event's node does to the stream of the launch, ``memory`` what begins or ends here.
    ``given``: what a program that asks for the node's parameters is told; ``attributes``:
    cudaLaunchAttributeValue by cudaLaunchAttributeID.
    """

    def __init__(self, work: Work | None, kind: int, after: list[Node]) -> None:
        self.work = work
        self.kind = kind
        self.after = after
        self._origin: Node | None = None
        self.handle = 0
        self.bodies: list[Graph] = []
        self.condition: Condition | None = None
        self.marks: Callable[[Any], None] | None = None
        self.memory: NodeMemory | None = None
        self.given: Any = None
        self.attributes: dict[int, bytes] = {}
        self.enabled = True
        self.shown: Any = None  # the list of bodies that the program was given

    @property
    def origin(self) -> Node:
        return self if self._origin is None else self._origin

    @origin.setter
    def origin(self, other: Node) -> None:
        # not itself: memory of nodes goes back when the last graph that has it goes
        self._origin = None if other is self else other

    def take(self, other: Node) -> None:
        """What ``other`` does, from now on."""
        self.work, self.bodies, self.condition = other.work, other.bodies, other.condition
        self.marks, self.memory = other.marks, other.memory
        self.given, self.attributes = other.given, dict(other.attributes)

    def update(self, other: Node) -> None:
        """The same, and so do the graphs inside, whose nodes stay what they are."""
        bodies = self.bodies
        self.take(other)
        self.bodies = bodies
        for body, given in zip(bodies, other.bodies, strict=True):
            body.update(given)

    def run(self) -> None:
        """All of it, in order, in the thread that calls."""
        if not self.enabled:
            return
        if self.condition is not None:
            self.condition.run(self.bodies)
        elif self.work is not None:
            self.work()
        else:
            for body in self.bodies:
                body.run()


class Graph:
    """Nodes in the order in which they came. ``conditions`` are the values that kernels set,
    ``objects`` how often it refers to what it keeps alive."""

    def __init__(self, nodes: list[Node]) -> None:
        self.nodes = nodes
        self.handle = 0
        self.flags = 0
        self.conditions: list[Condition] = []
        self.objects: Counter[UserObject] = Counter()
        self.owned = False  # it was moved into another one

    def copy(self) -> Graph:
        """The same with nodes of its own."""
        return self._copied(Graph.copy)

    def _copied(self, of_body: Callable[[Graph], Graph]) -> Graph:
        made = {node: Node(None, node.kind, []) for node in self.nodes}
        for node, twin in made.items():
            twin.take(node)
            twin.after = [made[before] for before in node.after]
            twin.bodies = [of_body(body) for body in node.bodies]
            twin.origin = node
        copied = Graph(list(made.values()))
        copied.conditions = self.conditions
        return copied

    def executable(self) -> Graph:
        """A copy in an order to run in. Raises CudaError (InvalidValue) for a circle."""
        made = self._copied(Graph.executable)
        try:
            made.nodes = list(_sorter(made).static_order())
        except CycleError:
            raise invalid_value("the graph has a circle; no node may wait for itself") from None
        return made

    @property
    def circular(self) -> bool:
        """Whether nodes of it, or of graphs inside, wait for themselves."""
        try:
            _sorter(self).prepare()
        except CycleError:
            return True
        return any(body.circular for node in self.nodes for body in node.bodies)

    def update(self, other: Graph) -> None:
        """Does what another executable does, of which ``difference`` found none."""
        self.conditions = other.conditions
        for node, given in zip(self.nodes, other.nodes, strict=True):
            node.update(given)

    def every(self) -> Iterator[Node]:
        """All nodes, those of graphs inside too."""
        for node in self.nodes:
            yield node
            for body in node.bodies:
                yield from body.every()

    def holds(self, other: Graph) -> bool:
        """Whether it is the other one, or has it inside."""
        return self is other or any(b.holds(other) for n in self.nodes for b in n.bodies)

    def kept(self) -> set[UserObject]:
        """What it and the graphs inside keep alive."""
        inner = (body.kept() for node in self.nodes for body in node.bodies)
        return set(self.objects).union(*inner)

    def keep(self, objects: Iterable[UserObject]) -> None:
        """Refers to them once, as a copy of the graph that they were kept by."""
        for each in objects:
            each.retain(1)
            self.objects[each] += 1

    def let_go(self) -> None:
        """Refers to none of them any more."""
        for each, count in self.objects.items():
            each.release(count)
        self.objects.clear()

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


def _sorter(graph: Graph) -> TopologicalSorter[Node]:
    return TopologicalSorter({node: node.after for node in graph.nodes})


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
                f"node {number} of hGraph is a {kind_name(other.kind)}, that of hGraphExec a "
                f"{kind_name(node.kind)}"
            )
            return Difference(Result.cudaGraphExecUpdateErrorNodeTypeChanged, other, text)
        if before != after:
            text = f"node {number} of hGraph waits for other nodes than that of hGraphExec"
            return Difference(Result.cudaGraphExecUpdateErrorTopologyChanged, other, text)
        if node.memory is not other.memory:
            text = f"node {number} of hGraph is about other memory than that of hGraphExec"
            return Difference(Result.cudaGraphExecUpdateErrorNotSupported, other, text)
        if _branches(node) != _branches(other):
            text = f"node {number} of hGraph has another kind of condition than that of hGraphExec"
            return Difference(Result.cudaGraphExecUpdateErrorNotSupported, other, text)
        for body, given in zip(node.bodies, other.bodies, strict=False):
            inner = difference(body, given)
            if inner is not None:
                text = f"in node {number} of hGraph: {inner.text}"
                return Difference(inner.result, inner.node or other, text)
    return None


def _branches(node: Node) -> tuple[object, int]:
    """What an update leaves of a conditional node: which value it begins with may change (CUDA
    Runtime API, cudaGraphExecUpdate)."""
    return node.condition and node.condition.kind, len(node.bodies)


def edges(graph: Graph) -> list[list[int]]:
    """For each node of an executable the numbers of those it waits for."""
    numbers = {node: number for number, node in enumerate(graph.nodes)}
    return [sorted(numbers[before] for before in node.after) for node in graph.nodes]
