"""NvSciBuf buffers as CUDA memory, NvSciSync objects as CUDA semaphores."""

from __future__ import annotations

import ctypes
from typing import Any

import pytest

from cudla_sim.constants import cudart as c
from cudla_sim.constants import nvsci as n
from cudla_sim.testing import prototypes as p

from .conftest import D2H, Cuda

SIGNAL, WAIT = 1, 2


def _set(cuda: Cuda, function: str, pair: Any, attributes: Any, values: dict[int, Any]) -> None:
    pairs = (pair * len(values))()
    for slot, (key, value) in zip(pairs, values.items(), strict=True):
        slot_key, _, _ = (field[0] for field in pair._fields_)
        setattr(slot, slot_key, key)
        slot.value = ctypes.cast(ctypes.byref(value), ctypes.c_void_p)
        slot.len = ctypes.sizeof(value)
    getattr(cuda.ok, function)(attributes, pairs, len(values))


class Buffer:
    """An NvSciBufObj of ``size`` raw bytes with CPU access."""

    def __init__(self, cuda: Cuda, size: int) -> None:
        module, attributes = ctypes.c_void_p(), ctypes.c_void_p()
        reconciled, conflicts, obj = ctypes.c_void_p(), ctypes.c_void_p(), ctypes.c_void_p()
        cuda.ok.NvSciBufModuleOpen(ctypes.byref(module))
        cuda.ok.NvSciBufAttrListCreate(module, ctypes.byref(attributes))
        key = n.NvSciBufAttrKey
        _set(
            cuda,
            "NvSciBufAttrListSetAttrs",
            p.NvSciBufAttrKeyValuePair,
            attributes,
            {
                key.NvSciBufGeneralAttrKey_Types: ctypes.c_int(1),
                key.NvSciBufGeneralAttrKey_NeedCpuAccess: ctypes.c_bool(True),
                key.NvSciBufGeneralAttrKey_RequiredPerm: ctypes.c_int(3),
                key.NvSciBufRawBufferAttrKey_Size: ctypes.c_uint64(size),
                key.NvSciBufRawBufferAttrKey_Align: ctypes.c_uint64(256),
            },
        )
        lists = (ctypes.c_void_p * 1)(attributes)
        cuda.ok.NvSciBufAttrListReconcile(
            lists, 1, ctypes.byref(reconciled), ctypes.byref(conflicts)
        )
        cuda.ok.NvSciBufObjAlloc(reconciled, ctypes.byref(obj))
        self.obj = obj
        cpu = ctypes.c_void_p()
        cuda.ok.NvSciBufObjGetCpuPtr(obj, ctypes.byref(cpu))
        self.cpu = cpu.value or 0


class Sync:
    """An NvSciSyncObj that the GPU signals and the CPU waits for, or the other way round."""

    def __init__(self, cuda: Cuda, gpu: int) -> None:
        module, own, theirs = ctypes.c_void_p(), ctypes.c_void_p(), ctypes.c_void_p()
        reconciled, conflicts, obj = ctypes.c_void_p(), ctypes.c_void_p(), ctypes.c_void_p()
        cuda.ok.NvSciSyncModuleOpen(ctypes.byref(module))
        cuda.ok.NvSciSyncAttrListCreate(module, ctypes.byref(own))
        cuda.ok.NvSciSyncAttrListCreate(module, ctypes.byref(theirs))
        cuda.ok.cudaDeviceGetNvSciSyncAttributes(own, 0, gpu)
        key, cpu = n.NvSciSyncAttrKey, n.NvSciSyncAccessPerm_WaitOnly
        if gpu == WAIT:
            cpu = n.NvSciSyncAccessPerm_SignalOnly
        _set(
            cuda,
            "NvSciSyncAttrListSetAttrs",
            p.NvSciSyncAttrKeyValuePair,
            theirs,
            {
                key.NvSciSyncAttrKey_NeedCpuAccess: ctypes.c_bool(True),
                key.NvSciSyncAttrKey_RequiredPerm: ctypes.c_uint64(cpu),
            },
        )
        lists = (ctypes.c_void_p * 2)(own, theirs)
        cuda.ok.NvSciSyncAttrListReconcile(
            lists, 2, ctypes.byref(reconciled), ctypes.byref(conflicts)
        )
        cuda.ok.NvSciSyncObjAlloc(reconciled, ctypes.byref(obj))
        context = ctypes.c_void_p()
        cuda.ok.NvSciSyncCpuWaitContextAlloc(module, ctypes.byref(context))
        self.obj, self.context = obj, context
        desc = p.cudaExternalSemaphoreHandleDesc()
        desc.type = c.cudaExternalSemaphoreHandleType.cudaExternalSemaphoreHandleTypeNvSciSync
        desc.handle.nvSciSyncObj = obj
        self.semaphore = ctypes.c_void_p()
        cuda.ok.cudaImportExternalSemaphore(ctypes.byref(self.semaphore), ctypes.byref(desc))
        self.array = (ctypes.c_void_p * 1)(self.semaphore)


