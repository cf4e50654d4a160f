"""Copies that move lines and pixels: SDP passes that see a cube in other shapes.

RUBIK, where there is one, interleaves groups of channels. No other unit has a step between
pixels, but SDP may read and write any cube: pixels as lines (a cube of
width 1 whose lines are one atom apart) and lines as surfaces. A step between pixels is then a
line stride. Source: nvdla hardware manual "SDP RDMA".
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from cudla_sim.nvdla.descriptors import OpType, RubikOp, RubikSurface
from cudla_sim.nvdla.facts.limits import LARGEST, RUBIK_STRIDE
from cudla_sim.nvdla.facts.modes import Rubik

from ..legalise.nodes import GatherLines, Interleave
from . import sdp
from .cubes import Cube
from .task import Task


def as_pixels(cube: Cube, surface: int, y: int, lines: int, x: int, step: int, count: int) -> Cube:
    """Some pixels of one surface: *count* pixels from x with a step, of *lines* lines from y."""
    atom = cube.config.memory_atom
    return replace(
        cube,
        offset=cube.offset + surface * cube.surface + y * cube.line + x * atom,
        channels=lines * cube.per_atom,
        height=count,
        width=1,
        line=step * atom,
        surface=cube.line,
        positions=np.arange(lines * cube.per_atom),
    )


def _line_chunks(cube: Cube) -> Iterator[tuple[int, int]]:
    """Lines that one copy can present as surfaces."""
    most = LARGEST // cube.per_atom
    for first in range(0, cube.height, most):
        yield first, min(most, cube.height - first)


def interleave(task: Task, node: Interleave, source: Cube, target: Cube) -> None:
    """Append what spreads groups of channels over pixels: RUBIK, or copies."""
    sy, sx = node.stride
    atoms = node.group // source.per_atom
    whole = source.whole()
    if task.config.rubik and atoms == target.surfaces and max(node.stride) <= RUBIK_STRIDE:
        operation = RubikOp(Rubik.CONTRACT, source.precision, sx, sy)
        cubes = RubikSurface(src=task.cube(whole), dst=task.cube(target))
        task.append(OpType.RUBIK, operation, cubes, {source.buffer}, {target.buffer})
        return
    for surface in range(target.surfaces):
        for j in range(sy):
            for i in range(sx):
                phase = (j * sx + i) * atoms + surface
                for y, lines in _line_chunks(source):
                    pixels = as_pixels(whole, phase, y, lines, 0, 1, source.width)
                    out = as_pixels(target, surface, y * sy + j, lines, i, sx, source.width)
                    sdp.copy(task, pixels, replace(out, surface=target.line * sy))


def phases(index: NDArray[np.int64]) -> list[tuple[int, int, int, int, int]]:
    """Cut an index list into runs (output first, step, source first, step, count)."""
    length = len(index)
    best: list[tuple[int, int, int, int, int]] = [
        (start, 1, int(index[start]), step, count) for start, step, count in _runs(index)
    ]
    for period in range(2, min(length // 2, 64) + 1):
        if period >= len(best):
            break
        parts = [index[first::period] for first in range(period)]
        steps = [np.unique(np.diff(part)) for part in parts]
        if all(len(step) <= 1 and (len(step) == 0 or step[0] >= 1) for step in steps):
            best = [
                (first, period, int(part[0]), int(step[0]) if len(step) else 1, len(part))
                for first, (part, step) in enumerate(zip(parts, steps, strict=True))
            ]
            break
    return best


def _runs(index: NDArray[np.int64]) -> Iterator[tuple[int, int, int]]:
    """Runs of an arithmetic progression: (start, step, count)."""
    start = 0
    while start < len(index):
        end = start + 1
        step = max(int(index[end] - index[start]), 1) if end < len(index) else 1
        while end < len(index) and index[end] - index[end - 1] == step:
            end += 1
        yield start, step, end - start
        start = end


def gather_rows(task: Task, rows: NDArray[np.int64], source: Cube, target: Cube) -> None:
    """Append copies of whole lines."""
    for out, out_step, first, step, count in phases(rows):
        data = source.whole().box(first, count, 0, source.width)
        result = target.whole().box(out, count, 0, target.width)
        data = replace(data, line=source.line * step)
        sdp.copy(task, data, replace(result, line=target.line * out_step))


def gather_columns(task: Task, columns: NDArray[np.int64], source: Cube, target: Cube) -> None:
    """Append copies of pixels."""
    whole = source.whole()
    for out, out_step, first, step, count in phases(columns):
        if out_step == 1 and step == 1:
            data = whole.box(0, source.height, first, count)
            sdp.copy(task, data, target.whole().box(0, target.height, out, count))
            continue
        for surface in range(source.surfaces):
            for y, lines in _line_chunks(source):
                pixels = as_pixels(whole, surface, y, lines, first, step, count)
                result = as_pixels(target, surface, y, lines, out, out_step, count)
                sdp.copy(task, pixels, result)


def is_identity(index: NDArray[np.int64], length: int) -> bool:
    """True if a list of lines is all lines in their order."""
    return len(index) == length and bool((index == np.arange(length)).all())


def gather(task: Task, node: GatherLines, source: Cube, target: Cube, middle: Cube | None) -> None:
    """Append copies by lines, by pixels, or lines into *middle* and then pixels."""
    rows_same = is_identity(node.rows, source.height)
    columns_same = is_identity(node.columns, source.width)
    if columns_same:
        gather_rows(task, node.rows, source, target)
    elif rows_same:
        gather_columns(task, node.columns, source, target)
    else:
        assert middle is not None
        gather_rows(task, node.rows, source, middle)
        gather_columns(task, node.columns, middle, target)


def transpose(task: Task, source: Cube, target: Cube) -> None:
    """Append the exchange of lines and pixels: a line of the source is a column of the target."""
    whole = source.whole()
    for y in range(source.height):
        line = whole.box(y, 1, 0, source.width)
        column = replace(target.whole().box(0, source.width, y, 1), channels=source.channels)
        flat = replace(line, height=source.width, width=1, line=source.config.memory_atom)
        sdp.copy(task, flat, column)
