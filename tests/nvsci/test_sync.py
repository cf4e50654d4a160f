"""Reconciling sync objects; fences, waiting, signaling."""

from __future__ import annotations

import ctypes
import threading
import time

import pytest

from cudla_sim.constants import nvsci as n
from cudla_sim.testing import CApi
from cudla_sim.testing import prototypes as p

from .lists import SYNC, Lists, S, c_bool, c_u64, types

WAIT, SIGNAL, BOTH = 1, 2, 3
CPU = SYNC.NvSciSyncAttrKey_NeedCpuAccess
PERM = SYNC.NvSciSyncAttrKey_RequiredPerm
DETERMINISTIC = (SYNC.NvSciSyncAttrKey_RequireDeterministicFences, c_bool(True))
BAD = S.NvSciError_BadParameter


class Sync(Lists):
    def __init__(self, api: CApi) -> None:
        super().__init__(api, "NvSciSync")
        self.context = ctypes.c_void_p()
        assert self("CpuWaitContextAlloc", self.module, ctypes.byref(self.context)) == 0

    def side(self, perm: int, *more: tuple[int, object], cpu: bool = True) -> ctypes.c_void_p:
        return self.create((CPU, c_bool(cpu)), (PERM, c_u64(perm)), *more)

    def obj(self, *more: tuple[int, object]) -> ctypes.c_void_p:
        """A sync object that the CPU both signals and waits for."""
        return self.allocate(self.side(SIGNAL), self.side(WAIT, *more))

    def fence(self, obj: ctypes.c_void_p) -> p.NvSciSyncFence:
        fence = p.NvSciSyncFence()
        assert self("ObjGenerateFence", obj, ctypes.byref(fence)) == 0
        return fence

    def wait(self, fence: p.NvSciSyncFence, timeout_us: int = 10_000_000) -> int:
        return self("FenceWait", ctypes.byref(fence), self.context, timeout_us)


@pytest.fixture
def sync(sim_api: CApi) -> Sync:
    return Sync(sim_api)


@pytest.mark.parametrize(
    ("perms", "status"),
    [
        ((SIGNAL, WAIT), 0),
        ((SIGNAL, WAIT, WAIT), 0),
        ((BOTH,), 0),
        ((SIGNAL,), S.NvSciError_ReconciliationFailed),
        ((WAIT,), S.NvSciError_ReconciliationFailed),
        ((WAIT, WAIT), S.NvSciError_ReconciliationFailed),
        ((SIGNAL, SIGNAL, WAIT), S.NvSciError_ReconciliationFailed),
        ((BOTH, SIGNAL), S.NvSciError_ReconciliationFailed),
    ],
)
def test_one_signaler_and_some_waiters(sync: Sync, perms: tuple[int, ...], status: int) -> None:
    found, outcome, conflict = sync.reconcile(*(sync.side(x) for x in perms))
    assert found == status
    assert (conflict.value is None) == (status == 0)
    if status:
        assert sync("AttrListGetSlotCount", conflict) == len(perms)
        for slot, perm in enumerate(perms):
            assert sync.get(conflict, PERM, slot) == bytes(c_u64(perm))
        sync("AttrListFree", conflict)
    else:
        assert sync.get(outcome, SYNC.NvSciSyncAttrKey_ActualPerm) == bytes(c_u64(BOTH))


@pytest.mark.parametrize("perm", [0, 4, 1 << 63])
def test_permissions_that_cannot_be_asked_for(sync: Sync, perm: int) -> None:
    assert sync.set(sync.create(), (PERM, c_u64(perm))) == BAD


def test_conflict_list_is_required(sync: Sync) -> None:
    array, out = (ctypes.c_void_p * 1)(sync.side(BOTH)), ctypes.c_void_p()
    assert sync("AttrListReconcile", array, 1, ctypes.byref(out), None) == BAD


def test_a_fence_that_is_waited_for_is_no_result(sync: Sync) -> None:
    assert sync("FenceWait", None, sync.context, 0) == BAD
    assert "syncFence is NULL; it points to a fence" in sync.why()


