"""Runs descriptor lists without a VPU."""

from __future__ import annotations

from ..native.pva_dma import PvaDma, Space, Spaces
from .dma import Descriptors
from .errors import CupvaError, Error, error
from .memory import DeviceMemory

__all__ = ["Space", "Spaces", "out_of_range", "run", "run_all"]


def run(dma: PvaDma, descriptors: Descriptors, spaces: Spaces, triggers: int = -1) -> int:
    """Moves tiles; the number of triggers it took.

    Raises CupvaError(CUPVA_ENGINE_IN_BAD_STATE) for an address outside a space.
    """
    inside, done = dma.run(descriptors, spaces, triggers)
    if not inside:
        raise out_of_range()
    return done


def out_of_range() -> CupvaError:
    return error(Error.CUPVA_ENGINE_IN_BAD_STATE, "the DMA left the memory it was given")


def run_all(dma: PvaDma, descriptors: Descriptors, memory: DeviceMemory) -> None:
    """A dataflow of a program without a VPU executable: DRAM and L2SRAM only."""
    dram = Space(memory.host_base, memory.dram_size)
    run(dma, descriptors, Spaces(dram, Space(memory.l2_host_base, memory.l2_size)))
