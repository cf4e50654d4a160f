"""Loading step by step: open an ELF file, describe the target, load (dpu_elf.h, dpu_loader.h).

Programs that use this keep the ``struct dpu_program_t`` in memory of their own.
"""

from __future__ import annotations

from typing import Any

from ...core import process
from ...upmem import load
from ...upmem import program as programs
from ...upmem.program import Program
from ...upmem.rank import Selection
from ..embedding import address, ffi
from . import core_files, elf_files
from .described import describe
from .family import (
    Status,
    error,
    host_memory,
    name,
    resolve_dpu,
    resolve_rank,
    result,
    upmem,
)
from .pieces import Loading, changed
from .programs import given_path, image

_RANK, _DPU = 0, 1


def _open(program: Program, file: Any) -> None:
    file[0] = ffi.cast("void *", process.current().handles.add(elf_files.KIND, program))


@upmem.export("dpu_elf_open")
def elf_open(path: Any, file: Any) -> None:
    result(file, "file")
    text = name(path, "path", Status.DPU_ERR_ELF_NO_SUCH_FILE)
    _open(programs.read_file(text, "dpu_elf_open"), file)


@upmem.export("dpu_elf_map")
def elf_map(memory: Any, size: int, file: Any, filename: Any) -> None:
    result(file, "file")
    path = ffi.string(filename).decode(errors="replace") if filename else "<memory>"
    _open(programs.read(image(memory, size, "memory"), path, "dpu_elf_map"), file)


@upmem.export("dpu_elf_close", status=False)
def elf_close(file: Any) -> None:
    program = process.current().handles.remove(address(file), elf_files.KIND, "dpu_elf_close")
    elf_files.forget(program)


@upmem.export("dpu_load_elf_program")
def load_elf_program(file: Any, path: Any, program: Any, mram_size_hint: int) -> None:
    result(file, "elf_info")
    result(program, "program")
    text = name(path, "path", Status.DPU_ERR_ELF_NO_SUCH_FILE)
    found = programs.read_file(text, "dpu_load_elf_program")
    _open(found, file)
    describe(found, program)


@upmem.export("dpu_load_elf_program_from_memory")
def load_elf_program_from_memory(
    file: Any, path: Any, buffer: Any, size: int, program: Any, mram_size_hint: int
) -> None:
    result(file, "elf_info")
    result(program, "program")
    given = given_path(path)
    contents = image(buffer, size, "buffer_start")
    found = programs.read(contents, given or "<memory>", "dpu_load_elf_program_from_memory", given)
    _open(found, file)
    describe(found, program)


@upmem.export("dpu_loader_fill_rank_context", status=False)
def fill_rank_context(context: Any, rank: Any) -> None:
    result(context, "context")
    resolve_rank(rank)
    ffi.memmove(context, bytes(ffi.sizeof(context[0])), ffi.sizeof(context[0]))
    context.env.target, context.env.rank = _RANK, rank


@upmem.export("dpu_loader_fill_dpu_context", status=False)
def fill_dpu_context(context: Any, dpu: Any) -> None:
    result(context, "context")
    resolve_dpu(dpu)
    ffi.memmove(context, bytes(ffi.sizeof(context[0])), ffi.sizeof(context[0]))
    context.env.target, context.env.dpu = _DPU, dpu


def _target(env: Any) -> Selection:
    if env.target == _RANK:
        return Selection([resolve_rank(env.rank)])
    if env.target == _DPU:
        dpu = resolve_dpu(env.dpu)
        return Selection([dpu.rank], dpu)
    raise error(
        Status.DPU_ERR_INTERNAL,
        f"context->env.target is {env.target}; DPU_LOADER_TARGET_RANK (0) and "
        "DPU_LOADER_TARGET_DPU (1) exist",
    )


@upmem.export("dpu_elf_load")
def elf_load(file: Any, given: Any) -> None:
    loading = Loading.of(given)
    host_memory(loading.context, ffi.sizeof("struct _dpu_loader_context_t"), "context")
    program = elf_files.opened(file)
    target = _target(loading.context.env)
    load.load_now(target, program, changed(program, loading))
    if target.dpu is not None:
        core_files.loaded(target.dpu, program)


@upmem.export("dpu_fill_profiling_info")
def fill_profiling_info(rank: Any, *_: Any) -> None:
    """Programs say where a profiler would find its data; nothing is profiled here."""
    resolve_rank(rank)