def params(kind: Any, fence: Any, flags: int = 0) -> Any:
    found = kind()
    found.params.nvSciSync.fence = ctypes.cast(ctypes.byref(fence), ctypes.c_void_p)
    found.flags = flags
    return ctypes.byref(found)


def import_memory(cuda: Cuda, buffer: Buffer, size: int) -> ctypes.c_void_p:
    desc = p.cudaExternalMemoryHandleDesc()
    desc.type = c.cudaExternalMemoryHandleType.cudaExternalMemoryHandleTypeNvSciBuf
    desc.handle.nvSciBufObject = buffer.obj
    desc.size = size
    memory = ctypes.c_void_p()
    cuda.ok.cudaImportExternalMemory(ctypes.byref(memory), ctypes.byref(desc))
    return memory


def test_an_nvscibuf_is_device_memory(cuda: Cuda) -> None:
    buffer = Buffer(cuda, 4096)
    memory = import_memory(cuda, buffer, 4096)
    mapping = p.cudaExternalMemoryBufferDesc(offset=256, size=1024, flags=0)
    device = ctypes.c_void_p()
    cuda.ok.cudaExternalMemoryGetMappedBuffer(ctypes.byref(device), memory, ctypes.byref(mapping))
    cuda.ok.cudaMemset(device, 6, 1024)
    assert cuda.bytes_at(buffer.cpu + 256, 1024) == b"\x06" * 1024
    assert cuda.bytes_at(buffer.cpu + 1280, 8) == bytes(8)
    result = ctypes.create_string_buffer(16)
    cuda.ok.cudaMemcpy(result, device, 16, D2H)
    assert result.raw == b"\x06" * 16
    found = p.cudaPointerAttributes()
    cuda.ok.cudaPointerGetAttributes(ctypes.byref(found), device)
    assert found.type == c.cudaMemoryType.cudaMemoryTypeDevice
    assert "mapped buffer" in cuda.fails("cudaErrorInvalidValue", "cudaMemset", device, 0, 1025)
    cuda.ok.cudaFree(device)
    cuda.fails("cudaErrorInvalidValue", "cudaFree", device)
    cuda.NvSciBufObjFree(buffer.obj)
    cuda.ok.cudaDestroyExternalMemory(memory)
    cuda.fails("cudaErrorInvalidResourceHandle", "cudaDestroyExternalMemory", memory)


def test_the_buffer_lives_as_long_as_cuda_uses_it(cuda: Cuda) -> None:
    buffer = Buffer(cuda, 4096)
    memory = import_memory(cuda, buffer, 4096)
    cuda.NvSciBufObjFree(buffer.obj)
    assert cuda.sim.memory.find(buffer.cpu) is not None
    cuda.ok.cudaDestroyExternalMemory(memory)
    assert cuda.sim.memory.find(buffer.cpu) is None


