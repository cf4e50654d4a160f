"""Pooling by PDP, in vertical stripes where the line buffer is too short for a whole line.

Source: nvdla hardware manual "PDP"; line buffer rule of nvdla/sw `PDPNode.cpp`.
"""

from __future__ import annotations

from dataclasses import replace

from cudla_sim.nvdla.descriptors import OpType, PdpOp, PdpSurface
from cudla_sim.nvdla.limits.pooling import widest
from cudla_sim.nvdla.modes import Pooling, by_word

from ..graph import Pool
from .cubes import Cube
from .task import Task


def emit(task: Task, node: Pool, source: Cube, target: Cube) -> None:
    """Append the operations of a pooling; kernel up to 8, stride up to 8, pads up to 7."""
    (kh, kw), (sy, sx) = node.kernel, node.stride
    top, _, left, _ = node.pads
    most = widest(kh, sy)
    for first in range(0, target.width, most):
        count = min(most, target.width - first)
        low, high = first * sx - left, (first + count - 1) * sx - left + kw
        start, end = max(low, 0), min(high, source.width)
        bottom = (target.height - 1) * sy - top + kh - source.height
        data = source.whole().box(0, source.height, start, end - start)
        out = replace(target.whole(), channels=source.channels).box(0, target.height, first, count)
        operation = PdpOp(
            pool_mode=by_word(Pooling)[node.mode],
            pool_width=kw - 1,
            pool_height=kh - 1,
            stride_x=sx,
            stride_y=sy,
            pad_left=start - low,
            pad_right=max(high - end, 0),
            pad_top=top,
            pad_bottom=max(bottom, 0),
            precision=source.precision,
        )
        surface = PdpSurface(src=task.cube(data), dst=task.cube(out))
        task.append(OpType.PDP, operation, surface, {source.buffer}, {target.buffer})
