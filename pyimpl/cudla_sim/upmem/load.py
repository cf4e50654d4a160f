"""Putting a program into DPUs."""

from __future__ import annotations

import ctypes

import numpy as np

from ..native.dpu_memory import Place
from .errors import Status, error
from .memory import MRAM_SIZE, WRAM_OFFSET
from .program import Program
from .rank import Selection

CLOCKS_PER_SEC = "CLOCKS_PER_SEC"


def load(selection: Selection, program: Program) -> None:
    """Writes the program's variables into every DPU of the set and clears its faults.

    WRAM variables and ``__mram`` variables get their first values; ``__mram_noinit`` ones and the
    rest of MRAM keep what they hold.

    Raises DpuError(DPU_ERR_TOO_MANY_TASKLETS) when the chip has fewer threads.
    """
    profile = selection.ranks[0].profile
    if program.tasklets > profile.max_tasklets:
        raise error(
            Status.DPU_ERR_TOO_MANY_TASKLETS,
            f"{program.path!r} uses {program.tasklets} tasklets; this chip has "
            f"{profile.max_tasklets} threads",
        )
    selection.wait()
    dpus = selection.dpus
    slots = np.array([d.slot for d in dpus], np.uint32)
    machine = selection.ranks[0].machine
    store = machine.store

    def write(offset: int, data: bytes) -> None:
        source = ctypes.create_string_buffer(data, len(data))
        hosts = np.full(len(slots), ctypes.addressof(source), np.uint64)
        store.transfer(Place(store.base, offset, len(data), to_dpu=True), slots, hosts)

    for segment in program.segments:
        start = segment.offset + (WRAM_OFFSET if segment.memory == "wram" else 0)
        data = segment.data.ljust(segment.size, b"\0")
        limit = MRAM_SIZE if segment.memory == "mram" else WRAM_OFFSET + (64 << 10)
        write(start, data[: limit - start])
    clock = program.symbols.get(CLOCKS_PER_SEC)
    if clock is not None and clock.memory == "wram" and clock.size == 4:
        hertz = profile.frequency_mhz * 1_000_000
        write(WRAM_OFFSET + clock.address, hertz.to_bytes(4, "little"))
    for dpu in dpus:
        dpu.program = program
        dpu.fault = None
