"""Commands: what a ``cupvaCmd_t`` holds, the end of one, its status, copies."""

from __future__ import annotations

from contextlib import suppress
from typing import Any, cast

from ...core import explain, process
from ...core.handles import BadHandle
from ...core.pages import is_memory
from ...core.process import Process
from ...cupva.commands import Command, Memcpy
from ...cupva.program import Program
from ...cupva.statuses import Statuses
from ..embedding import UINTPTR, address, ffi
from .family import (
    Error,
    cupva,
    handle,
    invalid,
    machine,
    pointer_or_offset,
    result,
    uninitialized,
)
from .fences import is_value, value_command

_COMMAND = "command"
_CODE_SIZE = ffi.sizeof("cupvaError_t")


def make(target: Any, command: Command) -> int:
    """Makes a ``cupvaCmd_t`` that CupvaCmdDestroy ends; its handle."""
    result(target, "cmd")
    number = handle(_COMMAND, command)
    target.data[0], target.data[1], target.data[2] = number, 0, 0
    return number


def the_command(pointer: Any, argument: str = "cmd") -> Command:
    """The command in a ``cupvaCmd_t``."""
    if not pointer:
        raise invalid(f"{argument} is NULL")
    word = pointer.data[0]
    if not word:
        raise uninitialized(argument)
    if is_value(pointer):
        return value_command(pointer)
    found: Command = cupva.resolve(word, _COMMAND, argument)
    return found


def the_program(pointer: Any) -> Program:
    found = the_command(pointer)
    program = getattr(found, "program", None)
    if program is None:
        raise invalid("cmd is no CmdProgram")
    return cast(Program, program)


@cupva.export("CupvaCmdDestroy")
def destroy(cmd: Any) -> None:
    if not cmd or not cmd.data[0]:
        return
    if is_value(cmd):
        cmd.data[0] = 0
        return
    handles = process.current().handles
    found = handles.remove(int(cmd.data[0]), _COMMAND, "CupvaCmdDestroy")
    cmd.data[0] = 0
    program = getattr(found, "program", None)
    if program is not None:
        for kind, number in program.handles:
            with suppress(BadHandle):  # it may have ended by itself
                handles.remove(number, kind, "CupvaCmdDestroy of its program")
        program.handles.clear()
        machine().forget(program)


# --- statuses ---


def statuses() -> Statuses:
    return process.current().family("cupva.statuses", _new_statuses)


def _new_statuses(_: Process) -> Statuses:
    return Statuses()


@cupva.export("CupvaCheckCommandStatus")
def check_command_status(status: Any, code: Any) -> None:
    if not code:
        result(code, "statusCode")
    if not is_memory(int(ffi.cast(UINTPTR, code)), _CODE_SIZE, 0):
        raise invalid(f"statusCode ({address(code):#x}) is not memory of this process")
    if not status:
        raise uninitialized("status")
    found = statuses().find(int(ffi.cast(UINTPTR, status)))
    code[0] = found.code
    if found.code not in (Error.CUPVA_ERROR_NONE, Error.CUPVA_OPERATION_PENDING):
        explain.remember(f"command: {found.explanation}", cupva.name, found.code)


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
