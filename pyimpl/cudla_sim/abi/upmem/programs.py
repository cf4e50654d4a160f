"""Loading programs and finding their symbols."""

from __future__ import annotations

from typing import Any

from ...core.memory import readable_size
from ...upmem import load as loading
from ...upmem import program as programs
from ...upmem.machine import machine
from ...upmem.program import Program
from ...upmem.rank import Selection
from ...upmem.transfer import common_program
from ..embedding import address, ffi
from . import core_files
from .described import describe
from .family import (
    Status,
    drop_programs,
    error,
    name,
    resolve_dpu,
    result,
    selection,
    state,
    upmem,
)


def handle(program: Program) -> Any:
    """The ``struct dpu_program_t`` of a program; one for each load."""
    current = state()
    known = current.addresses.get(program)
    if known is not None:
        return current.programs[known][1]
    made = ffi.new("struct dpu_program_t *")
    made.reference_count = sum(
        dpu.program is program for rank in machine().ranks for dpu in rank.dpus
    )
    describe(program, made)
    return made


def resolve(pointer: Any) -> Program:
    """Raises DpuError(DPU_ERR_NO_PROGRAM_LOADED) for a pointer that dpu_load did not give."""
    found = state().programs.get(address(pointer))
    if found is None:
        what = "NULL" if not pointer else "not a program that dpu_load gave"
        raise error(Status.DPU_ERR_NO_PROGRAM_LOADED, f"program is {what}")
    return found[0]


def _load(chosen: Selection, program: Program, target: Any) -> None:
    before = [dpu.program for dpu in chosen.dpus]
    # The SDK queues a load into ranks; one into a DPU happens at once, or is refused.
    (loading.load if chosen.dpu is None else loading.load_now)(chosen, program)
    drop_programs(before)
    if chosen.dpu is not None:
        core_files.loaded(chosen.dpu, program)
    if target:
        target[0] = handle(program)


@upmem.export("dpu_load")
def load(given: Any, path: Any, target: Any) -> None:
    chosen = selection(given)
    text = name(path, "binary_path", Status.DPU_ERR_ELF_NO_SUCH_FILE)
    _load(chosen, programs.read_file(text), target)


def image(buffer: Any, size: int, argument: str) -> bytes:
    if not buffer or not size:
        raise error(
            Status.DPU_ERR_ELF_INVALID_FILE,
            f"{argument} is NULL or its size is 0; it is an ELF file",
        )
    if readable_size(address(buffer)) < size:
        raise error(
            Status.DPU_ERR_ELF_INVALID_FILE,
            f"{argument} {address(buffer):#x} is not readable memory for {size} bytes",
        )
    return bytes(ffi.buffer(buffer, size))


def given_path(path: Any) -> str | None:
    """A path that the caller gives with a program in memory; the library keeps it as it is."""
    return ffi.string(path).decode(errors="surrogateescape") if path else None


@upmem.export("dpu_load_from_memory")
def load_from_memory(given: Any, buffer: Any, size: int, target: Any) -> None:
    chosen = selection(given)
    program = programs.read(image(buffer, size, "buffer"), "<memory>", "dpu_load_from_memory")
    _load(chosen, program, target)


@upmem.export("dpu_load_from_incbin")
def load_from_incbin(given: Any, incbin: Any, target: Any) -> None:
    chosen = selection(given)
    if not incbin:
        raise error(Status.DPU_ERR_ELF_INVALID_FILE, "incbin is NULL; DPU_INCBIN defines one")
    given = given_path(incbin.path)
    contents = image(incbin.buffer, incbin.size, "incbin->buffer")
    program = programs.read(contents, given or "<incbin>", "dpu_load_from_incbin", given)
    _load(chosen, program, target)


@upmem.export("dpu_get_symbol")
def get_symbol(program: Any, symbol_name: Any, target: Any) -> None:
    result(target, "symbol")
    found = resolve(program).symbol(name(symbol_name, "symbol_name"))
    target.address, target.size = found.address & 0xFFFF_FFFF, found.size & 0xFFFF_FFFF


@upmem.export("dpu_get_program", status=False, failure=ffi.NULL)
def get_program(dpu: Any) -> Any:
    program = resolve_dpu(dpu).program
    return ffi.NULL if program is None else handle(program)


@upmem.export("dpu_set_program", status=False)
def set_program(dpu: Any, program: Any) -> None:
    resolve_dpu(dpu).program = resolve(program) if program else None


@upmem.export("dpu_get_common_program")
def get_common_program(given: Any, target: Any) -> None:
    result(given, "dpu_set")
    result(target, "program")
    target[0] = handle(common_program(selection(given[0])))


@upmem.export("dpu_init_program_ref", status=False)
def init_program_ref(program: Any) -> None:
    resolve(program)
    program.reference_count = 0


@upmem.export("dpu_take_program_ref", status=False)
def take_program_ref(program: Any) -> None:
    resolve(program)
    program.reference_count += 1


@upmem.export("dpu_free_program", status=False)
def free_program(program: Any) -> None:
    # The last owner gone, DPUs may still hold it: the memory stays until the process is reset.
    resolve(program)
    program.reference_count -= 1
