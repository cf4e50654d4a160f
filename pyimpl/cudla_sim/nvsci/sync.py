"""Sync objects and fences: an NvSciSync object is a timeline with a signaler and waiters."""

from __future__ import annotations

import itertools
from time import monotonic_ns
from typing import Any

from ..constants.nvsci import (
    NvSciError as Status,
)
from ..constants.nvsci import (
    NvSciSyncAccessPerm_SignalOnly,
    NvSciSyncAccessPerm_WaitOnly,
    NvSciSyncAccessPerm_WaitSignal,
)
from ..constants.nvsci import (
    NvSciSyncAttrKey as K,
)
from ..constants.nvsci import (
    NvSciSyncAttrValPrimitiveTypeRec as Primitive,
)
from ..core.fence import Fence, Timeline
from .attributes import AttrList, Conflict, Key, Schema, Slot
from .errors import bad_parameter

WAIT, SIGNAL = NvSciSyncAccessPerm_WaitOnly, NvSciSyncAccessPerm_SignalOnly
TIMESTAMP_SLOTS = 512  # cuDLA reference, cudlaImportExternalSemaphore: live timestamp buffers


def _perm(value: int) -> str:
    if value in (WAIT, SIGNAL, NvSciSyncAccessPerm_WaitSignal):
        return ""
    return f"{value:#x} is no permission; WaitOnly 1, SignalOnly 2 or WaitSignal 3"


class SyncSchema(Schema):
    """The keys of sync objects."""

    lists_once = True


SCHEMA = SyncSchema(
    "NvSciSync",
    {
        K.NvSciSyncAttrKey_NeedCpuAccess: Key("NeedCpuAccess", "bool"),
        K.NvSciSyncAttrKey_RequiredPerm: Key("RequiredPerm", "u64", check=_perm),
        K.NvSciSyncAttrKey_ActualPerm: Key("ActualPerm", "u64", writable=False),
        K.NvSciSyncAttrKey_WaiterContextInsensitiveFenceExports: Key(
            "WaiterContextInsensitiveFenceExports", "bool"
        ),
        K.NvSciSyncAttrKey_WaiterRequireTimestamps: Key("WaiterRequireTimestamps", "bool"),
        K.NvSciSyncAttrKey_RequireDeterministicFences: Key("RequireDeterministicFences", "bool"),
        K.NvSciSyncAttrKey_NumTimestampSlots: Key("NumTimestampSlots", "u32"),
        K.NvSciSyncAttrKey_NumTaskStatusSlots: Key("NumTaskStatusSlots", "u32"),
        K.NvSciSyncAttrKey_MaxPrimitiveValue: Key("MaxPrimitiveValue", "u64"),
        K.NvSciSyncAttrKey_PrimitiveInfo: Key("PrimitiveInfo", "i32[]"),
        K.NvSciSyncAttrKey_PeerLocationInfo: Key("PeerLocationInfo", "bytes16[]"),
        K.NvSciSyncAttrKey_GpuId: Key("GpuId", "bytes16[]"),
        K.NvSciSyncAttrKey_PeerHwEngineArray: Key("PeerHwEngineArray", "bytes8[]"),
    },
)

_OR_KEYS = (
    K.NvSciSyncAttrKey_NeedCpuAccess,
    K.NvSciSyncAttrKey_WaiterContextInsensitiveFenceExports,
    K.NvSciSyncAttrKey_WaiterRequireTimestamps,
    K.NvSciSyncAttrKey_RequireDeterministicFences,
)
_MAX_KEYS = (
    K.NvSciSyncAttrKey_NumTimestampSlots,
    K.NvSciSyncAttrKey_NumTaskStatusSlots,
    K.NvSciSyncAttrKey_MaxPrimitiveValue,
)
_SEMAPHORES = (
    Primitive.NvSciSyncAttrValPrimitiveType_SysmemSemaphorePayload64b,
    Primitive.NvSciSyncAttrValPrimitiveType_SysmemSemaphore,
    Primitive.NvSciSyncAttrValPrimitiveType_VidmemSemaphorePayload64b,
    Primitive.NvSciSyncAttrValPrimitiveType_VidmemSemaphore,
)


