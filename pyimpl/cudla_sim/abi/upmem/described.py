"""The ``struct dpu_program_t`` of a program: what its file says, for hosts that look themselves."""

from __future__ import annotations

from typing import Any

from ...core import process
from ...core.process import Process
from ...upmem.program import Program
from ...upmem.symbols import MRAM
from ..embedding import address, ffi
from .family import state

_NONE = -1  # what the SDK says for "this program has none"
_PROFILED = (
    "mcount_address",
    "ret_mcount_address",
    "thread_profiling_address",
    "perfcounter_end_value_address",
)
"""Of programs that are profiled; 0 in others."""


class _Kept:
    """What C keeps pointers into; the table of a file that is loaded many times is made once."""

    def __init__(self, _: Process) -> None:
        self.tables: dict[bytes, Any] = {}
        self.strings: list[Any] = []
        self.paths: dict[str, Any] = {}
        self.empty = ffi.new("dpu_elf_symbols_t *")

    def table(self, program: Program) -> Any:
        found = self.tables.get(program.image)
        if found is None:
            found = self.tables[program.image] = self._table(program)
        return found

    def path(self, text: str) -> Any:
        if text not in self.paths:
            self.paths[text] = ffi.new("char[]", text.encode(errors="surrogateescape"))
        return self.paths[text]

    def _table(self, program: Program) -> Any:
        names = [ffi.new("char[]", n.encode()) for n in program.symbols]
        entries = [
            (n, s.address & 0xFFFF_FFFF, s.size & 0xFFFF_FFFF)
            for n, s in zip(names, program.symbols.values(), strict=True)
        ]
        rows = ffi.new("dpu_elf_symbol_t[]", entries)
        self.strings += [*names, rows]
        return ffi.new("dpu_elf_symbols_t *", (len(entries), rows))


def describe(program: Program, target: Any) -> None:
    """Fills a ``struct dpu_program_t``, all but its owners, and remembers whose it is."""
    kept = process.current().family("upmem.described", _Kept)
    log = program.log_buffer
    target.nr_threads_enabled = min(program.tasklets, 255)
    # Addresses are those of the lower layer: MRAM begins at 0 there.
    target.printf_buffer_address = _NONE if log is None else log.address & ~MRAM
    target.printf_buffer_size = _NONE if log is None else log.size
    state_at = None if program.code is None else program.code.stdout_state
    target.printf_write_pointer_address = _NONE if state_at is None else state_at
    target.printf_buffer_has_wrapped_address = _NONE if state_at is None else state_at + 4
    for field in _PROFILED:
        setattr(target, field, 0)
    target.open_print_sequence_addr = target.close_print_sequence_addr = _NONE
    target.symbols, target.profiling_symbols = kept.table(program), kept.empty
    where = program.host_path
    target.program_path = ffi.NULL if where is None else kept.path(where)
    current = state()
    current.programs[address(target)] = (program, target)
    current.addresses[program] = address(target)
