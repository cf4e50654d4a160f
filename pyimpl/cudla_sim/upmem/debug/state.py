"""Registers, flags and scheduling of a DPU that has stopped."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.ctypeslib import as_array
from numpy.typing import NDArray

from ...constants.dpu_protocol import INSTRUCTION_BYTES, MAX_TASKLETS, FaultKind
from ..errors import DpuError, Status, error
from ..memory import CORE_OFFSET, IRAM_OFFSET
from ..rank import Dpu
from ..store import LocalStore
from ..workers.frame import core_of

NATIVE = (
    "UnsupportedOperation: the DPU program runs natively, so there are no DPU registers, program "
    "counters or instructions to look at; UPMEM's compiler and `cudla-sim dpu as` make programs "
    "that have them, and `cudla-sim dpu debug -- ./host` debugs this one in its C source"
)
REMOTE = (
    "UnsupportedOperation: the DPU is on another machine of the cluster; debug it without "
    "CUDLA_SIM_UPMEM_CLUSTER"
)
BREAKPOINT = 0x7E63_2000_0000
"""The instruction ``fault 0``, which debuggers write where a program shall stop."""


def unsupported(text: str) -> DpuError:
    return error(Status.DPU_ERR_INTERNAL, f"not supported: {text}")


class State:
    """Of one DPU, shared with it: what is written here is there when it goes on.

    Raises DpuError: DPU_ERR_NO_PROGRAM_LOADED; DPU_ERR_INTERNAL for a program that runs natively
    and for a DPU on another machine.
    """

    def __init__(self, dpu: Dpu) -> None:
        if dpu.program is None:
            raise error(
                Status.DPU_ERR_NO_PROGRAM_LOADED, f"DPU {dpu.name} has no program; call dpu_load"
            )
        if dpu.program.code is None:
            raise unsupported(NATIVE)
        if not isinstance(dpu.rank.machine.store, LocalStore):
            raise unsupported(REMOTE)
        self.dpu = dpu
        self.program = dpu.program
        self.store = dpu.rank.machine.store
        self.core = core_of(dpu.bytes(CORE_OFFSET, IRAM_OFFSET - CORE_OFFSET))
        self.registers: NDArray[np.uint32] = as_array(self.core.registers)
        """24 tasklets x 24 registers."""
        self.pcs: NDArray[np.uint16] = as_array(self.core.pc)
        """Index of each tasklet's next instruction."""
        self.zero: NDArray[np.uint8] = as_array(self.core.zero)
        self.carry: NDArray[np.uint8] = as_array(self.core.carry)
        self.atomic: NDArray[np.uint8] = as_array(self.core.atomic)
        self.live: NDArray[np.uint8] = as_array(self.core.live)
        """1: the tasklet goes on when the DPU does."""

    @property
    def threads(self) -> int:
        """Tasklets that the chip has."""
        return self.dpu.rank.profile.max_tasklets

    @property
    def iram(self) -> NDArray[np.uint64]:
        """The chip's instructions, shared with the DPU."""
        size = self.core.iram_instructions * INSTRUCTION_BYTES
        return self.dpu.bytes(IRAM_OFFSET, size).view(np.uint64)

    @property
    def order(self) -> list[int]:
        """The tasklets that run, in the order in which they execute their next instructions."""
        due = self.core.due
        return sorted(np.flatnonzero(self.live).tolist(), key=lambda n: int(due[n]))

    def schedule(self, order: Sequence[int]) -> None:
        """These tasklets run, in this order."""
        core = self.core
        if list(order) == self.order:
            return
        fresh = [n for n in order if not self.live[n]]
        due = sorted(int(core.due[n]) if self.live[n] else int(core.cycles) for n in order)
        self.live[:] = 0
        as_array(core.run)[:MAX_TASKLETS] = 0
        for tasklet, cycle in zip(order, due, strict=True):
            core.due[tasklet], core.live[tasklet], core.run[tasklet] = cycle, 1, 1
        for tasklet in fresh:
            core.started[tasklet], core.pending[tasklet] = 1, 0

    @property
    def breakpoint(self) -> tuple[int, int] | None:
        """Tasklet and number of the ``fault`` instruction that it has stopped at."""
        fault = self.dpu.fault
        if fault is None or fault.fault != FaultKind.PROGRAM:
            return None
        return fault.tasklet, fault.code

    def faulted(self, *kinds: FaultKind) -> int | None:
        """The tasklet that has made one of these faults."""
        fault = self.dpu.fault
        return fault.tasklet if fault is not None and fault.fault in kinds else None


DMA_FAULTS = (FaultKind.DMA_WRAM, FaultKind.MRAM_BOUNDS)
MEMORY_FAULTS = (
    FaultKind.MEMORY,
    FaultKind.JUMP,
    FaultKind.INSTRUCTION,
    FaultKind.UNKNOWN,
    FaultKind.BIT,
)
"""The hardware has no fault of its own for what is no instruction, so those count as these."""
