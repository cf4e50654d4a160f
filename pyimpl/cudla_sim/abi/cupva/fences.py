"""Sync objects, fences, and the commands that are values in the program's memory.

Functions named ``...Init`` do not allocate, and nothing ends what they make. So a ``cupvaCmd_t`` of
theirs holds the whole command: a mark with its kind, where its fences lie, and a sum by which
memory that was never initialised is told apart.
"""

from __future__ import annotations

from collections import OrderedDict
from typing import Any

from ...core import process
from ...core.fence import Fence
from ...core.handles import BadHandle
from ...core.pages import accessible, is_memory
from ...core.process import Process
from ...cupva import sync as syncs
from ...cupva.commands import Barrier, Command, FencePlace, RequestFences, WaitOnFences
from ...cupva.sync import SyncObj
from ..embedding import UINTPTR, address, ffi
from .family import Error, cupva, error, invalid, object_of, put, result, uninitialized

SYNC = "SyncObj"
_sync = cupva.resolver(SYNC, "syncObj", Error.CUPVA_UNINITIALIZED_OBJECT)
_POINTER = ffi.typeof("cupvaFence_t *")
_FENCE_SIZE = 48
_DESTROYED_KEPT = 1024

# Word 0 of a command that is a value: no handle begins so (core/handles.py). Below it lie the kind
# and the number of fences.
COMMAND_MARK = 0xC09A_C0DE_0000_0000
_MARK_MASK = 0xFFFF_FFFF_0000_0000
_BARRIER, _REQUEST, _WAIT = 1, 2, 3
_SALT = 0x5A17_0F00_5EED_CAFE


class _Destroyed:
    """Sync objects that were destroyed while fences of them may still be waited for."""

    def __init__(self, _: Process) -> None:
        self.syncs: OrderedDict[int, SyncObj] = OrderedDict()


def _destroyed() -> OrderedDict[int, SyncObj]:
    return process.current().family("cupva.destroyed syncs", _Destroyed).syncs


@cupva.export("CupvaSyncObjCreate")
def sync_create(target: Any, timestamps: bool, client: int, mode: int) -> None:
    result(target, "syncObj")
    if client not in (1, 2, 3):
        raise invalid(f"clientType is {client}; SIGNALER (1), WAITER (2), SIGNALER_WAITER (3)")
    if mode not in (1, 2):
        raise invalid(f"waitMode is {mode}; YIELD (1) and SPIN (2) exist")
    put(target, "cupvaSyncObj_t", SYNC, SyncObj(bool(timestamps)))


@cupva.export("CupvaSyncObjDestroy")
def sync_destroy(sync: Any) -> None:
    if sync:
        # Fences of it stay good: they hold the counter through this list.
        found = object_of(sync, SYNC, "syncObj")
        number = address(sync)
        process.current().handles.remove(number, SYNC, "CupvaSyncObjDestroy")
        destroyed = _destroyed()
        destroyed[number] = found
        if len(destroyed) > _DESTROYED_KEPT:
            destroyed.popitem(last=False)


# --- fences ---


def _sync_of(fence: Any, argument: str) -> SyncObj:
    number = int(fence.data[0])
    if not number:
        raise uninitialized(argument)
    try:
        found: SyncObj = process.current().handles.get(number, SYNC)
    except BadHandle:
        found = _destroyed().get(number) or object_of(number, SYNC, f"{argument}'s SyncObj")
    return found


def fence_value(fence: Any, argument: str) -> tuple[SyncObj, int]:
    """The sync object of a fence and the value that it stands for. Raises CupvaError."""
    if not fence:
        raise invalid(f"{argument} is NULL")
    return _sync_of(fence, argument), _submitted(fence, argument)


def _submitted(fence: Any, argument: str) -> int:
    """The value that a fence waits for."""
    value = int(fence.data[1])
    if not value:
        raise error(
            Error.CUPVA_INVALID_STATE,
            f"{argument} was never submitted with CmdRequestFences, so nothing will signal it",
        )
    return value


@cupva.export("CupvaFenceInit")
def fence_init(fence: Any, sync: Any) -> None:
    if not fence:
        result(fence, "fence")
    if not is_memory(int(ffi.cast(UINTPTR, fence)), _FENCE_SIZE, 0):
        raise invalid(f"fence ({address(fence):#x}) is not memory of this process")
    _sync(sync)
    fence.data = (int(ffi.cast(UINTPTR, sync)), 0, 0, 0, 0, 0)


