"""Virtual memory by the driver's names: reserve, create, map, set access."""

from __future__ import annotations

from typing import Any

from ...constants.cudart import CUmemAllocationGranularity_flags_enum as Granularity
from ...constants.cudart import CUmemAllocationHandleType_enum as HandleType
from ...constants.cudart import CUmemAllocationType_enum as AllocationType
from ...constants.cudart import CUmemLocationType_enum as LocationType
from ...constants.cudart import cudaError_enum as Result
from ...cudart import context
from ...cudart.errors import CudaError
from ...cudart.virtual_memory import GRANULARITY, NO_ACCESS, READ, READ_WRITE, VirtualMemory
from ..embedding import address, ffi
from .device import get_device
from .driver import driver, null

_PINNED = AllocationType.CU_MEM_ALLOCATION_TYPE_PINNED
_DEVICE = LocationType.CU_MEM_LOCATION_TYPE_DEVICE
_DESCRIPTOR = HandleType.CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR


def _invalid(text: str) -> CudaError:
    return CudaError(Result.CUDA_ERROR_INVALID_VALUE, text)


def _memory() -> VirtualMemory:
    """No context has to be current: memory is a device's."""
    return context.current().virtual


def _no_flags(flags: int) -> None:
    if flags:
        raise CudaError(Result.CUDA_ERROR_INVALID_VALUE, f"flags is {flags:#x}; it is 0")


def _properties(prop: Any) -> None:
    null(prop=prop)
    if prop.type != _PINNED:
        raise _invalid(f"prop.type is {prop.type}; CU_MEM_ALLOCATION_TYPE_PINNED (1) is known")
    _location("prop.location", prop.location)
    if prop.requestedHandleTypes & ~_DESCRIPTOR:
        raise CudaError(
            Result.CUDA_ERROR_NOT_SUPPORTED,
            f"prop.requestedHandleTypes is {prop.requestedHandleTypes:#x}; "
            "CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR (1) is known here",
        )


def _location(name: str, location: Any) -> None:
    if location.type != _DEVICE:
        raise _invalid(
            f"{name}.type is {location.type}; memory of the device, CU_MEM_LOCATION_TYPE_DEVICE "
            "(1), is known here"
        )
    try:
        get_device(location.id)
    except CudaError as error:
        raise CudaError(
            Result.CUDA_ERROR_INVALID_DEVICE, f"{name}.id is {location.id}: {error.explanation}"
        ) from None


@driver.export("cuMemGetAllocationGranularity")
def granularity(answer: Any, prop: Any, option: int) -> None:
    null(granularity=answer)
    _properties(prop)
    if option not in tuple(Granularity):
        raise CudaError(
            Result.CUDA_ERROR_INVALID_VALUE, f"option is {option}; 0 is the least, 1 recommended"
        )
    answer[0] = GRANULARITY


@driver.export("cuMemCreate")
def create(handle: Any, size: int, prop: Any, flags: int) -> None:
    null(handle=handle)
    _no_flags(flags)
    _properties(prop)
    handle[0] = _memory().create(size, bool(prop.requestedHandleTypes & _DESCRIPTOR))


@driver.export("cuMemGetAllocationPropertiesFromHandle")
def properties_from_handle(prop: Any, handle: int) -> None:
    null(prop=prop)
    found = _memory().of(handle)
    ffi.memmove(prop, bytes(ffi.sizeof(prop[0])), ffi.sizeof(prop[0]))
    prop.type = _PINNED
    prop.requestedHandleTypes = _DESCRIPTOR if found.exportable else 0
    prop.location.type = _DEVICE


@driver.export("cuMemRelease")
def release(handle: int) -> None:
    _memory().release(handle)


@driver.export("cuMemAddressReserve")
def reserve(target: Any, size: int, alignment: int, wanted: int, flags: int) -> None:
    null(ptr=target)
    _no_flags(flags)
    target[0] = _memory().reserve(size, alignment, wanted)


@driver.export("cuMemAddressFree")
def give_up(ptr: int, size: int) -> None:
    _memory().give_up(ptr, size)


@driver.export("cuMemMap")
def map_(ptr: int, size: int, offset: int, handle: int, flags: int) -> None:
    _no_flags(flags)
    _memory().map(ptr, size, offset, handle)


@driver.export("cuMemUnmap")
def unmap(ptr: int, size: int) -> None:
    found = _memory()
    context.current().synchronize()
    found.unmap(ptr, size)


@driver.export("cuMemSetAccess")
def set_access(ptr: int, size: int, desc: Any, count: int) -> None:
    null(desc=desc)
    if count != 1:
        raise CudaError(
            Result.CUDA_ERROR_INVALID_VALUE, f"count is {count}; there is one device, so it is 1"
        )
    _location("desc[0].location", desc[0].location)
    if desc[0].flags not in (NO_ACCESS, READ, READ_WRITE):
        raise _invalid(
            f"desc[0].flags is {desc[0].flags}; CU_MEM_ACCESS_FLAGS_PROT_NONE 0, _READ 1 and "
            "_READWRITE 3 are known"
        )
    _memory().set_access(ptr, size, desc[0].flags)


@driver.export("cuMemGetAccess")
def get_access(flags: Any, location: Any, ptr: int) -> None:
    null(flags=flags, location=location)
    _location("location", location)
    flags[0] = _memory().access(ptr)


@driver.export("cuMemRetainAllocationHandle")
def retain(handle: Any, addr: Any) -> None:
    null(handle=handle)
    handle[0] = _memory().retain(address(addr))


@driver.export("cuMemGetAllocationPropertiesFromHandle")
def properties(prop: Any, handle: int) -> None:
    null(prop=prop)
    found = _memory().of(handle)
    ffi.memmove(prop, ffi.new("CUmemAllocationProp *"), ffi.sizeof("CUmemAllocationProp"))
    prop.type, prop.location.type = _PINNED, _DEVICE
    prop.requestedHandleTypes = _DESCRIPTOR if found.exportable else 0


@driver.export("cuMemExportToShareableHandle")
def export(target: Any, handle: int, kind: int, flags: int) -> None:
    null(shareableHandle=target)
    _no_flags(flags)
    _known_type(kind)
    ffi.cast("int *", target)[0] = _memory().export(handle)


@driver.export("cuMemImportFromShareableHandle")
def adopt(handle: Any, source: Any, kind: int) -> None:
    null(handle=handle)
    _known_type(kind)
    handle[0] = _memory().adopt(int(ffi.cast("intptr_t", source)))


def _known_type(kind: int) -> None:
    if kind != _DESCRIPTOR:
        raise CudaError(
            Result.CUDA_ERROR_NOT_SUPPORTED,
            f"the type of handle is {kind}; CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR (1) is known",
        )
