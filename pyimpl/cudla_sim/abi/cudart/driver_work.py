"""Memory, copies, streams and events by the driver's names: the runtime's models below."""

from __future__ import annotations

from typing import Any

from ...constants.cudart import cudaError_enum as Result
from ...constants.cudart import cudaMemcpyKind as Kind
from ...cudart import context
from ...cudart.errors import CudaError
from ..embedding import pointer
from . import events, memory, streams, transfer
from .driver import driver, null, require_context_of, require_current


def _require_size(size: int, name: str) -> None:
    if size == 0:
        raise CudaError(Result.CUDA_ERROR_INVALID_VALUE, f"{name} is 0; it is at least one byte")


@driver.export("cuMemGetInfo_v2")
def mem_get_info(free: Any, total: Any) -> None:
    require_current()
    memory.mem_get_info(free, total)


@driver.export("cuMemAlloc_v2")
def mem_alloc(target: Any, size: int) -> None:
    null(dptr=target)
    require_current()
    _require_size(size, "bytesize")
    current = context.current()
    current.captures.forbid("cuMemAlloc")
    target[0] = current.memory.allocate(size, memory.DEVICE, "cuMemAlloc")


@driver.export("cuMemFree_v2")
def mem_free(address: int) -> None:
    require_current()
    memory.free(pointer(address))


@driver.export("cuMemcpyHtoD_v2")
def memcpy_htod(dst: int, src: Any, size: int) -> None:
    require_current()
    transfer.memcpy(pointer(dst), src, size, Kind.cudaMemcpyHostToDevice)


@driver.export("cuMemcpyDtoH_v2")
def memcpy_dtoh(dst: Any, src: int, size: int) -> None:
    require_current()
    transfer.memcpy(dst, pointer(src), size, Kind.cudaMemcpyDeviceToHost)


@driver.export("cuMemcpyDtoD_v2")
def memcpy_dtod(dst: int, src: int, size: int) -> None:
    require_current()
    transfer.memcpy(pointer(dst), pointer(src), size, Kind.cudaMemcpyDeviceToDevice)


@driver.export("cuMemcpyHtoDAsync_v2")
def memcpy_htod_async(dst: int, src: Any, size: int, stream: Any) -> None:
    require_current()
    transfer.memcpy_async(pointer(dst), src, size, Kind.cudaMemcpyHostToDevice, stream)


@driver.export("cuMemcpyDtoHAsync_v2")
def memcpy_dtoh_async(dst: Any, src: int, size: int, stream: Any) -> None:
    require_current()
    transfer.memcpy_async(dst, pointer(src), size, Kind.cudaMemcpyDeviceToHost, stream)


@driver.export("cuMemsetD8_v2")
def memset_d8(address: int, value: int, count: int) -> None:
    require_current()
    transfer.memset(pointer(address), value, count)


@driver.export("cuStreamCreate")
def stream_create(target: Any, flags: int) -> None:
    null(phStream=target)
    require_current()
    streams.stream_create_with_flags(target, flags)


@driver.export("cuStreamDestroy_v2")
def stream_destroy(stream: Any) -> None:
    require_context_of(stream)
    streams.stream_destroy(stream)


@driver.export("cuStreamSynchronize")
def stream_synchronize(stream: Any) -> None:
    require_context_of(stream)
    streams.stream_synchronize(stream)


@driver.export("cuStreamQuery")
def stream_query(stream: Any) -> None:
    require_context_of(stream)
    streams.stream_query(stream)


@driver.export("cuStreamWaitEvent")
def stream_wait_event(stream: Any, event: Any, flags: int) -> None:
    require_context_of(stream)
    events.stream_wait_event(stream, event, flags)


@driver.export("cuEventCreate")
def event_create(target: Any, flags: int) -> None:
    null(phEvent=target)
    require_current()
    events.event_create_with_flags(target, flags)


@driver.export("cuEventDestroy_v2")
def event_destroy(event: Any) -> None:
    require_context_of(event)
    events.event_destroy(event)


@driver.export("cuEventRecord")
def event_record(event: Any, stream: Any) -> None:
    require_context_of(stream)
    events.event_record(event, stream)


@driver.export("cuEventQuery")
def event_query(event: Any) -> None:
    require_context_of(event)
    events.event_query(event)


@driver.export("cuEventSynchronize")
def event_synchronize(event: Any) -> None:
    require_context_of(event)
    events.event_synchronize(event)
