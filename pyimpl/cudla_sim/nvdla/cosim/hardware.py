"""A core that is not ours, as the driver sees it."""

from __future__ import annotations

from typing import Protocol

from ...core.memory import Bytes


class Hardware(Protocol):
    """Registers, memory, interrupt line and clock of one NVDLA core.

    The members correspond to the functions of ``include/nvdla/cosim.h``, which describes them.
    Addresses and sizes are in bytes. Whatever is raised ends the task.
    """

    configuration: str
    """"nv_small", "nv_large", ..."""
    memory_base: int
    """Bus address of the memory that the core's DMA reaches, and its bytes."""
    memory_size: int

    def reg_write(self, address: int, value: int, /) -> None:
        """Write a register by its CSB byte address."""

    def reg_read(self, address: int, /) -> int:
        """Read a register by its CSB byte address."""

    def mem_write(self, address: int, data: Bytes, /) -> None:
        """Copy *data* (uint8) to memory."""

    def mem_read(self, address: int, data: Bytes, /) -> None:
        """Fill *data* (uint8) from memory."""

    def advance(self, cycles: int, /) -> bool:
        """Let time pass until the interrupt line is up, *cycles* at most; whether it is."""

    def interrupt(self) -> bool:
        """Level of the interrupt line."""

    def cycles(self) -> int:
        """Cycles since reset, 0 where nobody counts them."""

    def reset(self) -> None:
        """Put the core into its state after reset."""

    def close(self) -> None:
        """Let go of it."""
