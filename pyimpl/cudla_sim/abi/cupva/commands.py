"""Commands, and the sync objects and fences that some of them are about."""

from __future__ import annotations

from collections import OrderedDict, deque
from collections.abc import Callable
from contextlib import suppress
from typing import Any

from ...core import process
from ...core.fence import Fence
from ...core.handles import BadHandle
from ...core.pages import accessible
from ...core.process import Process
from ...cupva import sync as syncs
from ...cupva.commands import Barrier, Command, Memcpy, RequestFences, Status, WaitOnFences
from ...cupva.sync import SyncObj
from ..native import address, ffi
from .family import (
    Error,
    cupva,
    error,
    handle,
    invalid,
    machine,
    object_of,
    pointer_or_offset,
    put,
    result,
    uninitialized,
)

_STATUS, _SYNC, _COMMAND = "command status", "SyncObj", "command"


_KEPT = 16384


class _Ring:
    """Handles that nothing in the interface ends: the oldest of very many go."""

    def __init__(self, _: Process) -> None:
        self.commands: deque[int] = deque()
        self.destroyed: OrderedDict[int, SyncObj] = OrderedDict()


def _ring() -> _Ring:
    return process.current().family("cupva.ring", _Ring)


def make(target: Any, command: Command) -> int:
    """Makes a ``cupvaCmd_t`` that CupvaCmdDestroy ends; its handle."""
    result(target, "cmd")
    number = handle(_COMMAND, command)
    target.data[0], target.data[1], target.data[2] = number, 0, 0
    return number


def init(target: Any, command: Command) -> None:
    """Makes a ``cupvaCmd_t`` that nobody destroys."""
    ring = _ring().commands
    ring.append(make(target, command))
    if len(ring) > _KEPT:
        with suppress(BadHandle):  # destroyed after all
            process.current().handles.remove(ring.popleft(), _COMMAND, "many newer commands")


@cupva.export("CupvaCheckCommandStatus")
def check_command_status(status: Any, code: Any) -> None:
    result(code, "statusCode")
    found: Status = object_of(status, _STATUS, "status")
    code[0] = found.code
    if found.code not in (Error.CUPVA_ERROR_NONE, Error.CUPVA_OPERATION_PENDING):
        from ...core import explain

        explain.remember(f"command: {found.explanation}")


@cupva.export("CupvaCmdDestroy")
def destroy(cmd: Any) -> None:
    if not cmd or not cmd.data[0]:
        return
    found = process.current().handles.remove(int(cmd.data[0]), _COMMAND, "CupvaCmdDestroy")
    cmd.data[0] = 0
    program = getattr(found, "program", None)
    if program is not None:
        machine().forget(program)


@cupva.export("CupvaCmdBarrierInit")
def barrier(cmd: Any) -> None:
    init(cmd, Barrier())


# --- sync objects and fences ---


@cupva.export("CupvaSyncObjCreate")
def sync_create(target: Any, timestamps: bool, client: int, mode: int) -> None:
    result(target, "syncObj")
    if client not in (1, 2, 3):
        raise invalid(f"clientType is {client}; SIGNALER (1), WAITER (2), SIGNALER_WAITER (3)")
    if mode not in (1, 2):
        raise invalid(f"waitMode is {mode}; YIELD (1) and SPIN (2) exist")
    put(target, "cupvaSyncObj_t", _SYNC, SyncObj(bool(timestamps)))


@cupva.export("CupvaSyncObjDestroy")
def sync_destroy(sync: Any) -> None:
    if sync:
        # Fences of it stay good: they hold the counter through this list.
        found = object_of(sync, _SYNC, "syncObj")
        number = address(sync)
        process.current().handles.remove(number, _SYNC, "CupvaSyncObjDestroy")
        destroyed = _ring().destroyed
        destroyed[number] = found
        if len(destroyed) > _KEPT:
            destroyed.popitem(last=False)


def _sync_of(fence: Any, argument: str) -> SyncObj:
    number = int(fence.data[0])
    if not number:
        raise uninitialized(argument)
    found: SyncObj = _ring().destroyed.get(number) or object_of(
        number, _SYNC, f"{argument}'s SyncObj"
    )
    return found


@cupva.export("CupvaFenceInit")
def fence_init(fence: Any, sync: Any) -> None:
    result(fence, "fence")
    object_of(sync, _SYNC, "syncObj")
    for index in range(6):
        fence.data[index] = 0
    fence.data[0] = address(sync)


