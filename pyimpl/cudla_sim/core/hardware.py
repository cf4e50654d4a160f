"""Hardware time: how long engines would be busy, each on a clock of its own that begins at 0."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from time import monotonic_ns
from types import MappingProxyType
from typing import Any, NamedTuple

from .events import Event, EventHub

KIND = "hardware"
"""Of events whose times are nanoseconds of an engine's own clock."""


class Part(NamedTuple):
    """What one unit or tasklet did during a step; seconds from the step's begin."""

    track: str
    name: str
    begin_s: float
    end_s: float
    details: Mapping[str, Any] = MappingProxyType({})


class Step(NamedTuple):
    """One task, launch or transfer."""

    engine: str
    name: str
    seconds: float
    cycles: int | None
    """None: the engine has no clock (transfers)."""
    begin_s: float | None = None
    """On the engine's clock; None: when the step before it has ended."""
    overlap_s: float = 0.0
    """Seconds of it in which other steps of the engine take time anyway."""


class Timeline:
    """Puts the steps of each engine one behind the other and tells who watches."""

    def __init__(self, events: EventHub) -> None:
        self._events = events
        self._ns: dict[str, int] = {}
        self._origin_us = monotonic_ns() // 1000
        self._lock = threading.Lock()

    def clock_us(self, engine: str) -> int:
        """The engine's clock in microseconds, as if it had begun when the process did."""
        with self._lock:
            return self._origin_us + self._ns.get(engine, 0) // 1000

    def add(
        self, step: Step, details: dict[str, Any] | None = None, parts: Iterable[Part] = ()
    ) -> None:
        """Notes that ``step`` ended; events for it and for its parts, with the engine as track.

        Steps without a begin follow each other.
        """
        length = round(step.seconds * 1e9)
        with self._lock:
            now = self._ns.get(step.engine, 0)
            begin = now if step.begin_s is None else round(step.begin_s * 1e9)
            self._ns[step.engine] = max(now, begin + length)
        if not self._events.subscribers:
            return
        found = {**(details or {}), "cycles": step.cycles, "step": step}
        self._events.emit_span(KIND, step.name, begin, begin + length, found, step.engine)
        for track, name, begin_s, end_s, more in parts:
            where = f"{step.engine} {track}"
            start, end = begin + round(begin_s * 1e9), begin + round(end_s * 1e9)
            self._events.emit_span(KIND, name, start, end, dict(more), where)


@dataclass
class Times:
    """What the engines did while somebody watched."""

    steps: list[Step] = field(default_factory=list)

    def __call__(self, event: Event) -> None:
        if event.kind == KIND and "step" in event.details:
            self.steps.append(event.details["step"])

    @property
    def cycles(self) -> int:
        """Of all tasks and launches together."""
        return sum(s.cycles or 0 for s in self.steps)

    @property
    def seconds(self) -> float:
        """Of all steps, transfers too; what an engine does at the same time counts once."""
        return sum(s.seconds - s.overlap_s for s in self.steps)

    @property
    def milliseconds(self) -> float:
        return 1e3 * self.seconds
