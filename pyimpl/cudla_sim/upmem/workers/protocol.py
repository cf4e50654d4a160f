"""What host and workers share in memory: the mirror of shim/dpu_run/protocol.h.

Also the addresses at which a program's parts are linked (shim/dpu_run/program.ld).
"""

from __future__ import annotations

import struct
from dataclasses import dataclass
from enum import IntEnum
from typing import Self

WRAM_WINDOW = 0x07E0_0000
MRAM_WINDOW = 0x0800_0000
TEXT_BASE = 0x2000_0000
STACKS_BASE = 0x1000_0000
STACK_STRIDE = 0x10_0000
STACKS_END = STACKS_BASE + 24 * STACK_STRIDE

SLOT_SIDE = 0x401_0000
SLOT_PROFILE = 0x402_0000
PROFILE_SIZE = 0xE_0000
SIDE_SIZE = 4096
WRAM_SIZE = 0x1_0000
MRAM_SIZE = 0x400_0000
MAX_TASKLETS = 24
MAX_WARNINGS = 12
PROTOCOL_VERSION = 3

FRAME_SLOTS = 4096
FRAME_STRIDE = 0x8000
MAX_FRAMES = 64
FRAME_HEADER = struct.Struct("<5I")
FRAME_SLOTS_OFFSET = 64
FRAME_OWNER_OFFSET = FRAME_SLOTS_OFFSET + 4 * FRAME_SLOTS
FRAME_STATUS_OFFSET = FRAME_OWNER_OFFSET + 2 * FRAME_SLOTS


class State(IntEnum):
    PENDING = 0
    RUNNING = 1
    DONE = 2
    FAULT = 3
    WARNED = 4


class FaultKind(IntEnum):
    """``enum fault_kind``: why a DPU stopped, or what a strict check saw."""

    NONE = 0
    PROGRAM = 1
    DEADLOCK = 2
    MEMORY = 3
    NULL = 4
    STACK = 5
    INSTRUCTION = 6
    MRAM_ALIGN = 7
    MRAM_BOUNDS = 8
    DMA_SIZE = 9
    DMA_WRAM = 10
    UNWRITTEN = 11
    RACE = 12
    WORKER = 13
    CANCELLED = 14
    HEAP = 15


class WaitKind(IntEnum):
    """``enum wait_kind``: what a tasklet waits for."""

    NONE = 0
    BARRIER = 1
    MUTEX = 2
    SEMAPHORE = 3
    NOTIFY = 4
    HANDSHAKE = 5
    VMUTEX = 6
    STOPPED = 7
    ENDED = 8


_HEAD = struct.Struct("<4I3Q2I")
_EVENT = struct.Struct("<4I3Q2I8Q")
_WAIT = struct.Struct("<IIQ")
_TIMES = struct.Struct("<2IQ")
_TASKLET_TIMES = struct.Struct("<8Q")
TIMES_OFFSET = _HEAD.size + _EVENT.size * (1 + MAX_WARNINGS) + _WAIT.size * MAX_TASKLETS
SIDE_USED = TIMES_OFFSET + _TIMES.size + _TASKLET_TIMES.size * MAX_TASKLETS


@dataclass(frozen=True)
class Wait:
    kind: WaitKind
    object: int
    pc: int


@dataclass(frozen=True)
class Event:
    """A fault or a warning. Addresses are link addresses; ``chain``: callers, innermost first."""

    kind: FaultKind
    code: int
    tasklet: int
    size: int
    pc: int
    address: int
    other: int
    other_tasklet: int
    chain: tuple[int, ...]

    @classmethod
    def unpack(cls, data: bytes, offset: int) -> Self:
        kind, code, tasklet, size, pc, address, other, other_tasklet, length, *chain = (
            _EVENT.unpack_from(data, offset)
        )
        known = FaultKind(kind) if kind in FaultKind.__members__.values() else FaultKind.NONE
        return cls(
            known, code, tasklet, size, pc, address, other, other_tasklet, tuple(chain[:length])
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
        head = _HEAD.unpack_from(page)
        tasklets, cycles, instructions = head[3], head[4], head[5]
        counted, _, engine = _TIMES.unpack_from(page, TIMES_OFFSET)
        if not counted or head[0] != PROTOCOL_VERSION:
            return None  # or the program was linked with another release
        start = TIMES_OFFSET + _TIMES.size
        each = tuple(
            TaskletTimes(*_TASKLET_TIMES.unpack_from(page, start + i * _TASKLET_TIMES.size))
            for i in range(min(tasklets, MAX_TASKLETS))
        )
        return cls(cycles, instructions, engine, each)


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
        data = bytes(memoryview(page)[:SIDE_USED])  # type: ignore[arg-type]
        version, state, warned, tasklets, cycles, instructions, total, log, wrapped = (
            _HEAD.unpack_from(data)
        )
        at = _HEAD.size
        fault = Event.unpack(data, at)
        at += _EVENT.size
        waits = []
        for i in range(MAX_TASKLETS):
            kind, target, pc = _WAIT.unpack_from(data, at + i * _WAIT.size)
            waits.append(Wait(WaitKind(kind if kind <= WaitKind.ENDED else 0), target, pc))
        at += MAX_TASKLETS * _WAIT.size
        warnings = tuple(
            Event.unpack(data, at + i * _EVENT.size) for i in range(min(warned, MAX_WARNINGS))
        )
        return cls(
            version,
            state,
            tasklets,
            cycles,
            instructions,
            total,
            log,
            bool(wrapped),
            fault,
            tuple(waits[: min(tasklets, MAX_TASKLETS)]),
            warnings,
        )
