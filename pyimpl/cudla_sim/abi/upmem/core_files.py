"""Core files (dpu_debug.h, dpu_elf.h): written for a debugger, and loaded into a DPU."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from ...upmem.debug import core_file
from ...upmem.program import Program
from ...upmem.rank import Dpu
from ..embedding import ffi, lib
from . import checkpoints, contexts, debugger
from .family import (
    Status,
    allocate,
    error,
    host_memory,
    name,
    resolve_dpu,
    resolve_rank,
    result,
    upmem,
)

_loaded: dict[Dpu, Any] = {}
"""The contexts that came with core files, until somebody takes them."""


def _bytes(pointer: Any, size: int, what: str) -> bytes:
    return bytes(ffi.buffer(host_memory(pointer, size, what), size)) if size else b""


def _write(executable: Any, path: Any, contents: dict[str, bytes]) -> None:
    missing = Status.DPU_ERR_ELF_NO_SUCH_FILE
    program = Path(name(executable, "exe_path", missing))
    target = Path(name(path, "core_file_path", missing))
    try:
        image = program.read_bytes()
        made = core_file.write(image, contents)
        target.write_bytes(made)
    except OSError as cause:
        raise error(missing, f"{cause}") from None
    except core_file.NoProgram as cause:
        raise error(Status.DPU_ERR_ELF_INVALID_FILE, f"{str(program)!r} {cause}") from None


@upmem.export("dpu_elf_create_core_dump")
def elf_create_core_dump(
    exe_path: Any,
    core_file_path: Any,
    wram: Any,
    mram: Any,
    iram: Any,
    context: Any,
    wram_size: int,
    mram_size: int,
    iram_size: int,
    context_size: int,
) -> None:
    contents = {
        ".data": _bytes(wram, wram_size, "wram"),
        ".text": _bytes(iram, iram_size, "iram"),
        ".regs": _bytes(context, context_size, "context"),
        ".mram": _bytes(mram, mram_size, "mram"),
    }
    _write(exe_path, core_file_path, contents)


@upmem.export("dpu_create_core_dump")
def create_core_dump(
    rank: Any,
    exe_path: Any,
    core_file_path: Any,
    context: Any,
    wram: Any,
    mram: Any,
    iram: Any,
    wram_size: int,
    mram_size: int,
    iram_size: int,
) -> None:
    resolve_rank(rank)
    contents = {
        ".data": _bytes(wram, wram_size, "wram"),
        ".text": _bytes(iram, iram_size, "iram"),
        ".regs": checkpoints.as_bytes(context),
        ".mram": _bytes(mram, mram_size, "mram"),
    }
    _write(exe_path, core_file_path, contents)


def loaded(dpu: Dpu, program: Program) -> None:
    """After a load: registers of a core file, too; dpu_pop_debug_context gives the context."""
    _forget(dpu)
    registers = program.registers
    if registers is None:
        return
    context = ffi.cast("struct dpu_context_t *", allocate(ffi.sizeof("struct dpu_context_t")))
    source = ffi.from_buffer("uint8_t[]", registers)
    checkpoints.deserialize(source, len(registers), context)
    _loaded[dpu] = context
    dpu.rank.at_end.append(lambda: _forget(dpu))
    debugger.restore_context_for_dpu(ffi.cast("struct dpu_t *", dpu.handle), context)


def _forget(dpu: Dpu) -> None:
    context = _loaded.pop(dpu, None)
    if context is not None:
        contexts.free(context)
        lib.free(context)


@upmem.export("dpu_pop_debug_context")
def pop_debug_context(dpu: Any, debug_context: Any) -> None:
    """The context that came with a core file, once; the caller frees it."""
    result(debug_context, "debug_context")
    debug_context[0] = _loaded.pop(resolve_dpu(dpu), ffi.NULL)
