"""Which addresses of a space are free, so that it serves for ever."""

from __future__ import annotations

from bisect import bisect_left, insort
from collections import deque

RESTING = 1024
"""Ranges that were given back last and stay unused, so that stale pointers are recognised."""


class Ranges:
    """Hands out ranges of [first, end). Not locked: the owner is.

    Ranges that rested for long enough serve first, lowest address first; neighbours are joined, so
    there are never more of them than live ranges and one. Then come addresses that nobody had.
    """

    def __init__(self, first: int, end: int) -> None:
        self._fresh = first
        self._end = end
        self._resting: deque[tuple[int, int]] = deque()
        self._starts: list[int] = []
        self._sizes: dict[int, int] = {}

    def take(self, size: int) -> int | None:
        """The start of ``size`` free addresses; None when no range is that large."""
        found = self._rested(size)
        if found is None and self._fresh + size <= self._end:
            found, self._fresh = self._fresh, self._fresh + size
        while found is None and self._resting:
            self._free(*self._resting.popleft())
            found = self._rested(size)
        return found

    def give_back(self, start: int, size: int) -> None:
        self._resting.append((start, size))
        if len(self._resting) > RESTING:
            self._free(*self._resting.popleft())

    @property
    def largest(self) -> int:
        """The largest range that could still be taken."""
        resting = max((size for _, size in self._resting), default=0)
        return max(self._end - self._fresh, resting, max(self._sizes.values(), default=0))

    def _rested(self, size: int) -> int | None:
        for start in self._starts:
            if self._sizes[start] >= size:
                left = self._drop(start) - size
                if left:
                    self._put(start + size, left)
                return start
        return None

    def _free(self, start: int, size: int) -> None:
        index = bisect_left(self._starts, start)
        if index < len(self._starts) and self._starts[index] == start + size:
            size += self._drop(start + size)
        if index > 0:
            before = self._starts[index - 1]
            if before + self._sizes[before] == start:
                start, size = before, size + self._drop(before)
        if start + size == self._fresh:
            self._fresh = start
        else:
            self._put(start, size)

    def _put(self, start: int, size: int) -> None:
        insort(self._starts, start)
        self._sizes[start] = size

    def _drop(self, start: int) -> int:
        del self._starts[bisect_left(self._starts, start)]
        return self._sizes.pop(start)