def test_bad_imports_and_mappings(cuda: Cuda) -> None:
    buffer, memory = Buffer(cuda, 4096), ctypes.c_void_p()
    desc = p.cudaExternalMemoryHandleDesc()
    call = "cudaImportExternalMemory", ctypes.byref(memory), ctypes.byref(desc)
    cuda.fails("cudaErrorInvalidValue", *call)
    desc.type = 1
    cuda.fails("cudaErrorNotSupported", *call)
    desc.type = 8
    cuda.fails("cudaErrorInvalidValue", *call)
    desc.handle.nvSciBufObject = buffer.obj
    for size in (0, 4097, 1 << 62):
        desc.size = size
        cuda.fails("cudaErrorInvalidValue", *call)
    desc.size = 4096
    desc.flags = 2
    cuda.fails("cudaErrorInvalidValue", *call)
    cuda.fails("cudaErrorInvalidValue", "cudaImportExternalMemory", None, None)
    good = import_memory(cuda, buffer, 2048)
    device = ctypes.c_void_p()
    for offset, size in ((0, 2049), (2048, 1), (1, 2048), (0, 0), (1 << 63, 1 << 63)):
        mapping = p.cudaExternalMemoryBufferDesc(offset=offset, size=size, flags=0)
        cuda.fails(
            "cudaErrorInvalidValue",
            "cudaExternalMemoryGetMappedBuffer",
            ctypes.byref(device),
            good,
            ctypes.byref(mapping),
        )


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("cudaSignalExternalSemaphoresAsync_v2", p.cudaExternalSemaphoreSignalParams),
        ("cudaSignalExternalSemaphoresAsync", p.cudaExternalSemaphoreSignalParams_v1),
    ],
)
def test_the_gpu_signals_in_stream_order(cuda: Cuda, gates: Any, name: str, kind: Any) -> None:
    sync, stream, fence = Sync(cuda, SIGNAL), cuda.stream(1), p.NvSciSyncFence()
    gate = gates(stream)
    getattr(cuda.ok, name)(sync.array, params(kind, fence), 1, stream)
    assert cuda.NvSciSyncFenceWait(ctypes.byref(fence), sync.context, 0) == 0x200
    gate.open()
    cuda.ok.NvSciSyncFenceWait(ctypes.byref(fence), sync.context, -1)
    cuda.NvSciSyncFenceClear(ctypes.byref(fence))


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("cudaWaitExternalSemaphoresAsync_v2", p.cudaExternalSemaphoreWaitParams),
        ("cudaWaitExternalSemaphoresAsync", p.cudaExternalSemaphoreWaitParams_v1),
    ],
)
def test_the_gpu_waits_for_the_cpu(cuda: Cuda, name: str, kind: Any) -> None:
    sync, stream, fence = Sync(cuda, WAIT), cuda.stream(1), p.NvSciSyncFence()
    device = cuda.malloc(8)
    cuda.ok.NvSciSyncObjGenerateFence(sync.obj, ctypes.byref(fence))
    getattr(cuda.ok, name)(sync.array, params(kind, fence), 1, stream)
    cuda.ok.cudaMemsetAsync(device, 4, 8, stream)
    assert cuda.cudaStreamQuery(stream) == 600
    assert cuda.bytes_at(device, 8) == bytes(8)
    cuda.ok.NvSciSyncObjSignal(sync.obj)
    cuda.ok.cudaStreamSynchronize(stream)
    assert cuda.bytes_at(device, 8) == b"\x04" * 8


def test_a_cleared_fence_needs_no_waiting(cuda: Cuda) -> None:
    sync, fence = Sync(cuda, WAIT), p.NvSciSyncFence()
    call = cuda.ok.cudaWaitExternalSemaphoresAsync_v2
    call(sync.array, params(p.cudaExternalSemaphoreWaitParams, fence), 1, None)
    cuda.ok.cudaStreamSynchronize(None)


def test_one_stream_signals_and_another_waits(cuda: Cuda, gates: Any) -> None:
    sync, first, second = Sync(cuda, SIGNAL), cuda.stream(1), cuda.stream(1)
    fence = p.NvSciSyncFence()
    gate = gates(first)
    cuda.ok.cudaSignalExternalSemaphoresAsync_v2(
        sync.array, params(p.cudaExternalSemaphoreSignalParams, fence), 1, first
    )
    cuda.ok.cudaWaitExternalSemaphoresAsync_v2(
        sync.array, params(p.cudaExternalSemaphoreWaitParams, fence), 1, second
    )
    assert cuda.cudaStreamQuery(second) == 600
    gate.open()
    cuda.ok.cudaStreamSynchronize(second)


