"""Attributes of pointers. CUDA Driver API, cuPointerGetAttribute."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from ...constants.cudart import CUpointer_attribute_enum as Attribute
from ...constants.cudart import cudaError_enum as Result
from ...constants.cudart import cudaMemoryType
from ...cudart import context
from ...cudart.errors import CudaError
from ...cudart.memory import Allocation
from ..embedding import ffi
from .driver import driver, null, primary_context


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


def _context(asked: _Address) -> int:
    return int(asked.owner.of or primary_context().handle)


_ANSWERS: dict[int, tuple[str, Callable[[_Address], int]]] = {
    Attribute.CU_POINTER_ATTRIBUTE_CONTEXT: ("uintptr_t", _context),
    Attribute.CU_POINTER_ATTRIBUTE_MEMORY_TYPE: ("unsigned int", _memory_type),
    Attribute.CU_POINTER_ATTRIBUTE_DEVICE_POINTER: ("uintptr_t", _device_address),
    Attribute.CU_POINTER_ATTRIBUTE_HOST_POINTER: ("uintptr_t", _host_address),
    Attribute.CU_POINTER_ATTRIBUTE_BUFFER_ID: (
        "unsigned long long",
        lambda asked: asked.owner.region.base,  # no two that are there have one address
    ),
    Attribute.CU_POINTER_ATTRIBUTE_IS_MANAGED: ("int", lambda asked: asked.owner.is_managed),
    Attribute.CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL: ("int", lambda _: 0),
    Attribute.CU_POINTER_ATTRIBUTE_RANGE_START_ADDR: (
        "uintptr_t",
        lambda asked: asked.owner.region.base,
    ),
    Attribute.CU_POINTER_ATTRIBUTE_RANGE_SIZE: ("size_t", lambda asked: asked.owner.region.size),
    Attribute.CU_POINTER_ATTRIBUTE_MAPPED: ("int", lambda _: 1),
    Attribute.CU_POINTER_ATTRIBUTE_ALLOWED_HANDLE_TYPES: ("unsigned long long", lambda _: 0),
    Attribute.CU_POINTER_ATTRIBUTE_IS_GPU_DIRECT_RDMA_CAPABLE: ("int", lambda _: 0),
    Attribute.CU_POINTER_ATTRIBUTE_ACCESS_FLAGS: ("unsigned int", lambda _: 3),
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
