"""The 48 bytes of an NvSciSyncFence: where a fence keeps its reference, id and value."""

from __future__ import annotations

from typing import NamedTuple

from ..constants.nvsci import NvSciError as Status
from ..core.fence import Fence
from ..core.handles import BadHandle, HandleTable
from .errors import NvSciError, bad_parameter
from .sync import SyncObj

KIND = "NvSciSyncFence reference"
Payload = tuple[int, int, int, int, int, int]
EMPTY: Payload = (0, 0, 0, 0, 0, 0)


class Bound(NamedTuple):
    """What a fence refers to."""

    sync: SyncObj
    value: int

    @property
    def fence(self) -> Fence:
        return Fence(self.sync.timeline, self.value)


def bind(handles: HandleTable, sync: SyncObj, value: int) -> Payload:
    """A payload that refers to ``value`` on ``sync`` and keeps the object alive.

    Word 0 is the reference (a handle), word 1 the object's id, word 2 the value.
    """
    return (handles.add(KIND, sync), sync.id, value, 0, 0, 0)


def resolve(handles: HandleTable, payload: Payload) -> Bound | None:
    """What the payload refers to, None for a cleared fence.

    Raises NvSciError (BadParameter) for bytes that are neither.
    """
    if payload[0] == 0:
        return None
    try:
        sync = handles.get(payload[0], KIND)
    except BadHandle:
        raise bad_parameter(
            "syncFence holds no live fence: " + handles.explain(payload[0], KIND)
        ) from None
    if sync.id != payload[1]:
        raise bad_parameter("syncFence was overwritten: its object id does not match its reference")
    return Bound(sync, payload[2])


def require(handles: HandleTable, payload: Payload) -> Bound:
    """Like ``resolve``; a cleared fence is NvSciError (ClearedFence)."""
    bound = resolve(handles, payload)
    if bound is None:
        raise NvSciError(
            Status.NvSciError_ClearedFence, "syncFence is cleared: it refers to nothing"
        )
    return bound


def release(handles: HandleTable, payload: Payload) -> None:
    """Gives back the reference a payload holds, if it holds one (an uninitialised one does not)."""
    try:
        handles.remove(payload[0], KIND, "NvSciSyncFenceClear")
    except BadHandle:
        return
