"""Operations of a DLA task with their graph: who waits for whom, and the lists in memory.

Source: nvdla/sw firmware interface (dla_common_op_desc), ``Runtime.cpp``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from ..descriptors import (
    LUT_SIZE,
    OPERATION_SIZE,
    SURFACE_SIZE,
    CommonOpDesc,
    Consumer,
    ConvSurface,
    DataCube,
    Event,
    LutParam,
    MemoryType,
    NetworkDesc,
    Operation,
    OpType,
    SdpSurface,
    Surface,
)
from ..facts.memory import PAGE
from ..loadable import Interface
from .container import Container

_LINE_STRIDE_AT = 20
"""Byte offset of line_stride inside a data cube."""


@dataclass(eq=False, slots=True)
class HardwareOp:
    """One operation with its graph entry."""

    op_type: OpType
    operation: Operation
    surface: Surface
    entry: CommonOpDesc


def new_entry(index: int, op_type: OpType) -> CommonOpDesc:
    """A graph entry that waits for nothing."""
    entry = CommonOpDesc(index=index, op_type=op_type)
    for consumer in (*entry.consumers, entry.fused_parent):
        consumer.event = Event.OP_COMPLETED
    return entry


def heads(ops: Sequence[HardwareOp]) -> list[int]:
    """First operation of each processor, -1 for none."""
    result = [-1] * len(OpType)
    for op in reversed(ops):
        result[op.op_type] = op.entry.index
    return result


def chains(ops: Sequence[HardwareOp]) -> Iterator[range]:
    """Numbers of operations that work on the fly: a convolution with its SDP pass, and PDP where
    that hands its result on."""
    start = 0
    for number, op in enumerate(ops):
        if op.op_type != OpType.CONV and not _hands_on(op):
            yield range(start, number + 1)
            start = number + 1


def _hands_on(op: HardwareOp) -> bool:
    return isinstance(op.surface, SdpSurface) and op.surface.dst.type == MemoryType.HW


def connect(ops: Sequence[HardwareOp], waits: Sequence[Sequence[int]]) -> None:
    """Enter who waits for whom: the queue of each processor, chains on the fly, and *waits*, for
    each operation the numbers of those that must be complete before it begins. An operation can
    tell one other of each processor."""
    last: dict[OpType, HardwareOp] = {}
    for chain in chains(ops):
        for number in chain:
            op = ops[number]
            if op.op_type in last:
                _wait(op, last[op.op_type], Event.OP_PROGRAMMED)
            last[op.op_type] = op
            if number > chain.start:
                before = ops[number - 1]
                _wait(op, before, Event.OP_PROGRAMMED)
                op.entry.fused_parent = Consumer(before.entry.index, Event.OP_ENABLED)
                before.entry.dependency_count += 1
            for other in waits[number]:
                _wait(op, ops[other], Event.OP_COMPLETED)


def _wait(op: HardwareOp, on: HardwareOp, event: Event) -> None:
    """Let *op* wait for an event of *on*; completion replaces a weaker wait."""
    slot = on.entry.consumers[op.op_type]
    if slot.index != op.entry.index:
        assert slot.index == -1, f"{on.entry.index} tells {slot.index} already"
        op.entry.dependency_count += 1
    on.entry.consumers[op.op_type] = Consumer(op.entry.index, event)


def add_dla_task(
    out: Container,
    ops: Sequence[HardwareOp],
    luts: Sequence[LutParam],
    bound: list[int],
    whole: Callable[[DataCube], bool],
    more: Sequence[int] = (),
) -> None:
    """Add the hardware task: network descriptor, weights (1), activations (2), tensors, lists.

    *bound* are the memories of tensors that the program binds, *more* others that operations
    touch; *whole* tells whether a cube in
    one of them is the tensor, so that its strides may be changed when it is bound.
    """
    base = 3 + len(bound) + len(more)
    desc = NetworkDesc(
        dependency_graph_index=base,
        operation_desc_index=base + 1,
        surface_desc_index=base + 2,
        lut_data_index=base + 3,
        op_head=heads(ops),
        num_operations=len(ops),
        num_luts=len(luts),
        num_addresses=base + 5,
        input_layer=0,
    )
    graph = b"".join(op.entry.encode() for op in ops)
    operations = b"".join(op.operation.encode(pad_to=OPERATION_SIZE) for op in ops)
    surfaces = b"".join(op.surface.encode(pad_to=SURFACE_SIZE) for op in ops)
    tables = b"".join(table.encode(pad_to=LUT_SIZE) for table in luts or [LutParam()])
    kind = Interface.DLA1
    addresses = [
        out.single("task-0-addr0", desc.encode(), kind, 1),
        1,
        2,
        *bound,
        *more,
        out.single("task-0-dep_graph", graph, kind, 2),
        out.single("task-0-op_list", operations, kind, 3),
        out.single("task-0-surf_list", surfaces, kind, 4),
        out.single("task-0-lut_list", tables, kind, 5),
        out.memory(PAGE),
    ]
    out.task(kind, addresses)
    surface_memory = addresses[base + 2]
    for index, op in enumerate(ops):
        for offset, cube in _ends(op.surface):
            if cube.address in bound and whole(cube):
                position = index * SURFACE_SIZE + offset + _LINE_STRIDE_AT
                out.strides_at(cube.address, surface_memory, position, kind, 4)


def _ends(surface: Any) -> list[tuple[int, DataCube]]:
    """Source and destination of an operation, with their byte offset in the descriptor."""
    size = DataCube.byte_size()
    if isinstance(surface, ConvSurface):
        return [(3 * size, surface.src)]
    last = 4 if hasattr(surface, "x1") else 1
    return [(0, surface.src), (last * size, surface.dst)]
