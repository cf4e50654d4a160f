"""Memory and semaphores of other interfaces by the driver's names: the runtime's.

The driver's structures begin as the runtime's, with room at their ends.
"""

from __future__ import annotations

from typing import Any

from ..embedding import address, ffi
from . import external
from .driver import driver, null, require_current


@driver.export("cuImportExternalMemory")
def import_external_memory(target: Any, desc: Any) -> None:
    null(extMem_out=target, memHandleDesc=desc)
    require_current()
    same = ffi.cast("struct cudaExternalMemoryHandleDesc *", desc)
    external.import_external_memory(target, same)


@driver.export("cuExternalMemoryGetMappedBuffer")
def get_mapped_buffer(target: Any, memory: Any, desc: Any) -> None:
    null(devPtr=target, bufferDesc=desc)
    require_current()
    made = ffi.new("void **")
    same = ffi.cast("struct cudaExternalMemoryBufferDesc *", desc)
    external.get_mapped_buffer(made, memory, same)
    target[0] = address(made[0])


@driver.export("cuExternalMemoryGetMappedMipmappedArray")
def get_mapped_mipmapped_array(target: Any, memory: Any, desc: Any) -> None:
    null(mipmap=target, mipmapDesc=desc)
    require_current()
    external.get_mapped_mipmapped_array(target, memory, desc)


@driver.export("cuDestroyExternalMemory")
def destroy_external_memory(memory: Any) -> None:
    require_current()
    external.destroy_external_memory(memory)


@driver.export("cuImportExternalSemaphore")
def import_external_semaphore(target: Any, desc: Any) -> None:
    null(extSem_out=target, semHandleDesc=desc)
    require_current()
    same = ffi.cast("struct cudaExternalSemaphoreHandleDesc *", desc)
    external.import_external_semaphore(target, same)


@driver.export("cuSignalExternalSemaphoresAsync")
def signal_external_semaphores(array: Any, params: Any, count: int, stream: Any) -> None:
    require_current()
    same = ffi.cast("struct cudaExternalSemaphoreSignalParams *", params)
    external.signal(array, same, count, stream)


@driver.export("cuWaitExternalSemaphoresAsync")
def wait_external_semaphores(array: Any, params: Any, count: int, stream: Any) -> None:
    require_current()
    same = ffi.cast("struct cudaExternalSemaphoreWaitParams *", params)
    external.wait(array, same, count, stream)


@driver.export("cuDestroyExternalSemaphore")
def destroy_external_semaphore(semaphore: Any) -> None:
    require_current()
    external.destroy_external_semaphore(semaphore)
