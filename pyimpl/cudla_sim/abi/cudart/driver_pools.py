"""Memory pools, hints and questions about addresses by the driver's names."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from ...constants.cudart import CUpointer_attribute_enum as Attribute
from ...constants.cudart import cudaError_enum as Result
from ...constants.cudart import cudaMemoryType
from ...cudart import context
from ...cudart.errors import CudaError
from ...cudart.memory import VIRTUAL, Allocation
from ..embedding import ffi, pointer
from . import memory_hints, pools, transfer
from .driver import CONTEXT, driver, null, primary_context, require_current

# --- pools: those that differ by nothing but their names -----------------------------------------

driver.export("cuDeviceGetDefaultMemPool")(pools.device_get_default_mem_pool)
driver.export("cuDeviceGetMemPool")(pools.device_get_mem_pool)
driver.export("cuDeviceSetMemPool")(pools.device_set_mem_pool)
driver.export("cuMemGetDefaultMemPool")(pools.mem_get_default_mem_pool)
driver.export("cuMemGetMemPool")(pools.mem_get_mem_pool)
driver.export("cuMemSetMemPool")(pools.mem_set_mem_pool)
driver.export("cuMemPoolCreate")(pools.mem_pool_create)
driver.export("cuMemPoolDestroy")(pools.mem_pool_destroy)
driver.export("cuMemPoolTrimTo")(pools.mem_pool_trim_to)
driver.export("cuMemPoolSetAttribute")(pools.mem_pool_set_attribute)
driver.export("cuMemPoolGetAttribute")(pools.mem_pool_get_attribute)
driver.export("cuMemPoolSetAccess")(pools.mem_pool_set_access)
driver.export("cuMemPoolGetAccess")(pools.mem_pool_get_access)


@driver.export("cuMemAllocFromPoolAsync")
def mem_alloc_from_pool_async(target: Any, size: int, pool: Any, stream: Any) -> None:
    null(dptr=target)
    if size == 0:
        raise CudaError(Result.CUDA_ERROR_INVALID_VALUE, "bytesize is 0; it is at least one byte")
    made = ffi.new("void **")
    pools.malloc_from_pool_async(made, size, pool, stream)
    target[0] = int(ffi.cast("uintptr_t", made[0]))


# --- hints and copies ----------------------------------------------------------------------------


@driver.export("cuMemAdvise")
def mem_advise(address: int, size: int, advice: int, ordinal: int) -> None:
    require_current()
    memory_hints.mem_advise(pointer(address), size, advice, ordinal)


@driver.export("cuMemPrefetchAsync")
def mem_prefetch_async(address: int, size: int, ordinal: int, stream: Any) -> None:
    require_current()
    memory_hints.mem_prefetch_async(pointer(address), size, ordinal, stream)


@driver.export("cuMemAdvise_v2")
def mem_advise_v2(address: int, size: int, advice: int, location: Any) -> None:
    require_current()
    memory_hints.mem_advise_v2(pointer(address), size, advice, location)


@driver.export("cuMemPrefetchAsync_v2")
def mem_prefetch_async_v2(address: int, size: int, location: Any, flags: int, stream: Any) -> None:
    require_current()
    memory_hints.mem_prefetch_async_v2(pointer(address), size, location, flags, stream)


def _pointers(addresses: Any) -> Any:
    """The driver's addresses are numbers of the same size."""
    return ffi.cast("void **", addresses)


@driver.export("cuMemDiscardAndPrefetchBatchAsync")
@driver.export("cuMemPrefetchBatchAsync")
def mem_prefetch_batch_async(addresses: Any, *others: Any) -> None:
    require_current()
    memory_hints.mem_prefetch_batch_async(_pointers(addresses), *others)


@driver.export("cuMemDiscardBatchAsync")
def mem_discard_batch_async(addresses: Any, *others: Any) -> None:
    require_current()
    memory_hints.mem_discard_batch_async(_pointers(addresses), *others)


