"""``nvscisync.h``."""

from __future__ import annotations

from typing import Any

from ...constants.nvsci import NvSciError as Status
from ...constants.nvsci import (
    NvSciSyncAttrKey as K,
)
from ...constants.nvsci import (
    NvSciSyncFenceMaxTimeout,
    NvSciSyncMajorVersion,
    NvSciSyncMinorVersion,
    NvSciSyncWaitMode,
)
from ...core import process
from ...core.text import tell
from ...nvsci import fences, sync
from ...nvsci.attributes import AttrList
from ...nvsci.errors import NvSciError, bad_parameter
from ..embedding import address, pointer
from .lists import ListApi, null, nvsci

lists = ListApi(
    "NvSciSync",
    sync.SCHEMA,
    "attrKey",
    sync.reconcile,
    sync.validate,
    (NvSciSyncMajorVersion, NvSciSyncMinorVersion),
    sync.SyncModule,
)
nvsci.export("NvSciSyncModuleOpen")(lists.open)
nvsci.export("NvSciSyncModuleClose", status=False)(lists.close)
nvsci.export("NvSciSyncCheckVersionCompatibility")(lists.check_version)
nvsci.export("NvSciSyncAttrListCreate")(lists.create)
nvsci.export("NvSciSyncAttrListFree", status=False)(lists.free)
nvsci.export("NvSciSyncAttrListSetAttrs")(lists.set_attrs)
nvsci.export("NvSciSyncAttrListGetAttrs")(lists.get_first_attrs)
nvsci.export("NvSciSyncAttrListSlotGetAttrs")(lists.get_attrs)
nvsci.export("NvSciSyncAttrListGetSlotCount", status=False, failure=0)(lists.slot_count)
nvsci.export("NvSciSyncAttrListDebugDump")(lists.dump)
nvsci.export("NvSciSyncAttrListClone")(lists.clone)
nvsci.export("NvSciSyncAttrListAppendUnreconciled")(lists.append)
nvsci.export("NvSciSyncAttrListIsReconciled")(lists.is_reconciled)
nvsci.export("NvSciSyncAttrListReconcile")(lists.reconcile)
nvsci.export("NvSciSyncAttrListValidateReconciled")(lists.validate)
OBJ = "NvSciSyncObj"
CONTEXT = "NvSciSyncCpuWaitContext"
_SLOT_WORDS = _TIMESTAMP_WORD, _STATUS_WORD = 3, 4
"""Where a fence has its slots, each plus 1."""


def resolve(handle: Any, argument: str = "syncObj") -> sync.SyncObj:
    """The sync object behind a handle."""
    found: sync.SyncObj = nvsci.resolve(handle, OBJ, argument)
    return found


def read_payload(fence: Any) -> fences.Payload:
    words = fence.payload
    return (words[0], words[1], words[2], words[3], words[4], words[5])


def write_payload(fence: Any, payload: fences.Payload) -> None:
    """Writes a fence, giving back whatever reference it held before."""
    fences.release(process.current().handles, read_payload(fence))
    for index, word in enumerate(payload):
        fence.payload[index] = word


def bind(fence: Any, obj: sync.SyncObj, value: int) -> None:
    """Makes a C fence refer to ``value`` on ``obj``."""
    write_payload(fence, fences.bind(process.current().handles, obj, value))


def bound(fence: Any) -> fences.Bound | None:
    """What a C fence refers to; None when it is cleared."""
    return fences.resolve(process.current().handles, read_payload(fence))


@nvsci.export("NvSciSyncCpuWaitContextAlloc")
def context_alloc(module: Any, context: Any) -> None:
    owner = lists.module(module)
    null(newContext=context)
    context[0] = pointer(process.current().handles.add(CONTEXT, owner))


@nvsci.export("NvSciSyncCpuWaitContextFree", status=False)
def context_free(context: Any) -> None:
    if context:
        nvsci.resolve(context, CONTEXT, "context")
        process.current().handles.remove(address(context), CONTEXT, "NvSciSyncCpuWaitContextFree")


@nvsci.export("NvSciSyncAttrListGetAttr")
def list_get_one(attributes: Any, key: int, value: Any, length: Any) -> None:
    found = lists.resolve(attributes)
    null(value=value, len=length)
    value[0], length[0] = lists.lend(found, key, 0)


@nvsci.export("NvSciSyncAttrListValidateReconciledAgainstAttrs")
def list_validate_against(reconciled: Any, pairs: Any, count: int, perm: int) -> None:
    outcome = lists.reconciled(reconciled)
    wishes = {n: raw for n, raw in lists.pairs(pairs, count) if raw is not None}
    key = K.NvSciSyncAttrKey_RequiredPerm
    wishes.setdefault(int(key), sync.SCHEMA.key(key).encode(perm))
    lists.require(outcome, [wishes])


