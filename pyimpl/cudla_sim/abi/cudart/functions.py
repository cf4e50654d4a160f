"""Kernels by their addresses: what they are set to, and how many of their blocks fit.

CUDA Runtime API, "Execution Control", "Occupancy".
"""

from __future__ import annotations

from typing import Any

from ...constants.cudart import CUfunction_attribute_enum as Attribute
from ...constants.cudart import cudaFuncAttribute
from ...cudart.errors import invalid_value
from ..embedding import ffi
from . import driver_functions, modules, occupancy
from .family import cudart, null
from .registered import kernel_of


@cudart.export("cudaFuncGetAttributes")
def func_get_attributes(attributes: Any, function: Any) -> None:
    null(attr=attributes)
    kernel = kernel_of(function)
    ffi.memmove(attributes, bytes(ffi.sizeof(attributes[0])), ffi.sizeof(attributes[0]))
    for field, attribute in {
        "maxThreadsPerBlock": Attribute.CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK,
        "numRegs": Attribute.CU_FUNC_ATTRIBUTE_NUM_REGS,
        "ptxVersion": Attribute.CU_FUNC_ATTRIBUTE_PTX_VERSION,
        "binaryVersion": Attribute.CU_FUNC_ATTRIBUTE_BINARY_VERSION,
        "maxDynamicSharedSizeBytes": Attribute.CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
        "preferredShmemCarveout": Attribute.CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT,
    }.items():
        setattr(attributes, field, modules.function_attribute(kernel, attribute))


@cudart.export("cudaFuncSetAttribute")
def func_set_attribute(function: Any, attribute: int, value: int) -> None:
    last = int(cudaFuncAttribute.cudaFuncAttributeMax) - 1
    if not cudaFuncAttribute.cudaFuncAttributeMaxDynamicSharedMemorySize <= attribute <= last:
        raise invalid_value(f"attr is {attribute}; cudaFuncAttribute has 8 to {last}")
    kernel = kernel_of(function)
    if attribute == cudaFuncAttribute.cudaFuncAttributeMaxDynamicSharedMemorySize:
        modules.allow_shared(kernel, value)


@cudart.export("cudaFuncSetCacheConfig")
def func_set_cache_config(function: Any, config: int) -> None:
    driver_functions.func_set_cache_config(kernel_of(function), config)


@cudart.export("cudaFuncSetSharedMemConfig")
def func_set_shared_mem_config(function: Any, config: int) -> None:
    driver_functions.func_set_shared_mem_config(kernel_of(function), config)


@cudart.export("cudaFuncGetName")
def func_get_name(target: Any, function: Any) -> None:
    driver_functions.func_get_name(target, kernel_of(function))


@cudart.export("cudaOccupancyMaxActiveBlocksPerMultiprocessor")
def active_blocks(count: Any, function: Any, threads: int, shared: int) -> None:
    occupancy.active_blocks(count, kernel_of(function), threads, shared)


@cudart.export("cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags")
def active_blocks_with_flags(
    count: Any, function: Any, threads: int, shared: int, flags: int
) -> None:
    occupancy.active_blocks_with_flags(count, kernel_of(function), threads, shared, flags)


@cudart.export("cudaOccupancyAvailableDynamicSMemPerBlock")
def available_shared(size: Any, function: Any, blocks: int, threads: int) -> None:
    occupancy.available_shared(size, kernel_of(function), blocks, threads)
