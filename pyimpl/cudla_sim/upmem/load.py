"""Putting a program into DPUs."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from typing import TYPE_CHECKING

from ..constants.dpu_protocol import INSTRUCTION_BYTES, IRAM_INSTRUCTIONS, dpu_core
from ..native.dpu_memory import Place, host_addresses
from .errors import Status, error
from .memory import CORE_OFFSET, IRAM_OFFSET, MRAM_SIZE, WRAM_OFFSET, WRAM_SIZE
from .profile import Profile
from .program import Program
from .rank import Selection
from .symbols import Segment

if TYPE_CHECKING:
    from .vendor import Code

CLOCKS_PER_SEC = "CLOCKS_PER_SEC"
_MEMORIES = {
    "wram": (WRAM_OFFSET, WRAM_SIZE),
    "mram": (0, MRAM_SIZE),
    "iram": (IRAM_OFFSET, IRAM_INSTRUCTIONS * INSTRUCTION_BYTES),
}
"""Where they lie in a slot, and their bytes."""


def load_now(
    selection: Selection, program: Program, segments: Sequence[Segment] | None = None
) -> None:
    """``load`` as the SDK does it for one DPU, and below dpu_load: not queued, so it finds DPUs
    that run, whose MRAM is not the host's. Raises DpuError(DPU_ERR_MRAM_BUSY), too."""
    for rank in selection.ranks:
        if rank.settle():
            raise error(
                Status.DPU_ERR_MRAM_BUSY,
                f"DPUs of rank {rank.id} run, and a program's MRAM is theirs meanwhile; dpu_sync "
                "waits for them",
            )
    load(selection, program, segments)


def load(selection: Selection, program: Program, segments: Sequence[Segment] | None = None) -> None:
    """Writes the program's variables into every DPU of the set and clears its faults.

    WRAM variables and ``__mram`` variables get their first values; ``__mram_noinit`` ones and the
    rest of MRAM keep what they hold. ``segments``: written instead of the program's.

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
    with selection.turn():
        _write(selection, program, profile, segments)


def _write(
    selection: Selection, program: Program, profile: Profile, segments: Sequence[Segment] | None
) -> None:
    dpus = selection.dpus
    slots = selection.slots
    machine = selection.ranks[0].machine
    store = machine.store

    def write(offset: int, data: bytes) -> None:
        source = ctypes.create_string_buffer(data, len(data))
        hosts = host_addresses([ctypes.addressof(source)]) * len(slots)
        store.transfer(Place(store.base, offset, len(data), to_dpu=True), slots, hosts)

    if program.registers is not None and selection.dpu is None:
        raise error(
            Status.DPU_ERR_ELF_INVALID_FILE,
            f"{program.path!r} is a core file: the state of one DPU, for a set of one DPU",
        )
    if program.code is not None:
        _refuse_what_does_not_fit(program, profile)
        core = _core(program, program.code, profile)
        write(CORE_OFFSET, core.ljust(IRAM_OFFSET - CORE_OFFSET, b"\0"))
        write(IRAM_OFFSET, bytes(IRAM_INSTRUCTIONS * INSTRUCTION_BYTES))
        write(WRAM_OFFSET, bytes(WRAM_SIZE))
    for segment in program.segments if segments is None else segments:
        if segment.memory not in _MEMORIES:
            continue  # registers of a core file
        start, size = _MEMORIES[segment.memory]
        data = segment.data.ljust(segment.size, b"\0")
        write(start + segment.offset, data[: size - segment.offset])
    clock = program.symbols.get(CLOCKS_PER_SEC)
    if clock is not None and clock.memory == "wram" and clock.size == 4:
        hertz = profile.frequency_mhz * 1_000_000
        write(WRAM_OFFSET + clock.address, hertz.to_bytes(4, "little"))
    for dpu in dpus:
        dpu.program = program
        dpu.fault = None


def _core(program: Program, code: Code, profile: Profile) -> bytes:
    """Registers and flags of a DPU before the first launch, all zero."""
    core = dpu_core()
    core.nr_tasklets = program.tasklets
    core.wram_bytes = profile.chip_wram
    core.iram_instructions = profile.chip_iram
    for number, (first, end) in enumerate(code.waits):
        core.wait_first[number], core.wait_end[number] = first, end
    return bytes(core)


def _refuse_what_does_not_fit(program: Program, profile: Profile) -> None:
    """Raises DpuError(DPU_ERR_ELF_INVALID_FILE) for a program that is larger than the chip."""
    most = {"wram": profile.chip_wram, "iram": profile.chip_iram * INSTRUCTION_BYTES}
    for segment in program.segments:
        end = segment.offset + segment.size
        if end > most.get(segment.memory, end):
            raise error(
                Status.DPU_ERR_ELF_INVALID_FILE,
                f"{program.path!r} needs {end} bytes of {segment.memory.upper()}; this chip has "
                f"{most[segment.memory]}",
            )
