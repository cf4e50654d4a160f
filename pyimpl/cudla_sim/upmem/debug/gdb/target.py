"""A DPU as gdb sees a process: memory by address, registers, breakpoints, going on."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np
from numpy.typing import NDArray

from ....constants.dpu_protocol import (
    INSTRUCTION_BYTES,
    IRAM_BASE,
    MRAM_BASE,
    MRAM_SIZE,
    NR_REGISTERS,
    WATCH_BYTES,
    WATCH_MRAM,
    WATCHES,
    FaultKind,
    Start,
)
from ...memory import IRAM_OFFSET, WRAM_OFFSET
from ...workers.frame import How
from ...workers.outcome import Outcome
from .. import control
from ..state import BREAKPOINT, State

PC, FLAGS = NR_REGISTERS, NR_REGISTERS + 1
NAMES = (*(f"r{n}" for n in range(NR_REGISTERS)), "pc", "flags")
"""Registers by number, 32 bits each. ``pc`` is a byte address; ``flags``: bit 0 zero, 1 carry."""


class Target:
    """``ended``: nothing runs any more; ``outcome``: what has stopped it else."""

    def __init__(self, state: State) -> None:
        self.state = state
        self.breakpoints: set[int] = set()
        self.watches: dict[tuple[int, int, int], int] = {}
        """What for (``WATCH_...``), address and bytes -> which of the core's it is."""
        self.outcome: Outcome | None = None
        self.ended = False
        self.killed = False

    def start(self) -> None:
        """Boots it up to its first instruction."""
        self._note(control.boot(self.state))

    def _note(self, outcome: Outcome | None) -> None:
        self.outcome, self.ended = outcome, outcome is None

    @property
    def tasklets(self) -> list[int]:
        """Those that were booted in this launch; never none."""
        return [n for n in range(self.state.threads) if self.state.core.started[n]] or [0]

    # ---- registers ----

    def register(self, tasklet: int, number: int) -> int:
        state = self.state
        if number < NR_REGISTERS:
            return int(state.registers[tasklet, number])
        if number == PC:
            return IRAM_BASE + int(state.pcs[tasklet]) * INSTRUCTION_BYTES
        return int(state.zero[tasklet] != 0) | int(state.carry[tasklet] != 0) << 1

    def set_register(self, tasklet: int, number: int, value: int) -> None:
        """Raises ValueError for a program counter that is no instruction of IRAM."""
        state = self.state
        if number < NR_REGISTERS:
            state.registers[tasklet, number] = value
        elif number == PC:
            state.pcs[tasklet] = self.index(value)
        else:
            state.zero[tasklet], state.carry[tasklet] = value & 1, value >> 1 & 1

    def index(self, address: int) -> int:
        """The instruction at an address. Raises ValueError."""
        index, rest = divmod(address - IRAM_BASE, INSTRUCTION_BYTES)
        if rest or not 0 <= index < len(self.state.iram):
            raise ValueError(f"{address:#x} is no instruction")
        return index

    # ---- memory ----

    def _memories(self) -> list[tuple[int, int, int]]:
        """First address, offset in the slot, bytes."""
        core = self.state.core
        return [
            (0, WRAM_OFFSET, core.wram_bytes),
            (MRAM_BASE, 0, MRAM_SIZE),
            (IRAM_BASE, IRAM_OFFSET, core.iram_instructions * INSTRUCTION_BYTES),
        ]

    def region(self, address: int) -> tuple[int, int] | None:
        """First address and bytes of the memory that has this address."""
        for base, _, size in self._memories():
            if base <= address < base + size:
                return base, size
        return None

    def memory(self, address: int, size: int) -> NDArray[np.uint8]:
        """Bytes from there, shared with the DPU; fewer where a memory ends."""
        for base, offset, length in self._memories():
            if base <= address < base + length:
                size = min(size, base + length - address)
                return self.state.dpu.bytes(offset + address - base, size)
        return np.zeros(0, np.uint8)

    # ---- going on ----

    @contextmanager
    def _inserted(self) -> Iterator[None]:
        """Breakpoints are there only while the program runs."""
        iram = self.state.iram
        kept = {index: int(iram[index]) for index in self.breakpoints}
        for index in kept:
            iram[index] = BREAKPOINT
        try:
            yield
        finally:
            for index, word in kept.items():
                if iram[index] == BREAKPOINT:  # else the program has loaded another one
                    iram[index] = word

    def watch(self, wanted: int, address: int, size: int) -> bool:
        """Stops behind an instruction that changes or reads this memory; whether it can."""
        free = set(range(WATCHES)) - set(self.watches.values())
        inside = len(self.memory(address, size)) == size and address < IRAM_BASE
        if not (inside and 0 < size <= WATCH_BYTES and free):
            return False
        number = self.watches.setdefault((wanted, address, size), min(free))
        core = self.state.core
        core.watched_at[number] = address
        if address >= MRAM_BASE:
            core.watched_at[number] = address - MRAM_BASE | WATCH_MRAM
        core.watched_for[number] = wanted
        core.watched_bytes[number] = size
        return True

    def unwatch(self, wanted: int, address: int, size: int) -> None:
        number = self.watches.pop((wanted, address, size), None)
        if number is not None:
            self.state.core.watched_bytes[number] = 0

    @property
    def watched(self) -> tuple[int, int] | None:
        """What for, and the address of the memory that has stopped the DPU."""
        hit = self.state.core.watch_hit
        if not hit or not self.interrupted:
            return None
        return next(((f, at) for (f, at, _), n in self.watches.items() if n + 1 == hit), None)

    def _note_watched(self) -> None:
        if self.watched is not None:
            assert self.outcome is not None
            self.outcome.tasklet = self.state.core.watch_tasklet

    def go_on(self, step: int | None = None, *, alone: bool = False) -> None:
        """Until it stops; ``step``: until this tasklet has executed one instruction, ``alone``: and
        the others none."""
        if self.ended or self._leave_breakpoint(step):
            return
        if step is None:
            how = How(Start.RESUME)
        elif alone or int(self.state.pcs[step]) in self.breakpoints:
            self._step(step)
            return
        else:
            how = How(Start.RESUME, records=1, tasklets=1 << step)
        with self._inserted():
            self._note(control.run(self.state, how))
        if step is not None and self.interrupted:
            assert self.outcome is not None
            self.outcome.tasklet = step
        self._note_watched()

    @property
    def interrupted(self) -> bool:
        return self.outcome is not None and self.outcome.fault == FaultKind.STOPPED

    def _step(self, tasklet: int) -> None:
        if not self.state.live[tasklet]:
            return
        self._note(control.step(self.state, tasklet))
        if self.interrupted:
            assert self.outcome is not None
            self.outcome.tasklet = tasklet

    def _leave_breakpoint(self, step: int | None) -> bool:
        """A tasklet that has stopped at a breakpoint does not stop there again. Whether that was
        all there is to do."""
        at = self.state.breakpoint
        if at is None or at[1] != 0:
            return False
        tasklet = at[0]
        index = int(self.state.pcs[tasklet])
        if self.state.iram[index] == BREAKPOINT:  # the program's own
            self.state.pcs[tasklet] = index + 1
            return False
        if index not in self.breakpoints:
            return False
        self._step(tasklet)
        return self.ended or not self.interrupted or step == tasklet or self.watched is not None

    def kill(self) -> None:
        self.killed = True
        self.state.live[:] = 0
        self._note(None)
