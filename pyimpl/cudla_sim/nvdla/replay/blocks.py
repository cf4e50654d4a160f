"""Traces whose blocks wait for each other: which operation can go on.

The trace player of the public verification suite plays the commands of each block in a thread of
its own (nvdla/hw, ``verif/testbench/trace_player/nvdla_tb_sequence.sv``).
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable

from ..facts import registers
from ..facts.registers import MapName
from . import trace as t

Queues = dict[str, deque[tuple[int, t.Operation]]]
"""Operations by what they wait behind, each with its place in the trace."""

_MEMORY, _INTERRUPTS = "memory", "interrupts"


def sequences(operations: Iterable[t.Operation], line: MapName) -> Queues:
    """Sort the operations of a trace."""
    queues: Queues = {}
    for number, operation in enumerate(operations):
        queues.setdefault(_queue(number, operation, line), deque()).append((number, operation))
    return queues


def _queue(number: int, operation: t.Operation, line: MapName) -> str:
    if isinstance(operation, t.SyncWait | t.SyncNotify):
        return operation.block
    if isinstance(operation, t.RegWrite | t.RegCheck | t.RegUntil):
        return registers.describe_address(line, operation.address).split(".")[0]
    if isinstance(operation, t.MemInit | t.MemLoad):
        return _MEMORY
    if isinstance(operation, t.Notify | t.WaitInterrupt):
        return _INTERRUPTS
    return f"check {number}"


def _event(operation: t.Operation) -> str:
    """What an operation waits for, "" for nothing."""
    if isinstance(operation, t.RegWrite | t.RegCheck | t.RegUntil | t.Notify | t.SyncNotify):
        return ""
    return getattr(operation, "sync", "")


def first_ready(queues: Queues, signaled: set[str]) -> str | None:
    """The queue whose first operation is the first in the trace of those that can go on."""
    best, place = None, -1
    for name, queue in queues.items():
        number, operation = queue[0]
        if best is not None and number > place:
            continue
        event = _event(operation)
        if not event or event in signaled:
            best, place = name, number
    return best


def take(queues: Queues, name: str) -> t.Operation:
    """Remove the first operation of a queue."""
    _, operation = queues[name].popleft()
    if not queues[name]:
        del queues[name]
    return operation


def awaited(queues: Queues) -> set[str]:
    """The events that somebody waits for."""
    return {_event(queue[0][1]) for queue in queues.values()} - {""}
