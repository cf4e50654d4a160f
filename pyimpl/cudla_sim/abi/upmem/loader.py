"""Loading step by step: open an ELF file, describe the target, load (dpu_elf.h, dpu_loader.h).

Programs that use this keep the ``struct dpu_program_t`` in memory of their own.
"""

from __future__ import annotations

from typing import Any

from ...core import process
from ...core.process import Process
from ...upmem import load as loading
from ...upmem import program as programs
from ...upmem.program import Program
from ...upmem.rank import Selection
from ...upmem.symbols import MRAM
from ..embedding import address, ffi
from .family import Status, name, resolve_dpu, resolve_rank, result, state, upmem
from .programs import image

_KIND = "DPU ELF file"
_RANK, _DPU = 0, 1


class _Opened:
    """What C keeps pointers into: names and symbol tables of opened files."""

    def __init__(self, _: Process) -> None:
        self.kept: list[Any] = []


def _open(program: Program, file: Any) -> None:
    file[0] = ffi.cast("void *", process.current().handles.add(_KIND, program))


def _file(pointer: Any) -> Program:
    found: Program = upmem.resolve(pointer, _KIND, "file", Status.DPU_ERR_ELF_INVALID_FILE)
    return found


@upmem.export("dpu_elf_open")
def elf_open(path: Any, file: Any) -> None:
    result(file, "file")
    _open(programs.read_file(name(path, "path", Status.DPU_ERR_ELF_NO_SUCH_FILE)), file)


@upmem.export("dpu_elf_map")
def elf_map(memory: Any, size: int, file: Any, filename: Any) -> None:
    result(file, "file")
    path = ffi.string(filename).decode(errors="replace") if filename else "<memory>"
    _open(programs.read(image(memory, size, "memory"), path), file)


@upmem.export("dpu_elf_close", status=False)
def elf_close(file: Any) -> None:
    process.current().handles.remove(address(file), _KIND, "dpu_elf_close")


def _fill(program: Program, target: Any) -> None:
    """Describes a program in the caller's ``struct dpu_program_t``."""
    kept = process.current().family("upmem.opened", _Opened).kept
    owners = target.reference_count
    ffi.memmove(target, bytes(ffi.sizeof(target[0])), ffi.sizeof(target[0]))
    target.reference_count = owners
    path = ffi.new("char[]", program.path.encode(errors="replace"))
    names = [ffi.new("char[]", n.encode()) for n in program.symbols]
    entries = [
        (n, s.address & 0xFFFF_FFFF, s.size & 0xFFFF_FFFF)
        for n, s in zip(names, program.symbols.values(), strict=True)
    ]
    table = ffi.new("dpu_elf_symbol_t[]", entries)
    symbols = ffi.new("dpu_elf_symbols_t *", (len(entries), table))
    empty = ffi.new("dpu_elf_symbols_t *")
    kept += [path, names, table, symbols, empty]
    target.nr_threads_enabled = min(program.tasklets, 255)
    log = program.log_buffer
    target.printf_buffer_address = -1 if log is None else (log.address & ~MRAM) | MRAM
    target.printf_buffer_size = -1 if log is None else log.size
    target.printf_write_pointer_address = target.printf_buffer_has_wrapped_address = -1
    target.mcount_address = target.ret_mcount_address = -1
    target.thread_profiling_address = target.perfcounter_end_value_address = -1
    target.open_print_sequence_addr = target.close_print_sequence_addr = -1
    target.symbols, target.profiling_symbols = symbols, empty
    target.program_path = path
    current = state()
    current.programs[address(target)] = (program, target)
    current.addresses[program] = address(target)


@upmem.export("dpu_load_elf_program")
def load_elf_program(file: Any, path: Any, program: Any, mram_size_hint: int) -> None:
    result(file, "elf_info")
    result(program, "program")
    found = programs.read_file(name(path, "path", Status.DPU_ERR_ELF_NO_SUCH_FILE))
    _open(found, file)
    _fill(found, program)


@upmem.export("dpu_load_elf_program_from_memory")
def load_elf_program_from_memory(
    file: Any, path: Any, buffer: Any, size: int, program: Any, mram_size_hint: int
) -> None:
    result(file, "elf_info")
    result(program, "program")
    text = ffi.string(path).decode(errors="replace") if path else "<memory>"
    found = programs.read(image(buffer, size, "buffer_start"), text)
    _open(found, file)
    _fill(found, program)


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


@upmem.export("dpu_elf_load")
def elf_load(file: Any, context: Any) -> None:
    result(context, "context")
    program = _file(file)
    if context.env.target == _RANK:
        chosen = Selection([resolve_rank(context.env.rank)])
    else:
        dpu = resolve_dpu(context.env.dpu)
        chosen = Selection([dpu.rank], dpu)
    loading.load(chosen, program)


@upmem.export("dpu_fill_profiling_info")
def fill_profiling_info(rank: Any, *_: Any) -> None:
    """Programs say where a profiler would find its data; nothing is profiled here."""
    resolve_rank(rank)
