"""Looking into opened program files: sections, symbols, places in the run-time system (dpu_elf.h).

What the functions hand out belongs to the file, as in the SDK, until ``dpu_elf_close``; the list
of ``dpu_elf_get_sections`` and the maps of a ``dpu_elf_runtime_info_t`` are the caller's.
"""

from __future__ import annotations

from typing import Any

from ...upmem.elf_sections import Named, Sections
from ...upmem.program import Program
from ...upmem.symbols import IRAM, MRAM
from ..embedding import ffi, lib
from .family import Status, allocate, error, host_memory, name, result, upmem

KIND = "DPU ELF file"

_ITEMS = {
    "__sys_heap_pointer_reset": "sys_heap_pointer_reset",
    "__sys_heap_pointer": "sys_heap_pointer",
    "__sys_wq_table": "sys_wq_table",
    "__sys_thread_stack_table_ptr": "sys_stack_table",
    "__stdout_buffer": "printf_buffer",
    "__stdout_buffer_state": "printf_state",
    "__open_print_sequence": "open_print_sequence",
    "__close_print_sequence": "close_print_sequence",
    "__sys_end": "sys_end",
    "mcount": "mcount",
    "ret_mcount": "ret_mcount",
    "thread_profiling": "thread_profiling",
    "perfcounter_end_value": "perfcounter_end_value",
    "NR_TASKLETS": "nr_threads",
}
"""Symbols, and the items of a dpu_elf_runtime_info_t that say where they are."""
_PROFILERS = ("mcount", "ret_mcount", "thread_profiling", "perfcounter_end_value")
"""Items that are 0 in programs without them; others are 0xffffffff."""
_MAPS = {
    "__atomic_bit_mutex_": "mutex_info",
    "__semaphore_": "semaphore_info",
    "__barrier_": "barrier_info",
}
_INSTRUCTION = ffi.sizeof("dpuinstruction_t")


class _Opened:
    """What was handed out of a file."""

    def __init__(self, program: Program) -> None:
        self.sections = Sections(program.image)
        self.kept: list[Any] = []
        self.maps: dict[str, Any] = {}

    def text(self, word: str) -> Any:
        """A C string that lives as long as the file."""
        made = ffi.new("char[]", word.encode())
        self.kept.append(made)
        return made

    def map_of(self, symbols: list[Named], into: Any) -> None:
        into.nr_symbols = len(symbols)
        if not symbols:
            into.map = ffi.NULL
            return
        size = len(symbols) * ffi.sizeof("dpu_elf_symbol_t")
        into.map = ffi.cast("dpu_elf_symbol_t *", allocate(size))
        for number, symbol in enumerate(symbols):
            item = into.map[number]
            item.name, item.value, item.size = self.text(symbol.name), symbol.value, symbol.size


_opened: dict[Program, _Opened] = {}


def opened(pointer: Any) -> Program:
    """The program of a file that ``dpu_elf_open`` gave."""
    found: Program = upmem.resolve(pointer, KIND, "file", Status.DPU_ERR_ELF_INVALID_FILE)
    return found


def _inside(pointer: Any) -> _Opened:
    program = opened(pointer)
    if program not in _opened:
        _opened[program] = _Opened(program)
    return _opened[program]


def forget(program: Program) -> None:
    """The file is closed."""
    found = _opened.pop(program, None)
    for symbols in found.maps.values() if found else ():
        lib.free(symbols.map)


def _no_section(wanted: str, sections: list[str]) -> Exception:
    have = ", ".join(filter(None, sections))
    return error(Status.DPU_ERR_ELF_NO_SUCH_SECTION, f"no section {wanted!r}; there are {have}")


@upmem.export("dpu_elf_load_section")
def load_section(file: Any, section: Any, size: Any, buffer: Any) -> None:
    result(size, "size")
    result(buffer, "buffer")
    found = _inside(file)
    wanted = name(section, "name", Status.DPU_ERR_ELF_NO_SUCH_SECTION)
    data = found.sections.data(wanted)
    if data is None:
        raise _no_section(wanted, found.sections.names)
    made = ffi.new("uint8_t[]", data or b"\0")
    found.kept.append(made)
    size[0], buffer[0] = len(data), made


@upmem.export("dpu_elf_load_symbols")
def load_symbols(file: Any, section: Any, symbols: Any) -> None:
    result(symbols, "symbols")
    found = _inside(file)
    wanted = name(section, "name", Status.DPU_ERR_ELF_NO_SUCH_SECTION)
    if wanted not in found.sections.names:
        raise _no_section(wanted, found.sections.names)
    if wanted not in found.maps:
        made = ffi.new("dpu_elf_symbols_t *")
        found.map_of(found.sections.symbols[wanted], made)
        found.maps[wanted] = made
    symbols[0] = found.maps[wanted]


@upmem.export("dpu_elf_free_symbols", status=False)
def free_symbols(symbols: Any) -> None:
    """The names stay with the file."""
    given = host_memory(symbols, ffi.sizeof("dpu_elf_symbols_t"), "symbols")
    lib.free(given.map)
    given.map, given.nr_symbols = ffi.NULL, 0


@upmem.export("dpu_elf_get_sections")
def get_sections(file: Any, nr_sections: Any, sections: Any) -> None:
    result(nr_sections, "nr_sections")
    result(sections, "sections")
    found = _inside(file)
    names = found.sections.names
    made = ffi.cast("char **", allocate(len(names) * ffi.sizeof("char *")))
    for number, word in enumerate(names):
        made[number] = found.text(word)
    nr_sections[0], sections[0] = len(names), made


@upmem.export("dpu_elf_get_runtime_info", status=False)
def get_runtime_info(file: Any, runtime_info: Any) -> None:
    found = _inside(file)
    size = ffi.sizeof("dpu_elf_runtime_info_t")
    info = host_memory(runtime_info, size, "runtime_info")
    ffi.memmove(info, bytes(size), size)
    for item in _ITEMS.values():
        getattr(info, item).value = 0 if item in _PROFILERS else 0xFFFF_FFFF
    maps: dict[str, list[Named]] = {where: [] for where in _MAPS.values()}
    for symbol in (s for symbols in found.sections.symbols.values() for s in symbols):
        if symbol.name in _ITEMS:
            item = getattr(info, _ITEMS[symbol.name])
            item.value, item.size, item.exists = *_units(symbol), True
        for start, where in _MAPS.items():
            if symbol.name.startswith(start):
                maps[where].append(symbol._replace(name=symbol.name.removeprefix(start)))
    for where, symbols in maps.items():
        found.map_of(symbols, getattr(info, where))


def _units(symbol: Named) -> tuple[int, int]:
    """Position and size in what the memory counts: instructions in IRAM, else bytes."""
    value = symbol.value & 0xFFFF_FFFF
    if value & IRAM:
        return (value & ~IRAM) // _INSTRUCTION, symbol.size // _INSTRUCTION
    return value & ~MRAM if value & MRAM else value, symbol.size


@upmem.export("free_runtime_info", status=False)
def free_runtime_info(runtime_info: Any) -> None:
    info = host_memory(runtime_info, ffi.sizeof("dpu_elf_runtime_info_t"), "runtime_info")
    for where in _MAPS.values():
        symbols = getattr(info, where)
        lib.free(symbols.map)
        symbols.map, symbols.nr_symbols = ffi.NULL, 0