nvsci.unsupported(
    "NvSciSyncFillC2cAttrs",
    "NvSciSyncObjAttachPeer",
    because="peers are other processes and chips; this library serves one process",
)


def _allocate(outcome: AttrList) -> Any:
    if not isinstance(outcome, sync.ReconciledSync):
        raise bad_parameter("reconciledList did not come from a reconciliation")
    return pointer(process.current().handles.add(OBJ, sync.SyncObj(outcome)))


@nvsci.export("NvSciSyncObjAlloc")
def obj_alloc(reconciled: Any, new_obj: Any) -> None:
    outcome = lists.reconciled(reconciled, "reconciledList")
    null(syncObj=new_obj)
    new_obj[0] = _allocate(outcome)


@nvsci.export("NvSciSyncAttrListReconcileAndObjAlloc")
def reconcile_and_alloc(array: Any, count: int, new_obj: Any, conflict_list: Any) -> None:
    null(syncObj=new_obj)
    new_obj[0] = _allocate(lists.merge(array, count, conflict_list))


@nvsci.export("NvSciSyncObjDup")
def obj_dup(obj: Any, new_obj: Any) -> None:
    found = resolve(obj)
    null(dupObj=new_obj)
    new_obj[0] = pointer(process.current().handles.add(OBJ, found))


@nvsci.export("NvSciSyncObjFree", status=False)
def obj_free(obj: Any) -> None:
    if obj:
        resolve(obj)
        process.current().handles.remove(address(obj), OBJ, "NvSciSyncObjFree")


@nvsci.export("NvSciSyncObjGetAttrList")
def obj_attr_list(obj: Any, answer: Any) -> None:
    lists.own_list(resolve(obj).attributes, answer, syncAttrList=answer)


@nvsci.export("NvSciSyncObjValidate")
def obj_validate(obj: Any) -> None:
    resolve(obj)


@nvsci.export("NvSciSyncObjGenerateFence")
def generate_fence(obj: Any, fence: Any) -> None:
    found = resolve(obj)
    null("a fence", syncFence=fence)
    found.require_cpu_signaler("generating a fence")
    reserved = found.reserve()
    found.timeline.promise(
        reserved.value, lambda: "the CPU is to signal it (NvSciSyncObjSignal), and has not yet"
    )
    bind(fence, found, reserved.value)


@nvsci.export("NvSciSyncObjSignal")
def obj_signal(obj: Any) -> None:
    found = resolve(obj)
    found.require_cpu_signaler("signaling")
    found.signal()


@nvsci.export("NvSciSyncFenceClear", status=False)
def fence_clear(fence: Any) -> None:
    null("a fence", syncFence=fence)
    write_payload(fence, fences.EMPTY)


@nvsci.export("NvSciSyncFenceDup")
def fence_dup(source: Any, copy: Any) -> None:
    null("a fence", srcSyncFence=source, dstSyncFence=copy)
    if address(source) == address(copy):
        raise bad_parameter("dstSyncFence is srcSyncFence; a fence is no copy of itself")
    original = bound(source)
    if original is None:
        write_payload(copy, fences.EMPTY)
    else:
        bind(copy, original.sync, original.value)
        for word in _SLOT_WORDS:
            copy.payload[word] = source.payload[word]


_PATIENCE_S = 5.0
"""After so long a wait says what it waits for, where explanations are printed."""


def _reached(target: fences.Bound, timeout_s: float | None) -> bool:
    if timeout_s is not None and timeout_s <= _PATIENCE_S:
        return target.fence.wait(timeout_s)
    if target.fence.wait(_PATIENCE_S):
        return True
    if process.current().config.general.explain:
        tell(
            f"cudla-sim: NvSciSyncFenceWait: still waiting for value {target.value} of "
            f"{target.sync.timeline}: {target.sync.timeline.pending(target.value)}"
        )
    return target.fence.wait(None if timeout_s is None else timeout_s - _PATIENCE_S)


_MODES = {
    True: (
        NvSciSyncWaitMode.NvSciSyncWaitMode_Default,
        NvSciSyncWaitMode.NvSciSyncWaitMode_Blocking,
    ),
    False: (
        NvSciSyncWaitMode.NvSciSyncWaitMode_Default,
        NvSciSyncWaitMode.NvSciSyncWaitMode_BusyWithYield,
        NvSciSyncWaitMode.NvSciSyncWaitMode_BusyNoYield,
    ),
}
"""How sync points (True) and semaphores are waited for; all of them mean the same here."""


