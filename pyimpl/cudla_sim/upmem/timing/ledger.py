"""What happened to the DPUs of a process, with the time that hardware would take for it."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from ..workers.protocol import TaskletTimes, Times
from .host import Host

VERSION = 1
"""Of the files that :meth:`Ledger.write` makes."""

WITHOUT_COUNT = (
    "not counted: compile the DPU program with CUDLA_SIM_UPMEM_TIMING=model in the environment "
    "(and clang)"
)


@dataclass(frozen=True)
class Transfer:
    """``bytes``: of all DPUs together. ``kind``: to, from, or broadcast."""

    kind: str
    dpus: int
    ranks: int
    bytes: int
    seconds: float
    begin_s: float = field(default=0.0, compare=False)
    """On the clock of the ledger."""
    overlap_s: float = field(default=0.0, compare=False)
    """Seconds of it in which other ranks, or the host, take time anyway."""


@dataclass(frozen=True)
class Launch:
    """One program on some DPUs. ``cycles``: of the slowest DPU, whose place is ``slowest``;
    ``instructions`` and ``tasklets`` are its own. None when the program does not count."""

    program: str
    dpus: int
    clock_mhz: int
    seconds: float | None
    cycles: int | None = None
    least_cycles: int | None = None
    slowest: str = ""
    instructions: int = 0
    engine_cycles: int = 0
    tasklets: tuple[TaskletTimes, ...] = ()
    begin_s: float = field(default=0.0, compare=False)
    overlap_s: float = field(default=0.0, compare=False)
    dpu_cycles: Mapping[str, int] = field(default_factory=dict)
    """Of every DPU, by its place ``rank.chip.number``."""
    profile: dict[str, Any] | None = None
    """As ``timing.profiling.collect`` has it."""

    @property
    def utilisation(self) -> float:
        """Instructions a cycle of the slowest DPU, at most 1."""
        return self.instructions / self.cycles if self.cycles else 0.0


class Clock:
    """The host and the ranks, each with the time at which it is free again.

    A call that waits takes the host's time and that of its ranks. Queued work begins when its call
    was made and its rank is free, and takes the rank's time only, until somebody waits for it.
    """

    def __init__(self) -> None:
        self.host = 0.0
        self._ranks: dict[int, float] = {}

    @property
    def elapsed(self) -> float:
        """Seconds until everything has ended."""
        return max(self.host, *self._ranks.values(), 0.0)

    def wait(self, ranks: Iterable[int]) -> None:
        """The host goes on when these have ended."""
        self.host = max(self.host, *(self._ranks.get(r, 0.0) for r in ranks), 0.0)

    def place(
        self, ranks: Iterable[int], seconds: float, called: float | None
    ) -> tuple[float, float]:
        """Begin of a step and what of it is in the shadow of others; *called*: when queued work was
        asked for, None for a call that waits."""
        ranks, before = list(ranks), self.elapsed
        if called is None:
            self.wait(ranks)
        start = self.host if called is None else called
        begin = max([start, *(self._ranks.get(r, 0.0) for r in ranks)])
        for rank in ranks:
            self._ranks[rank] = begin + seconds
        if called is None:
            self.host = begin + seconds
        return begin, max(seconds - (self.elapsed - before), 0.0)


@dataclass
class Ledger:
    """Steps in the order in which they ended."""

    host: Host = field(default_factory=Host)
    steps: list[Transfer | Launch] = field(default_factory=list)
    _clock: Clock = field(default_factory=Clock, repr=False)
    _lock: threading.Lock = field(default_factory=threading.Lock, repr=False)

    @property
    def now(self) -> float:
        """The host's clock, in seconds of hardware time since the first step."""
        with self._lock:
            return self._clock.host

    def wait(self, ranks: Iterable[int]) -> None:
        """The host has waited for what these ranks had queued."""
        with self._lock:
            self._clock.wait(ranks)

    @property
    def launches(self) -> list[Launch]:
        return [s for s in self.steps if isinstance(s, Launch)]

    @property
    def transfers(self) -> list[Transfer]:
        return [s for s in self.steps if isinstance(s, Transfer)]

    @property
    def seconds(self) -> float:
        """Hardware time of all steps; what runs at the same time on several ranks counts once."""
        with self._lock:
            return self._clock.elapsed

    def transfer(
        self,
        to_dpu: bool,
        size: int,
        dpus: int,
        ranks: Sequence[int],
        same: bool,
        called: float | None = None,
        beside: tuple[int, int] = (0, 0),
    ) -> Transfer:
        """Notes a transfer of ``size`` bytes for each DPU of these ranks. *beside*: DPUs and ranks
        that the same call also queued, which share the bandwidth."""
        kind = ("broadcast" if same and dpus > 1 else "to") if to_dpu else "from"
        seconds = self.host.transfer_seconds(
            to_dpu, size, dpus + beside[0], len(ranks) + beside[1], same and dpus > 1
        )
        with self._lock:
            begin, overlap = self._clock.place(ranks, seconds, called)
            made = Transfer(kind, dpus, len(ranks), size * dpus, seconds, begin, overlap)
            self.steps.append(made)
        return made

    def launch(
        self,
        program: str,
        clock_mhz: int,
        count: int,
        times: Mapping[str, Times],
        ranks: Sequence[int] = (0,),
        called: float | None = None,
        profile: dict[str, Any] | None = None,
    ) -> Launch:
        """Notes a launch on ``count`` DPUs of these ranks; ``times``: of those that counted, by
        name."""
        if not times:
            made = Launch(program, count, clock_mhz, None)
            with self._lock:
                self.steps.append(made)
            return made
        slowest = max(times, key=lambda name: times[name].cycles)
        worst = times[slowest]
        seconds = self.host.launch_seconds(worst.cycles, clock_mhz)
        with self._lock:
            begin, overlap = self._clock.place(ranks, seconds, called)
            made = Launch(
                program,
                count,
                clock_mhz,
                seconds,
                worst.cycles,
                min(t.cycles for t in times.values()),
                slowest,
                worst.instructions,
                worst.engine_cycles,
                worst.tasklets,
                begin,
                overlap,
                {name: t.cycles for name, t in times.items()},
                profile,
            )
            self.steps.append(made)
        return made

    def as_json(self) -> dict[str, Any]:
        """``{"schema_version": 1, "host": {...}, "steps": [...]}``; times in seconds and cycles."""
        steps = [
            {"step": "launch" if isinstance(s, Launch) else "transfer", **asdict(s)}
            for s in self.steps
        ]
        about = {"schema_version": VERSION, "version": VERSION}
        return {**about, "host": asdict(self.host), "seconds": self.seconds, "steps": steps}

    def write(self, path: str) -> None:
        """Raises OSError."""
        Path(path).write_text(json.dumps(self.as_json(), indent=1))
