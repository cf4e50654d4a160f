"""How a launch ended, DPU by DPU."""

from __future__ import annotations

from dataclasses import dataclass, field

from ...constants.dpu_protocol import FaultKind, State
from .faults import explain
from .protocol import Event, Side, Times


@dataclass
class Outcome:
    """How a DPU's launch ended. ``pc`` and ``address`` are link addresses."""

    number: int
    status: str = "done"
    fault: FaultKind | None = None
    code: int = 0
    tasklet: int = 0
    pc: int = 0
    address: int = 0
    text: str = ""
    cycles: int = 0
    log_bytes: int = 0
    log_wrapped: bool = False
    warnings: list[str] = field(default_factory=list)


@dataclass
class Launch:
    """``faulted``: only the DPUs with a fault or with warnings."""

    faulted: list[Outcome]
    seconds: float
    times: dict[int, Times] = field(default_factory=dict)
    """By DPU, of a launch in hardware time whose program counts."""


def recorded(number: int, page: bytes, image: bytes, warned: set[tuple[int, int]]) -> Outcome:
    """From the side page of a DPU whose worker is well.

    ``warned``: kinds and places of the warnings that the program has given; the same warning is
    given once, not once a DPU and launch.
    """
    side = Side.read(page)
    fresh = [w for w in side.warnings if (w.kind, w.pc) not in warned]
    warned.update((w.kind, w.pc) for w in fresh)
    outcome = Outcome(
        number,
        cycles=side.cycles,
        log_bytes=side.log_bytes,
        log_wrapped=side.log_wrapped,
        warnings=[explain(image, w, side) for w in fresh],
    )
    if side.state == State.FAULT:
        fault = side.fault
        outcome.status, outcome.fault, outcome.code = "fault", fault.kind, fault.code
        outcome.tasklet, outcome.pc, outcome.address = fault.tasklet, fault.pc, fault.address
        outcome.text = explain(image, fault, side)
    return outcome


def stopped(number: int, cancelled: bool, signal: int, why: str = "") -> Outcome:
    """Of a DPU that did not come to its end: ``signal`` ended its worker (0: not known), or the
    host gave up, and ``why``."""
    kind = FaultKind.CANCELLED if cancelled else FaultKind.WORKER
    event = Event(kind, signal)
    return Outcome(number, "fault", kind, text=why or explain(None, event))
