"""Executables, programs and their parameters."""

from __future__ import annotations

from collections import deque
from typing import Any, cast

from ...core import process
from ...core.memory import readable_size
from ...core.pages import accessible
from ...core.process import Process
from ...core.text import tell
from ...cupva.commands import RunProgram
from ...cupva.executable import Executable
from ...cupva.machine import DRIVER_VERSION
from ...cupva.pointers import OffsetPointer
from ...cupva.program import Program
from ...cupva.report import save
from ...cupva.settings import Settings
from ..embedding import address, ffi
from .commands import make, the_program
from .family import (
    cupva,
    handle,
    invalid,
    machine,
    object_of,
    offset_pointer,
    put,
    result,
    uninitialized,
)

_EXECUTABLE, _PARAMETER = "Executable", "Parameter"


@cupva.export("CupvaExecutableCreate")
def executable_create(target: Any, data: Any, size: int) -> None:
    result(target, "exec")
    if not data or size <= 0:
        raise invalid(
            f"data is {'NULL' if not data else 'given'} with size {size}; "
            "PVA_EXECUTABLE_DATA and PVA_EXECUTABLE_SIZE name an embedded executable"
        )
    if readable_size(address(data)) < size:
        raise invalid(f"data is not readable memory for {size} bytes")
    image = bytes(ffi.buffer(ffi.cast("char *", data), size))
    put(target, "cupvaExecutable_t", _EXECUTABLE, Executable(image))


@cupva.export("CupvaExecutableDestroy")
def executable_destroy(executable: Any) -> None:
    if executable:
        number = address(executable)
        handles = process.current().handles
        found: Executable = handles.remove(number, _EXECUTABLE, "CupvaExecutableDestroy")
        machine().release(found)


@cupva.export("CupvaCmdProgramCreate")
def program_create(cmd: Any, executable: Any) -> None:
    result(cmd, "cmd")
    found = object_of(executable, _EXECUTABLE, "exec") if executable else None
    make(cmd, RunProgram(machine().program(found)))


# --- parameters: a program and a name ---


class Bound:
    """A parameter: ``program`` must outlive it."""

    def __init__(self, program: Program, name: str) -> None:
        self.program = program
        self.name = name


def bound(parameter: Any, argument: str = "parameter") -> Bound:
    if not parameter:
        raise invalid(f"{argument} is NULL")
    if not parameter.data[0]:
        raise uninitialized(argument)
    return cast(Bound, object_of(int(parameter.data[0]), _PARAMETER, argument))


@cupva.export("CupvaCmdProgramGetParameter")
def get_parameter(cmd: Any, parameter: Any, name: Any) -> None:
    result(parameter, "parameter")
    program = the_program(cmd)
    if not name:
        raise invalid("name is NULL")
    text = ffi.string(name).decode(errors="replace")
    program.symbol(text)
    parameter.data[0], parameter.data[1] = _handle_of(program, text), 0


def _handle_of(program: Program, name: str) -> int:
    """One handle for each name: programs ask for their parameters in every frame."""
    if name not in program.parameters:
        program.parameters[name] = handle(_PARAMETER, Bound(program, name))
        program.handles.append((_PARAMETER, program.parameters[name]))
    return program.parameters[name]


@cupva.export("CupvaParameterSetValueArray")
def set_value(parameter: Any, value: Any, size: int) -> None:
    found = bound(parameter)
    if size <= 0:
        raise invalid(f"size is {size}; it is at least 1 byte")
    if not accessible(address(value), size):
        raise invalid(f"value is not memory for {size} bytes")
    found.program.set_value(found.name, bytes(ffi.buffer(ffi.cast("char *", value), size)))


@cupva.export("CupvaParameterSetValuePointer")
def set_pointer(parameter: Any, pointer: Any) -> None:
    found = bound(parameter)
    machine().memory.locate(address(pointer))
    found.program.set_pointer(found.name, address(pointer))


@cupva.export("CupvaParameterGetDevicePointer")
def get_device_pointer(parameter: Any, target: Any) -> None:
    result(target, "devicePtr")
    found = bound(parameter)
    target[0] = ffi.cast("void *", found.program.vmem_pointer(found.name))


# --- dataflows as a whole ---


def _describe(program: Program) -> None:
    folder = process.current().config.of(Settings).dataflows
    if folder:
        try:
            save(program, folder, machine().memory.locate)
        except OSError as cause:
            tell(f"cudla-sim: dataflows are not written to {folder}: {cause}")


@cupva.export("CupvaCmdProgramCompileDataFlows")
def compile_dataflows(cmd: Any) -> None:
    program = the_program(cmd)
    program.compile_dataflows(DRIVER_VERSION)
    _describe(program)


@cupva.export("CupvaCmdProgramUpdateDataFlows")
def update_dataflows(cmd: Any) -> None:
    program = the_program(cmd)
    program.update_dataflows()
    _describe(program)


@cupva.export("CupvaCmdProgramSetL2Size")
def set_l2_size(cmd: Any, size: int) -> None:
    the_program(cmd).set_l2_size(size)


# --- offset pointers ---


_OFFSET_POINTER = "OffsetPointer"
_REPLACED_KEPT = 1024


class _OffsetPointers:
    """Nothing ends an offset pointer but the next one in the same memory. The one before stays
    known for a while, because a program may have copied it."""

    def __init__(self, process: Process) -> None:
        self._handles = process.handles
        self._at: dict[int, int] = {}
        self._replaced: deque[int] = deque()

    def put(self, place: int, made: OffsetPointer) -> int:
        before, number = self._at.get(place), handle(_OFFSET_POINTER, made)
        self._at[place] = number
        if before is not None:
            self._replaced.append(before)
        if len(self._replaced) > _REPLACED_KEPT:
            oldest = self._replaced.popleft()
            self._handles.remove(oldest, _OFFSET_POINTER, "many newer ones in the same memory")
        return number


@cupva.export("CupvaOffsetPointerInit")
def offset_init(pointer: Any, base: Any, offset: int) -> None:
    result(pointer, "pointer")
    made = OffsetPointer(address(base), offset)
    known = process.current().family("cupva.offset pointers", _OffsetPointers)
    pointer.data[0] = known.put(address(pointer), made)


@cupva.export("CupvaOffsetPointerSetBase")
def offset_set_base(pointer: Any, base: Any) -> None:
    result(pointer, "pointer")
    machine().memory.locate(address(base))
    offset_pointer(pointer, "pointer").base = address(base)


@cupva.export("CupvaOffsetPointerSetOffset")
def offset_set_offset(pointer: Any, offset: int) -> None:
    result(pointer, "pointer")
    offset_pointer(pointer, "pointer").offset = offset


@cupva.export("CupvaOffsetPointerGet")
def offset_get(pointer: Any, base: Any, offset: Any) -> None:
    result(pointer, "pointer")
    found = offset_pointer(pointer, "pointer")
    if base:
        base[0] = ffi.cast("void *", found.base)
    if offset:
        offset[0] = found.offset
