"""What a DPU executes, instruction by instruction."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...constants.dpu_protocol import (
    INSTRUCTION_BYTES,
    IRAM_BASE,
    IRAM_INSTRUCTIONS,
    MAX_TASKLETS,
    TRACE_RECORDS,
    FaultKind,
    Start,
    dpu_trace,
)
from ..isa.disassembler import disassemble
from ..isa.listing import Code
from ..memory import PROFILE_OFFSET
from ..workers.frame import How
from ..workers.outcome import Outcome
from . import control
from .state import State

RECORD: np.dtype[Any] = np.dtype(dpu_trace)
_NO_REGISTER = 0xFF


@dataclass
class Trace:
    """A launch that is recorded: of which tasklets (one bit each) and instructions, at most
    ``limit`` records (None: all)."""

    state: State
    tasklets: int = (1 << MAX_TASKLETS) - 1
    indexes: range = range(IRAM_INSTRUCTIONS)
    limit: int | None = None
    ended_by: Outcome | None = None
    """The fault that has ended it."""

    def pieces(self) -> Iterator[NDArray[Any]]:
        """Runs the program; records (see ``dpu_trace`` in protocol.h) in the order of time.

        Raises DpuError(DPU_ERR_SYSTEM).
        """
        start, left = Start.BOOT, self.limit
        while left is None or left > 0:
            room = TRACE_RECORDS if left is None else min(left, TRACE_RECORDS)
            how = How(start, 0, room, self.indexes.start, self.indexes.stop, self.tasklets)
            outcome = control.run(self.state, how)
            count = int(self.state.core.traced)
            data = self.state.dpu.bytes(PROFILE_OFFSET, count * RECORD.itemsize)
            yield data.view(RECORD).copy()
            if outcome is None or outcome.fault != FaultKind.STOPPED:
                self.ended_by = outcome
                return
            start = Start.RESUME
            left = None if left is None else left - count


def places(code: Code) -> dict[int, str]:
    """Function and offset in instructions, by index."""
    return {
        index: f"{name}+{index - extent.start}"
        for name, extent in code.functions.items()
        for index in extent
    }


class Text:
    """Records in lines: cycle, tasklet, address, place, instruction, what it wrote."""

    def __init__(self, code: Code) -> None:
        self._code = code
        self._places = places(code)
        self._start: dict[int, str] = {}

    def lines(self, piece: NDArray[Any]) -> Iterator[str]:
        starts = self._start
        for cycle, index, tasklet, first, count, _zero, _carry, _, value, second in piece.tolist():
            start = starts.get(index) or self._describe(index)
            if first == _NO_REGISTER:
                yield f"{cycle:10} {tasklet:2} {start}".rstrip()
            elif count == 1:
                yield f"{cycle:10} {tasklet:2} {start} r{first}={value:#x}"
            else:
                yield f"{cycle:10} {tasklet:2} {start} d{first}={value << 32 | second:#x}"

    def _describe(self, index: int) -> str:
        code = self._code
        word = code.words[index] if index < len(code.words) else 0
        text = disassemble(word, code.names.get) if not word >> 48 else None
        address = IRAM_BASE + index * INSTRUCTION_BYTES
        place = self._places.get(index, "")
        shown = f"{address:08x} {place:24} {text or '<unknown>':40}"
        self._start[index] = shown
        return shown
