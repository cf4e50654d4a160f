"""What happened to the DPUs of a process, with the time that hardware would take for it."""

from __future__ import annotations

import json
import threading
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from ..workers.protocol import TaskletTimes, Times
from .host import Host

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

    @property
    def utilisation(self) -> float:
        """Instructions a cycle of the slowest DPU, at most 1."""
        return self.instructions / self.cycles if self.cycles else 0.0


@dataclass
class Ledger:
    """Steps in the order in which they ended."""

    host: Host = field(default_factory=Host)
    steps: list[Transfer | Launch] = field(default_factory=list)
    _lock: threading.Lock = field(default_factory=threading.Lock, repr=False)

    @property
    def launches(self) -> list[Launch]:
        return [s for s in self.steps if isinstance(s, Launch)]

    @property
    def transfers(self) -> list[Transfer]:
        return [s for s in self.steps if isinstance(s, Transfer)]

    @property
    def seconds(self) -> float:
        """The sum of all steps, one after the other."""
        return sum(s.seconds or 0.0 for s in self.steps)

    def transfer(self, to_dpu: bool, size: int, dpus: int, ranks: int, same: bool) -> Transfer:
        """Notes a transfer of ``size`` bytes for each DPU."""
        kind = ("broadcast" if same and dpus > 1 else "to") if to_dpu else "from"
        seconds = self.host.transfer_seconds(to_dpu, size, dpus, ranks, same and dpus > 1)
        made = Transfer(kind, dpus, ranks, size * dpus, seconds)
        with self._lock:
            self.steps.append(made)
        return made

    def launch(
        self, program: str, clock_mhz: int, count: int, times: Mapping[str, Times]
    ) -> Launch:
        """Notes a launch on ``count`` DPUs; ``times``: of those that counted, by name."""
        if not times:
            made = Launch(program, count, clock_mhz, None)
        else:
            slowest = max(times, key=lambda name: times[name].cycles)
            worst = times[slowest]
            made = Launch(
                program,
                count,
                clock_mhz,
                self.host.launch_seconds(worst.cycles, clock_mhz),
                worst.cycles,
                min(t.cycles for t in times.values()),
                slowest,
                worst.instructions,
                worst.engine_cycles,
                worst.tasklets,
            )
        with self._lock:
            self.steps.append(made)
        return made

    def as_json(self) -> dict[str, Any]:
        """``{"version": 1, "host": {...}, "steps": [...]}``; times in seconds and cycles."""
        steps = [
            {"step": "launch" if isinstance(s, Launch) else "transfer", **asdict(s)}
            for s in self.steps
        ]
        return {"version": 1, "host": asdict(self.host), "seconds": self.seconds, "steps": steps}

    def write(self, path: str) -> None:
        """Raises OSError."""
        Path(path).write_text(json.dumps(self.as_json(), indent=1))