@driver.export("cuMemRangeGetAttribute")
def mem_range_get_attribute(data: Any, room: int, attribute: int, address: int, size: int) -> None:
    require_current()
    memory_hints.mem_range_get_attribute(data, room, attribute, pointer(address), size)


@driver.export("cuMemRangeGetAttributes")
def mem_range_get_attributes(
    data: Any, rooms: Any, attributes: Any, count: int, address: int, size: int
) -> None:
    require_current()
    where = pointer(address)
    memory_hints.mem_range_get_attributes(data, rooms, attributes, count, where, size)


def _contexts(target: Any, source: Any) -> None:
    driver.resolve(target, CONTEXT, "dstContext")
    driver.resolve(source, CONTEXT, "srcContext")


@driver.export("cuMemcpyPeer")
def memcpy_peer(dst: int, dst_context: Any, src: int, src_context: Any, size: int) -> None:
    _contexts(dst_context, src_context)
    transfer.memcpy_peer(pointer(dst), 0, pointer(src), 0, size)


@driver.export("cuMemcpyPeerAsync")
def memcpy_peer_async(
    dst: int, dst_context: Any, src: int, src_context: Any, size: int, stream: Any
) -> None:
    _contexts(dst_context, src_context)
    transfer.memcpy_peer_async(pointer(dst), 0, pointer(src), 0, size, stream)


# --- what an address is --------------------------------------------------------------------------


class _Address(NamedTuple):
    value: int
    owner: Allocation


def _device_address(asked: _Address) -> int:
    return asked.value


def _host_address(asked: _Address) -> int:
    if asked.owner.is_device:
        raise CudaError(
            Result.CUDA_ERROR_INVALID_VALUE,
            f"ptr ({asked.value:#x}) is device memory, which has no address of the host",
        )
    return asked.value


def _memory_type(asked: _Address) -> int:
    """CU_MEMORYTYPE_HOST or DEVICE; managed memory is the device's."""
    host = cudaMemoryType.cudaMemoryTypeHost
    return int(host if asked.owner.is_host else cudaMemoryType.cudaMemoryTypeDevice)


def _pool(asked: _Address) -> int:
    return int(asked.owner.pool.handle) if isinstance(asked.owner.pool, pools.Pool) else 0


def _context(asked: _Address) -> int:
    return int(asked.owner.of or primary_context().handle)


_ANSWERS: dict[int, tuple[str, Callable[[_Address], int]]] = {
    Attribute.CU_POINTER_ATTRIBUTE_CONTEXT: ("uintptr_t", _context),
    Attribute.CU_POINTER_ATTRIBUTE_MEMORY_TYPE: ("unsigned int", _memory_type),
    Attribute.CU_POINTER_ATTRIBUTE_DEVICE_POINTER: ("uintptr_t", _device_address),
    Attribute.CU_POINTER_ATTRIBUTE_HOST_POINTER: ("uintptr_t", _host_address),
    Attribute.CU_POINTER_ATTRIBUTE_SYNC_MEMOPS: ("int", lambda a: a.owner.synchronous),
    Attribute.CU_POINTER_ATTRIBUTE_BUFFER_ID: (
        "unsigned long long",
        lambda asked: asked.owner.region.base,  # no two that are there have one address
    ),
    Attribute.CU_POINTER_ATTRIBUTE_IS_MANAGED: ("int", lambda asked: asked.owner.is_managed),
    Attribute.CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL: ("int", lambda _: 0),
    Attribute.CU_POINTER_ATTRIBUTE_IS_LEGACY_CUDA_IPC_CAPABLE: (
        "int",
        lambda asked: asked.owner.is_device and asked.owner.how != VIRTUAL,
    ),
    Attribute.CU_POINTER_ATTRIBUTE_RANGE_START_ADDR: (
        "uintptr_t",
        lambda asked: asked.owner.region.base,
    ),
    Attribute.CU_POINTER_ATTRIBUTE_RANGE_SIZE: ("size_t", lambda asked: asked.owner.region.size),
    Attribute.CU_POINTER_ATTRIBUTE_MAPPED: ("int", lambda _: 1),
    Attribute.CU_POINTER_ATTRIBUTE_ALLOWED_HANDLE_TYPES: ("unsigned long long", lambda _: 0),
    Attribute.CU_POINTER_ATTRIBUTE_IS_GPU_DIRECT_RDMA_CAPABLE: ("int", lambda _: 0),
    Attribute.CU_POINTER_ATTRIBUTE_ACCESS_FLAGS: ("unsigned int", lambda _: 3),
    Attribute.CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE: ("uintptr_t", _pool),
    Attribute.CU_POINTER_ATTRIBUTE_MAPPING_SIZE: ("size_t", lambda a: a.owner.region.size),
    Attribute.CU_POINTER_ATTRIBUTE_MAPPING_BASE_ADDR: ("uintptr_t", lambda a: a.owner.region.base),
    Attribute.CU_POINTER_ATTRIBUTE_IS_HW_DECOMPRESS_CAPABLE: ("int", lambda _: 0),
}
"""C type of the answer, and the answer (CUDA Driver API, cuPointerGetAttribute)."""


