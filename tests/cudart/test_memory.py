"""Allocations: what exists, what a pointer is, and every way of freeing wrongly."""

from __future__ import annotations

import ctypes
import gc
import mmap

import numpy as np
import pytest

from cudla_sim.constants.cudart import cudaMemoryType
from cudla_sim.core.pages import accessible
from cudla_sim.testing import prototypes

from .conftest import Cuda

HUGE = (1 << 63) - 1


def attributes(cuda: Cuda, address: int) -> tuple[int, int, int, int]:
    found = prototypes.cudaPointerAttributes()
    cuda.ok.cudaPointerGetAttributes(ctypes.byref(found), address)
    return found.type, found.device, found.devicePointer or 0, found.hostPointer or 0


def test_device_memory_is_zero_filled_and_known_to_python(cuda: Cuda) -> None:
    address = cuda.malloc(1000)
    assert address % 256 == 0
    assert cuda.bytes_at(address, 1000) == bytes(1000)
    region = cuda.sim.memory.find(address)
    assert (region.base, region.size) == (address, 1000)


def test_size_zero_gives_null_and_null_may_be_freed(cuda: Cuda) -> None:
    assert cuda.malloc(0) == 0
    cuda.ok.cudaFree(None)
    cuda.ok.cudaFreeHost(None)


@pytest.mark.parametrize("function", ["cudaMalloc", "cudaMallocHost"])
def test_a_huge_size_is_out_of_memory(cuda: Cuda, function: str) -> None:
    target = ctypes.c_void_p(7)
    text = cuda.fails("cudaErrorMemoryAllocation", function, ctypes.byref(target), HUGE)
    assert str(HUGE) in text
    assert target.value == 7


def test_a_null_result_pointer_is_an_invalid_value(cuda: Cuda) -> None:
    for call in (
        ("cudaMalloc", None, 16),
        ("cudaMallocHost", None, 16),
        ("cudaMallocManaged", None, 16, 1),
        ("cudaHostAlloc", None, 16, 0),
        ("cudaMallocPitch", None, None, 16, 16),
        ("cudaMemGetInfo", None, None),
        ("cudaPointerGetAttributes", None, None),
        ("cudaHostGetDevicePointer", None, None, 0),
        ("cudaHostGetFlags", None, None),
    ):
        assert "is NULL" in cuda.fails("cudaErrorInvalidValue", *call)


def test_a_second_free_names_the_first(cuda: Cuda) -> None:
    address = cuda.malloc(64)
    cuda.ok.cudaFree(address)
    assert "freed already, by cudaFree" in cuda.fails("cudaErrorInvalidValue", "cudaFree", address)


def test_freeing_the_middle_names_the_beginning(cuda: Cuda) -> None:
    address = cuda.malloc(64)
    assert "8 bytes inside" in cuda.fails("cudaErrorInvalidValue", "cudaFree", address + 8)
    cuda.ok.cudaFree(address)


def test_each_kind_of_memory_has_its_own_free(cuda: Cuda) -> None:
    device, host = cuda.malloc(64), cuda.pinned(64)
    assert "cudaMallocHost" in cuda.fails("cudaErrorInvalidValue", "cudaFree", host)
    assert "cudaMalloc" in cuda.fails("cudaErrorInvalidValue", "cudaFreeHost", device)
    cuda.ok.cudaFree(device)
    cuda.ok.cudaFreeHost(host)
    cuda.fails("cudaErrorInvalidValue", "cudaFree", 0x1234)


def test_pointer_attributes_tell_the_four_kinds_apart(cuda: Cuda) -> None:
    device, host, managed = cuda.malloc(64), cuda.pinned(64), cuda.managed(64)
    local = ctypes.create_string_buffer(64)
    own = ctypes.addressof(local)
    kinds = cudaMemoryType
    assert attributes(cuda, device + 3) == (kinds.cudaMemoryTypeDevice, 0, device + 3, 0)
    assert attributes(cuda, host) == (kinds.cudaMemoryTypeHost, 0, host, host)
    assert attributes(cuda, managed) == (kinds.cudaMemoryTypeManaged, 0, managed, managed)
    assert attributes(cuda, own) == (kinds.cudaMemoryTypeUnregistered, -2, 0, own)
    cuda.ok.cudaFree(device)
    assert attributes(cuda, device)[0] == kinds.cudaMemoryTypeUnregistered


def test_registering_host_memory(cuda: Cuda) -> None:
    pages = mmap.mmap(-1, 8192)
    address = ctypes.addressof(ctypes.c_char.from_buffer(pages))
    cuda.ok.cudaHostRegister(address, 8192, 0)
    assert attributes(cuda, address + 100)[0] == cudaMemoryType.cudaMemoryTypeHost
    mapped = ctypes.c_void_p()
    cuda.ok.cudaHostGetDevicePointer(ctypes.byref(mapped), address, 0)
    assert mapped.value == address
    cuda.fails("cudaErrorHostMemoryAlreadyRegistered", "cudaHostRegister", address + 4096, 4096, 0)
    cuda.fails("cudaErrorInvalidValue", "cudaHostUnregister", address + 4096)
    assert "cudaHostRegister" in cuda.fails("cudaErrorInvalidValue", "cudaFreeHost", address)
    cuda.ok.cudaHostUnregister(address)
    cuda.fails("cudaErrorHostMemoryNotRegistered", "cudaHostUnregister", address)


