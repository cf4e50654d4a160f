"""Programs of DPU assembly as ELF files that loaders of UPMEM's DPUs take."""

from __future__ import annotations

from collections.abc import Iterable

from ...constants.dpu_protocol import MAX_TASKLETS
from ..isa.fields import WORD_BYTES
from . import elf_file, sections, start
from .assembling import Assembler
from .expressions import AsmError
from .sections import Symbol
from .start import Options


def build(texts: Iterable[tuple[str, str]], options: Options) -> bytes:
    """The program of preprocessed texts, each with the name of its file.

    Raises AsmError; its text is a line, with file and line number where it has a place.
    """
    _check(options)
    assembler = _begin(options)
    assembler.read(start.data(options), start.FILE)
    if options.stdout_buffer:
        assembler.place("__stdout_buffer", sections.MRAM_NOINIT, options.stdout_buffer)
    for tasklet in range(options.tasklets):
        name = f"__sys_stack_thread_{tasklet}"
        assembler.place(name, sections.STACKS, options.stack(tasklet))
    own = [*texts]
    probe = _begin(options)
    for text, file in own:
        probe.read(text, file)
    if "__bootstrap" not in probe.symbols:  # in front: a DPU starts at its first instruction
        if "main" not in probe.symbols:
            raise AsmError("there is neither main nor __bootstrap: a program begins at one of them")
        assembler.read(start.CODE, start.FILE)
    for text, file in own:
        assembler.read(text, file)
    _lay_out(assembler)
    assembler.finish()
    return elf_file.write(assembler)


def _begin(options: Options) -> Assembler:
    assembler = Assembler()
    assembler.define("NR_TASKLETS", options.tasklets)
    for tasklet in range(options.tasklets):
        assembler.define(f"STACK_SIZE_TASKLET_{tasklet}", options.stack(tasklet))
    return assembler


def _check(options: Options) -> None:
    if not 1 <= options.tasklets <= MAX_TASKLETS:
        raise AsmError(f"NR_TASKLETS is {options.tasklets}: a DPU runs 1 to {MAX_TASKLETS}")
    if options.stdout_buffer < 0 or options.stdout_buffer % 8:
        raise AsmError(f"a print buffer of {options.stdout_buffer} bytes is no multiple of 8")


def _lay_out(assembler: Assembler) -> None:
    """Gives addresses to sections, and to what the linker of the vendor defines."""
    ends: dict[str, int] = {}
    for section in assembler.sections.values():
        base, size, memory = sections.memory_of(section.name)
        at = ends.get(memory, base)
        if section.name != sections.ATOMIC:
            at = at + section.alignment - 1 & -section.alignment
        section.address, end = at, at + section.size
        if end > base + size:
            limit = f"{size // WORD_BYTES} instructions" if memory == "IRAM" else f"{size} bytes"
            raise AsmError(
                f"section {section.name!r} does not fit: {memory} has {limit}, "
                f"{end - base - size} bytes are too many"
            )
        ends[memory] = end
    atomic = assembler.sections[sections.ATOMIC]
    places = {
        "__atomic_start_addr": (atomic, 0),
        "__atomic_used_addr": (atomic, 0),
        "__atomic_end_addr": (atomic, atomic.size),
        "__sys_heap_pointer_reset": (assembler.sections[sections.HEAP], 0),
    }
    noinit = assembler.sections[sections.MRAM_NOINIT]
    places["__sys_used_mram_end"] = (noinit, (noinit.size + 7) & ~7)
    for name, (section, offset) in places.items():
        assembler.symbols[name] = Symbol(name, section, offset, shared=True)
