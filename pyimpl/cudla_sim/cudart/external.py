"""Memory and semaphores of other interfaces: NvSciBuf buffers and NvSciSync objects.

CUDA Runtime API, "External Resource Interoperability". The objects come in as the two small
protocols below, so this module knows no other interface.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from ..constants.cudart import cudaError as Status
from ..core.fence import Fence, Timeline
from ..core.memory import Region
from .context import Context
from .errors import invalid_value
from .memory import Mapping
from .state import EXTERNAL_MEMORY, EXTERNAL_SEMAPHORE
from .streams import Stream


class Shared(Protocol):
    """A buffer that several interfaces use; it lives as long as one of them retains it."""

    region: Region
    size: int

    def retain(self) -> Shared: ...
    def release(self) -> None: ...


class Signaler(Protocol):
    """A sync object: its timeline, and how a signal is made on it."""

    timeline: Timeline

    def reserve(self) -> Fence: ...
    def signal(self, value: int | None = None, *, failed: bool = False) -> None: ...
    def task_status(self, value: int) -> int | None: ...


class ExternalMemory:
    """An imported buffer."""

    def __init__(self, context: Context, buffer: Shared, size: int) -> None:
        if not 0 < size <= buffer.size:
            raise invalid_value(f"size is {size}; the buffer has {buffer.size} bytes")
        self.context = context
        self.buffer = buffer.retain()
        self.size = size
        self.handle = context.process.handles.add(EXTERNAL_MEMORY, self)

    def map(self, offset: int, size: int) -> int:
        """The device address of a part of the buffer; it is given back with cudaFree.

        Raises CudaError (InvalidValue) for a part that is not within the imported size.
        """
        if size == 0 or offset + size > self.size:
            raise invalid_value(
                f"offset {offset} and size {size} do not lie within the {self.size} bytes imported"
            )
        base = self.buffer.region.base + offset
        self.context.memory.add_mapping(Mapping(base, size, self))
        return base

    def close(self) -> None:
        """Gives up the buffer; what is mapped stays readable until the buffer itself goes."""
        self.context.memory.drop_mappings(self)
        self.buffer.release()


class ExternalSemaphore:
    """An imported sync object."""

    def __init__(self, context: Context, sync: Signaler) -> None:
        self.context = context
        self.sync = sync
        self.handle = context.process.handles.add(EXTERNAL_SEMAPHORE, self)


def signal(semaphores: Sequence[ExternalSemaphore], stream: Stream) -> list[Fence]:
    """Signals each in stream order; the fences that will be reached, in the same order."""
    _refuse_capture(stream, "a signal of an external semaphore")
    fences = [s.sync.reserve() for s in semaphores]
    context = stream.context

    def fire() -> None:
        for semaphore, fence in zip(semaphores, fences, strict=True):
            semaphore.sync.signal(fence.value, failed=context.sticky is not None)

    # Others wait for these fences: they are reached even when the context is ruined meanwhile.
    stream.enqueue(fire, always=True)
    return fences


def wait(waits: Sequence[tuple[ExternalSemaphore, Fence | None]], stream: Stream) -> None:
    """Holds the stream until each fence is reached; None is a fence that needs no waiting.

    A signaler that reports failure ruins the context (cudaErrorExternalDevice).
    Raises CudaError (InvalidValue) for a fence of another object than its semaphore's.
    """
    _refuse_capture(stream, "a wait for an external semaphore")
    fences = []
    for index, (semaphore, fence) in enumerate(waits):
        if fence is None:
            continue
        if fence.timeline is not semaphore.sync.timeline:
            raise invalid_value(
                f"paramsArray[{index}].params.nvSciSync.fence belongs to another sync object "
                f"than extSemArray[{index}]"
            )
        fences.append((semaphore.sync, fence))
    context = stream.context

    def judge() -> None:
        for sync, fence in fences:
            if sync.task_status(fence.value):
                context.ruin(
                    Status.cudaErrorExternalDevice,
                    f"{stream.name} waited for a task of another engine, which failed",
                )

    if fences:
        stream.enqueue(judge, [fence for _, fence in fences])


def _refuse_capture(stream: Stream, what: str) -> None:
    if stream.capture is not None:
        raise stream.capture.invalidate(
            Status.cudaErrorStreamCaptureUnsupported, f"{stream.name} captures; {what} cannot be"
        )