def _value(fence: Any, argument: str) -> tuple[SyncObj, int]:
    if not fence:
        raise invalid(f"{argument} is NULL")
    sync = _sync_of(fence, argument)
    if not fence.data[1]:
        raise error(
            Error.CUPVA_INVALID_STATE,
            f"{argument} was never submitted with CmdRequestFences, so nothing will signal it",
        )
    return sync, int(fence.data[1])


@cupva.export("CupvaFenceWait")
def fence_wait(fence: Any, timeout: int, success: Any) -> None:
    sync, value = _value(fence, "fence")
    reached = syncs.wait(sync, value, timeout)
    if success:
        success[0] = reached


@cupva.export("CupvaFenceGetTimeStamp")
def fence_time(fence: Any, stamp: Any) -> None:
    result(stamp, "timeStamp")
    sync, value = _value(fence, "fence")
    stamp[0] = sync.time_ns(value)


def _array(fences: Any, count: int) -> None:
    if not fences:
        raise invalid("fences is NULL")
    if not accessible(address(fences), 48 * count):
        raise invalid(f"fences is not memory for {count} fences")


@cupva.export("CupvaCmdRequestFencesInit")
def request_fences(cmd: Any, fences: Any, count: int) -> None:
    RequestFences.check_count(count)
    _array(fences, count)
    for index in range(count):
        _sync_of(fences[index], f"fences[{index}]")
    # The fences are the program's; their values are written when the command is submitted.
    places = [address(fences) + 48 * index for index in range(count)]
    init(cmd, RequestFences([_request(place) for place in places]))


def _request(place: int) -> Callable[[], tuple[SyncObj, int]]:
    def reserve() -> tuple[SyncObj, int]:
        if not accessible(place, 48):
            raise invalid("a fence of CmdRequestFences is no longer memory")
        fence = ffi.cast("cupvaFence_t *", place)
        sync = _sync_of(fence, "fence")
        value = sync.reserve()
        fence.data[1] = value
        return sync, value

    return reserve


@cupva.export("CupvaCmdWaitOnFencesInit")
def wait_on_fences(cmd: Any, fences: Any, count: int) -> None:
    WaitOnFences.check_count(count)
    _array(fences, count)
    for index in range(count):
        _sync_of(fences[index], f"fences[{index}]")
    places = [address(fences) + 48 * index for index in range(count)]

    def values() -> list[Fence]:
        found = []
        for place in places:
            if not accessible(place, 48):
                raise invalid("a fence of CmdWaitOnFences is no longer memory")
            sync, value = _value(ffi.cast("cupvaFence_t *", place), "a fence of CmdWaitOnFences")
            found.append(sync.fence(value))
        return found

    init(cmd, WaitOnFences(values))


# --- copies ---


def _memcpy(cmd: Any, params: Any, width: int, height: int, pitches: tuple[int, int]) -> None:
    result(cmd, "cmd")
    if not params:
        raise invalid("params is NULL")
    source = pointer_or_offset(params.ptrSrc, params.opSrc, "Src")
    target = pointer_or_offset(params.ptrDst, params.opDst, "Dst")
    if source is None or target is None:
        raise invalid("ptrSrc or opSrc, and ptrDst or opDst must be set")
    command = Memcpy(machine().memory, target, source, width, height, *pitches)
    command.check()
    make(cmd, command)


@cupva.export("CupvaCmdMemcpyCreate")
def memcpy_create(cmd: Any, params: Any, size: int) -> None:
    _memcpy(cmd, params, size, 1, (0, 0))


@cupva.export("CupvaCmdMemcpyCreate2D")
def memcpy_create_2d(
    cmd: Any, params: Any, target_pitch: int, source_pitch: int, width: int, height: int
) -> None:
    _memcpy(cmd, params, width, height, (target_pitch, source_pitch))


cupva.unsupported(
    "CupvaCmdL2OpsCreate",
    because="UnsupportedOperation: L2SRAM holds no copies of DRAM here, nothing is to be kept "
    "coherent",
)
cupva.unsupported(
    "CupvaCmdPFSDCreate",
    because="UnsupportedOperation: there is no hardware whose permanent faults could be found",
)


@cupva.export("CupvaGetPFSDTestCount")
def pfsd_count(count: Any) -> None:
    result(count, "count")
    count[0] = 0
