"""Last errors, errors that stay, names and meanings, machines without a suitable GPU."""

from __future__ import annotations

import ctypes
import threading
from collections.abc import Callable
from types import ModuleType
from typing import Any

import pytest

from cudla_sim.constants.cudart import cudaError
from cudla_sim.cudart import context
from cudla_sim.testing import load, prototypes

from .conftest import Cuda

EXTERNAL_DEVICE = 911


def test_the_last_error_is_read_once(cuda: Cuda) -> None:
    cuda.ok.cudaGetLastError()
    cuda.fails("cudaErrorInvalidValue", "cudaMalloc", None, 1)
    cuda.malloc(16)  # success does not clear it
    assert cuda.cudaPeekAtLastError() == 1
    assert cuda.cudaPeekAtLastError() == 1
    assert cuda.cudaGetLastError() == 1
    assert cuda.cudaGetLastError() == 0


def test_every_thread_has_its_own_last_error(cuda: Cuda) -> None:
    cuda.ok.cudaGetLastError()
    found: list[int] = []

    def other() -> None:
        cuda.cudaSetDevice(5)
        found.append(cuda.cudaGetLastError())

    thread = threading.Thread(target=other)
    thread.start()
    thread.join()
    assert found == [cudaError.cudaErrorInvalidDevice]
    cuda.ok.cudaPeekAtLastError()


def test_an_injected_fault_is_a_last_error_too(
    cuda: Cuda, sim_fault: Callable[[str], None]
) -> None:
    cuda.ok.cudaGetLastError()
    sim_fault("cudaMalloc@2=cudaErrorMemoryAllocation")
    cuda.malloc(16)
    target = ctypes.c_void_p()
    cuda.fails("cudaErrorMemoryAllocation", "cudaMalloc", ctypes.byref(target), 16)
    assert cuda.cudaGetLastError() == 2


def test_an_engine_fault_stays_until_the_device_is_reset(cuda: Cuda) -> None:
    stream, device, event = cuda.stream(), cuda.malloc(16), cuda.event()
    context.report_external_fault(context.stream_of(stream), "DLA 0 timed out")
    text = cuda.fails("cudaErrorExternalDevice", "cudaStreamSynchronize", stream)
    assert "DLA 0 timed out" in text
    assert "CUDA stream 1" in text
    target = ctypes.c_void_p()
    for call in (
        ("cudaMalloc", ctypes.byref(target), 16),
        ("cudaMemcpy", device, device, 16, 3),
        ("cudaMemsetAsync", device, 0, 16, stream),
        ("cudaEventRecord", event, stream),
        ("cudaDeviceSynchronize",),
        ("cudaStreamQuery", stream),
    ):
        cuda.fails("cudaErrorExternalDevice", *call)
    assert cuda.cudaGetLastError() == EXTERNAL_DEVICE
    assert cuda.cudaGetLastError() == EXTERNAL_DEVICE
    assert cuda.cudaGetErrorName(EXTERNAL_DEVICE) == b"cudaErrorExternalDevice"
    cuda.ok.cudaDeviceReset()
    cuda.ok.cudaGetLastError()
    cuda.malloc(16)
    cuda.fails("cudaErrorInvalidResourceHandle", "cudaStreamSynchronize", stream)


def test_freeing_works_after_a_fault_and_reports_it(cuda: Cuda) -> None:
    device, stream = cuda.malloc(16), cuda.stream()
    context.report_external_fault(None, "fault")
    cuda.fails("cudaErrorExternalDevice", "cudaFree", device)
    cuda.fails("cudaErrorExternalDevice", "cudaStreamDestroy", stream)
    assert cuda.sim.memory.find(device) is None
    cuda.ok.cudaDeviceReset()


def test_a_fault_is_seen_by_the_call_that_waits_for_it(cuda: Cuda) -> None:
    stream = cuda.stream(1)
    target = context.stream_of(stream)
    target.enqueue(lambda: context.report_external_fault(target, "late"))
    cuda.fails("cudaErrorExternalDevice", "cudaStreamSynchronize", stream)
    cuda.ok.cudaDeviceReset()


def test_work_after_a_fault_is_skipped(cuda: Cuda) -> None:
    stream, log = cuda.stream(1), []
    target = context.stream_of(stream)
    target.enqueue(lambda: context.report_external_fault(target, "fault"))
    target.enqueue(lambda: log.append("skipped"))
    target.enqueue(lambda: log.append("always"), always=True)
    target.queue.drain()
    assert log == ["always"]


@pytest.mark.parametrize("error", cudaError)
def test_every_error_has_a_name_and_a_meaning(cuda: Cuda, error: cudaError) -> None:
    assert cuda.cudaGetErrorName(error).decode() == error.name
    meaning = cuda.cudaGetErrorString(error).decode()
    assert meaning
    assert meaning != "unrecognized error code"


def test_an_unknown_error_number_has_a_text_too(cuda: Cuda) -> None:
    for number in (-1, 10, 123456):
        assert cuda.cudaGetErrorName(number) == b"unrecognized error code"
        assert cuda.cudaGetErrorString(number) == b"unrecognized error code"