def test_bad_semaphore_calls(cuda: Cuda) -> None:
    sync, other, fence = Sync(cuda, SIGNAL), Sync(cuda, WAIT), p.NvSciSyncFence()
    kind = p.cudaExternalSemaphoreSignalParams
    name, bad = "cudaSignalExternalSemaphoresAsync_v2", "cudaErrorInvalidValue"
    cuda.ok.cudaSignalExternalSemaphoresAsync_v2(None, None, 0, None)
    cuda.fails(bad, name, None, params(kind, fence), 1, None)
    cuda.fails(bad, name, sync.array, None, 1, None)
    cuda.fails(bad, name, sync.array, ctypes.byref(kind()), 1, None)
    cuda.fails(bad, name, sync.array, params(kind, fence, flags=4), 1, None)
    cuda.fails(bad, name, sync.array, params(kind, fence), 1 << 30, None)
    stale = (ctypes.c_void_p * 1)(sync.obj)
    cuda.fails("cudaErrorInvalidResourceHandle", name, stale, params(kind, fence), 1, None)
    cuda.ok.NvSciSyncObjGenerateFence(other.obj, ctypes.byref(fence))
    text = cuda.fails(
        bad,
        "cudaWaitExternalSemaphoresAsync_v2",
        sync.array,
        params(p.cudaExternalSemaphoreWaitParams, fence),
        1,
        None,
    )
    assert "another sync object" in text
    garbage = p.NvSciSyncFence()
    ctypes.memset(ctypes.byref(garbage), 0xA5, 48)
    cuda.fails(
        bad,
        "cudaWaitExternalSemaphoresAsync_v2",
        sync.array,
        params(p.cudaExternalSemaphoreWaitParams, garbage),
        1,
        None,
    )
    cuda.ok.cudaDestroyExternalSemaphore(sync.semaphore)
    cuda.fails("cudaErrorInvalidResourceHandle", "cudaDestroyExternalSemaphore", sync.semaphore)


def test_a_capture_takes_no_external_semaphores(cuda: Cuda) -> None:
    sync, stream, fence = Sync(cuda, SIGNAL), cuda.stream(1), p.NvSciSyncFence()
    cuda.ok.cudaStreamBeginCapture(stream, 2)
    cuda.fails(
        "cudaErrorStreamCaptureUnsupported",
        "cudaSignalExternalSemaphoresAsync_v2",
        sync.array,
        params(p.cudaExternalSemaphoreSignalParams, fence),
        1,
        stream,
    )


def test_attribute_flags(cuda: Cuda) -> None:
    module, attributes = ctypes.c_void_p(), ctypes.c_void_p()
    cuda.ok.NvSciSyncModuleOpen(ctypes.byref(module))
    cuda.ok.NvSciSyncAttrListCreate(module, ctypes.byref(attributes))
    name, bad = "cudaDeviceGetNvSciSyncAttributes", "cudaErrorInvalidValue"
    for flags in (0, 4, -1):
        cuda.fails(bad, name, attributes, 0, flags)
    cuda.fails(bad, name, None, 0, 1)
    cuda.fails(bad, name, module, 0, 1)
    cuda.fails("cudaErrorInvalidDevice", name, attributes, 3, 1)
    cuda.ok.cudaDeviceGetNvSciSyncAttributes(attributes, 0, 1)
    cuda.fails(bad, name, attributes, 0, 1)  # permissions are written once


def test_waiting_for_a_task_that_failed_is_an_external_fault(cuda: Cuda) -> None:
    from cudla_sim.core import process

    sync, stream, fence = Sync(cuda, WAIT), cuda.stream(1), p.NvSciSyncFence()
    cuda.ok.NvSciSyncObjGenerateFence(sync.obj, ctypes.byref(fence))
    cuda.ok.cudaWaitExternalSemaphoresAsync_v2(
        sync.array, params(p.cudaExternalSemaphoreWaitParams, fence), 1, stream
    )
    process.current().handles.get(sync.obj.value, "NvSciSyncObj").signal(failed=True)
    cuda.fails("cudaErrorExternalDevice", "cudaStreamSynchronize", stream)
    cuda.ok.cudaDeviceReset()
