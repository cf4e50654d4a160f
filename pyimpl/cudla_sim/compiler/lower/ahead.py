"""Cutting a convolution so that a piece loads while the one before it computes.

The core begins when the whole input of an operation has come. In pieces, only the load of the first
one has to be waited for, if the buffer has room for two of them and does not change its shares.
Weights that fit stay in the buffer from piece to piece.
Source: nvdla/hw ``cdma/NV_NVDLA_CDMA_dc.v``, ``csc/NV_NVDLA_CSC_sg.v``; :mod:`.cbuf`.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from cudla_sim.nvdla.facts.cbuf import (
    entries_per_slice,
    lines_that_fit,
    usable_banks,
    weight_banks,
)
from cudla_sim.nvdla.facts.windows import extent

from ..legalise.nodes import KernelConv
from ..options import CUTS, OVERLAP
from .cbuf import Split
from .cubes import Cube
from .cuts import pieces
from .task import Task

_BEHIND = 300
"""Cycles for which the multipliers stand still between two operations, about."""

_MOST = 8


@dataclass(frozen=True, slots=True)
class Cut:
    """How to cut; *banks* are those of all pieces, None for what each of them needs. *reuse*: the
    pieces take the weights of the first."""

    split: Split
    banks: tuple[int, int] | None = None
    reuse: bool = False


def cut(
    task: Task,
    node: KernelConv,
    split: Split,
    data: Cube,
    target: Cube,
    kernels: int,
    atoms: int,
    stored: tuple[NDArray[np.uint8], ...],
) -> Cut:
    """The pieces with which a convolution of *kernels* kernels is over first. *split* is what the
    buffer asks for, *atoms* are cycles of the core for a position, *stored* the weights."""
    if {OVERLAP, CUTS} & set(task.without) or len(stored) > 1 or split.columns < data.width:
        return Cut(split)
    config = task.config
    weights = weight_banks(config, len(stored[0]))
    banks = usable_banks(config) - weights
    entries = entries_per_slice(config, data.width, data.channels, data.precision)
    rows = min(extent(node.weights.shape[2], node.dilation[0]), data.height)
    if banks < 1 or lines_that_fit(config, entries, banks) < 2 * (rows + node.stride[0]):
        return Cut(split)
    rate, group = config.timing.port_bytes, config.kernel_group(data.precision)
    delivery = group / config.timing.sdp + config.timing.position_extra
    positions = target.height * target.width
    compute = positions * max(atoms, delivery * -(-kernels // group))
    line = data.surfaces * data.width * config.memory_atom / rate

    def cycles(lines: int, again: float) -> tuple[float, int]:
        """Until the last piece has computed, if each of at most so many lines fetches *again*
        cycles of weights; and pieces."""
        found = list(pieces(data.height, target.height, lines, node, 0))
        loads = [piece.size * line + again * (number > 0) for number, piece in enumerate(found)]
        works = [compute * piece.count / target.height for piece in found]
        ahead = lines_that_fit(config, entries, banks) >= 2 * max(p.size for p in found)
        end = loads[0] + works[0]
        for load, work, before in zip(loads[1:], works[1:], works, strict=False):
            end += _BEHIND + work + max(load - before * ahead, 0)
        return end, len(found)

    plain = len(stored[0]) / rate
    best, chosen = cycles(split.lines, plain)[0], Cut(split)
    for count in range(2, _MOST + 1):
        step = -(-target.height // count) - 1
        lines = min(step * node.stride[0] + rows, data.height)
        took, made = cycles(lines, 0)
        if made > 1 and took < best and lines_that_fit(config, entries, banks) >= 2 * lines:
            best = took
            chosen = Cut(Split(weights, lines, split.columns), (banks, weights), True)
    return chosen