class SyncModule:
    """An open NvSciSync. Lists, objects and fences keep it alive after it is closed."""


class ReconciledSync(AttrList):
    """The outcome of reconciliation, with what the public keys do not say."""

    cpu_signals = False
    cpu_waits = False
    primitive = Primitive.NvSciSyncAttrValPrimitiveType_Syncpoint


def reconcile(lists: list[AttrList]) -> ReconciledSync:
    """Merges the wishes of one signaler and its waiters.

    Raises NvSciError: ReconciliationFailed without exactly one signaler and at least one waiter,
    UnsupportedConfig when no primitive suits everybody, BadParameter for a reconciled list.
    """
    for index, each in enumerate(lists):
        if each.reconciled:
            raise bad_parameter(f"inputArray[{index}] is reconciled already")
        if each.module is not lists[0].module:
            raise bad_parameter(f"inputArray[{index}] comes from another module than inputArray[0]")
    slots = [slot for each in lists for slot in each.slots]
    perms = [_decoded(s, K.NvSciSyncAttrKey_RequiredPerm, 0) for s in slots]
    signalers = sum(bool(p & SIGNAL) for p in perms)
    waiters = sum(bool(p & WAIT) for p in perms)
    if signalers != 1 or waiters < 1:
        raise Conflict(
            Status.NvSciError_ReconciliationFailed,
            f"found {signalers} signaler(s) and {waiters} waiter(s) in {len(slots)} list(s); it "
            "takes exactly one list with RequiredPerm SignalOnly and at least one with WaitOnly",
            lists,
            K.NvSciSyncAttrKey_RequiredPerm,
        )
    outcome = ReconciledSync(SCHEMA, lists[0].module)
    outcome.reconciled = True
    outcome.engines = set().union(*(a.engines for a in lists))
    merged: Slot = {}
    for key in _OR_KEYS:
        merged[key] = bytes([any(_decoded(s, key, False) for s in slots)])
    for key in _MAX_KEYS:
        wishes = [_decoded(s, key, None) for s in slots]
        if any(w is not None for w in wishes):
            merged[key] = SCHEMA.key(key).encode(max(w for w in wishes if w is not None))
    actual = 0
    for slot, perm in zip(slots, perms, strict=True):
        actual |= perm
        cpu = _decoded(slot, K.NvSciSyncAttrKey_NeedCpuAccess, False)
        outcome.cpu_signals |= bool(cpu and perm & SIGNAL)
        outcome.cpu_waits |= bool(cpu and perm & WAIT)
    merged[K.NvSciSyncAttrKey_ActualPerm] = SCHEMA.key(K.NvSciSyncAttrKey_ActualPerm).encode(actual)
    outcome.primitive = _choose_primitive(lists, merged)
    merged[K.NvSciSyncAttrKey_PrimitiveInfo] = SCHEMA.key(K.NvSciSyncAttrKey_PrimitiveInfo).encode(
        (int(outcome.primitive),)
    )
    outcome.slots = [merged]
    return outcome


def _decoded(slot: Slot, key: int, default: Any) -> Any:
    raw = slot.get(key)
    return default if raw is None else SCHEMA.key(key).decode(raw)


