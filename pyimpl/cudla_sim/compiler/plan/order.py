"""Who waits for whom: only those whose data or memory another operation still uses.

Convolutions wait for what wrote their input, and so does their SDP pass, which waits for operands
and for those whose memory it takes, too. Much is known without a wait: a unit works on its queue in
order, and the third operation of a queue gets registers when the first is complete. An operation
can tell one other of each unit, so what is known must not be waited for again.
Source: nvdla/sw firmware, scheduler; nvdla hardware manual "Programming guide" (register groups).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from cudla_sim.nvdla.build.queue import chains
from cudla_sim.nvdla.descriptors import OpType

from ..lower.cubes import Buffer
from ..lower.task import LabelledOp, Task
from . import areas
from .areas import Area

Known = dict[OpType, int]
"""The last operation of each unit that is certainly complete; those before it are, too."""


def serial(ops: Sequence[LabelledOp]) -> list[list[int]]:
    """Each operation waits for the one before; those that work on the fly are one."""
    waits: list[list[int]] = []
    for chain in chains(ops):
        waits += [[chain.start - 1] if chain.start else []] * len(chain)
    return waits


def overlapping(task: Task) -> list[list[int]]:
    """Operations wait for those whose data or memory they need. Memory has been planned."""
    return _Order(task).waits


@dataclass(eq=False)
class _Order:
    task: Task
    waits: list[list[int]] = field(default_factory=list)
    _reading: list[Known] = field(default_factory=list)
    """What is complete when an operation begins to read."""
    _writing: list[Known] = field(default_factory=list)
    """What is complete when it begins to write."""
    _queues: dict[OpType, list[int]] = field(default_factory=lambda: defaultdict(list))
    _told: set[tuple[int, OpType]] = field(default_factory=set)
    _history: dict[Buffer, list[tuple[int, Area, bool]]] = field(
        default_factory=lambda: defaultdict(list)
    )
    """Areas by buffer, with the operation that ends the chain that touches them."""
    _beside: dict[Buffer, list[Buffer]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        ops = self.task.ops
        touched = [areas.of(self.task, op) for op in ops]
        used = dict.fromkeys(a.buffer for t in touched for a in (*t.reads, *t.writes))
        for buffer in used:
            self._beside[buffer] = [other for other in used if _share(buffer, other)]
        for chain in chains(ops):
            reads: Known = {}  # a chain is enabled when all of its input is there
            for number in chain:
                reading, writing = self._known(number, on_the_fly=number > chain.start)
                _learn(reads, self._needed(touched[number].reads, reading, write=False))
                writes = self._needed(touched[number].writes, writing, write=True)
                self._enter(number, reads, writes, reading, writing)
            for number in chain:
                for area, write in _all(touched[number]):
                    self._history[area.buffer].append((chain.stop - 1, area, write))

    def _needed(self, found: Sequence[Area], known: Known, write: bool) -> Known:
        """The last operation of each unit that must be complete before these are touched, but for
        those that are *known* to be."""
        last: Known = {}
        ends = (kind for kind in self._queues if kind != OpType.CONV)  # which SDP always follows
        done = min((known.get(kind, -1) for kind in ends), default=-1)
        for area in found:
            for buffer in self._beside[area.buffer]:
                for number, other, wrote in reversed(self._history[buffer]):
                    if number <= done:
                        break
                    kind = self.task.ops[number].op_type
                    if not (write or wrote) or number <= max(
                        known.get(kind, -1), last.get(kind, -1)
                    ):
                        continue
                    if area.meets(other):
                        last[kind] = number
        return last

    def _known(self, number: int, on_the_fly: bool) -> tuple[Known, Known]:
        """What is complete without a wait when an operation begins to read, and to write."""
        op = self.task.ops[number]
        queue = self._queues[op.op_type]
        reading: Known = {}
        if len(queue) > 1:  # its registers are free
            _learn(reading, self._writing[queue[-2]], op.op_type, queue[-2])
        if queue and self._fetches(op) and self._fetches(self.task.ops[queue[-1]]):
            _learn(reading, self._reading[queue[-1]])  # its fetch begins when that one's is over
        writing = dict(reading)
        if queue:
            _learn(writing, self._writing[queue[-1]], op.op_type, queue[-1])
        if on_the_fly:
            _learn(writing, self._reading[number - 1])
        return reading, writing

    def _enter(
        self, number: int, reads: Known, writes: Known, reading: Known, writing: Known
    ) -> None:
        """Find the waits of an operation."""
        op = self.task.ops[number]
        queue = self._queues[op.op_type]
        waits: list[int] = []
        for needed, known in ((reads, reading), (writes, writing)):
            for kind, other in needed.items():
                if known.get(kind, -1) >= other:
                    continue
                if (other, op.op_type) in self._told:
                    other = queue[-1]  # that one was told: it is behind what it waited for
                self._told.add((other, op.op_type))
                waits.append(other)
                for each in (reading, writing):
                    _learn(each, self._writing[other], self.task.ops[other].op_type, other)
        self.waits.append(sorted(set(waits)))
        self._reading.append(reading)
        self._writing.append(writing)
        queue.append(number)

    def _fetches(self, op: LabelledOp) -> bool:
        """True if the unit's own DMA fetches something: it has register groups of its own."""
        cubes = [getattr(op.surface, name, None) for name in ("src", "x1", "x2", "y")]
        return any(cube is not None and self.task.placed(cube) for cube in cubes)


def _all(touched: areas.Touched) -> Iterator[tuple[Area, bool]]:
    for area in touched.reads:
        yield area, False
    for area in touched.writes:
        yield area, True


def _share(one: Buffer, two: Buffer) -> bool:
    """True if they have memory in common."""
    return (
        one.entry == two.entry
        and one.offset < two.offset + two.size
        and two.offset < one.offset + one.size
    )


def _learn(known: Known, more: Known, kind: OpType | None = None, number: int = -1) -> None:
    for each, other in more.items():
        known[each] = max(known.get(each, -1), other)
    if kind is not None:
        known[kind] = max(known.get(kind, -1), number)
