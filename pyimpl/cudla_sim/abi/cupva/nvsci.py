"""``cupva_host_nvsci.h``: NvSciBuf memory and NvSciSync fences for the PVA."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from ...constants.nvsci import NvSciBufAttrKey as BufKey
from ...constants.nvsci import NvSciBufAttrValAccessPerm as BufPerm
from ...constants.nvsci import NvSciSyncAttrKey as SyncKey
from ...core import process
from ...core.process import Process
from ...cupva.sync import NvSciSync, SyncObj
from ...nvsci import sync as nvsync
from ...nvsci.bufattrs import SCHEMA
from ...nvsci.errors import NvSciError
from ...nvsci.settings import Settings
from ..embedding import address, ffi
from ..nvsci import buf as nvsci_buf
from ..nvsci import sync as nvsci_sync
from .family import cupva, handle, invalid, machine, put, result, unsupported
from .fences import SYNC, fence_value

_SIGNALER, _WAITER, _BOTH = 1, 2, 3


@contextmanager
def _nvsci(what: str) -> Iterator[None]:
    """Raises CupvaError: CUPVA_INVALID_ARGUMENT for what NvSci refuses, CUPVA_UNSUPPORTED_FEATURE
    on a machine without it."""
    if not process.current().config.of(Settings).nvsci:
        raise unsupported("the NvSci libraries are missing here (setting nvsci is off)")
    try:
        yield
    except NvSciError as error:
        raise invalid(f"{what}: {error.explanation}") from None


def _permission(client: int) -> int:
    if client not in (_SIGNALER, _WAITER, _BOTH):
        raise invalid(f"clientType is {client}; SIGNALER (1), WAITER (2), SIGNALER_WAITER (3)")
    wait = nvsync.WAIT if client & _WAITER else 0
    return wait | (nvsync.SIGNAL if client & _SIGNALER else 0)


# --- memory ---


@cupva.export("CupvaMemFillAttributes")
def fill_memory(attributes: Any) -> None:
    with _nvsci("sciBufAttr"):
        found = nvsci_buf.lists.resolve(attributes)
        pairs = (
            (BufKey.NvSciBufGeneralAttrKey_NeedCpuAccess, True),
            (BufKey.NvSciBufGeneralAttrKey_RequiredPerm, int(BufPerm.NvSciBufAccessPerm_ReadWrite)),
        )
        found.set_attrs([(int(key), SCHEMA.key(key).encode(value)) for key, value in pairs])
        found.engines.add("PVA")


@cupva.export("CupvaMemImport")
def import_memory(target: Any, buffer: Any, access: int) -> None:
    result(target, "pvaPtr")
    if access not in (1, 2, 3):
        raise invalid(f"accessType is {access}; CUPVA_READ (1), WRITE (2), READ_WRITE (3)")
    with _nvsci("buff"):
        found = nvsci_buf.resolve(buffer, "buff").buffer
    made = machine().memory.take_in(found.address, found.size, found.retain().release)
    target[0] = ffi.cast("void *", made)


# --- sync objects and fences ---


@cupva.export("CupvaSyncObjFillAttributes")
def fill_sync(attributes: Any, client: int) -> None:
    permission = _permission(client)
    result(attributes, "attrList")
    with _nvsci("attrList"):
        found = nvsci_sync.lists.resolve(attributes[0])
        key = SyncKey.NvSciSyncAttrKey_RequiredPerm
        found.set_attrs([(int(key), nvsync.SCHEMA.key(key).encode(permission))])
        found.engines.add("PVA")


@cupva.export("CupvaSyncObjCreateFromNvsci")
def import_sync(target: Any, sync: Any, client: int) -> None:
    result(target, "syncObj")
    wanted = _permission(client)
    with _nvsci("sciSyncobj"):
        found = nvsci_sync.resolve(sync, "sciSyncobj")
    have = found.attributes.value(SyncKey.NvSciSyncAttrKey_ActualPerm, 0)
    if wanted & ~have:
        raise invalid(f"clientType {client} needs permission {wanted}; sciSyncobj gives {have}")
    if client & _SIGNALER and found.attributes.cpu_signals:
        raise invalid("sciSyncobj is signaled by the CPU, so the PVA cannot signal it")
    put(target, "cupvaSyncObj_t", SYNC, NvSciSync(found))


class _Imported:
    """The sync objects of fences that came from NvSci, by the number of the NvSciSync object."""

    def __init__(self, _: Process) -> None:
        self.handles: dict[int, int] = {}
        self.reached = 0


def _handle_of(sync: nvsync.SyncObj) -> int:
    known = process.current().family("cupva.imported syncs", _Imported).handles
    if sync.id not in known:
        known[sync.id] = handle(SYNC, NvSciSync(sync))
    return known[sync.id]


def _handle_of_reached() -> int:
    """A sync object that is at 1: what a cleared fence becomes."""
    known = process.current().family("cupva.imported syncs", _Imported)
    if not known.reached:
        sync = SyncObj()
        sync.signal(1)
        known.reached = handle(SYNC, sync)
    return known.reached


@cupva.export("CupvaFenceImport")
def import_fence(fence: Any, source: Any) -> None:
    result(fence, "fence")
    if not source:
        raise invalid("sciFence is NULL")
    with _nvsci("sciFence"):
        found = nvsci_sync.bound(ffi.cast("NvSciSyncFence *", address(source)))
    for index in range(6):
        fence.data[index] = 0
    if found is None:
        fence.data[0], fence.data[1] = _handle_of_reached(), 1
    else:
        fence.data[0], fence.data[1] = _handle_of(found.sync), found.fence.value


@cupva.export("CupvaFenceExport")
def export_fence(fence: Any, target: Any) -> None:
    result(target, "sciFence")
    sync, value = fence_value(fence, "fence")
    if not isinstance(sync, NvSciSync):
        raise invalid(
            "fence belongs to a SyncObj of the PVA; only fences of one that came from "
            "CupvaSyncObjCreateFromNvsci can become NvSciSyncFences"
        )
    with _nvsci("sciFence"):
        nvsci_sync.bind(target, sync.shared, value)
