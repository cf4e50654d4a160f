"""Which activations live in the second memory (CVSRAM): those that spare the first memory most.

What lies there is read and written through a port of its own, beside weights and the rest. A
tensor is worth the bytes that operations move to and from it, for the room that it takes and for
how long it takes it. Tensors of the program, weights and what the host reads stay in the first
memory: nobody but the hardware reaches the second for certain.
"""

from __future__ import annotations

from collections.abc import Iterable

from ..lower.cubes import Buffer
from ..lower.task import Task
from . import memory


def choose(task: Task, buffers: Iterable[Buffer], size: int, overlap: bool = False) -> list[Buffer]:
    """The buffers that fit into *size* bytes together, the most valuable first; they are marked.
    *overlap* is that of :func:`.memory.plan`."""
    worth = _worth(task)
    wanted = [item for item in buffers if worth.get(item, 0) > 0 and item.size <= size]
    wanted.sort(key=lambda item: -worth[item])
    chosen = _fitting(task, [], wanted, size, overlap)
    for buffer in chosen:
        buffer.second = True
    return chosen


def _worth(task: Task) -> dict[Buffer, float]:
    """Bytes that are moved for each byte of room and operation of lifetime."""
    first: dict[Buffer, int] = {}
    last: dict[Buffer, int] = {}
    for number, op in enumerate(task.ops):
        for buffer in (*op.reads, *op.writes):
            first.setdefault(buffer, number)
            last[buffer] = number
    return {
        buffer: moved / (buffer.size * (last[buffer] - first[buffer] + 1))
        for buffer, moved in task.traffic().items()
        if buffer in first and buffer.size
    }


def _fitting(
    task: Task, taken: list[Buffer], more: list[Buffer], size: int, overlap: bool
) -> list[Buffer]:
    """*taken*, and of *more* what fits beside it, in its order: all at once, or half by half."""
    if not more:
        return taken
    if memory.plan(task, [*taken, *more], (), overlap) <= size:
        return [*taken, *more]
    if len(more) == 1:
        return taken
    middle = len(more) // 2
    taken = _fitting(task, taken, more[:middle], size, overlap)
    return _fitting(task, taken, more[middle:], size, overlap)