def _wait(fence: Any, context: Any, timeout_us: int, mode: int) -> None:
    null("a fence", syncFence=fence)
    nvsci.resolve(context, CONTEXT, "context")
    if timeout_us < -1 or timeout_us > NvSciSyncFenceMaxTimeout:
        raise bad_parameter(
            f"timeoutUs is {timeout_us}; it is -1 (forever) to {NvSciSyncFenceMaxTimeout}"
        )
    target = bound(fence)
    if target is None:
        return
    if not target.sync.attributes.cpu_waits:
        raise bad_parameter(
            "no waiter of this sync object asked for CPU access, so the CPU cannot wait for it; "
            "the waiter's list needs NeedCpuAccess true and RequiredPerm WaitOnly"
        )
    possible = _MODES[target.sync.is_sync_point]
    if mode not in possible:
        raise NvSciError(
            Status.NvSciError_UnsupportedConfig,
            f"waitMode is {mode}, which a {target.sync.primitive_name} does not take; it takes "
            + ", ".join(f"{m.name.removeprefix('NvSciSyncWaitMode_')} {int(m)}" for m in possible),
        )
    if not _reached(target, None if timeout_us < 0 else timeout_us / 1e6):
        raise NvSciError(
            Status.NvSciError_Timeout,
            f"the fence (value {target.value}) was not reached in {timeout_us} us; "
            f"{target.sync.timeline} is where its object is: "
            f"{target.sync.timeline.pending(target.value)}",
        )


@nvsci.export("NvSciSyncFenceWait")
def fence_wait(fence: Any, context: Any, timeout_us: int) -> None:
    _wait(fence, context, timeout_us, NvSciSyncWaitMode.NvSciSyncWaitMode_Default)


@nvsci.export("NvSciSyncFenceWaitWithMode")
def fence_wait_with_mode(fence: Any, context: Any, timeout_us: int, mode: int) -> None:
    if not 0 <= mode <= 3:
        raise bad_parameter(f"waitMode is {mode}; it is 0 to 3")
    _wait(fence, context, timeout_us, mode)


def _require(fence: Any) -> fences.Bound:
    null("a fence", syncFence=fence)
    return fences.require(process.current().handles, read_payload(fence))


@nvsci.export("NvSciSyncFenceGetTimestamp")
def fence_timestamp(fence: Any, timestamp_us: Any) -> None:
    null(timestampUS=timestamp_us)
    target = _require(fence)
    if not target.sync.has_timestamps:
        raise bad_parameter("no waiter asked for timestamps (WaiterRequireTimestamps true)")
    stamp = target.sync.timestamp_us(target.value)
    if stamp is None or not target.fence.reached:
        raise bad_parameter(
            "the fence is not reached yet, so it has no timestamp; wait for it first"
        )
    timestamp_us[0] = stamp


@nvsci.export("NvSciSyncFenceGetTaskStatus")
def fence_task_status(fence: Any, status: Any) -> None:
    null(taskStatus=status)
    target = _require(fence)
    outcome = target.sync.task_status(target.value) if target.fence.reached else None
    status.timestamp = target.sync.timestamp_us(target.value) or 0
    status.statusEngine = 0
    status.subframe = 0
    status.status = 0xFFFF if outcome is None else outcome


@nvsci.export("NvSciSyncFenceExtractFence")
def fence_extract(fence: Any, identity: Any, value: Any) -> None:
    null(id=identity, value=value)
    target = _require(fence)
    identity[0] = target.sync.id
    value[0] = target.value


@nvsci.export("NvSciSyncFenceUpdateFence")
def fence_update(obj: Any, identity: int, value: int, fence: Any) -> None:
    found = resolve(obj)
    null("a fence", syncFence=fence)
    if identity not in (found.id, 0):
        raise bad_parameter(
            f"id is {identity}, but syncObj's is {found.id} (NvSciSyncFenceExtractFence tells it)"
        )
    bind(fence, found, value)


def _slot(fence: Any, slot: int, what: str, key: int) -> None:
    target = _require(fence)
    count = target.sync.attributes.value(key, 0)
    if slot >= count:
        raise bad_parameter(f"{what} slot {slot}; the sync object was reconciled with {count}")


@nvsci.export("NvSciSyncFenceAddTimestampSlot")
def fence_add_timestamp_slot(fence: Any, slot: int) -> None:
    _slot(fence, slot, "timestamp", K.NvSciSyncAttrKey_NumTimestampSlots)
    fence.payload[_TIMESTAMP_WORD] = slot + 1


@nvsci.export("NvSciSyncFenceAddTaskStatusSlot")
def fence_add_status_slot(fence: Any, slot: int) -> None:
    _slot(fence, slot, "task status", K.NvSciSyncAttrKey_NumTaskStatusSlots)
    fence.payload[_STATUS_WORD] = slot + 1


@nvsci.export("NvSciSyncFenceExtractTimestampSlot")
def fence_extract_timestamp_slot(fence: Any, slot: Any) -> None:
    null(timestampSlotIndex=slot)
    _require(fence)
    if fence.payload[_TIMESTAMP_WORD] == 0:
        raise bad_parameter("the fence has no timestamp slot (NvSciSyncFenceAddTimestampSlot)")
    slot[0] = fence.payload[_TIMESTAMP_WORD] - 1
