"""Allocating, freeing, page-locking, asking about pointers."""

from __future__ import annotations

from typing import Any

from ...constants.cudart import (
    cudaError,
    cudaMemAttachGlobal,
    cudaMemAttachHost,
    cudaMemAttachSingle,
    cudaMemoryType,
)
from ...cudart import context
from ...cudart.device import PITCH_ALIGN
from ...cudart.errors import invalid_value
from ...cudart.streams import Stream
from ..embedding import pointer
from .family import cudart, null, number, required_flags

DEVICE = cudaMemoryType.cudaMemoryTypeDevice
MANAGED = cudaMemoryType.cudaMemoryTypeManaged
HOST = cudaMemoryType.cudaMemoryTypeHost


def _allocate(target: Any, size: int, kind: int, how: str, flags: int = 0) -> None:
    current = context.current()
    current.captures.forbid(how)
    target[0] = pointer(current.memory.allocate(size, kind, how, flags))


@cudart.export("cudaMalloc")
def malloc(dev_ptr: Any, size: int) -> None:
    null(devPtr=dev_ptr)
    _allocate(dev_ptr, size, DEVICE, "cudaMalloc")


@cudart.export("cudaMallocPitch")
def malloc_pitch(dev_ptr: Any, pitch: Any, width: int, height: int) -> None:
    null(devPtr=dev_ptr, pitch=pitch)
    row = -(-width // PITCH_ALIGN) * PITCH_ALIGN
    _allocate(dev_ptr, row * height, DEVICE, "cudaMallocPitch")
    pitch[0] = row


@cudart.export("cudaMallocManaged")
def malloc_managed(dev_ptr: Any, size: int, flags: int) -> None:
    null(devPtr=dev_ptr)
    if flags not in (cudaMemAttachGlobal, cudaMemAttachHost):
        raise invalid_value(f"flags is {flags:#x}; cudaMemAttachGlobal 1 or cudaMemAttachHost 2")
    if size == 0:
        raise invalid_value("size is 0; managed memory has at least one byte")
    _allocate(dev_ptr, size, MANAGED, "cudaMallocManaged", flags)


@cudart.export("cudaMallocHost")
def malloc_host(ptr: Any, size: int) -> None:
    null(ptr=ptr)
    _allocate(ptr, size, HOST, "cudaMallocHost")


@cudart.export("cudaHostAlloc")
def host_alloc(ptr: Any, size: int, flags: int) -> None:
    null(pHost=ptr)
    required_flags(flags, 7, "Portable 1, Mapped 2 and WriteCombined 4 exist")
    _allocate(ptr, size, HOST, "cudaHostAlloc", flags)


@cudart.export("cudaFree", ruined="report")
def free(dev_ptr: Any) -> None:
    if not dev_ptr:
        return
    current = context.current()
    current.captures.forbid("cudaFree")
    current.streams.drain()
    current.memory.free(number(dev_ptr), "cudaFree")


@cudart.export("cudaFreeHost", ruined="report")
def free_host(ptr: Any) -> None:
    if not ptr:
        return
    current = context.current()
    current.captures.forbid("cudaFreeHost")
    current.streams.drain()
    current.memory.free_host(number(ptr), "cudaFreeHost")


def _refuse_capture(target: Stream, what: str) -> None:
    if target.capture is not None:
        raise target.capture.invalidate(
            cudaError.cudaErrorStreamCaptureUnsupported,
            f"{what} in {target.name}, which captures: allocations in graphs are not supported",
        )


@cudart.export("cudaMallocAsync")
def malloc_async(dev_ptr: Any, size: int, stream: Any) -> None:
    null(devPtr=dev_ptr)
    current = context.current()
    _refuse_capture(current.streams.resolve(number(stream)), "cudaMallocAsync")
    dev_ptr[0] = pointer(current.memory.allocate(size, DEVICE, "cudaMallocAsync"))


@cudart.export("cudaFreeAsync", ruined="report")
def free_async(dev_ptr: Any, stream: Any) -> None:
    current = context.current()
    target = current.streams.resolve(number(stream))
    _refuse_capture(target, "cudaFreeAsync")
    # Gone for calls from now on; kernels that are queued have nothing but its address.
    gone = current.memory.free_later(number(dev_ptr), "cudaFreeAsync")
    target.enqueue(gone, always=True, trivial=True)


@cudart.export_as("cudaGetSymbolAddress", "sim__cuda_variable")
def variable(address: Any, size: int) -> None:
    null(address=address)
    context.current().memory.variable(number(address), size)


@cudart.export("cudaHostRegister")
def host_register(ptr: Any, size: int, flags: int) -> None:
    required_flags(flags, 15, "Portable 1, Mapped 2, IoMemory 4 and ReadOnly 8 exist")
    context.current().memory.register(number(ptr), size, flags)


@cudart.export("cudaHostUnregister", ruined="report")
def host_unregister(ptr: Any) -> None:
    null(ptr=ptr)
    current = context.current()
    current.streams.drain()
    current.memory.unregister(number(ptr))


@cudart.export("cudaHostGetDevicePointer")
def host_get_device_pointer(dev_ptr: Any, host: Any, flags: int) -> None:
    null(pDevice=dev_ptr, pHost=host)
    required_flags(flags, 0, "it is 0")
    where = number(host)
    found = context.current().memory.allocation(where)
    if found is None or not (found.is_host or found.is_managed):
        raise invalid_value(f"pHost ({where:#x}) is not page-locked host memory")
    dev_ptr[0] = pointer(where)


@cudart.export("cudaHostGetFlags")
def host_get_flags(flags: Any, host: Any) -> None:
    null(pFlags=flags, pHost=host)
    where = number(host)
    found = context.current().memory.allocation(where)
    if found is None or not found.is_host:
        raise invalid_value(f"pHost ({where:#x}) is not page-locked host memory")
    flags[0] = found.flags


@cudart.export("cudaMemGetInfo")
def mem_get_info(free_bytes: Any, total_bytes: Any) -> None:
    if not total_bytes:
        null(free=free_bytes)  # one of both may be of no interest
    memory = context.current().memory
    if free_bytes:
        free_bytes[0] = memory.total_bytes - memory.used_bytes
    if total_bytes:
        total_bytes[0] = memory.total_bytes


@cudart.export("cudaPointerGetAttributes")
def pointer_get_attributes(attributes: Any, ptr: Any) -> None:
    null(attributes=attributes)
    found = context.current().memory.attributes(number(ptr))
    attributes.type = found.type
    attributes.device = found.device
    attributes.devicePointer = pointer(found.device_address)
    attributes.hostPointer = pointer(found.host_address)


@cudart.export("cudaStreamAttachMemAsync")
def stream_attach_mem_async(stream: Any, ptr: Any, size: int, flags: int) -> None:
    target = context.stream_of(number(stream))
    found = context.current().memory.require_managed(number(ptr), max(size, 1))
    if size not in (0, found.region.size) or number(ptr) != found.region.base:
        raise invalid_value(f"only all of {found.region} can be attached; length is {size}")
    if flags not in (cudaMemAttachGlobal, cudaMemAttachHost, cudaMemAttachSingle):
        raise invalid_value(f"flags is {flags:#x}; Global 1, Host 2 or Single 4")
    target.enqueue()
