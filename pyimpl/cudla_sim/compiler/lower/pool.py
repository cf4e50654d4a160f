"""Pooling by PDP, in vertical stripes where the line buffer is too short for a whole line.

Source: nvdla hardware manual "PDP"; line buffer rule of nvdla/sw `PDPNode.cpp`.
"""

from __future__ import annotations

from dataclasses import replace

from cudla_sim.nvdla.descriptors import OpType, PdpOp, PdpSurface
from cudla_sim.nvdla.facts.limits import LARGEST, POOLING_STRIDE
from cudla_sim.nvdla.facts.modes import Pooling, by_word
from cudla_sim.nvdla.facts.pooling import begun, covered, widest

from ..graph import Pads, Pool
from .cubes import Cube
from .task import Task


def emit(task: Task, node: Pool, source: Cube, target: Cube) -> None:
    """Append the operations of a pooling; kernel up to 8, stride up to 8, pads up to 7."""
    if begun(target.height, node.stride[0], node.pads[0]):
        for line in range(target.height):  # one line has no stride
            _lines(task, node, source, target, line, 1, POOLING_STRIDE)
    else:
        most = (LARGEST - node.kernel[0]) // node.stride[0] + 1
        for line in range(0, target.height, most):
            lines = min(most, target.height - line)
            _lines(task, node, source, target, line, lines, node.stride[0])


def _lines(
    task: Task, node: Pool, source: Cube, target: Cube, line: int, lines: int, stride: int
) -> None:
    """Append the operations of some lines of the output."""
    (kh, kw), (sy, sx) = node.kernel, node.stride
    above = line * sy - node.pads[0]
    top, begin, left = max(-above, 0), max(above, 0), node.pads[2]
    height, bottom = covered(source.height - begin, lines, kh, stride, top)
    most = widest(kh, stride)
    for first in range(0, target.width, most):
        count = min(most, target.width - first)
        low, high = first * sx - left, (first + count - 1) * sx - left + kw
        start, end = max(low, 0), min(high, source.width)
        data = source.whole().box(begin, height, start, end - start)
        out = replace(target.whole(), channels=source.channels).box(line, lines, first, count)
        pads = (top, bottom, start - low, max(high - end, 0))
        op = operation(node, source.precision, stride, pads)
        surface = PdpSurface(src=task.cube(data), dst=task.cube(out))
        task.append(OpType.PDP, op, surface, {source.buffer}, {target.buffer})


def operation(node: Pool, precision: int, stride: int, pads: Pads) -> PdpOp:
    """A pooling with the windows of *node*; *stride* is its step down, *pads* as in graph.Pool."""
    return PdpOp(
        pool_mode=by_word(Pooling)[node.mode],
        pool_width=node.kernel[1] - 1,
        pool_height=node.kernel[0] - 1,
        stride_x=node.stride[1],
        stride_y=stride,
        pad_left=pads[2],
        pad_right=pads[3],
        pad_top=pads[0],
        pad_bottom=pads[1],
        precision=precision,
    )
