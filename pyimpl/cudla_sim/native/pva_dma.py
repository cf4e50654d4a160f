"""The DMA engine of a PVA (``shim/vpu_run/dma.c``, which VPU workers contain too)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from .compiled import ffi, lib

if TYPE_CHECKING:
    from numpy.typing import NDArray


class Space(NamedTuple):
    """Host address and size of a memory."""

    base: int = 0
    size: int = 0


class Spaces(NamedTuple):
    dram: Space
    l2: Space
    vmem: Space = Space()

    def described(self) -> Any:
        """The ``struct pva_memory`` of them."""
        memory = ffi.new("struct pva_memory *")
        for number, space in (
            (lib.PVA_DRAM, self.dram), (lib.PVA_VMEM, self.vmem), (lib.PVA_L2, self.l2),
        ):  # fmt: skip
            memory.base[number] = ffi.cast("uint8_t *", space.base)
            memory.size[number] = space.size
        return memory


class PvaDma:
    @staticmethod
    def run(descriptors: NDArray[Any], spaces: Spaces, triggers: int = -1) -> tuple[bool, int]:
        """Moves the tiles of descriptors as ``cupva.dma.pack`` makes them, for a number of
        triggers, -1: all; (whether every address was inside its space, triggers done)."""
        memory = spaces.described()
        cursor = ffi.new("struct pva_cursor *")
        count = len(descriptors)
        listed = ffi.cast("struct pva_descriptor *", ffi.from_buffer(descriptors))
        if triggers < 0:
            status = lib.pva_dma_run(listed, count, cursor, memory)
            return status == lib.PVA_DMA_MOVED, int(cursor.triggers)
        status = lib.PVA_DMA_MOVED
        for _ in range(triggers):
            status = lib.pva_dma_trigger(listed, count, cursor, memory)
            if status != lib.PVA_DMA_MOVED:
                break
        return status in (lib.PVA_DMA_MOVED, lib.PVA_DMA_ENDED), int(cursor.triggers)