def test_primitive(sync: Sync) -> None:
    kinds = n.NvSciSyncAttrValPrimitiveTypeRec
    point = int(kinds.NvSciSyncAttrValPrimitiveType_Syncpoint)

    def primitive(*more: tuple[int, object]) -> tuple[int, int]:
        status, outcome, _ = sync.reconcile(sync.side(SIGNAL), sync.side(WAIT, *more))
        raw = sync.get(outcome, SYNC.NvSciSyncAttrKey_PrimitiveInfo) if status == 0 else b"\0"
        return status, int.from_bytes(raw, "little")

    assert primitive() == (0, point)
    assert primitive(DETERMINISTIC)[1] > point
    only_points = (SYNC.NvSciSyncAttrKey_PrimitiveInfo, types(point))
    assert primitive(only_points) == (0, point)
    assert primitive(only_points, DETERMINISTIC)[0] == S.NvSciError_UnsupportedConfig


def test_fences_are_reached_one_signal_each(sync: Sync) -> None:
    obj = sync.obj()
    first, second = sync.fence(obj), sync.fence(obj)
    assert sync.wait(first, 0) == S.NvSciError_Timeout
    assert sync("ObjSignal", obj) == 0
    assert sync.wait(first, 0) == 0
    assert sync.wait(second, 1000) == S.NvSciError_Timeout
    assert sync("ObjSignal", obj) == 0
    assert sync.wait(second) == 0


def test_waiting_thread_is_woken(sync: Sync) -> None:
    obj = sync.obj()
    fence = sync.fence(obj)
    thread = threading.Thread(target=lambda: (time.sleep(0.02), sync("ObjSignal", obj)))
    thread.start()
    assert sync.wait(fence, -1) == 0
    thread.join()


def test_wait_arguments(sync: Sync) -> None:
    fence = sync.fence(sync.obj())
    for timeout in (-2, 9223372036854776, (1 << 63) - 1):
        assert sync.wait(fence, timeout) == BAD
    assert sync("FenceWait", None, sync.context, 0) == BAD
    assert sync("FenceWait", ctypes.byref(fence), None, 0) == BAD
    assert sync("FenceWait", ctypes.byref(fence), sync.module, 0) == BAD
    with_mode = sync("FenceWaitWithMode", ctypes.byref(fence), sync.context, 0, 3)
    assert with_mode == S.NvSciError_Timeout


@pytest.mark.parametrize(
    ("primitive", "modes"),
    [((), (0, 3)), ((DETERMINISTIC,), (0, 1, 2))],
    ids=["point", "semaphore"],
)
def test_modes_of_waiting(
    sync: Sync, primitive: tuple[tuple[int, object], ...], modes: tuple[int, ...]
) -> None:
    fence = sync.fence(sync.obj(*primitive))

    def wait(mode: int) -> int:
        return sync("FenceWaitWithMode", ctypes.byref(fence), sync.context, 0, mode)

    for mode in range(4):
        unsupported = S.NvSciError_UnsupportedConfig
        assert wait(mode) == (S.NvSciError_Timeout if mode in modes else unsupported)
    assert wait(4) == BAD
    sync("FenceClear", ctypes.byref(fence))
    assert [wait(mode) for mode in range(4)] == [0, 0, 0, 0]


def test_cleared_fence_is_reached(sync: Sync) -> None:
    fence = sync.fence(sync.obj())
    sync("FenceClear", ctypes.byref(fence))
    assert bytes(fence) == bytes(48)
    assert sync.wait(fence, 0) == 0
    sync("FenceClear", ctypes.byref(fence))
    stamp = c_u64()
    cleared = S.NvSciError_ClearedFence
    assert sync("FenceGetTimestamp", ctypes.byref(fence), ctypes.byref(stamp)) == cleared


def test_fence_outlives_object_and_module(sync: Sync) -> None:
    obj = sync.obj()
    fence, copy = sync.fence(obj), p.NvSciSyncFence()
    assert sync("FenceDup", ctypes.byref(fence), ctypes.byref(copy)) == 0
    assert sync("ObjSignal", obj) == 0
    sync("ObjFree", obj)
    sync("ModuleClose", sync.module)
    sync("FenceClear", ctypes.byref(fence))
    assert sync.wait(copy, 0) == 0
    sync("FenceClear", ctypes.byref(copy))


def test_garbage_in_a_fence_is_refused(sync: Sync) -> None:
    fence = p.NvSciSyncFence((c_u64 * 6)(*[0xDEADBEEF] * 6))
    assert sync.wait(fence, 0) == BAD
    good = sync.fence(sync.obj())
    good.payload[1] += 1
    assert sync.wait(good, 0) == BAD
    # Generating into garbage works: programs do not always initialise fences.
    obj = sync.obj()
    assert sync("ObjGenerateFence", obj, ctypes.byref(fence)) == 0
    assert sync("ObjSignal", obj) == 0
    assert sync.wait(fence, 0) == 0


