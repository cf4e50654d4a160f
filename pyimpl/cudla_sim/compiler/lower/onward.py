"""Pooling that takes what SDP makes on the fly: a convolution, its pass and PDP work as one chain,
or a pass over memory and PDP.

PDP keeps partial results of lines in a buffer of limited width and cannot go back: a chain makes
all columns and no line that no window takes. Where the convolution is cut, lines that windows of
both pieces need are computed twice.
Source: nvdla hardware manual "PDP" (on-the-fly processing); nvdla/sw ``pdp.c``.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from cudla_sim.nvdla.descriptors import OpType, PdpSurface
from cudla_sim.nvdla.facts.configs import HardwareConfig
from cudla_sim.nvdla.facts.limits import LARGEST
from cudla_sim.nvdla.facts.pooling import begun, covered, widest

from ..graph import Pool
from ..legalise.nodes import KernelConv
from . import cbuf, pool
from .cubes import Cube
from .cuts import Piece, covering
from .task import Task


@dataclass(frozen=True, slots=True)
class Lines:
    """Output lines of a pooling, the lines that they read, and pads above and below."""

    first: int
    count: int
    start: int
    size: int
    above: int
    below: int


@dataclass(frozen=True, slots=True)
class Pooling:
    """A pooling and where its result lies; those of a batch's pictures are *apart* bytes apart."""

    node: Pool
    target: Cube
    apart: int = 0

    def of(self, picture: int) -> Pooling:
        """That of another picture."""
        return replace(
            self, target=replace(self.target, offset=self.target.offset + picture * self.apart)
        )

    def lines(self, first: int, count: int, height: int) -> Lines:
        """Some output lines of a pooling of *height* lines."""
        (size, _), (step, _) = self.node.kernel, self.node.stride
        top = first * step - self.node.pads[0]
        above, start = max(-top, 0), max(top, 0)
        read, below = covered(height - start, count, size, step, above)
        return Lines(first, count, start, read, above, below)

    def columns(self, width: int) -> tuple[int, int]:
        """Columns that are read of *width*, and the pad to their right."""
        return covered(
            width, self.target.width, self.node.kernel[1], self.node.stride[1], self.node.pads[2]
        )

    def possible(self, height: int) -> bool:
        """True if PDP can do it in one piece, whatever comes before it."""
        node, target = self.node, self.target
        return (
            target.width <= widest(node.kernel[0], node.stride[0])
            and not begun(target.height, node.stride[0], node.pads[0])
            and height <= LARGEST
            and node.pads[0] < height
        )

    def whole(self, made: Cube) -> bool:
        """True if PDP can take all that a pass over memory makes."""
        read = self.lines(0, self.target.height, made.height).size, self.columns(made.width)[0]
        return (
            read == (made.height, made.width)
            and max(made.height, made.width) <= LARGEST
            and self.possible(made.height)
        )

    def fits(
        self,
        config: HardwareConfig,
        node: KernelConv,
        split: cbuf.Split,
        size: tuple[int, int],
        made: Cube,
        atoms: int,
    ) -> bool:
        """True if a convolution of *size* (height, width) is not cut by columns, and computes less
        twice than PDP would take alone. *atoms*: its cycles for a position."""
        if split.columns < size[1] or not self.possible(made.height):
            return False
        count = sum(1 for _ in self._cuts(node, size[0], made.height, split.lines))
        if not count:
            return False
        twice = max(self.node.kernel[0] - self.node.stride[0], 0) * (count - 1) * made.width
        alone = made.height * made.width * made.channels / config.timing.pdp
        return twice * atoms <= alone / 2

    def _cuts(self, node: KernelConv, height: int, made: int, most: int) -> Iterator[Lines]:
        """Pieces whose convolutions read at most so many lines; none if one line takes more."""
        found, first = [], 0
        while first < self.target.height:
            count = self.target.height - first
            while count and self._read(node, self.lines(first, count, made), height) > most:
                count -= 1
            if not count or (first and begun(count, self.node.stride[0], 0)):
                return
            found.append(self.lines(first, count, made))
            first += count
        yield from found

    @staticmethod
    def _read(node: KernelConv, lines: Lines, height: int) -> int:
        """Lines that the convolution reads for these."""
        return covering(node, 0, lines.start, lines.size, height).size

    def places(
        self, node: KernelConv, size: tuple[int, int], made: Cube, most: int
    ) -> Iterator[tuple[Piece, Piece, Lines]]:
        """Lines and columns of each convolution, and what is pooled of them."""
        wide, _ = self.columns(made.width)
        x = covering(node, 1, 0, wide, size[1])
        for lines in self._cuts(node, size[0], made.height, most):
            yield covering(node, 0, lines.start, lines.size, size[0]), x, lines

    def append(self, task: Task, made: Cube, first: int, last: int, lines: Lines) -> None:
        """Append the operation that pools channels *first* ... *last* of what SDP makes."""
        _, right = self.columns(made.width)
        part, _ = replace(self.target.whole(), channels=last + 1).channel_range(first, last)
        out = part.box(lines.first, lines.count, 0, self.target.width)
        op = pool.operation(
            self.node,
            made.precision,
            self.node.stride[0],
            (lines.above, lines.below, self.node.pads[2], right),
        )
        source = task.flying(made.channels, made.height, made.width)
        surface = PdpSurface(src=source, dst=task.cube(out.whole()))
        label, task.label = task.label, self.node.name
        task.append(OpType.PDP, op, surface, (), {self.target.buffer})
        task.label = label
