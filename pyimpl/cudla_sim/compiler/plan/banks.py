"""One share of the convolution buffer for convolutions in a row, so that each may load ahead.

CDMA begins to load for another share only when the core has come to that convolution.
Source: nvdla/hw ``cdma/NV_NVDLA_CDMA_dc.v``, ``NV_NVDLA_CDMA_wt.v`` (need_pending).
"""

from __future__ import annotations

from collections.abc import Iterator

from cudla_sim.nvdla.descriptors import ConvOp, OpType
from cudla_sim.nvdla.facts.cbuf import data_banks, usable_banks

from ..lower.task import Task


def unite(task: Task) -> None:
    """Give convolutions in a row the same banks as long as all have what they need."""
    most = usable_banks(task.config)
    row: list[ConvOp] = []
    data = weights = 0
    for group in _together(task):
        own = _needs(task, group)
        both = max(data, own[0]), max(weights, own[1])
        compressed = bool(group[0].weight_format)  # its mask takes a bank: a share of its own
        if compressed or sum(both) > most:
            _share(row, most, weights)
            row, both = [], (0, 0) if compressed else own
        if not compressed:
            row += group
        data, weights = both
    _share(row, most, weights)


def _together(task: Task) -> Iterator[list[ConvOp]]:
    """Convolutions in their order, those that share weights in one list."""
    group: list[ConvOp] = []
    for op in task.ops:
        conv = op.operation
        if op.op_type != OpType.CONV or not isinstance(conv, ConvOp):
            continue
        if group and not conv.weight_reuse:
            yield group
            group = []
        group.append(conv)
    if group:
        yield group


def _needs(task: Task, group: list[ConvOp]) -> tuple[int, int]:
    """Banks of data (of two pieces, where there are several) and of weights."""
    data = max(op.data_bank for op in group)
    if len(group) > 1:
        pieces = [(op.entry_per_slice, 2 * op.input_height_csc) for op in group]
        data = min(data, max(data_banks(task.config, *piece) for piece in pieces))
    return data, max(op.weight_bank for op in group)


def _share(row: list[ConvOp], most: int, weights: int) -> None:
    for op in row:
        op.data_bank, op.weight_bank = most - weights, weights