@cupva.export("CupvaFenceWait")
def fence_wait(fence: Any, timeout: int, success: Any) -> None:
    if success and not is_memory(int(ffi.cast(UINTPTR, success)), 1, 0):
        raise invalid(f"waitSuccess ({address(success):#x}) is not memory of this process")
    if fence:
        if not is_memory(int(ffi.cast(UINTPTR, fence)), _FENCE_SIZE, 0):
            raise invalid(f"fence ({address(fence):#x}) is not memory of this process")
        number, value = fence.data[0:2]
        sync = process.current().handles.find_one(number, SYNC)
    if not fence or sync is None or not value:
        sync, value = fence_value(fence, "fence")
    reached = syncs.wait(sync, value, timeout)
    if success:
        success[0] = reached


@cupva.export("CupvaFenceGetTimeStamp")
def fence_time(fence: Any, stamp: Any) -> None:
    result(stamp, "timeStamp")
    sync, value = fence_value(fence, "fence")
    stamp[0] = sync.time_ns(value)


class FenceInMemory:
    """A fence in the program's memory, of a command named ``of`` in messages.

    The first look at the memory holds for all of a submission, which takes a place of its own.
    """

    __slots__ = ("_known", "at", "of")

    def __init__(self, at: int, of: str) -> None:
        self.at = at
        self.of = of
        self._known: tuple[Any, SyncObj] | None = None

    def taken(self) -> FenceInMemory:
        return FenceInMemory(self.at, self.of)

    def _look(self) -> tuple[Any, SyncObj]:
        if self._known is None:
            if not accessible(self.at, _FENCE_SIZE):
                raise invalid(f"a fence of {self.of} is no longer memory")
            data = ffi.cast(_POINTER, self.at)
            self._known = data, _sync_of(data, f"a fence of {self.of}")
        return self._known

    def sync(self) -> SyncObj:
        return (self._known or self._look())[1]

    def put(self, value: int) -> None:
        (self._known or self._look())[0].data[1] = value

    def fence(self) -> Fence:
        data, sync = self._look()
        return sync.fence(_submitted(data, f"a fence of {self.of}"))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, FenceInMemory) and self.at == other.at

    def __hash__(self) -> int:
        return hash(self.at)


# --- commands that are values ---


def _sum(word: int, places: int) -> int:
    return word ^ places ^ _SALT


def _init(cmd: Any, kind: int, places: int, count: int) -> None:
    result(cmd, "cmd")
    word = COMMAND_MARK | kind << 8 | count
    cmd.data[0], cmd.data[1], cmd.data[2] = word, places, _sum(word, places)


def is_value(cmd: Any) -> bool:
    """Whether an ``...Init`` function made the command."""
    word = cmd.data[0]
    return word & _MARK_MASK == COMMAND_MARK and cmd.data[2] == _sum(word, cmd.data[1])


def value_command(cmd: Any) -> Command:
    """The command that such a ``cupvaCmd_t`` holds."""
    word, first = cmd.data[0], cmd.data[1]
    kind, count = word >> 8 & 0xFF, word & 0xFF
    if kind == _BARRIER:
        return Barrier()
    name = "CmdRequestFences" if kind == _REQUEST else "CmdWaitOnFences"
    places: list[FencePlace] = [
        FenceInMemory(first + _FENCE_SIZE * index, name) for index in range(count)
    ]
    return RequestFences(places) if kind == _REQUEST else WaitOnFences(places)


def _array(fences: Any, count: int) -> int:
    """Where fences lie that were all initialised."""
    if not fences:
        raise invalid("fences is NULL")
    at = int(ffi.cast(UINTPTR, fences))
    if not is_memory(at, _FENCE_SIZE * count, 0):
        raise invalid(f"fences is not memory for {count} fences")
    handles = process.current().handles
    for index in range(count):
        if handles.find_one(fences[index].data[0], SYNC) is None:
            _sync_of(fences[index], f"fences[{index}]")
    return at


@cupva.export("CupvaCmdBarrierInit")
def barrier(cmd: Any) -> None:
    _init(cmd, _BARRIER, 0, 0)


@cupva.export("CupvaCmdRequestFencesInit")
def request_fences(cmd: Any, fences: Any, count: int) -> None:
    RequestFences.check_count(count)
    # The fences are the program's; their values are written when the command is submitted.
    _init(cmd, _REQUEST, _array(fences, count), count)


@cupva.export("CupvaCmdWaitOnFencesInit")
def wait_on_fences(cmd: Any, fences: Any, count: int) -> None:
    WaitOnFences.check_count(count)
    _init(cmd, _WAIT, _array(fences, count), count)
