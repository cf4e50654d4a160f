"""Which node wrote which bytes of a loadable's memories last."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator
from typing import Any

Range = tuple[int, int]
"""Bytes [begin, end) of a memory."""


def ranges(cube: dict[str, Any], atom: int) -> Iterator[Range]:
    """The bytes of a cube of ``nvdla.inspect.describe``: its surfaces, and of these the lines where
    the cube is narrower than its tensor. Pieces of one tensor lie side by side in it.

    *atom*: bytes of a position in a surface. Source: public NVDLA hardware manual, "In-memory data
    formats".
    """
    offset, size, surface = cube["offset"], max(cube["size"], 1), cube.get("surface_stride", 0)
    _, height, width = cube["shape"]
    line, used = cube.get("line_stride", 0), width * atom
    whole = height * line
    if not 0 < whole <= surface:
        yield offset, offset + size
        return
    for start in range(offset, offset + size, surface):
        if used < line:
            for row in range(start, start + whole, line):
                yield row, row + used
        else:
            yield start, start + whole


class Written:
    """Disjoint ranges of one memory, each with who wrote it last."""

    def __init__(self) -> None:
        self._begins: list[int] = []
        self._ends: list[int] = []
        self._nodes: list[tuple[int, str]] = []  # when, who
        self._count = 0

    def write(self, written: Iterable[Range], node: str) -> None:
        self._count += 1
        for begin, end in written:
            self._replace(begin, end, (self._count, node))

    def _replace(self, begin: int, end: int, node: tuple[int, str]) -> None:
        first, last = self._touched(begin, end)
        begins, ends, nodes = [begin], [end], [node]
        if first < last:
            if self._begins[first] < begin:
                begins.insert(0, self._begins[first])
                ends.insert(0, begin)
                nodes.insert(0, self._nodes[first])
            if self._ends[last - 1] > end:
                begins.append(end)
                ends.append(self._ends[last - 1])
                nodes.append(self._nodes[last - 1])
        self._begins[first:last], self._ends[first:last] = begins, ends
        self._nodes[first:last] = nodes

    def _touched(self, begin: int, end: int) -> tuple[int, int]:
        return bisect_right(self._ends, begin), bisect_left(self._begins, end)

    def read(self, wanted: Iterable[Range]) -> list[str]:
        """The nodes whose bytes a read of these ranges sees, latest first, each once."""
        found = set()
        for begin, end in wanted:
            first, last = self._touched(begin, end)
            found.update(self._nodes[first:last])
        return [node for _, node in sorted(found, reverse=True)]
