"""Kernels by their addresses: attributes and settings. CUDA Runtime API, "Execution Control"."""

from __future__ import annotations

from typing import Any

from ...constants.cudart import cudaDeviceAttr as Device
from ...constants.cudart import cudaError, cudaFuncAttribute, cudaFuncCache
from ...cudart.errors import CudaError, invalid_value
from ..embedding import address, ffi, lib
from .device import get_device
from .family import cudart, null

_REGISTERS = 32
"""Registers of a thread, as small kernels have them; programs divide by it."""


def require_kernel(function: Any) -> Any:
    """Raises CudaError (InvalidDeviceFunction) unless it is a kernel of this program."""
    if not function or not lib.sim_cuda_kernel_known(function):
        raise CudaError(
            cudaError.cudaErrorInvalidDeviceFunction,
            f"func ({address(function):#x}) is not a __global__ function that `cudla-sim nvcc` "
            "compiled",
        )
    return function


@cudart.export("cudaFuncGetAttributes")
def func_get_attributes(attributes: Any, function: Any) -> None:
    null(attr=attributes)
    require_kernel(function)
    found = get_device(0)
    value = found.attribute
    version = 10 * value(Device.cudaDevAttrComputeCapabilityMajor)
    version += value(Device.cudaDevAttrComputeCapabilityMinor)
    allowed = int(lib.sim_cuda_shared(function, -1))
    usual = value(Device.cudaDevAttrMaxSharedMemoryPerBlock)
    ffi.memmove(attributes, bytes(ffi.sizeof(attributes[0])), ffi.sizeof(attributes[0]))
    attributes.maxThreadsPerBlock = value(Device.cudaDevAttrMaxThreadsPerBlock)
    attributes.numRegs = _REGISTERS
    attributes.ptxVersion = attributes.binaryVersion = version
    attributes.maxDynamicSharedSizeBytes = allowed if allowed >= 0 else usual
    attributes.preferredShmemCarveout = -1  # no preference


@cudart.export("cudaFuncSetAttribute")
def func_set_attribute(function: Any, attribute: int, value: int) -> None:
    last = int(cudaFuncAttribute.cudaFuncAttributeMax) - 1
    first = int(cudaFuncAttribute.cudaFuncAttributeMaxDynamicSharedMemorySize)
    if not first <= attribute <= last:
        raise invalid_value(f"attr is {attribute}; must be in {first}..{last}")
    require_kernel(function)
    if attribute != cudaFuncAttribute.cudaFuncAttributeMaxDynamicSharedMemorySize:
        return  # a hint
    most = get_device(0).attribute(Device.cudaDevAttrMaxSharedMemoryPerBlockOptin)
    if not 0 <= value <= most:
        raise invalid_value(f"value is {value}; dynamic shared memory must be in 0..{most} bytes")
    lib.sim_cuda_shared(function, value)


@cudart.export("cudaFuncSetCacheConfig")
def func_set_cache_config(function: Any, config: int) -> None:
    require_kernel(function)
    if config not in cudaFuncCache._value2member_map_:
        raise invalid_value(f"cacheConfig is {config}; must be in 0..{max(cudaFuncCache)}")
