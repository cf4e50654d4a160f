"""What the dependency graph of a task says about the order of its operations.

Each operation has five moments: it is enabled, may read, may write first, has fetched its input, is
finished. What the graph, the queues of the units and fused pairs say is entered as
"not later than"; what follows from it is a matter of reachability.
Source: nvdla/sw firmware (scheduler: two operations of a unit are in flight, completion frees a
register group); nvdla hardware manual (register groups alternate: a DMA begins to fetch when it has
fetched what was enabled in the other group, and not before that is enabled; SDP and PDP leave out
the groups of their DMA where they have nothing to fetch).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from itertools import pairwise

from ..descriptors import Consumer, Event, MemoryType, NetworkDesc, OpType, SdpMode, SdpOp
from ..target import LayerDesc
from .violation import WHOLE_TASK, Violation

ENABLED, READING, WRITING, FETCHED, DONE = range(5)
_MOMENTS = 5
_EVENTS = frozenset(Event)


def _flying(layer: LayerDesc, name: str) -> bool:
    cube = getattr(layer.surface, name, None)
    return cube is not None and cube.type == MemoryType.HW


def _fetches(layer: LayerDesc) -> bool:
    """True if the unit's DMA takes part."""
    operation = layer.operation
    if isinstance(operation, SdpOp) and _flying(layer, "src"):
        stages = (operation.x1, operation.x2, operation.y)
        return any(stage.enable and stage.mode != SdpMode.PER_LAYER for stage in stages)
    return not _flying(layer, "src")