@pytest.mark.parametrize(("address", "size"), [(0, 16), (0x1000, 0), (0x10, 4096), (0x1000, HUGE)])
def test_what_cannot_be_registered(cuda: Cuda, address: int, size: int) -> None:
    cuda.fails("cudaErrorInvalidValue", "cudaHostRegister", address, size, 0)


def test_memory_that_cannot_be_written_is_registered_as_such(cuda: Cuda) -> None:
    """cudaHostRegisterReadOnly is for it; without the flag the device could write there."""
    pages = mmap.mmap(-1, 4096, prot=mmap.PROT_READ)
    address = np.frombuffer(pages, np.uint8).ctypes.data
    cuda.fails("cudaErrorInvalidValue", "cudaHostRegister", address, 4096, 0)
    cuda.ok.cudaHostRegister(address, 4096, 8)
    cuda.ok.cudaHostUnregister(address)


def test_device_memory_cannot_be_page_locked(cuda: Cuda) -> None:
    cuda.fails("cudaErrorInvalidValue", "cudaHostRegister", cuda.malloc(4096), 4096, 0)


def test_host_flags_are_kept(cuda: Cuda) -> None:
    target, flags = ctypes.c_void_p(), ctypes.c_uint()
    cuda.ok.cudaHostAlloc(ctypes.byref(target), 64, 3)
    cuda.ok.cudaHostGetFlags(ctypes.byref(flags), target)
    assert flags.value == 3
    cuda.fails("cudaErrorInvalidValue", "cudaHostAlloc", ctypes.byref(target), 64, 8)
    cuda.fails("cudaErrorInvalidValue", "cudaHostGetFlags", ctypes.byref(flags), cuda.malloc(8))


def test_free_memory_shrinks_and_grows(cuda: Cuda) -> None:
    def free() -> int:
        left, total = ctypes.c_size_t(), ctypes.c_size_t()
        cuda.ok.cudaMemGetInfo(ctypes.byref(left), ctypes.byref(total))
        assert 0 < left.value <= total.value
        return left.value

    before = free()
    address = cuda.malloc(1 << 20)
    assert free() == before - (1 << 20)
    cuda.ok.cudaFree(address)
    assert free() == before


def test_pitched_rows_are_aligned(cuda: Cuda) -> None:
    target, pitch = ctypes.c_void_p(), ctypes.c_size_t()
    cuda.ok.cudaMallocPitch(ctypes.byref(target), ctypes.byref(pitch), 1000, 3)
    assert pitch.value == 1024
    assert cuda.sim.memory.find(target.value).size == 3 * 1024


def test_a_gibibyte_costs_nothing_until_it_is_touched(cuda: Cuda) -> None:
    import resource

    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    address = cuda.malloc(1 << 30)
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 50 << 10
    cuda.ok.cudaFree(address)


def test_managed_memory_wants_a_size_and_a_known_flag(cuda: Cuda) -> None:
    target = ctypes.c_void_p()
    cuda.fails("cudaErrorInvalidValue", "cudaMallocManaged", ctypes.byref(target), 0, 1)
    cuda.fails("cudaErrorInvalidValue", "cudaMallocManaged", ctypes.byref(target), 16, 4)


def test_attaching_managed_memory_to_a_stream(cuda: Cuda) -> None:
    managed = cuda.managed(4096)
    cuda.ok.cudaStreamAttachMemAsync(None, managed, 0, 1)
    cuda.fails("cudaErrorInvalidValue", "cudaStreamAttachMemAsync", None, managed, 5, 1)


def test_memory_in_use_by_queued_work_survives_its_free(cuda: Cuda, gates) -> None:  # type: ignore[no-untyped-def]
    stream = cuda.stream(1)
    gate = gates(stream)
    source, target = cuda.malloc(64), cuda.malloc(64)
    cuda.ok.cudaMemset(source, 5, 64)
    cuda.ok.cudaMemcpyAsync(target, source, 64, 3, stream)
    cuda.ok.cudaFreeAsync(source, stream)
    gate.open()
    cuda.ok.cudaStreamSynchronize(stream)
    assert cuda.bytes_at(target, 64) == bytes([5]) * 64


def test_a_copy_to_freed_memory_answers_a_status(cuda: Cuda) -> None:
    """Without a collection in between: the pages of freed memory go at once."""
    source, freed = cuda.managed(256), cuda.malloc(256)
    gc.disable()
    try:
        cuda.ok.cudaFree(freed)
        assert not accessible(freed, 256)
        cuda.fails("cudaErrorInvalidValue", "cudaMemcpy", freed, source, 256, 2)
    finally:
        gc.enable()
