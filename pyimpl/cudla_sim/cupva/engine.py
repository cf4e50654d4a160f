"""Runs descriptor lists without a VPU (replaced by the C engine in ``abi/cupva/engine.py``)."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from .dma import Descriptors
from .errors import CupvaError, Error, error
from .memory import DeviceMemory


class Spaces(NamedTuple):
    """Host addresses and sizes of DRAM, VMEM and L2SRAM."""

    bases: tuple[int, int, int]
    sizes: tuple[int, int, int]


def _missing(_: Descriptors, __: Spaces, ___: int) -> tuple[int, int]:
    raise RuntimeError("moving tiles needs the native library")


_run: Callable[[Descriptors, Spaces, int], tuple[int, int]] = _missing


def install(run: Callable[[Descriptors, Spaces, int], tuple[int, int]]) -> None:
    """Puts the C engine in place: (descriptors, spaces, triggers or -1 for all) -> (status,
    triggers done)."""
    global _run
    _run = run


def run(descriptors: Descriptors, spaces: Spaces, triggers: int = -1) -> int:
    """Moves tiles; the number of triggers it took.

    Raises CupvaError(CUPVA_ENGINE_IN_BAD_STATE) for an address outside a space.
    """
    status, done = _run(descriptors, spaces, triggers)
    if status:
        raise out_of_range()
    return done


def out_of_range() -> CupvaError:
    return error(Error.CUPVA_ENGINE_IN_BAD_STATE, "the DMA left the memory it was given")


def run_all(descriptors: Descriptors, memory: DeviceMemory) -> None:
    """A dataflow of a program without a VPU executable: DRAM and L2SRAM only."""
    bases = (memory.host_base, 0, memory.l2_host_base)
    run(descriptors, Spaces(bases, (memory.dram_size, 0, memory.l2_size)))
