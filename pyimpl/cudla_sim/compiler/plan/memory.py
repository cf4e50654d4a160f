"""Activations in one buffer: best fit by the time in which each piece is needed.

A piece may be reused as soon as its last reader is over. Where operations overlap, those that
another unit than SDP ends may begin as soon as their inputs are there: until then back, nobody else
has their memory, or they would have to wait for it.
"""

from __future__ import annotations

from collections.abc import Iterable

from cudla_sim.nvdla.build.queue import chains
from cudla_sim.nvdla.descriptors import OpType

from ..lower.cubes import Buffer
from ..lower.task import Task
from ..options import IN_PLACE
from . import in_place

ALIGN = 256


def plan(
    task: Task, buffers: Iterable[Buffer], kept: Iterable[Buffer] = (), overlap: bool = False
) -> int:
    """Give every buffer its offset; return the bytes of all. *kept* are needed until the end."""
    kept = list(kept)
    first: dict[Buffer, int] = {}
    last: dict[Buffer, int] = {}
    written: dict[Buffer, int] = {}
    for number, chain in enumerate(chains(task.ops)):
        ops = task.ops[chain.start : chain.stop]
        begin = number
        reads = {buffer for op in ops for buffer in op.reads}
        if overlap and ops[-1].op_type != OpType.SDP:
            begin = max((written.get(buffer, -1) for buffer in reads), default=-1) + 1
        for op in ops:
            for buffer in op.writes:
                written[buffer] = number
                first.setdefault(buffer, begin)
            for buffer in (*op.reads, *op.writes):
                first.setdefault(buffer, number)
                last[buffer] = number
    for buffer in kept:
        last[buffer] = len(task.ops) + 1
        first.setdefault(buffer, 0)
    used = [buffer for buffer in buffers if buffer in first]
    taken: dict[Buffer, Buffer] = {}
    if IN_PLACE not in task.without:
        own = [buffer for buffer in used if buffer not in set(kept)]
        taken = in_place.shared(task, set(own), first, last)
    for buffer in sorted(taken, key=lambda item: -first[item]):  # results of results come first
        operand = taken[buffer]
        last[operand] = max(last[operand], last[buffer])
    placed: list[Buffer] = []
    total = 0
    alone = [buffer for buffer in used if buffer not in taken]
    for buffer in sorted(alone, key=lambda item: (-item.size, first[item])):
        busy = sorted(
            (other.offset, other.offset + _rounded(other.size))
            for other in placed
            if first[other] <= last[buffer] and first[buffer] <= last[other]
        )
        buffer.offset = _best(busy, _rounded(buffer.size))
        placed.append(buffer)
        total = max(total, buffer.offset + _rounded(buffer.size))
    for buffer in sorted(taken, key=lambda item: first[item]):
        buffer.offset = taken[buffer].offset
    return total


def _rounded(size: int) -> int:
    return -(-size // ALIGN) * ALIGN


def _best(busy: list[tuple[int, int]], size: int) -> int:
    """Smallest gap that is large enough, else behind everything."""
    at, found, room = 0, -1, 0
    for start, end in busy:
        gap = start - at
        if gap >= size and (found < 0 or gap < room):
            found, room = at, gap
        at = max(at, end)
    return found if found >= 0 else at
