"""Operations that touch the same bytes without an order between them.

The units run side by side: what the simulator computes one after the other, hardware may not.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from ..descriptors import OpType
from ..target import LayerDesc
from .extent import Extent
from .inspection import Accesses
from .order import DONE, FETCHED, READING, WRITING, Order
from .violation import Violation


@dataclass(frozen=True, slots=True)
class _Access:
    operation: int
    name: str
    extent: Extent
    write: bool


def find(layers: Sequence[LayerDesc], done: Sequence[Accesses], order: Order) -> list[Violation]:
    """Report pairs of accesses to common bytes, one of them a write, in no certain order."""
    memories: dict[int, list[_Access]] = defaultdict(list)
    for index, accesses in enumerate(done):
        for name, extent, write in accesses.all():
            memories[extent.memory].append(_Access(index, name, extent, write))
    found: list[Violation] = []
    seen: set[tuple[int, int]] = set()
    for group in memories.values():
        for one, two in _close(group):
            first, second = sorted((one, two), key=lambda item: (item.operation, item.write))
            key = first.operation, second.operation
            if key in seen or _ordered(layers, order, first, second):
                continue
            if not first.extent.meets(second.extent):
                continue
            seen.add(key)
            found.append(_violation(layers, first, second))
    return found


def _close(group: list[_Access]) -> Iterator[tuple[_Access, _Access]]:
    """Pairs whose ranges overlap, one of them a write."""
    live: list[_Access] = []
    for item in sorted(group, key=lambda access: access.extent.start):
        live = [other for other in live if other.extent.end > item.extent.start]
        for other in live:
            if item.write or other.write:
                yield other, item
        live.append(item)


def _ordered(layers: Sequence[LayerDesc], order: Order, first: _Access, second: _Access) -> bool:
    if first.operation == second.operation:
        # SDP goes through both in the same order: in place is fine where the places are the same
        same = first.extent.start == second.extent.start
        same &= first.extent.simple == second.extent.simple
        return layers[first.operation].op_type == OpType.SDP and same and not first.write
    return _before(layers, order, first, second) or _before(layers, order, second, first)


def _before(layers: Sequence[LayerDesc], order: Order, one: _Access, two: _Access) -> bool:
    """True if *one* is certainly over when *two* begins."""
    fetched = layers[one.operation].op_type == OpType.CONV and one.name.startswith("surface.src")
    end = FETCHED if fetched else DONE
    begin = WRITING if two.write else READING
    return order.follows(one.operation, end, two.operation, begin)


def _violation(layers: Sequence[LayerDesc], first: _Access, second: _Access) -> Violation:
    layer, other = layers[second.operation], layers[first.operation]
    what = "writes" if second.write else "reads"
    how = "writes" if first.write else "reads"
    extent = second.extent
    where = f"memory {extent.memory} at {extent.start}..{extent.end}"
    if first.operation == second.operation:
        message = f"writes over its own {first.name} ({where})"
    else:
        message = (
            f"{what} {where}, which operation {other.index} ({other.op_type.name}) {how}"
            f" ({first.name}); nothing makes one wait for the other"
        )
    return Violation(layer.task, layer.index, layer.op_type.name, second.name, message)