def test_device_zero_is_an_integrated_gpu(cuda: Cuda) -> None:
    prop, value = prototypes.cudaDeviceProp(), ctypes.c_int()
    for name in ("cudaGetDeviceProperties", "cudaGetDeviceProperties_v2"):
        ctypes.memset(ctypes.byref(prop), 0xFF, ctypes.sizeof(prop))
        getattr(cuda.ok, name)(ctypes.byref(prop), 0)
        assert prop.name.startswith(b"cudla-sim")
        assert (prop.integrated, prop.major, prop.minor, prop.warpSize) == (1, 8, 7, 32)
        assert prop.managedMemory == prop.unifiedAddressing == 1
        assert tuple(prop.maxThreadsDim) == (1024, 1024, 64)
        assert prop.totalGlobalMem > 1 << 28
        assert not any(prop.reserved)
    for attribute, expected in ((18, 1), (41, 1), (75, 8), (76, 7), (83, 1), (10, 32), (4, 64)):
        cuda.ok.cudaDeviceGetAttribute(ctypes.byref(value), attribute, 0)
        assert value.value == expected
    for attribute in (0, -1, 144, 100000):
        cuda.fails(
            "cudaErrorInvalidValue", "cudaDeviceGetAttribute", ctypes.byref(value), attribute, 0
        )
    cuda.fails("cudaErrorInvalidDevice", "cudaDeviceGetAttribute", ctypes.byref(value), 18, 1)
    cuda.fails("cudaErrorInvalidDevice", "cudaGetDeviceProperties_v2", ctypes.byref(prop), -1)
    cuda.fails("cudaErrorInvalidValue", "cudaGetDeviceProperties_v2", None, 0)
    assert context.current_device().integrated


def test_choosing_and_asking_for_the_device(cuda: Cuda) -> None:
    value = ctypes.c_int(9)
    cuda.ok.cudaGetDevice(ctypes.byref(value))
    assert value.value == 0
    cuda.ok.cudaGetDeviceCount(ctypes.byref(value))
    assert value.value == 1
    for version, number in (("cudaRuntimeGetVersion", 12090), ("cudaDriverGetVersion", 13000)):
        getattr(cuda.ok, version)(ctypes.byref(value))
        assert value.value == number
    cuda.ok.cudaSetDevice(0)
    cuda.fails("cudaErrorInvalidDevice", "cudaSetDevice", 1)
    cuda.fails("cudaErrorInvalidDevice", "cudaSetDevice", -1)


def test_device_flags_and_limits(cuda: Cuda) -> None:
    flags, size = ctypes.c_uint(), ctypes.c_size_t()
    cuda.ok.cudaSetDeviceFlags(4)
    cuda.ok.cudaGetDeviceFlags(ctypes.byref(flags))
    assert flags.value == 4 | 8
    cuda.fails("cudaErrorInvalidValue", "cudaSetDeviceFlags", 3)
    cuda.fails("cudaErrorInvalidValue", "cudaSetDeviceFlags", 0x1000)
    cuda.ok.cudaDeviceSetLimit(0, 4096)
    cuda.ok.cudaDeviceGetLimit(ctypes.byref(size), 0)
    assert size.value == 4096
    cuda.fails("cudaErrorInvalidValue", "cudaDeviceGetLimit", ctypes.byref(size), 77)


def test_reset_gives_everything_back(cuda: Cuda) -> None:
    device, host, stream, event = cuda.malloc(64), cuda.pinned(64), cuda.stream(), cuda.event()
    cuda.ok.cudaDeviceReset()
    assert cuda.sim.memory.find(device) is None
    assert cuda.sim.memory.find(host) is None
    assert "cudaDeviceReset" in cuda.fails(
        "cudaErrorInvalidResourceHandle", "cudaStreamSynchronize", stream
    )
    cuda.fails("cudaErrorInvalidResourceHandle", "cudaEventQuery", event)
    cuda.ok.cudaStreamSynchronize(cuda.stream())


def _on(sim: ModuleType, **settings: Any) -> Cuda:
    sim.configure(**settings)
    return Cuda(load(), sim)


@pytest.fixture
def machine(sim: ModuleType) -> Any:
    """``machine(gpu="none")``; the machine of the other tests comes back."""
    yield lambda **settings: _on(sim, **settings)
    sim.configure(gpu="integrated", nvsci=True)


def test_a_machine_without_gpu_says_so(machine: Any) -> None:
    cuda = machine(gpu="none")
    value, target = ctypes.c_int(9), ctypes.c_void_p()
    cuda.fails("cudaErrorNoDevice", "cudaGetDeviceCount", ctypes.byref(value))
    assert value.value == 0
    for call in (
        ("cudaFree", None),
        ("cudaSetDevice", 0),
        ("cudaGetDevice", ctypes.byref(value)),
        ("cudaMalloc", ctypes.byref(target), 16),
        ("cudaStreamCreate", ctypes.byref(target)),
        ("cudaDeviceSynchronize",),
        ("cudaDeviceReset",),
        ("cudaDeviceGetAttribute", ctypes.byref(value), 18, 0),
    ):
        cuda.fails("cudaErrorNoDevice", *call)
    assert cuda.cudaGetLastError() == 100
    assert cuda.cuInit(0) == 100
    cuda.ok.cudaRuntimeGetVersion(ctypes.byref(value))


def test_a_discrete_gpu_is_not_integrated(machine: Any) -> None:
    cuda = machine(gpu="discrete")
    value = ctypes.c_int(9)
    cuda.ok.cudaDeviceGetAttribute(ctypes.byref(value), 18, 0)
    assert value.value == 0
    assert not context.current_device().integrated
    cuda.ok.cudaDeviceSynchronize()