def test_update_and_extract(sync: Sync) -> None:
    obj = sync.obj(DETERMINISTIC)
    fence, number, value = sync.fence(obj), c_u64(), c_u64()
    extract = ctypes.byref(number), ctypes.byref(value)
    assert sync("FenceExtractFence", ctypes.byref(fence), *extract) == 0
    assert value.value == 1
    own = p.NvSciSyncFence()
    assert sync("FenceUpdateFence", obj, number.value, 3, ctypes.byref(own)) == 0
    for _ in range(2):
        sync("ObjSignal", obj)
    assert sync.wait(own, 0) == S.NvSciError_Timeout
    sync("ObjSignal", obj)
    assert sync.wait(own, 0) == 0
    other = sync.obj(DETERMINISTIC)
    assert sync("FenceUpdateFence", other, number.value, 3, ctypes.byref(own)) == BAD


def test_timestamps_must_be_asked_for(sync: Sync) -> None:
    plain, stamp = sync.fence(sync.obj()), c_u64()
    assert sync("FenceGetTimestamp", ctypes.byref(plain), ctypes.byref(stamp)) == BAD
    obj = sync.obj((SYNC.NvSciSyncAttrKey_WaiterRequireTimestamps, c_bool(True)))
    first, second = sync.fence(obj), sync.fence(obj)
    assert sync("FenceGetTimestamp", ctypes.byref(first), ctypes.byref(stamp)) == BAD
    stamps = []
    for fence in (first, second):
        assert sync("ObjSignal", obj) == 0
        assert sync("FenceGetTimestamp", ctypes.byref(fence), ctypes.byref(stamp)) == 0
        stamps.append(stamp.value)
    assert 0 < stamps[0] <= stamps[1]


def test_timestamps_of_more_fences_than_there_are_places(sync: Sync) -> None:
    """512 places are used in turn; the last fences find theirs."""
    stamp = c_u64()
    obj = sync.obj((SYNC.NvSciSyncAttrKey_WaiterRequireTimestamps, c_bool(True)))
    last = 0
    for _ in range(520):
        fence = sync.fence(obj)
        assert sync("ObjSignal", obj) == 0
        assert sync("FenceGetTimestamp", ctypes.byref(fence), ctypes.byref(stamp)) == 0
        assert stamp.value >= last
        last = stamp.value


def test_who_may_signal_and_wait(sync: Sync) -> None:
    hardware_signals = sync.allocate(sync.side(SIGNAL, cpu=False), sync.side(WAIT))
    fence = p.NvSciSyncFence()
    assert sync("ObjGenerateFence", hardware_signals, ctypes.byref(fence)) == BAD
    assert sync("ObjSignal", hardware_signals) == BAD
    hardware_waits = sync.allocate(sync.side(SIGNAL), sync.side(WAIT, cpu=False))
    fence = sync.fence(hardware_waits)
    assert sync.wait(fence, 0) == BAD


def test_task_status(sync: Sync) -> None:
    obj = sync.obj()
    fence, status = sync.fence(obj), p.NvSciSyncTaskStatus()
    assert sync("FenceGetTaskStatus", ctypes.byref(fence), ctypes.byref(status)) == 0
    assert status.status == 0xFFFF
    sync("ObjSignal", obj)
    assert sync("FenceGetTaskStatus", ctypes.byref(fence), ctypes.byref(status)) == 0
    assert status.status == 0


def test_stale_objects(sync: Sync) -> None:
    obj = sync.obj()
    sync("ObjFree", obj)
    sync("ObjFree", obj)
    assert "stale" in sync.why()
    assert sync("ObjSignal", obj) == BAD
    sync("ObjFree", None)
    sync("CpuWaitContextFree", sync.context)
    assert sync.wait(p.NvSciSyncFence(), 0) == BAD


def test_ipc_functions_explain_themselves(sync: Sync) -> None:
    obj = sync.obj()
    desc = p.NvSciSyncObjIpcExportDescriptor()
    unsupported = S.NvSciError_NotSupported
    assert sync("ObjIpcExport", obj, 1, 0, ctypes.byref(desc)) == unsupported
    assert "live in this process" in sync.why()
    assert sync.api.NvSciIpcInit() == unsupported
