"""Captured graphs: the work of a stream capture, in the order in which it was recorded.

CUDA Programming Guide, "Creating a Graph Using Stream Capture". The order of recording respects
every dependency, so a launch puts the work into one stream in that order.
"""

from __future__ import annotations

from ..core.queue import Work


class Graph:
    """Recorded work; ``handle`` is what the program knows it by."""

    def __init__(self) -> None:
        self.work: list[Work] = []
        self.handle = 0

    def executable(self) -> Graph:
        """Returns a copy, which later changes of this graph do not reach."""
        made = Graph()
        made.work = list(self.work)
        return made
