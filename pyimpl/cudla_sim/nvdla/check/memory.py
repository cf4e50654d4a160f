"""Whether operations stay inside their memories, and off what the loadable put there."""

from __future__ import annotations

from collections.abc import Iterator

from ..loadable import Loadable, MemoryFlags
from ..target import LayerDesc
from .extent import Extent
from .inspection import Accesses
from .violation import Violation


def find(loadable: Loadable, layer: LayerDesc, done: Accesses) -> Iterator[Violation]:
    """Report writes behind the end of a memory and over constants, and reads far behind the end.

    Reads may run over the end of their real data: padding channels hold anything.
    """
    for name, extent, write in done.all():
        if extent.memory >= len(loadable.memories):
            continue
        size = loadable.memories[extent.memory].size
        if extent.start < 0 or (extent.end > size and (write or extent.start >= size)):
            yield _violation(
                layer,
                name,
                f"bytes {extent.start} to {extent.end} of memory {extent.memory}, which has {size}",
            )
        elif write:
            for blob, constant in _constants(loadable, extent.memory):
                if extent.meets(constant):
                    yield _violation(layer, name, f"writes over the blob {blob!r}")


def _constants(loadable: Loadable, memory: int) -> Iterator[tuple[str, Extent]]:
    entry = loadable.memories[memory]
    if not entry.flags & MemoryFlags.SET:
        return
    for name, offset in zip(entry.contents, entry.offsets, strict=False):
        blob = loadable.blobs.get(name)
        if blob is not None and blob.size:
            yield name, Extent(memory, offset, blob.size)


def _violation(layer: LayerDesc, name: str, message: str) -> Violation:
    return Violation(layer.task, layer.index, layer.op_type.name, name, message)