@dataclass
class Order:
    """The order of one task's operations.

    ``queues`` are the operations of each unit as the firmware takes them; ``pairs`` maps an
    operation to the one that takes its result on the fly.
    """

    layers: list[LayerDesc]
    network: NetworkDesc
    found: list[Violation] = field(default_factory=list)
    queues: dict[OpType, list[int]] = field(default_factory=dict)
    pairs: dict[int, int] = field(default_factory=dict)
    _later: list[int] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._read_queues()
        self._count()
        self._read_pairs()
        self._reach()

    def _bad(self, operation: int, where: str, message: str) -> None:
        task = self.layers[0].task
        unit = "task" if operation == WHOLE_TASK else self.layers[operation].op_type.name
        self.found.append(Violation(task, operation, unit, where, message))

    def _tells(self, layer: LayerDesc) -> Iterable[tuple[str, Consumer]]:
        for place, entry in enumerate(layer.dependency.consumers):
            if entry.index != -1:
                yield f"dependency.consumers.{place}", entry
        if layer.dependency.fused_parent.index != -1:
            yield "dependency.fused_parent", layer.dependency.fused_parent

    # -- what is in the graph -----------------------------------------------------------------

    def _read_queues(self) -> None:
        """Follow the queue of each unit from its head."""
        count = len(self.layers)
        for op_type in OpType:
            queue: list[int] = []
            index = self.network.op_head[op_type]
            while 0 <= index < count and index not in queue:
                if self.layers[index].op_type != op_type:
                    name = self.layers[index].op_type.name
                    self._bad(index, "op_type", f"{name}, but it is in the queue of {op_type.name}")
                    break
                queue.append(index)
                index = self.layers[index].dependency.consumers[op_type].index
            if index in queue:
                self._bad(index, "dependency.consumers", "the queue of its unit has a cycle")
            elif index != -1 and not 0 <= index < count:
                self._bad(WHOLE_TASK, "op_head", f"{op_type.name}: {index} of {count} operations")
            self.queues[op_type] = queue
        queued = {index for queue in self.queues.values() for index in queue}
        for index in range(count):
            if index not in queued:
                self._bad(
                    index,
                    "dependency.consumers",
                    "no operation of its unit leads to it: it never runs",
                )

    def _count(self) -> None:
        """Every operation must be told as often as it waits."""
        told: Counter[int] = Counter()
        for layer in self.layers:
            for where, entry in self._tells(layer):
                if not 0 <= entry.index < len(self.layers):
                    self._bad(layer.index, where, f"{entry.index} of {len(self.layers)} operations")
                    continue
                if entry.event not in _EVENTS:
                    self._bad(layer.index, where, f"event {entry.event} does not exist")
                told[entry.index] += 1
        for layer in self.layers:
            waits = layer.dependency.dependency_count
            if waits != told[layer.index]:
                self._bad(
                    layer.index,
                    "dependency.dependency_count",
                    f"{waits}; {told[layer.index]} operations tell it something",
                )

    def _read_pairs(self) -> None:
        """The n-th result on the fly goes to the n-th receiver, in the order of the queues."""
        for giver, taker in ((OpType.CONV, OpType.SDP), (OpType.SDP, OpType.PDP)):
            gives = [i for i in self.queues[giver] if _flying(self.layers[i], "dst")]
            takes = [i for i in self.queues[taker] if _flying(self.layers[i], "src")]
            self.pairs.update(zip(gives, takes, strict=False))
            for index in gives[len(takes) :]:
                self._bad(index, "surface.dst.type", f"no {taker.name} operation takes its result")
            for index in takes[len(gives) :]:
                self._bad(index, "surface.src.type", f"no {giver.name} operation gives its input")

    # -- what follows -------------------------------------------------------------------------

    def _edges(self) -> list[set[int]]:
        """For each moment those that are not earlier."""
        edges: list[set[int]] = [set() for _ in range(_MOMENTS * len(self.layers))]

        def before(first: int, moment: int, second: int, other: int) -> None:
            edges[_MOMENTS * first + moment].add(_MOMENTS * second + other)

        earlier: dict[int, int] = {}
        for queue in self.queues.values():
            for one, two in pairwise(queue):
                before(one, DONE, two, WRITING)
                if _fetches(self.layers[one]) and _fetches(self.layers[two]):
                    before(one, READING, two, READING)
            for one, three in zip(queue, queue[2:], strict=False):
                before(one, DONE, three, ENABLED)
                earlier[three] = one
        for layer in self.layers:
            index = layer.index
            for one, two in (
                (ENABLED, READING),
                (READING, WRITING),
                (READING, FETCHED),
                (WRITING, DONE),
                (FETCHED, DONE),
            ):
                before(index, one, index, two)
            for _, entry in self._tells(layer):
                if not 0 <= entry.index < len(self.layers):
                    continue
                if entry.event == Event.OP_COMPLETED:
                    before(index, DONE, entry.index, ENABLED)
                elif entry.event == Event.CDMA_DT_DONE:
                    before(index, FETCHED, entry.index, ENABLED)
                elif entry.event in (Event.OP_ENABLED, Event.CDMA_WT_DONE):
                    before(index, ENABLED, entry.index, ENABLED)
                elif index in earlier:  # it was programmed when a register group became free
                    before(earlier[index], DONE, entry.index, ENABLED)
        for giver, taker in self.pairs.items():
            before(giver, READING, taker, WRITING)
            before(taker, WRITING, giver, DONE)
            before(giver, DONE, taker, DONE)
        return edges

    def _reach(self) -> None:
        """For each moment a set (bits) of the moments that are not earlier."""
        edges = self._edges()
        waits = [0] * len(edges)
        for targets in edges:
            for target in targets:
                waits[target] += 1
        ready = [moment for moment, count in enumerate(waits) if count == 0]
        order = []
        while ready:
            moment = ready.pop()
            order.append(moment)
            for target in edges[moment]:
                waits[target] -= 1
                if waits[target] == 0:
                    ready.append(target)
        self._later = [0] * len(edges)
        for moment in reversed(order):
            reached = 0
            for target in edges[moment]:
                reached |= self._later[target] | 1 << target
            self._later[moment] = reached
        stuck = sorted({moment // _MOMENTS for moment, count in enumerate(waits) if count > 0})
        if stuck:
            names = ", ".join(map(str, stuck[:8])) + (" ..." if len(stuck) > 8 else "")
            self._bad(
                stuck[0], "dependency", f"operations {names} wait for each other: they never end"
            )

    def follows(self, first: int, moment: int, second: int, other: int) -> bool:
        """True if *moment* of the first operation is never later than *other* of the second."""
        mine, theirs = _MOMENTS * first + moment, _MOMENTS * second + other
        return bool(self._later[mine] >> theirs & 1)
