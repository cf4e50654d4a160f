"""NvSci from many threads: fences, objects and lists that come and go."""

from __future__ import annotations

import ctypes
from types import ModuleType

import pytest

from cudla_sim.constants import nvsci as n
from cudla_sim.testing import CApi
from cudla_sim.testing import prototypes as p
from tests.cudla.driver import STANDALONE, Client, check, pointer
from tests.stress.threads import in_threads

ROUNDS = 150


class Sync:
    """A sync object that the CPU signals and waits for."""

    def __init__(self, client: Client) -> None:
        api, self.client = client.api, client
        attributes, conflict, self.obj = pointer(), pointer(), pointer()
        check(api.NvSciSyncAttrListCreate(client.sync_module, ctypes.byref(attributes)))
        key = n.NvSciSyncAttrKey
        for number, value in (
            (key.NvSciSyncAttrKey_NeedCpuAccess, ctypes.c_bool(True)),
            (
                key.NvSciSyncAttrKey_RequiredPerm,
                ctypes.c_uint64(n.NvSciSyncAccessPerm_WaitSignal),
            ),
        ):
            place = ctypes.cast(ctypes.byref(value), ctypes.c_void_p)
            pair = p.NvSciSyncAttrKeyValuePair(number, place, ctypes.sizeof(value))
            check(api.NvSciSyncAttrListSetAttrs(attributes, ctypes.byref(pair), 1))
        check(
            api.NvSciSyncAttrListReconcileAndObjAlloc(
                (ctypes.c_void_p * 1)(attributes), 1, ctypes.byref(self.obj),
                ctypes.byref(conflict),
            )
        )  # fmt: skip

    def generate(self) -> p.NvSciSyncFence:
        fence = p.NvSciSyncFence()
        check(self.client.api.NvSciSyncObjGenerateFence(self.obj, ctypes.byref(fence)))
        return fence

    def signal(self) -> None:
        check(self.client.api.NvSciSyncObjSignal(self.obj))

    def wait(self, fence: p.NvSciSyncFence, timeout_us: int = 20_000_000) -> int:
        status: int = self.client.api.NvSciSyncFenceWait(
            ctypes.byref(fence), self.client.context, timeout_us
        )
        return status


@pytest.fixture
def client(sim_api: CApi) -> Client:
    return Client(sim_api, STANDALONE)


def test_every_fence_is_reached_once_and_in_order(client: Client) -> None:
    """Four threads wait for fences that a fifth makes and a sixth signals."""
    sync = Sync(client)
    fences = [sync.generate() for _ in range(ROUNDS)]

    def work(number: int) -> None:
        if number == 0:
            for _ in fences:
                sync.signal()
            return
        for fence in fences[number % 3 :: 3]:
            assert sync.wait(fence) == 0

    in_threads(5, work)
    assert all(sync.wait(fence, 0) == 0 for fence in fences)


def test_fences_duplicated_and_cleared_by_many(
    client: Client, sim_api: CApi, sim: ModuleType
) -> None:
    sync = Sync(client)
    fence = sync.generate()
    sync.signal()

    def work(_: int) -> None:
        for _ in range(ROUNDS):
            copy = p.NvSciSyncFence()
            check(sim_api.NvSciSyncFenceDup(ctypes.byref(fence), ctypes.byref(copy)))
            assert sync.wait(copy) == 0
            sim_api.NvSciSyncFenceClear(ctypes.byref(copy))
            assert not any(copy.payload)

    before = len(sim.process.handles.live("NvSciSyncFence reference"))
    in_threads(6, work)
    assert len(sim.process.handles.live("NvSciSyncFence reference")) == before


def test_lists_and_modules_made_and_freed_by_many(sim_api: CApi, sim: ModuleType) -> None:
    def work(_: int) -> None:
        for _ in range(ROUNDS):
            module, attributes, clone = pointer(), pointer(), pointer()
            check(sim_api.NvSciBufModuleOpen(ctypes.byref(module)))
            check(sim_api.NvSciBufAttrListCreate(module, ctypes.byref(attributes)))
            check(sim_api.NvSciBufAttrListClone(attributes, ctypes.byref(clone)))
            sim_api.NvSciBufAttrListFree(clone)
            sim_api.NvSciBufAttrListFree(attributes)
            sim_api.NvSciBufModuleClose(module)

    before = len(sim.process.handles.live())
    in_threads(6, work)
    assert len(sim.process.handles.live()) == before


def test_one_object_freed_by_many_threads(client: Client, sim_api: CApi) -> None:
    """Freeing is void: exactly one takes effect, the others leave everything as it is."""
    sync, other = Sync(client), Sync(client)
    fence = sync.generate()
    in_threads(8, lambda _: sim_api.NvSciSyncObjFree(sync.obj))
    assert sync.wait(fence, 1000) != 0, "a fence keeps its object; nobody signals it"
    later = other.generate()
    other.signal()
    assert other.wait(later) == 0
