"""The driver interface: cuInit, devices, UUID, the primary context."""

from __future__ import annotations

import ctypes
from typing import Any

from cudla_sim.constants.cudart import cudaError_enum as R
from cudla_sim.cudart import context
from cudla_sim.testing import prototypes

from .conftest import Cuda


def test_nothing_works_before_cuinit(cuda: Cuda) -> None:
    value = ctypes.c_int()
    assert cuda.cuDeviceGetCount(ctypes.byref(value)) == R.CUDA_ERROR_NOT_INITIALIZED
    assert cuda.cuDeviceGet(ctypes.byref(value), 0) == R.CUDA_ERROR_NOT_INITIALIZED
    assert cuda.cuInit(1) == R.CUDA_ERROR_INVALID_VALUE
    cuda.ok.cuDriverGetVersion(ctypes.byref(value))
    assert value.value == 12090
    cuda.ok.cuInit(0)
    cuda.ok.cuDeviceGetCount(ctypes.byref(value))
    assert value.value == 1


def test_a_device_has_name_uuid_memory_and_attributes(cuda: Cuda) -> None:
    cuda.ok.cuInit(0)
    device, size, value = ctypes.c_int(9), ctypes.c_size_t(), ctypes.c_int()
    cuda.ok.cuDeviceGet(ctypes.byref(device), 0)
    for name in ("cuDeviceGetUuid", "cuDeviceGetUuid_v2"):
        uuid = prototypes.CUuuid_st()
        getattr(cuda.ok, name)(ctypes.byref(uuid), device)
        assert bytes(uuid) == context.current_device().uuid
    text = ctypes.create_string_buffer(6)
    cuda.ok.cuDeviceGetName(text, 6, device)
    assert text.value == b"cudla"
    cuda.ok.cuDeviceTotalMem_v2(ctypes.byref(size), device)
    cuda.ok.cuDeviceTotalMem(ctypes.byref(size), device)
    assert size.value == context.current_device().total_bytes
    cuda.ok.cuDeviceGetAttribute(ctypes.byref(value), 75, device)
    assert value.value == 8
    assert cuda.cuDeviceGetAttribute(None, 75, device) == R.CUDA_ERROR_INVALID_VALUE
    assert cuda.cuDeviceGetAttribute(ctypes.byref(value), 0, device) == R.CUDA_ERROR_INVALID_VALUE
    assert cuda.cuDeviceGet(ctypes.byref(device), 1) == R.CUDA_ERROR_INVALID_DEVICE
    assert cuda.cuDeviceGetUuid(ctypes.byref(prototypes.CUuuid_st()), 7) == 101


def test_every_result_has_a_name_and_a_meaning(cuda: Cuda) -> None:
    text = ctypes.c_char_p()
    for result in R:
        cuda.ok.cuGetErrorName(result, ctypes.byref(text))
        assert text.value == result.name.encode()
        cuda.ok.cuGetErrorString(result, ctypes.byref(text))
        assert text.value
    for number in (5555, -1):
        assert cuda.cuGetErrorName(number, ctypes.byref(text)) == R.CUDA_ERROR_INVALID_VALUE
        assert text.value is None
    assert cuda.cuGetErrorString(0, None) == R.CUDA_ERROR_INVALID_VALUE


def test_the_primary_context(cuda: Cuda) -> None:
    cuda.ok.cuInit(0)
    first, second, found = (ctypes.c_void_p() for _ in range(3))
    device: Any = ctypes.c_int(9)
    assert cuda.cuCtxGetDevice(ctypes.byref(device)) == R.CUDA_ERROR_INVALID_CONTEXT
    cuda.ok.cuDevicePrimaryCtxRetain(ctypes.byref(first), 0)
    cuda.ok.cuDevicePrimaryCtxRetain(ctypes.byref(second), 0)
    assert first.value == second.value
    cuda.ok.cuCtxSetCurrent(first)
    cuda.ok.cuCtxGetCurrent(ctypes.byref(found))
    assert found.value == first.value
    cuda.ok.cuCtxGetDevice(ctypes.byref(device))
    assert device.value == 0
    cuda.ok.cuCtxSynchronize()
    cuda.ok.cuDevicePrimaryCtxRelease_v2(0)
    cuda.ok.cuDevicePrimaryCtxRelease(0)
    assert cuda.cuDevicePrimaryCtxRelease_v2(0) == R.CUDA_ERROR_INVALID_CONTEXT
    assert cuda.cuCtxSetCurrent(0x77) == R.CUDA_ERROR_INVALID_CONTEXT
    cuda.ok.cuCtxSetCurrent(None)


def test_a_runtime_call_initialises_the_driver(cuda: Cuda) -> None:
    """Programs mix both: cudaFree(0) or a stream first, then cuDeviceGetUuid without cuInit."""
    uuid = ctypes.create_string_buffer(16)
    assert cuda.cuDeviceGetUuid(uuid, 0) == R.CUDA_ERROR_NOT_INITIALIZED
    cuda.ok.cudaFree(None)
    cuda.ok.cuDeviceGetUuid(uuid, 0)
    assert uuid.raw != bytes(16)
