"""The strict checks on DPU programs, each with its own switch."""

from __future__ import annotations

from dataclasses import dataclass

from ...workers.switches import Switches


@dataclass(frozen=True)
class Checks(Switches):
    """Each is ``off``, ``warn`` or ``fault``. Real hardware gives silent garbage in these cases.

    The order of the fields is that of ``dpu_protocol.Check``.
    """

    mram_alignment: str = "warn"
    """A DMA address, in MRAM or WRAM, that is not a multiple of 8. Off and warn: low bits are
    dropped, as the DMA engine does. The vendor's zstd counts on that, with right results."""
    mram_bounds: str = "fault"
    """A DMA outside the 64 MiB, or with a WRAM address for MRAM. Off: addresses wrap."""
    dma_size: str = "warn"
    """A DMA of a size other than 8 to 2048 in steps of 8. The hardware moves what the eight bits of
    the instruction's field say, ``((size >> 3) - 1) & 255`` words and one more, and goes on."""
    wram_bounds: str = "fault"
    """An access next to WRAM. Off: memory that holds nothing is there."""
    stack_overflow: str = "fault"
    """A stack of more than twice its declared size and 4 KiB (x86 frames are larger than a DPU's).
    Off: a stack may have one megabyte."""
    mram_unwritten: str = "warn"
    """The use of MRAM that nobody wrote, in a program that tells its accesses. Another one: a place
    at which all transfers of a launch moved nothing but such memory (fault: the first transfer)."""
    race: str = "warn"
    """Two tasklets write one WRAM byte, no lock or barrier between them. Only in sampled DPUs: the
    first of a launch and one of each 64."""
    heap_on_stacks: str = "warn"
    """A heap that fits WRAM only without the declared stacks, which a DPU keeps there too. Fault:
    the heap is full then, as on a DPU (fault 1). Off and warn: the heap gets their place."""
    null_pointer: str = "warn"
    """An access to the 16 bytes at WRAM address 0, which a DPU keeps for NULL pointers. Fault: it
    ends there, as an access next to them always does."""
    sg_overlap: str = "warn"
    """Blocks of a scatter/gather copy to the host that share bytes: the host looks, in copies of up
    to 65,536 blocks. Fault: in all, and nothing is copied (DPU_ERR_INVALID_MEMORY_TRANSFER)."""
    deadlock: str = "fault"
    """All tasklets wait, none of them for a lock, which it would retry. Off and warn: the launch
    ends there, as on a DPU, of which no tasklet runs then. Some public programs end so, with right
    results: they leave tasklets at a barrier."""
    prepared_twice: str = "fault"
    """dpu_prepare_xfer where a buffer was prepared: the host looks, and takes the new one. Fault:
    DPU_ERR_TRANSFER_ALREADY_SET, as the SDK's sources of 2020 answer. Off and warn: DPU_OK, as the
    libraries of 2024.1 and 2025.1 answer."""
