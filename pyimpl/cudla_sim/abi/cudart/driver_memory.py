"""Memory of every kind, fills and sharing by the driver's names: the runtime's models below."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ...constants.cudart import cudaError_enum as Result
from ...constants.cudart import cudaMemcpyKind as Kind
from ...cudart import context
from ...cudart import transfer as model
from ...cudart.errors import CudaError
from ...cudart.graph import Filling
from ...cudart.transfer import Shape
from ..embedding import address, ffi, pointer
from . import events, ipc, memory, pools, streams, transfer
from .driver import driver, null, require_context_of, require_current
from .family import number

_ELEMENTS = (4, 8, 16)


def _invalid(text: str) -> CudaError:
    return CudaError(Result.CUDA_ERROR_INVALID_VALUE, text)


def _given(call: Callable[[Any], object]) -> int:
    """The address that a function of the runtime writes."""
    target = ffi.new("void **")
    call(target)
    return address(target[0])


def _size(size: int) -> None:
    if size == 0:
        raise CudaError(Result.CUDA_ERROR_INVALID_VALUE, "bytesize is 0; it is at least one byte")


@driver.export("cuMemAllocPitch_v2")
def mem_alloc_pitch(target: Any, pitch: Any, width: int, height: int, element: int) -> None:
    null(dptr=target, pPitch=pitch)
    require_current()
    if element not in _ELEMENTS:
        raise _invalid(f"ElementSizeBytes is {element}; 4, 8 or 16")
    if not width or not height:
        raise _invalid(f"WidthInBytes x Height is {width} x {height}; both are at least 1")
    target[0] = _given(lambda to: memory.malloc_pitch(to, pitch, width, height))


@driver.export("cuMemAllocManaged")
def mem_alloc_managed(target: Any, size: int, flags: int) -> None:
    null(dptr=target)
    require_current()
    target[0] = _given(lambda to: memory.malloc_managed(to, size, flags))


@driver.export("cuMemAllocHost_v2")
def mem_alloc_host(target: Any, size: int) -> None:
    null(pp=target)
    require_current()
    _size(size)
    memory.malloc_host(target, size)


@driver.export("cuMemHostAlloc")
def mem_host_alloc(target: Any, size: int, flags: int) -> None:
    null(pp=target)
    require_current()
    _size(size)
    memory.host_alloc(target, size, flags)


@driver.export("cuMemFreeHost")
def mem_free_host(where: Any) -> None:
    null(p=where)
    require_current()
    memory.free_host(where)


@driver.export("cuMemHostGetDevicePointer_v2")
def mem_host_get_device_pointer(target: Any, where: Any, flags: int) -> None:
    null(pdptr=target, p=where)
    require_current()
    target[0] = _given(lambda to: memory.host_get_device_pointer(to, where, flags))


@driver.export("cuMemHostGetFlags")
def mem_host_get_flags(flags: Any, where: Any) -> None:
    null(pFlags=flags, p=where)
    require_current()
    memory.host_get_flags(flags, where)


@driver.export("cuMemHostRegister_v2")
def mem_host_register(where: Any, size: int, flags: int) -> None:
    null(p=where)
    require_current()
    memory.host_register(where, size, flags)


@driver.export("cuMemHostUnregister")
def mem_host_unregister(where: Any) -> None:
    null(p=where)
    require_current()
    memory.host_unregister(where)


@driver.export("cuMemGetAddressRange_v2")
def mem_get_address_range(base: Any, size: Any, where: int) -> None:
    require_current()
    found = context.current().memory.allocation(where)
    if found is None:
        raise CudaError(
            Result.CUDA_ERROR_NOT_FOUND, f"dptr ({where:#x}) is no memory that CUDA allocated"
        )
    if base:
        base[0] = found.region.base
    if size:
        size[0] = found.region.size


@driver.export("cuMemAllocAsync")
def mem_alloc_async(target: Any, size: int, stream: Any) -> None:
    null(dptr=target)
    require_context_of(stream)
    target[0] = _given(lambda to: pools.malloc_async(to, size, stream))


@driver.export("cuMemFreeAsync")
def mem_free_async(where: int, stream: Any) -> None:
    require_context_of(stream)
    memory.free_async(pointer(where), stream)


# --- copies --------------------------------------------------------------------------------------


@driver.export("cuMemcpy")
def memcpy(dst: int, src: int, size: int) -> None:
    require_current()
    transfer.memcpy(pointer(dst), pointer(src), size, Kind.cudaMemcpyDefault)


@driver.export("cuMemcpyAsync")
def memcpy_async(dst: int, src: int, size: int, stream: Any) -> None:
    require_current()
    transfer.memcpy_async(pointer(dst), pointer(src), size, Kind.cudaMemcpyDefault, stream)


@driver.export("cuMemcpyDtoDAsync_v2")
def memcpy_dtod_async(dst: int, src: int, size: int, stream: Any) -> None:
    require_current()
    kind = Kind.cudaMemcpyDeviceToDevice
    transfer.memcpy_async(pointer(dst), pointer(src), size, kind, stream)


# --- fills ---------------------------------------------------------------------------------------


def _fill(
    size: int, to: int, value: int, width: int, stream: Any, pitch: int = 0, height: int = 1
) -> None:
    """Elements of *size* bytes; at once where *stream* is None."""
    require_current()
    current = context.current()
    target = current.streams.legacy if stream is None else current.streams.resolve(number(stream))
    if not width or not height:
        return
    row = width * size
    step = pitch if height > 1 else row
    if step < row:
        raise _invalid(f"dstPitch is {pitch}; a row has {row} bytes")
    if to % size or step % size:
        raise _invalid(f"dstDevice {to:#x}, dstPitch {step}: multiples of {size}, the element")
    shape = Shape(row, height, step)
    place = model.check(current.memory, to, shape, "device", "dstDevice")
    filling = Filling(to, step, value, size, width, height)
    transfer.put(model.fill_elements(place, value, size), filling, target, stream is None)


@driver.export("cuMemsetD16_v2")
def memset_d16(to: int, value: int, count: int) -> None:
    _fill(2, to, value, count, None)


@driver.export("cuMemsetD32_v2")
def memset_d32(to: int, value: int, count: int) -> None:
    _fill(4, to, value, count, None)


@driver.export("cuMemsetD8Async")
def memset_d8_async(to: int, value: int, count: int, stream: Any) -> None:
    _fill(1, to, value, count, stream)


@driver.export("cuMemsetD16Async")
def memset_d16_async(to: int, value: int, count: int, stream: Any) -> None:
    _fill(2, to, value, count, stream)


@driver.export("cuMemsetD32Async")
def memset_d32_async(to: int, value: int, count: int, stream: Any) -> None:
    _fill(4, to, value, count, stream)


@driver.export("cuMemsetD2D8_v2")
def memset_d2d8(to: int, pitch: int, value: int, width: int, height: int) -> None:
    _fill(1, to, value, width, None, pitch, height)


@driver.export("cuMemsetD2D16_v2")
def memset_d2d16(to: int, pitch: int, value: int, width: int, height: int) -> None:
    _fill(2, to, value, width, None, pitch, height)


@driver.export("cuMemsetD2D32_v2")
def memset_d2d32(to: int, pitch: int, value: int, width: int, height: int) -> None:
    _fill(4, to, value, width, None, pitch, height)


@driver.export("cuMemsetD2D8Async")
def memset_d2d8_async(
    to: int, pitch: int, value: int, width: int, height: int, stream: Any
) -> None:
    _fill(1, to, value, width, stream, pitch, height)


@driver.export("cuMemsetD2D16Async")
def memset_d2d16_async(
    to: int, pitch: int, value: int, width: int, height: int, stream: Any
) -> None:
    _fill(2, to, value, width, stream, pitch, height)


@driver.export("cuMemsetD2D32Async")
def memset_d2d32_async(
    to: int, pitch: int, value: int, width: int, height: int, stream: Any
) -> None:
    _fill(4, to, value, width, stream, pitch, height)


# --- other processes -----------------------------------------------------------------------------


@driver.export("cuIpcGetMemHandle")
def ipc_get_mem_handle(handle: Any, where: int) -> None:
    null(pHandle=handle)
    require_current()
    ipc.get_mem_handle(handle, pointer(where))


@driver.export("cuIpcOpenMemHandle_v2")
def ipc_open_mem_handle(target: Any, handle: Any, flags: int) -> None:
    null(pdptr=target)
    require_current()
    target[0] = _given(lambda to: ipc.open_mem_handle(to, handle, flags))


@driver.export("cuIpcCloseMemHandle")
def ipc_close_mem_handle(where: int) -> None:
    require_current()
    ipc.close_mem_handle(pointer(where))


@driver.export("cuIpcGetEventHandle")
def ipc_get_event_handle(handle: Any, event: Any) -> None:
    null(pHandle=handle)
    require_current()
    ipc.get_event_handle(handle, event)


@driver.export("cuIpcOpenEventHandle")
def ipc_open_event_handle(target: Any, handle: Any) -> None:
    null(phEvent=target)
    require_current()
    ipc.open_event_handle(target, handle)


@driver.export("cuStreamCreateWithPriority")
def stream_create_with_priority(target: Any, flags: int, priority: int) -> None:
    null(phStream=target)
    require_current()
    streams.stream_create_with_priority(target, flags, priority)


@driver.export("cuEventElapsedTime_v2")
@driver.export("cuEventElapsedTime")
def event_elapsed_time(milliseconds: Any, start: Any, end: Any) -> None:
    null(pMilliseconds=milliseconds)
    require_context_of(start)
    events.elapsed(milliseconds, start, end)
