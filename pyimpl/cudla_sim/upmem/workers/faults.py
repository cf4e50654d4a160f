"""Turns what a worker recorded into one sentence: cause, tasklet, function, file and line."""

from __future__ import annotations

from ...constants.dpu_protocol import (
    MRAM_BASE,
    MRAM_SIZE,
    STACK_STRIDE,
    STACKS_BASE,
    WRAM_SIZE,
    FaultKind,
    WaitKind,
)
from ...workers.places import readable
from ...workers.process import signal_name
from .executable import in_own_instructions
from .groups import numbers
from .places import Places, places
from .protocol import Event, Side, Wait
from .vendor_faults import PROGRAM_FAULTS
from .vendor_faults import explain as explain_vendor

# The processor stopped at the instruction itself, not behind a call.
_AT_INSTRUCTION = {
    FaultKind.MEMORY,
    FaultKind.NULL,
    FaultKind.STACK,
    FaultKind.INSTRUCTION,
}


def explain(image: bytes | None, event: Event, side: Side | None = None) -> str:
    """One line for a fault or a warning. ``side`` tells who waits in a deadlock."""
    if image is not None and in_own_instructions(image):
        return explain_vendor(image, event, side)
    known = readable(places, image)
    cause = _cause(known, event, side, image)
    if event.kind in (FaultKind.DEADLOCK, FaultKind.WORKER, FaultKind.CANCELLED):
        return cause
    return f"{cause}; tasklet {event.tasklet}{_where(known, event)}"


def _where(known: Places | None, event: Event) -> str:
    if known is None:
        return ""
    exact = event.kind in _AT_INSTRUCTION or (event.kind == FaultKind.PROGRAM and event.code == 2)
    if known.in_program(event.pc if exact else event.pc - 1):
        return " in " + known.code(event.pc if exact else event.pc - 1)
    between = "" if event.kind == FaultKind.RACE else "a function of the runtime called by "
    for caller in event.chain:
        if known.in_program(caller - 1):
            return f" in {between}{known.code(caller - 1)}"
    return ""


def _data(known: Places | None, address: int) -> str:
    return known.data(address) if known else f"address {address:#x}"


def _cause(known: Places | None, event: Event, side: Side | None, image: bytes | None) -> str:
    kind, size = event.kind, event.size
    if kind == FaultKind.PROGRAM:
        return _program_fault(event)
    if kind == FaultKind.DEADLOCK:
        return _deadlock(known, event, image, side)
    if kind == FaultKind.MEMORY:
        return f"memory fault: access to {_data(known, event.address)}, which no memory has"
    if kind == FaultKind.NULL:
        return (
            f"memory fault: access through a NULL pointer (address {event.address:#x}; a DPU has "
            "its first WRAM words there, of which 16 bytes are kept for NULL; "
            "CUDLA_SIM_UPMEM_CHECKS=null_pointer=warn goes on with those, =fault stops)"
        )
    if kind == FaultKind.STACK:
        return _stack(known, event)
    if kind == FaultKind.INSTRUCTION:
        return (
            f"illegal instruction or jump at {event.address:#x}: a function pointer that is not "
            "one, or code that the compiler found unreachable"
        )
    if kind == FaultKind.MRAM_ALIGN:
        return (
            f"DMA of {size} bytes between MRAM address {_mram(event.address)} and "
            f"{_data(known, event.other)}: both must be multiples of 8; hardware drops low bits "
            "(CUDLA_SIM_UPMEM_CHECKS=mram_alignment=warn goes on so, =fault stops)"
        )
    if kind == FaultKind.MRAM_BOUNDS:
        return (
            f"DMA of {size} bytes at {_data(known, event.address)} is not inside the 64 MiB of MRAM"
            "; hardware drops high bits (CUDLA_SIM_UPMEM_CHECKS=mram_bounds=warn does, too)"
        )
    if kind == FaultKind.DMA_SIZE:
        moved = ((((size >> 3) - 1) & 0xFF) + 1) << 3
        return (
            f"DMA of {size} bytes at MRAM address {_mram(event.address)}: the size must be a "
            f"multiple of 8 from 8 to 2048; the hardware moves {moved} bytes "
            "(CUDLA_SIM_UPMEM_CHECKS=dma_size=fault stops the DPU here)"
        )
    if kind == FaultKind.DMA_WRAM:
        return (
            f"DMA of {size} bytes at {_data(known, event.address)}: neither in WRAM nor on a stack"
        )
    if kind == FaultKind.UNWRITTEN:
        return _unwritten(known, event)
    if kind == FaultKind.RACE:
        return _race(known, event)
    if kind == FaultKind.HEAP:
        return (
            f"the heap is full: {size} bytes asked for, {event.other} of the 64 KiB of WRAM are "
            "left beside the declared stacks. A DPU stops here with fault 1; here stacks lie "
            "elsewhere and the heap got their place (smaller buffers, stacks or fewer tasklets "
            "would fit)"
        )
    if kind == FaultKind.WORKER:
        by = f" by {signal_name(event.code)}" if event.code else ""
        return f"the process that ran the DPU was killed{by}"
    if kind == FaultKind.CANCELLED:
        return "the host stopped the launch"
    return f"fault of unknown kind {int(kind)}"


