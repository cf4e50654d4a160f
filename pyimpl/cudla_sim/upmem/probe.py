"""Intervals that a program measures (dpu_probe.h): their time, and an energy from rated power."""

from __future__ import annotations

from dataclasses import dataclass
from time import perf_counter

from .system import System
from .timing.ledger import WITHOUT_COUNT, Launch

WATTS_PER_DPU = 383 / 2556
"""The PrIM paper's estimate (arXiv 2105.03814) of the thermal design power of 2556 DPUs."""

NOT_HARDWARE = (
    "DPU_ENERGY is the rated power of the allocated DPUs over this simulator's wall time; "
    "with CUDLA_SIM_UPMEM_TIMING=model in the environment, when the DPU program is compiled, too, "
    "it is over hardware time"
)


@dataclass(frozen=True)
class Begun:
    """An interval that has not ended. ``begin`` is in hardware time where ``hardware``."""

    hardware: bool
    begin: float
    dpus: int
    steps: int


def begin(machine: System, dpus: int) -> Begun:
    ledger = machine.hardware
    if machine.timed:
        return Begun(True, ledger.now, dpus, len(ledger.steps))
    return Begun(False, perf_counter(), dpus, 0)


def end(machine: System, begun: Begun, dpus: int) -> tuple[float, float, str]:
    """Seconds, joules, and what is to be said of them.

    The DPUs of both ends count, for programs that allocate within the interval or free there."""
    ledger = machine.hardware
    seconds = max((ledger.now if begun.hardware else perf_counter()) - begun.begin, 0.0)
    joules = WATTS_PER_DPU * max(dpus, begun.dpus) * seconds
    if not begun.hardware:
        return seconds, joules, NOT_HARDWARE
    for step in ledger.steps[begun.steps :]:
        if isinstance(step, Launch) and step.seconds is None:
            return seconds, joules, f"launches of {step.program!r} take no time: {WITHOUT_COUNT}"
    return seconds, joules, ""
