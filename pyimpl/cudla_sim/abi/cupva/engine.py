"""Gives the cuPVA model the C version of the DMA engine."""

from __future__ import annotations

from ...cupva import engine
from ...cupva.dma import Descriptors
from ...cupva.engine import Spaces
from ..native import ffi, lib

_MOVED, _ENDED = 0, 1


def run(descriptors: Descriptors, spaces: Spaces, triggers: int) -> tuple[int, int]:
    memory = ffi.new("struct pva_memory *")
    for number, (base, size) in enumerate(zip(spaces.bases, spaces.sizes, strict=True)):
        memory.base[number] = ffi.cast("uint8_t *", base)
        memory.size[number] = size
    cursor = ffi.new("struct pva_cursor *")
    data = ffi.from_buffer(descriptors)
    listed = ffi.cast("struct pva_descriptor *", data)
    count = len(descriptors)
    if triggers < 0:
        status = lib.pva_dma_run(listed, count, cursor, memory)
        return int(status), int(cursor.triggers)
    status = _MOVED
    for _ in range(triggers):
        status = lib.pva_dma_trigger(listed, count, cursor, memory)
        if status != _MOVED:
            break
    return (0 if status in (_MOVED, _ENDED) else int(status)), int(cursor.triggers)


engine.install(run)
