"""Planar inputs and outputs: RUBIK merges planes into a feature cube and splits one into planes.

A line is a multiple of 64 bytes, as TensorRT's dla_linear has it. Only nv_full has RUBIK.
Source: nvdla hardware manual "RUBIK"; TensorRT developer guide, DLA I/O formats.
"""

from __future__ import annotations

from cudla_sim.nvdla.descriptors import DataCube, MemoryType, OpType, RubikOp, RubikSurface
from cudla_sim.nvdla.facts.modes import Rubik
from cudla_sim.nvdla.facts.precisions import element_size

from .. import graph as g
from .cubes import Buffer, Cube
from .task import Task

_LINE = 64


def strides(shape: g.Shape, precision: int) -> tuple[int, int, int]:
    """Bytes of a line, a plane and a picture [1, c, h, w]."""
    _, channels, height, width = shape
    line = -(-width * element_size(precision) // _LINE) * _LINE
    return line, line * height, line * height * channels


def _planes(task: Task, shape: g.Shape, precision: int, buffer: Buffer, image: int) -> DataCube:
    _, channels, height, width = shape
    line, plane, size = strides(shape, precision)
    cube = DataCube(
        type=MemoryType.MC,
        width=width,
        height=height,
        channel=channels,
        line_stride=line,
        surf_stride=plane,
        plane_stride=plane,
        size=size,
    )
    return task.at(cube, buffer, image * size)


def merge(task: Task, value: g.Value, buffer: Buffer, target: Cube, image: int) -> None:
    """Append the operation that makes a feature cube of planes."""
    src = _planes(task, value.shape, target.precision, buffer, image)
    surface = RubikSurface(src=src, dst=task.cube(target))
    operation = RubikOp(Rubik.MERGE, target.precision, 1, 1)
    task.append(OpType.RUBIK, operation, surface, {buffer}, {target.buffer})


def split(task: Task, value: g.Value, source: Cube, buffer: Buffer, image: int) -> None:
    """Append the operation that makes planes of a feature cube without holes."""
    dst = _planes(task, value.shape, source.precision, buffer, image)
    surface = RubikSurface(src=task.cube(source), dst=dst)
    operation = RubikOp(Rubik.SPLIT, source.precision, 1, 1)
    task.append(OpType.RUBIK, operation, surface, {source.buffer}, {buffer})
