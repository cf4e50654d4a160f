"""Which bytes of a buffer an operation touches, as boxes where cubes have the same strides.

Pieces of one cube lie between each other's lines and surfaces: only as boxes of surfaces, lines
and pixels can they be told apart.
"""

from __future__ import annotations

from dataclasses import dataclass

from cudla_sim.nvdla.descriptors import ConvOp, DataCube, OpType, SdpOp
from cudla_sim.nvdla.facts.configs import HardwareConfig
from cudla_sim.nvdla.facts.formats import FEATURE

from ..lower.cubes import Buffer
from ..lower.task import LabelledOp, Task

_CUBES = frozenset((OpType.CONV, OpType.SDP, OpType.PDP, OpType.CDP))
"""Units whose cubes are feature cubes, but for pictures that a convolution reads."""


@dataclass(frozen=True, slots=True)
class Area:
    """*surfaces* of *lines* of *run* bytes; without strides one run. Offsets in the buffer."""

    buffer: Buffer
    start: int
    run: int
    line: int = 0
    lines: int = 1
    surface: int = 0
    surfaces: int = 1

    @property
    def end(self) -> int:
        """Behind the last byte."""
        steps = (self.lines - 1) * self.line + (self.surfaces - 1) * self.surface
        return self.start + self.run + steps

    def meets(self, other: Area) -> bool:
        """True if both touch a byte, or may: areas of other strides do where they overlap."""
        ahead, behind = self.buffer.offset + self.start, other.buffer.offset + other.start
        if self.buffer.entry != other.buffer.entry:
            return False
        if ahead >= other.buffer.offset + other.end or behind >= self.buffer.offset + self.end:
            return False
        if self.buffer.offset != other.buffer.offset or not self.line:
            return True
        if (self.line, self.surface) != (other.line, other.surface):
            return True
        mine, theirs = self._box(), other._box()
        if mine is None or theirs is None:
            return True
        return all(a < d and c < b for (a, b), (c, d) in zip(mine, theirs, strict=True))

    def _box(self) -> tuple[tuple[int, int], ...] | None:
        """Ranges of surfaces, lines and bytes; None if it runs over the end of one of them."""
        surface, rest = divmod(self.start, self.surface)
        line, byte = divmod(rest, self.line)
        if line * self.line + (self.lines - 1) * self.line + byte + self.run > self.surface:
            return None
        if byte + self.run > self.line:
            return None
        return (
            (surface, surface + self.surfaces),
            (line, line + self.lines),
            (byte, byte + self.run),
        )


@dataclass(frozen=True, slots=True)
class Touched:
    """What an operation reads and writes."""

    reads: tuple[Area, ...]
    writes: tuple[Area, ...]


def of(task: Task, op: LabelledOp) -> Touched:
    """The areas of an operation; constants are left out: nobody writes them."""
    found: dict[str, list[Area]] = {"reads": [], "writes": []}
    exact: set[Buffer] = set()
    picture = op.op_type == OpType.CONV and getattr(op.operation, "data_format", 0) != FEATURE
    if op.op_type in _CUBES and not picture:
        for name in ("src", "x1", "x2", "y", "dst"):
            cube = getattr(op.surface, name, None)
            place = None if cube is None else task.placed(cube)
            if cube is not None and place is not None and place[0] is not task.weights:
                key = "writes" if name == "dst" else "reads"
                buffer, offset = place
                for start in _pictures(op, name, offset):
                    found[key].append(_area(cube, buffer, start, task.config))
                exact.add(buffer)
    for key, buffers in (("reads", op.reads), ("writes", op.writes)):
        for buffer in buffers - exact - {task.weights}:
            found[key].append(Area(buffer, 0, buffer.size))
    return Touched(tuple(found["reads"]), tuple(found["writes"]))


def _pictures(op: LabelledOp, name: str, offset: int) -> range:
    """Where the cubes of a batch's pictures begin, if the first one is at *offset*."""
    made = op.operation
    if isinstance(made, ConvOp) and name == "src" and made.batch > 1:
        count, stride = made.batch, made.batch_stride
    elif isinstance(made, SdpOp) and name == "dst" and made.batch_num > 1:
        count, stride = made.batch_num, made.batch_stride
    else:
        return range(offset, offset + 1)
    return range(offset, offset + count * stride, stride)


def _area(cube: DataCube, buffer: Buffer, offset: int, config: HardwareConfig) -> Area:
    surfaces = cube.size // cube.surf_stride if cube.surf_stride else 1
    run = cube.width * config.memory_atom
    return Area(buffer, offset, run, cube.line_stride, cube.height, cube.surf_stride, surfaces)