def _choose_primitive(lists: list[AttrList], merged: Slot) -> Primitive:
    """A sync point unless somebody needs deterministic fences (cuDLA reference, attributes)."""
    deterministic = merged[K.NvSciSyncAttrKey_RequireDeterministicFences] == b"\x01"
    first = () if deterministic else (Primitive.NvSciSyncAttrValPrimitiveType_Syncpoint,)
    candidates = [*first, *_SEMAPHORES]
    for slot in (slot for each in lists for slot in each.slots):
        wishes = _decoded(slot, K.NvSciSyncAttrKey_PrimitiveInfo, None)
        if wishes is not None:
            candidates = [c for c in candidates if int(c) in wishes]
    if not candidates:
        raise Conflict(
            Status.NvSciError_UnsupportedConfig,
            "no primitive is in every PrimitiveInfo"
            + (" that gives deterministic fences (a sync point does not)" if deterministic else ""),
            lists,
            K.NvSciSyncAttrKey_PrimitiveInfo,
            K.NvSciSyncAttrKey_RequireDeterministicFences,
        )
    return Primitive(candidates[0])


def validate(reconciled: AttrList, wishes: list[Slot]) -> str:
    """What a reconciled list does not give of ``wishes``; "" when it satisfies all."""
    have = reconciled.slots[0]
    actual = _decoded(have, K.NvSciSyncAttrKey_ActualPerm, 0)
    for slot in wishes:
        perm = _decoded(slot, K.NvSciSyncAttrKey_RequiredPerm, 0)
        if perm & ~actual:
            return f"RequiredPerm {perm} is not within ActualPerm {actual}"
        for key in _OR_KEYS:
            if _decoded(slot, key, False) and not _decoded(have, key, False):
                return f"{SCHEMA.key(key).name} is wanted but not given"
        for key in _MAX_KEYS:
            wish = _decoded(slot, key, None)
            if wish is not None and wish > _decoded(have, key, 0):
                return f"{SCHEMA.key(key).name} {wish} is more than the reconciled value"
    return ""


_sync_ids = itertools.count(1)


class SyncObj:
    """One sync object, shared by all handles, imports and fences that refer to it.

    ``timeline`` is its primitive: fence values are reached in order. ``status`` and timestamps of
    a fence live in a ring of 512 slots, as on the hardware.
    """

    def __init__(self, attributes: ReconciledSync) -> None:
        self.attributes = attributes
        self.id = next(_sync_ids)
        self.timeline = Timeline(f"NvSciSync {self.primitive_name}", shown=True)
        self._timestamps_us: dict[int, int] = {}
        self._statuses: dict[int, int] = {}

    @property
    def is_sync_point(self) -> bool:
        return self.attributes.primitive is Primitive.NvSciSyncAttrValPrimitiveType_Syncpoint

    @property
    def primitive_name(self) -> str:
        return "sync point" if self.is_sync_point else "deterministic semaphore"

    @property
    def has_timestamps(self) -> bool:
        return bool(self.attributes.value(K.NvSciSyncAttrKey_WaiterRequireTimestamps, False))

    def reserve(self) -> Fence:
        """The fence of the next signal that nobody has been promised yet."""
        return self.timeline.reserve()

    def signal(
        self, value: int | None = None, *, failed: bool = False, at_us: int | None = None
    ) -> None:
        """Reaches ``value`` (the next one when None) and notes when (``at_us``; None: now), and how
        the task ended."""
        reached = self.timeline.value + 1 if value is None else value
        self._timestamps_us[reached % TIMESTAMP_SLOTS] = (
            monotonic_ns() // 1000 if at_us is None else at_us
        )
        self._statuses[reached % TIMESTAMP_SLOTS] = int(failed)
        self.timeline.advance(value)

    def timestamp_us(self, value: int) -> int | None:
        """When the slot of ``value`` was last written (a later fence may share it)."""
        return self._timestamps_us.get(value % TIMESTAMP_SLOTS)

    def task_status(self, value: int) -> int | None:
        return self._statuses.get(value % TIMESTAMP_SLOTS)

    def require_cpu_signaler(self, what: str) -> None:
        if not self.attributes.cpu_signals:
            raise bad_parameter(
                f"syncObj is not signaled by the CPU, so {what} is not the CPU's to do; the "
                "signaler's list needs NeedCpuAccess true and RequiredPerm SignalOnly"
            )
