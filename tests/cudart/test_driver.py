"""The driver interface: cuInit, devices, UUID, the primary context."""

from __future__ import annotations

import ctypes
import re
from typing import Any

from cudla_sim import paths
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
    assert value.value == 13000
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


def test_every_function_of_the_header_is_found_by_its_name(cuda: Cuda) -> None:
    """The header is read without our parser; what is found is called."""
    text = (paths.PACKAGE / "include" / "cuda" / "cuda.h").read_text()
    names = sorted(set(re.findall(r"^CUresult (cu\w+)\(", text, re.MULTILINE)))
    assert len(names) > 20
    pointer, state = ctypes.c_void_p(), ctypes.c_int(7)
    for name in names:
        arguments = (name.encode(), ctypes.byref(pointer), 12090)
        cuda.ok.cuGetProcAddress_v2(*arguments, 0, ctypes.byref(state))
        assert pointer.value, name
        assert state.value == 0
        cuda.ok.cuGetProcAddress(*arguments, 1)
    version = ctypes.c_int()
    cuda.ok.cuGetProcAddress(b"cuDriverGetVersion", ctypes.byref(pointer), 2020, 0)
    assert (
        ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p)(pointer.value)(ctypes.addressof(version))
        == 0
    )
    assert version.value == 13000


def test_the_version_chooses_the_generation_of_a_function(cuda: Cuda) -> None:
    def found(name: bytes, version: int) -> int | None:
        pointer = ctypes.c_void_p()
        cuda.ok.cuGetProcAddress_v2(name, ctypes.byref(pointer), version, 0, None)
        return pointer.value

    for name, last, first in (
        (b"cuDeviceTotalMem", 3010, 3020),
        (b"cuDevicePrimaryCtxRelease", 10020, 11000),
        (b"cuDeviceGetUuid", 11030, 11040),
        (b"cuGetProcAddress", 11080, 12000),
    ):
        assert found(name, first) == found(name + b"_v2", 13000)
        assert found(name, last) != found(name, first)


def test_names_and_tables_that_the_driver_does_not_have(cuda: Cuda) -> None:
    pointer, state = ctypes.c_void_p(1), ctypes.c_int(7)
    arguments = (b"cuNothing", ctypes.byref(pointer), 12090, 0)
    assert cuda.cuGetProcAddress_v2(*arguments, ctypes.byref(state)) == R.CUDA_ERROR_NOT_FOUND
    assert (pointer.value, state.value) == (None, 1)
    assert cuda.cuGetProcAddress(*arguments) == R.CUDA_ERROR_NOT_FOUND
    for wrong in (
        (None, ctypes.byref(pointer), 12090, 0),
        (b"cuInit", None, 12090, 0),
        (b"cuInit", ctypes.byref(pointer), 12090, 2),
        (b"cuInit", ctypes.byref(pointer), 12090, 3),
    ):
        assert cuda.cuGetProcAddress(*wrong) == R.CUDA_ERROR_INVALID_VALUE
    pointer = ctypes.c_void_p(1)
    table = prototypes.CUuuid_st()
    found = cuda.cuGetExportTable(ctypes.byref(pointer), ctypes.byref(table))
    assert (found, pointer.value) == (R.CUDA_ERROR_NOT_FOUND, None)


def test_memory_streams_and_events_by_the_drivers_names(cuda: Cuda) -> None:
    where, size = ctypes.c_uint64(), 1000
    assert cuda.cuMemAlloc_v2(ctypes.byref(where), size) == R.CUDA_ERROR_NOT_INITIALIZED
    cuda.ok.cuInit(0)
    assert cuda.cuMemAlloc_v2(ctypes.byref(where), size) == R.CUDA_ERROR_INVALID_CONTEXT
    primary = ctypes.c_void_p()
    cuda.ok.cuDevicePrimaryCtxRetain(ctypes.byref(primary), 0)
    cuda.ok.cuCtxSetCurrent(primary)
    assert cuda.cuMemAlloc_v2(ctypes.byref(where), 0) == R.CUDA_ERROR_INVALID_VALUE
    before, after, total = ctypes.c_size_t(), ctypes.c_size_t(), ctypes.c_size_t()
    cuda.ok.cuMemGetInfo_v2(ctypes.byref(before), ctypes.byref(total))
    cuda.ok.cuMemAlloc_v2(ctypes.byref(where), size)
    cuda.ok.cuMemGetInfo_v2(ctypes.byref(after), ctypes.byref(total))
    assert before.value - after.value >= size
    sent = bytes(range(250)) * 4
    got = ctypes.create_string_buffer(size)
    stream, event = ctypes.c_void_p(), ctypes.c_void_p()
    cuda.ok.cuStreamCreate(ctypes.byref(stream), 1)
    cuda.ok.cuEventCreate(ctypes.byref(event), 2)
    cuda.ok.cuMemcpyHtoDAsync_v2(where, sent, size, stream)
    cuda.ok.cuEventRecord(event, stream)
    cuda.ok.cuEventSynchronize(event)
    cuda.ok.cuEventQuery(event)
    cuda.ok.cuStreamWaitEvent(stream, event, 0)
    cuda.ok.cuMemcpyDtoHAsync_v2(got, where, size, stream)
    cuda.ok.cuStreamSynchronize(stream)
    cuda.ok.cuStreamQuery(stream)
    assert got.raw == sent
    cuda.ok.cuMemsetD8_v2(where.value + 10, 0xA5, 20)
    cuda.ok.cuMemcpyDtoD_v2(where.value + 500, where, 100)
    cuda.ok.cuMemcpyDtoH_v2(got, where, size)
    filled = sent[:10] + b"\xa5" * 20 + sent[30:]
    assert got.raw == filled[:500] + filled[:100] + filled[600:]
    cuda.ok.cuMemcpyHtoD_v2(where, b"abc", 3)
    cuda.ok.cuMemcpyDtoH_v2(got, where, 4)
    assert got.raw[:4] == b"abc" + filled[3:4]
    assert cuda.cuMemcpyDtoH_v2(got, where, size + 1) == R.CUDA_ERROR_INVALID_VALUE
    cuda.ok.cuEventDestroy_v2(event)
    cuda.ok.cuStreamDestroy_v2(stream)
    assert cuda.cuStreamSynchronize(stream) == R.CUDA_ERROR_INVALID_HANDLE
    cuda.ok.cuMemFree_v2(where)
    assert cuda.cuMemFree_v2(where) == R.CUDA_ERROR_INVALID_VALUE


def test_the_runtime_makes_the_primary_context_current(cuda: Cuda) -> None:
    current, primary, where = ctypes.c_void_p(1), ctypes.c_void_p(), ctypes.c_uint64()
    cuda.ok.cuInit(0)
    cuda.ok.cuCtxGetCurrent(ctypes.byref(current))
    assert current.value is None
    cuda.ok.cudaSetDevice(0)
    cuda.ok.cuCtxGetCurrent(ctypes.byref(current))
    cuda.ok.cuDevicePrimaryCtxRetain(ctypes.byref(primary), 0)
    assert current.value == primary.value
    cuda.ok.cuMemAlloc_v2(ctypes.byref(where), 64)
    cuda.ok.cudaFree(where.value)
    cuda.ok.cuCtxSetCurrent(None)
    assert cuda.cuMemAlloc_v2(ctypes.byref(where), 64) == R.CUDA_ERROR_INVALID_CONTEXT
    cuda.ok.cudaFree(None)
    cuda.ok.cuMemAlloc_v2(ctypes.byref(where), 64)
