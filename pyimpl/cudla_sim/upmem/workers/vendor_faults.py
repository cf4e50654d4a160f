"""Faults of programs of the vendor's compiler in one sentence: cause, tasklet, address, source."""

from __future__ import annotations

from ...constants.dpu_protocol import MRAM_BASE, FaultKind, WaitKind
from ...workers.places import readable
from ..isa.table import decode
from .groups import numbers
from .protocol import Event, Side
from .vendor_places import Places, places

# Codes of the fault instruction (UPMEM SDK 2025.1, dpufault.h), and 0.
PROGRAM_FAULTS = {
    0: "a breakpoint",
    1: "the heap is full",
    2: "division by zero",
    3: "an assertion failed",
    4: "halt() was called, or a trap",
    5: "the print buffer overflowed",
    6: "profiling was started twice",
    7: "profiling was not started",
    8: "unaligned MRAM write whose two addresses differ in their last three bits",
    9: "a v1A DPU cannot count cycles and instructions at once",
}


def explain(image: bytes, event: Event, side: Side | None = None) -> str:
    """One line for a fault. ``side`` tells who waits in a deadlock."""
    known = readable(places, image)
    if event.kind == FaultKind.DEADLOCK:
        return "deadlock: " + _waits(known, side)
    text = f"{_cause(known, event)}; tasklet {event.tasklet} at {_code(known, event.pc)}"
    return text + _stack(known, event)


def _code(known: Places | None, address: int) -> str:
    return known.code(address) if known else f"{address:#x}"


def _data(known: Places | None, address: int) -> str:
    return known.data(address) if known else f"address {address:#x}"


def _cause(known: Places | None, event: Event) -> str:
    kind, size = event.kind, event.size
    if kind == FaultKind.PROGRAM:
        meaning = PROGRAM_FAULTS.get(event.code, "of the program's own")
        return f"fault {event.code}: {meaning}"
    if kind == FaultKind.MEMORY:
        if event.address % size:
            why = f"no multiple of {size}"
        else:
            why = "outside WRAM; loads and stores reach WRAM only"
        return f"memory fault: access of {size} bytes at {_data(known, event.address)}, {why}"
    if kind == FaultKind.DMA_WRAM:
        return (
            f"DMA fault: {size} bytes at {event.address:#x} are not inside WRAM (of ldmai: inside "
            "IRAM)"
        )
    if kind == FaultKind.MRAM_BOUNDS:
        where = _data(known, MRAM_BASE + event.address)
        return f"DMA fault: {size} bytes at {where} go past the end of MRAM"
    if kind == FaultKind.JUMP:
        return f"jump to {event.address:#x}, which is not in IRAM"
    if kind == FaultKind.INSTRUCTION:
        if event.other == 0:
            return "jump to where no instruction was loaded"
        return f"illegal instruction {event.other:012x}"
    if kind == FaultKind.UNKNOWN:
        form = decode(event.other)
        name = form.mnemonic if form else "?"
        return f"instruction {name} ({event.other:012x}), whose effect is not published"
    if kind == FaultKind.STOPPED:
        return "stopped by a debugger"
    if kind == FaultKind.BIT:
        return (
            f"atomic bit {event.address:#x}: there are 256, and which one the hardware takes for "
            "a greater number is not published"
        )
    return f"fault of unknown kind {int(kind)}"


def _stack(known: Places | None, event: Event) -> str:
    """The registers of a fault show a stack that has grown out of its place."""
    place = known.stack(event.tasklet) if known else None
    if place is None or event.other_tasklet <= sum(place):
        return ""
    start, size = place
    return (
        f"; its stack pointer {event.other_tasklet:#x} is past the end of its stack of {size} "
        f"bytes (STACK_SIZE_TASKLET_{event.tasklet}), which begins at {start:#x}"
    )


def _waits(known: Places | None, side: Side | None) -> str:
    groups: dict[str, list[int]] = {}
    for tasklet, wait in enumerate(side.waits if side else ()):
        state = "has ended"
        if wait.kind == WaitKind.STOPPED:
            state = f"has stopped at {_code(known, wait.pc)} and nobody resumes it"
        groups.setdefault(state, []).append(tasklet)
    parts = [f"{numbers(tasklets)} {state}" for state, tasklets in groups.items()]
    return ", ".join(parts) or "all tasklets wait"
