"""Results that may take the memory of an operand: SDP writes each place after it has read it.

Source: nvdla hardware manual "SDP" (one position after the other, operands and results alike).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Mapping
from dataclasses import replace

from cudla_sim.nvdla.build.queue import chains
from cudla_sim.nvdla.descriptors import OpType

from ..lower.cubes import Buffer
from ..lower.task import Task
from . import areas
from .areas import Area, Touched


def shared(
    task: Task,
    free: Collection[Buffer],
    first: Mapping[Buffer, int],
    last: Mapping[Buffer, int],
) -> dict[Buffer, Buffer]:
    """{result: operand whose memory it takes} among the buffers in *free*; *first* and *last* are
    the chains that touch a buffer first and last."""
    touched: dict[Buffer, dict[int, list[tuple[OpType, Touched]]]] = defaultdict(dict)
    found: list[tuple[Buffer, Buffer]] = []
    for number, chain in enumerate(chains(task.ops)):
        for op in task.ops[chain.start : chain.stop]:
            what = areas.of(task, op)
            for area in (*what.reads, *what.writes):
                touched[area.buffer].setdefault(number, []).append((op.op_type, what))
            if op.op_type == OpType.SDP:
                found += [(w.buffer, r.buffer) for w in what.writes for r in what.reads]
    taken: dict[Buffer, Buffer] = {}
    for result, operand in dict.fromkeys(found):
        both = result in free and operand in free and result is not operand
        if not both or result in taken or operand in taken.values():
            continue
        if result.size != operand.size or first[operand] >= first[result]:
            continue
        if all(
            _passes(touched, number, result, operand)
            for number in {*touched[result], *touched[operand]}
            if first[result] <= number <= last[operand]
        ):
            taken[result] = operand
    return taken


def _passes(
    touched: Mapping[Buffer, Mapping[int, list[tuple[OpType, Touched]]]],
    number: int,
    result: Buffer,
    operand: Buffer,
) -> bool:
    """True if a chain writes where it reads, or leaves the operand alone and only reads."""
    written: set[Area] = set()
    read: set[Area] = set()
    for kind, what in (*touched[result].get(number, ()), *touched[operand].get(number, ())):
        if any(area.buffer is operand for area in what.writes):
            return False
        mine = {area for area in what.reads if area.buffer is operand}
        if mine and kind != OpType.SDP:
            return False
        read |= mine
        written |= {area for area in what.writes if area.buffer is result}
    return {replace(area, buffer=operand) for area in written} == read