def _attribute(attribute: int) -> tuple[str, Callable[[_Address], int]]:
    """Raises CudaError (INVALID_VALUE, NOT_SUPPORTED)."""
    if attribute not in Attribute._value2member_map_:
        raise CudaError(
            Result.CUDA_ERROR_INVALID_VALUE,
            f"attribute is {attribute}; CUpointer_attribute has 1 to {max(Attribute)}",
        )
    if attribute not in _ANSWERS:
        raise CudaError(
            Result.CUDA_ERROR_NOT_SUPPORTED,
            f"not supported: {Attribute(attribute).name} is for other devices' drivers",
        )
    return _ANSWERS[attribute]


def _asked(value: int) -> _Address | None:
    found = context.current().memory.allocation(value)
    return None if found is None else _Address(value, found)


@driver.export("cuPointerGetAttribute")
def pointer_get_attribute(data: Any, attribute: int, value: int) -> None:
    null(data=data)
    kind, answer = _attribute(attribute)
    asked = _asked(value)
    if asked is None:
        raise CudaError(
            Result.CUDA_ERROR_INVALID_VALUE, f"ptr ({value:#x}) is no memory that CUDA allocated"
        )
    ffi.cast(f"{kind} *", data)[0] = int(answer(asked))


@driver.export("cuPointerGetAttributes")
def pointer_get_attributes(count: int, attributes: Any, data: Any, value: int) -> None:
    null(attributes=attributes, data=data)
    asked = _asked(value)
    for index in range(count):
        kind, answer = _attribute(attributes[index])
        null(**{f"data[{index}]": data[index]})
        try:
            told = 0 if asked is None else int(answer(asked))
        except CudaError:
            told = 0
        if asked is None and attributes[index] == Attribute.CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL:
            told = -2  # CU_DEVICE_INVALID
        ffi.cast(f"{kind} *", data[index])[0] = told


@driver.export("cuPointerSetAttribute")
def pointer_set_attribute(value: Any, attribute: int, address: int) -> None:
    null(value=value)
    _attribute(attribute)
    if attribute != Attribute.CU_POINTER_ATTRIBUTE_SYNC_MEMOPS:
        raise CudaError(
            Result.CUDA_ERROR_INVALID_VALUE,
            f"attribute is {attribute}; only CU_POINTER_ATTRIBUTE_SYNC_MEMOPS 6 can be set",
        )
    found = context.current().memory.allocation(address)
    if found is None:
        raise CudaError(
            Result.CUDA_ERROR_INVALID_VALUE, f"ptr ({address:#x}) is no memory that CUDA allocated"
        )
    found.synchronous = bool(ffi.cast("unsigned int *", value)[0])
