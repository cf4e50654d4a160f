"""Which bytes of memory an operation touches."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

Starts = NDArray[np.int64]


@dataclass(frozen=True)
class Extent:
    """Runs of *run* bytes in a memory, repeated by *levels* of (count, stride in bytes)."""

    memory: int
    start: int
    run: int
    levels: tuple[tuple[int, int], ...] = ()

    @cached_property
    def end(self) -> int:
        """First byte behind all of them."""
        return self.start + self.run + sum((n - 1) * step for n, step in self.levels if n > 0)

    @cached_property
    def simple(self) -> Extent:
        """The same bytes with levels from small to large steps, joined where they are packed."""
        run = self.run
        levels: list[tuple[int, int]] = []
        for count, step in sorted((level for level in self.levels if level[0] > 1), key=_step):
            if step == run and not levels:
                run *= count
            elif levels and step == levels[-1][0] * levels[-1][1]:
                levels[-1] = (levels[-1][0] * count, levels[-1][1])
            else:
                levels.append((count, step))
        return replace(self, run=run, levels=tuple(levels))

    @property
    def overlaps_itself(self) -> bool:
        """True if some repetitions lie on others."""
        inner = self.simple.run
        for count, step in self.simple.levels:
            if step < inner:
                return True
            inner += (count - 1) * step
        return False

    def _starts(self) -> Starts:
        found: Starts = np.array([self.start], np.int64)
        for count, step in self.levels:
            found = (found[:, None] + np.arange(count, dtype=np.int64) * step).ravel()
        found.sort()
        return found

    def meets(self, other: Extent) -> bool:
        """True if both touch a byte."""
        if self.memory != other.memory or self.start >= other.end or other.start >= self.end:
            return False
        first, second = self.simple, other.simple
        if not first.levels and not second.levels:
            return True
        if len(first.levels) < len(second.levels):
            first, second = second, first
        mine, theirs = first._starts(), second._starts()
        # the last of theirs that begins before the end of each of mine, does it reach it?
        before = np.searchsorted(theirs, mine + first.run, "left") - 1
        reach = theirs[np.maximum(before, 0)] + second.run
        return bool(((before >= 0) & (reach > mine)).any())


def _step(level: tuple[int, int]) -> int:
    return level[1]
