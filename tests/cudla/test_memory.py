"""Registering, importing and unregistering memory and semaphores."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from types import ModuleType

import numpy as np
import pytest

from cudla_sim.constants.cudla import cudlaStatus as S
from cudla_sim.testing import CApi
from cudla_sim.testing import prototypes as p

from .driver import HYBRID, Client, Sync, check, pointer


def register(client: Client, address: int, size: int, flags: int = 0) -> int:
    out = pointer()
    status: int = client.api.cudlaMemRegister(
        client.device, address, size, ctypes.byref(out), flags
    )
    return status


@pytest.fixture
def cuda(client: Callable[..., Client]) -> tuple[Client, int]:
    """A hybrid handle and 4096 bytes of CUDA memory."""
    made, where = client(HYBRID), pointer()
    check(made.api.cudaMalloc(ctypes.byref(where), 4096))
    assert where.value
    return made, where.value


def test_python_sees_what_c_registered(sim: ModuleType, cuda: tuple[Client, int]) -> None:
    client, where = cuda
    assert register(client, where, 4096) == 0
    (entry,) = sim.dla.devices[0].memory.registered
    assert (entry.address, entry.size) == (where, 4096)
    ctypes.memset(where + 7, 0x5A, 1)
    assert entry.array[7] == 0x5A
    entry.array[8] = 3
    assert ctypes.string_at(where + 8, 1) == b"\3"


def test_second_registration_is_recoverable(sim: ModuleType, cuda: tuple[Client, int]) -> None:
    client, where = cuda
    assert register(client, where, 4096) == 0
    assert register(client, where, 4096) == S.cudlaErrorMemoryRegistered
    assert register(client, where + 64, 64) == S.cudlaErrorMemoryRegistered
    assert len(sim.dla.devices[0].memory.registered) == 1


@pytest.mark.parametrize(
    ("offset", "size", "why"),
    [
        (0, 0, "size is 0"),
        (0, 4097, "past the end"),
        (0, 1 << 62, "past the end"),
        (1, 64, "aligned to 32"),
        (-4096 * 1024, 64, "no CUDA memory"),
    ],
)
def test_what_is_no_cuda_memory(
    sim: ModuleType, cuda: tuple[Client, int], offset: int, size: int, why: str
) -> None:
    client, where = cuda
    assert register(client, where + offset, size) == S.cudlaErrorInvalidAddress
    assert why in sim.last_explanation()


def test_ordinary_host_memory_needs_a_setting(
    sim: ModuleType, client: Callable[..., Client]
) -> None:
    array = np.zeros(4096, np.uint8)
    where = array.ctypes.data + -array.ctypes.data % 32
    assert register(client(HYBRID), where, 1024) == S.cudlaErrorInvalidAddress
    sim.configure(register_host_memory=True)
    assert register(client(HYBRID), where, 1024) == 0
    entry = sim.dla.devices[0].memory.registered[0]
    entry.array[0] = 77
    assert array[where - array.ctypes.data] == 77


@pytest.mark.parametrize(("flags", "status"), [(0, 0), (2, 0), (1, 1), (4, 1), (3, 1)])
def test_register_flags(cuda: tuple[Client, int], flags: int, status: int) -> None:
    client, where = cuda
    assert register(client, where, 4096, flags) == status


def test_register_is_for_hybrid_handles(client: Callable[..., Client]) -> None:
    assert register(client(), 4096, 64) == S.cudlaErrorUnsupportedOperation


def test_unregister_twice_and_unknown(sim: ModuleType, either: Client) -> None:
    buffer = either.allocate(1000)
    unregister = either.api.cudlaMemUnregister
    assert unregister(either.device, buffer.address) == S.cudlaErrorInvalidAddress
    assert hex(buffer.device_pointer.value or 0) in sim.last_explanation()
    assert unregister(either.device, buffer.device_pointer) == 0
    assert unregister(either.device, buffer.device_pointer) == S.cudlaErrorInvalidAddress
    assert unregister(either.device, None) == S.cudlaErrorInvalidAddress


def test_destroy_unregisters_everything(sim: ModuleType, either: Client) -> None:
    either.allocate(1000)
    device = sim.dla.devices[0]
    assert either.api.cudlaDestroyDevice(either.device) == 0
    assert device.memory.registered == []
    assert len(device.memory.space) == 0


def test_import_is_for_standalone_handles(client: Callable[..., Client]) -> None:
    standalone, hybrid, out = client(), client(HYBRID), pointer()
    buffer = standalone.allocate(64)
    memory = p.cudlaExternalMemoryHandleDesc_t(buffer.handle, 64)
    assert (
        hybrid.api.cudlaImportExternalMemory(
            hybrid.device, ctypes.byref(memory), ctypes.byref(out), 0
        )
        == S.cudlaErrorUnsupportedOperation
    )
    sync = Sync(standalone, dla_waits=True)
    semaphore = p.cudlaExternalSemaphoreHandleDesc_t(sync.obj)
    assert (
        hybrid.api.cudlaImportExternalSemaphore(
            hybrid.device, ctypes.byref(semaphore), ctypes.byref(out), 0
        )
        == S.cudlaErrorUnsupportedOperation
    )


def test_import_checks_object_size_and_flags(client: Callable[..., Client]) -> None:
    made, out = client(), pointer()
    buffer = made.allocate(64)

    def again(obj: object, size: int, flags: int = 0) -> int:
        desc = p.cudlaExternalMemoryHandleDesc_t(obj, size)
        status: int = made.api.cudlaImportExternalMemory(
            made.device, ctypes.byref(desc), ctypes.byref(out), flags
        )
        return status

    assert again(buffer.handle, 64) == S.cudlaErrorMemoryRegistered
    made.api.cudlaMemUnregister(made.device, buffer.device_pointer)
    assert again(buffer.handle, 0) == S.cudlaErrorInvalidParam
    assert again(buffer.handle, 1 << 40) == S.cudlaErrorInvalidParam
    assert again(buffer.handle, 64, 4) == S.cudlaErrorInvalidParam
    assert again(None, 64) == S.cudlaErrorInvalidParam
    assert again(12345, 64) == S.cudlaErrorNvSci
    assert again(buffer.handle, 64, 1) == 0


def test_imported_memory_outlives_the_nvscibuf_object(
    sim: ModuleType, client: Callable[..., Client]
) -> None:
    made = client()
    buffer = made.allocate(4096)
    made.api.NvSciBufObjFree(buffer.handle)
    buffer.array[:] = 9
    (entry,) = sim.dla.devices[0].memory.registered
    assert (entry.array == 9).all()
    made.api.cudlaMemUnregister(made.device, buffer.device_pointer)
    assert sim.memory.find(buffer.address) is None


def test_missing_nvsci_is_a_setting(sim: ModuleType, sim_api: CApi) -> None:
    sim.configure(nvsci=False)
    device, out = pointer(), pointer()
    check(sim_api.cudlaCreateDevice(0, ctypes.byref(device), 1))
    desc = p.cudlaExternalSemaphoreHandleDesc_t(0x1234)
    unsupported = S.cudlaErrorUnsupportedOperation
    assert (
        sim_api.cudlaImportExternalSemaphore(device, ctypes.byref(desc), ctypes.byref(out), 0)
        == unsupported
    )
    assert sim_api.cudlaGetNvSciSyncAttributes(0x1234, 1) == unsupported
    assert sim_api.NvSciSyncModuleOpen(ctypes.byref(out)) != 0


def test_attributes_are_dla_s_to_fill(client: Callable[..., Client]) -> None:
    made, attributes = client(), pointer()
    api = made.api
    assert api.cudlaGetNvSciSyncAttributes(None, 1) == S.cudlaErrorInvalidParam
    assert api.cudlaGetNvSciSyncAttributes(0x1234, 1) == S.cudlaErrorNvSci
    check(api.NvSciSyncAttrListCreate(made.sync_module, ctypes.byref(attributes)))
    for flags in (0, 4, 7):
        assert api.cudlaGetNvSciSyncAttributes(attributes, flags) == S.cudlaErrorInvalidParam
    assert api.cudlaGetNvSciSyncAttributes(attributes, 3) == 0
    assert api.cudlaGetNvSciSyncAttributes(attributes, 1) == S.cudlaErrorNvSci