def _unwritten(known: Places | None, event: Event) -> str:
    source = f"MRAM address {_mram(event.address)}, which neither host nor DPU has written"
    if event.code == 1:
        return (
            f"{event.size} bytes of {_data(known, event.other)} are used; a DMA brought them from "
            f"{source}"
        )
    if event.code == 2:
        return f"{event.size} bytes are used at {source}"
    return (
        f"read of {event.size} bytes at {source} (compiled with "
        "CUDLA_SIM_UPMEM_CHECKS=mram_unwritten=warn the program says where it uses them)"
    )


def _mram(address: int) -> str:
    return f"{MRAM_BASE | (address & (MRAM_SIZE - 1)):#x}"


def _program_fault(event: Event) -> str:
    text = PROGRAM_FAULTS.get(event.code, "of the program's own")
    if event.code == 1:
        left = max(0, WRAM_SIZE - event.address)
        text += f": {event.size} bytes asked for, {left} of the 64 KiB of WRAM are left"
    return f"fault {event.code}: {text}"


def _stack(known: Places | None, event: Event) -> str:
    owner = (event.address - STACKS_BASE) // STACK_STRIDE
    if owner != event.tasklet:
        return f"memory fault: access to {_data(known, event.address)}"
    size = known.absolute.get(f"STACK_SIZE_TASKLET_{owner}") if known else None
    declared = f" of {size} bytes" if size else ""
    return (
        f"stack overflow: the stack{declared} (STACK_SIZE_DEFAULT, STACK_SIZE_TASKLET_{owner}) is "
        "too small"
    )


_RACES = {  # what was done first, and then
    1: ("wrote", "wrote"),
    2: ("wrote", "read"),
    3: ("read", "wrote"),
}


def _race(known: Places | None, event: Event) -> str:
    data = _data(known, event.address)
    if event.code not in _RACES:
        return (
            f"race: tasklets {event.other_tasklet} and {event.tasklet} both wrote {data} without "
            "a lock or barrier between them"
        )
    before, after = _RACES[event.code]
    place = ""
    if known is not None and known.in_program(event.other - 1):
        place = " in " + known.code(event.other - 1)
    return (
        f"race: tasklet {event.other_tasklet} {before} {data}{place}, tasklet {event.tasklet} "
        f"{after} it, without a lock or barrier between them"
    )


def _deadlock(known: Places | None, event: Event, image: bytes | None, side: Side | None) -> str:
    """Who waits for what, and the race that it follows from, if one was seen."""
    waits = side.waits if side else ()
    text = "deadlock: " + _waits(known, waits)
    if not any(wait.kind in (WaitKind.MUTEX, WaitKind.VMUTEX) for wait in waits):
        text += " (CUDLA_SIM_UPMEM_CHECKS=deadlock=warn ends the launch there, as a DPU does)"
    race = next((w for w in side.warnings if w.kind == FaultKind.RACE), None) if side else None
    if race is not None:
        return f"{text}; it may follow from a {explain(image, race)}"
    if event.code == 0:
        text += (
            "; should a race lead there, compile and run with CUDLA_SIM_UPMEM_CHECKS=race=warn to "
            "see it"
        )
    return text


_VERBS = {
    WaitKind.BARRIER: "waits at barrier {}",
    WaitKind.MUTEX: "waits for mutex {}",
    WaitKind.SEMAPHORE: "waits for semaphore {}",
    WaitKind.NOTIFY: "waits in handshake_notify",
    WaitKind.HANDSHAKE: "waits for a notification of tasklet {}",
    WaitKind.VMUTEX: "waits for a virtual mutex",
    WaitKind.STOPPED: "has stopped and nobody resumes it",
    WaitKind.ENDED: "has ended",
    WaitKind.NONE: "runs",
}


def _waits(known: Places | None, waits: tuple[Wait, ...]) -> str:
    """``tasklets 1-15 wait at ..., tasklet 0 has ended``: equal states are put together."""
    groups: dict[str, list[int]] = {}
    for tasklet, wait in enumerate(waits):
        groups.setdefault(_state(known, wait), []).append(tasklet)
    parts = [f"{numbers(tasklets)} {state}" for state, tasklets in groups.items()]
    return ", ".join(parts) or "all tasklets wait"


def _state(known: Places | None, wait: Wait) -> str:
    if wait.kind in (WaitKind.BARRIER, WaitKind.SEMAPHORE):
        name = _data(known, wait.object)
    elif wait.kind == WaitKind.MUTEX:
        name = known.bit(wait.object) if known else f"atomic bit {wait.object}"
    else:
        name = str(wait.object)
    text = _VERBS[wait.kind].format(name)
    if known and wait.kind not in (WaitKind.ENDED, WaitKind.NONE) and known.in_program(wait.pc - 1):
        text += " in " + known.code(wait.pc - 1)
    return text
