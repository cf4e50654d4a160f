"""Taking part in NvSciBuf buffers and NvSciSync objects."""

from __future__ import annotations

from typing import Any

from ...constants.cudart import (
    cudaExternalMemoryDedicated,
    cudaExternalMemoryHandleType,
    cudaExternalSemaphoreHandleType,
)
from ...cudart import context, external
from ...cudart.errors import invalid_value, not_supported
from ...cudart.external import ExternalMemory, ExternalSemaphore
from ...cudart.state import EXTERNAL_MEMORY, EXTERNAL_SEMAPHORE
from ...cudart.streams import Stream
from ...nvsci.errors import NvSciError
from ...nvsci.settings import Settings
from ..embedding import ffi, pointer
from ..nvsci import buf as nvsci_buf
from ..nvsci import sync as nvsci_sync
from .family import cudart, null, number, required_flags
from .streams import resolve as resolve_stream

_MAX_SEMAPHORES = 4096


def _require_nvsci() -> None:
    if not context.current().process.config.of(Settings).nvsci:
        raise not_supported("the NvSci libraries are missing here (setting nvsci is off)")


@cudart.export("cudaImportExternalMemory")
def import_external_memory(memory: Any, desc: Any) -> None:
    null(extMem_out=memory, memHandleDesc=desc)
    kinds = cudaExternalMemoryHandleType
    if desc.type not in kinds._value2member_map_:
        raise invalid_value(f"memHandleDesc.type is {desc.type}; it is 1 to {max(kinds)}")
    if desc.type != kinds.cudaExternalMemoryHandleTypeNvSciBuf:
        raise not_supported(f"{kinds(desc.type).name}; this machine shares NvSciBuf memory only")
    _require_nvsci()
    required_flags(desc.flags, cudaExternalMemoryDedicated, "0 or cudaExternalMemoryDedicated 1")
    try:
        found = nvsci_buf.resolve(desc.handle.nvSciBufObject, "memHandleDesc.handle.nvSciBufObject")
    except NvSciError as error:
        raise invalid_value(error.explanation) from None
    imported = ExternalMemory(context.current(), found.buffer, desc.size)
    memory[0] = pointer(imported.handle)


def _memory(handle: Any) -> ExternalMemory:
    found: ExternalMemory = cudart.resolve(handle, EXTERNAL_MEMORY, "extMem")
    return found


@cudart.export("cudaExternalMemoryGetMappedBuffer")
def get_mapped_buffer(dev_ptr: Any, memory: Any, desc: Any) -> None:
    null(devPtr=dev_ptr, bufferDesc=desc)
    required_flags(desc.flags, 0, "bufferDesc.flags is 0")
    dev_ptr[0] = pointer(_memory(memory).map(desc.offset, desc.size))


@cudart.export("cudaDestroyExternalMemory", ruined="report")
def destroy_external_memory(memory: Any) -> None:
    found = _memory(memory)
    current = context.current()
    current.process.handles.remove(found.handle, EXTERNAL_MEMORY, "cudaDestroyExternalMemory")
    current.streams.drain()
    found.close()


@cudart.export("cudaImportExternalSemaphore")
def import_external_semaphore(semaphore: Any, desc: Any) -> None:
    null(extSem_out=semaphore, semHandleDesc=desc)
    kinds = cudaExternalSemaphoreHandleType
    if desc.type not in kinds._value2member_map_:
        raise invalid_value(f"semHandleDesc.type is {desc.type}; it is 1 to {max(kinds)}")
    if desc.type != kinds.cudaExternalSemaphoreHandleTypeNvSciSync:
        raise not_supported(f"{kinds(desc.type).name}; this machine shares NvSciSync objects only")
    _require_nvsci()
    required_flags(desc.flags, 0, "semHandleDesc.flags is 0")
    try:
        found = nvsci_sync.resolve(desc.handle.nvSciSyncObj, "semHandleDesc.handle.nvSciSyncObj")
    except NvSciError as error:
        raise invalid_value(error.explanation) from None
    semaphore[0] = pointer(ExternalSemaphore(context.current(), found).handle)


def semaphores(array: Any, params: Any, count: int) -> list[tuple[ExternalSemaphore, Any]]:
    """The semaphores with the NvSciSyncFence that each one's parameters point to."""
    if count == 0:
        return []
    null(extSemArray=array, paramsArray=params)
    if count > _MAX_SEMAPHORES:
        raise invalid_value(f"numExtSems is {count}; at most {_MAX_SEMAPHORES} make sense")
    found = []
    for index in range(count):
        semaphore = cudart.resolve(array[index], EXTERNAL_SEMAPHORE, f"extSemArray[{index}]")
        fence = params[index].params.nvSciSync.fence
        if not fence:
            raise invalid_value(
                f"paramsArray[{index}].params.nvSciSync.fence is NULL; it is an NvSciSyncFence"
            )
        found.append((semaphore, ffi.cast("NvSciSyncFence *", fence)))
    return found


def signal_in(array: Any, params: Any, count: int, target: Stream) -> None:
    pairs = semaphores(array, params, count)
    for index in range(count):
        required_flags(params[index].flags, 1, "0 or SkipNvSciBufMemSync 1")
    fences = external.signal([semaphore for semaphore, _ in pairs], target) if pairs else []
    for (semaphore, fence), reached in zip(pairs, fences, strict=True):
        nvsci_sync.bind(fence, semaphore.sync, reached.value)  # type: ignore[arg-type]  # a SyncObj


def wait_in(array: Any, params: Any, count: int, target: Stream) -> None:
    waits = []
    for index, (semaphore, fence) in enumerate(semaphores(array, params, count)):
        required_flags(params[index].flags, 2, "0 or SkipNvSciBufMemSync 2")
        try:
            bound = nvsci_sync.bound(fence)
        except NvSciError as error:
            raise invalid_value(f"paramsArray[{index}]: {error.explanation}") from None
        waits.append((semaphore, bound.fence if bound is not None else None))
    if waits:
        external.wait(waits, target)


@cudart.export("cudaSignalExternalSemaphoresAsync_v2")
@cudart.export("cudaSignalExternalSemaphoresAsync")
def signal(array: Any, params: Any, count: int, stream: Any) -> None:
    signal_in(array, params, count, resolve_stream(stream))


@cudart.export("cudaWaitExternalSemaphoresAsync_v2")
@cudart.export("cudaWaitExternalSemaphoresAsync")
def wait(array: Any, params: Any, count: int, stream: Any) -> None:
    wait_in(array, params, count, resolve_stream(stream))


@cudart.export("cudaDestroyExternalSemaphore", ruined="report")
def destroy_external_semaphore(semaphore: Any) -> None:
    cudart.resolve(semaphore, EXTERNAL_SEMAPHORE, "extSem")
    context.current().process.handles.remove(
        number(semaphore), EXTERNAL_SEMAPHORE, "cudaDestroyExternalSemaphore"
    )
