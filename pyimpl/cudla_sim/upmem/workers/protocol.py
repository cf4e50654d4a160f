"""What workers leave in the memory that the host shares with them, as the host reads it.

``constants.dpu_protocol`` has the layout.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from operator import attrgetter
from typing import TYPE_CHECKING

from ...constants.dpu_protocol import (
    MAX_TASKLETS,
    MAX_WARNINGS,
    PROTOCOL_VERSION,
    FaultKind,
    WaitKind,
    dpu_event,
    dpu_side,
    dpu_wait,
)

if TYPE_CHECKING:
    from typing_extensions import Self


@dataclass(frozen=True)
class Wait:
    kind: WaitKind
    object: int
    pc: int

    @classmethod
    def of(cls, found: dpu_wait) -> Self:
        known = WaitKind(found.kind) if found.kind <= WaitKind.ENDED else WaitKind.NONE
        return cls(known, found.object, found.pc)


@dataclass(frozen=True)
class Event:
    """A fault or a warning. Addresses are link addresses; ``chain``: callers, innermost first."""

    kind: FaultKind
    code: int = 0
    tasklet: int = 0
    size: int = 0
    pc: int = 0
    address: int = 0
    other: int = 0
    other_tasklet: int = 0
    chain: tuple[int, ...] = ()

    @classmethod
    def of(cls, found: dpu_event) -> Self:
        known = found.kind in FaultKind.__members__.values()
        return cls(
            kind=FaultKind(found.kind) if known else FaultKind.NONE,
            code=found.code,
            tasklet=found.tasklet,
            size=found.size,
            pc=found.pc,
            address=found.address,
            other=found.other,
            other_tasklet=found.other_tasklet,
            chain=tuple(found.chain[: min(found.chain_length, len(found.chain))]),
        )


@dataclass(frozen=True)
class TaskletTimes:
    """``struct tasklet_times``: hardware time of a tasklet in one launch."""

    half_instructions: int
    retries: int
    dma_cycles: int
    wait_cycles: int
    end_cycles: int
    dma_read: int
    dma_written: int
    dma_transfers: int


_of_tasklet = attrgetter(*(field.name for field in fields(TaskletTimes)))


@dataclass(frozen=True)
class Times:
    """``struct dpu_times``; ``cycles`` and ``instructions`` of the whole DPU."""

    cycles: int
    instructions: int
    engine_cycles: int
    tasklets: tuple[TaskletTimes, ...]

    @classmethod
    def read(cls, page: bytes) -> Self | None:
        """From a side page; None when the launch was not timed."""
        side = dpu_side.from_buffer_copy(page)
        times = side.times
        if not times.counted or side.version != PROTOCOL_VERSION:
            return None  # or the program was linked with another release
        ran = times.tasklets[: min(side.nr_tasklets, MAX_TASKLETS)]
        each = tuple(TaskletTimes(*_of_tasklet(tasklet)) for tasklet in ran)
        return cls(side.cycles, side.instructions, times.engine_cycles, each)


@dataclass(frozen=True)
class Side:
    """A DPU's side page: how its last launch went."""

    version: int
    state: int
    tasklets: int
    cycles: int
    instructions: int
    log_total: int
    log_bytes: int
    log_wrapped: bool
    fault: Event
    waits: tuple[Wait, ...]
    warnings: tuple[Event, ...]

    @classmethod
    def read(cls, page: object) -> Self:
        """From the bytes of the page (anything with the buffer protocol)."""
        found = dpu_side.from_buffer_copy(page)  # type: ignore[arg-type]
        return cls(
            version=found.version,
            state=found.state,
            tasklets=found.nr_tasklets,
            cycles=found.cycles,
            instructions=found.instructions,
            log_total=found.log_total,
            log_bytes=found.log_bytes,
            log_wrapped=bool(found.log_wrapped),
            fault=Event.of(found.fault),
            waits=tuple(map(Wait.of, found.waits[: min(found.nr_tasklets, MAX_TASKLETS)])),
            warnings=tuple(map(Event.of, found.warnings[: min(found.nr_warnings, MAX_WARNINGS)])),
        )
