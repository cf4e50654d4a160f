"""Where an address of a worker's program lies: the symbol around it, its source file and line."""

from __future__ import annotations

import io
from abc import ABC, abstractmethod
from bisect import bisect_right
from collections.abc import Callable, Container
from pathlib import PurePath
from typing import Any, NamedTuple, TypeVar

from elftools.elf.elffile import ELFFile
from elftools.elf.sections import SymbolTableSection


class Entry(NamedTuple):
    """A symbol; entries of a table are sorted by address."""

    address: int
    size: int
    name: str


class _Row(NamedTuple):
    address: int
    file: str | None  # None: a gap starts here
    line: int


def starting_before(entries: list[Entry], address: int) -> Entry | None:
    """The last symbol that starts at or before an address."""
    at = bisect_right(entries, address, key=lambda entry: entry.address) - 1
    return entries[at] if at >= 0 else None


def around(entries: list[Entry], address: int) -> Entry | None:
    """The symbol that an address lies in; one without a size has one byte."""
    found = starting_before(entries, address)
    return found if found and address < found.address + max(found.size, 1) else None


class Lines:
    """The line numbers of a file with debug information; without, it knows none.

    ``left_out`` gives the indices of a line program's files whose lines count as those before.
    """

    def __init__(self, elf: ELFFile, left_out: Callable[[Any], Container[int]] | None = None):
        self._rows: list[_Row] = []
        if elf.has_dwarf_info():
            dwarf = elf.get_dwarf_info()
            for unit in dwarf.iter_CUs():
                program = dwarf.line_program_for_CU(unit)
                if program is not None:
                    self._read(program, left_out(program) if left_out else ())
        # Where one unit ends and the next begins, the beginning counts.
        self._rows.sort(key=lambda row: (row.address, row.file is not None))

    def _read(self, program: Any, left_out: Container[int]) -> None:
        files = program.header["file_entry"]
        base = 0 if program.header["version"] >= 5 else 1
        for entry in program.get_entries():
            state = entry.state
            if state is None:
                continue
            index = state.file - base
            if state.end_sequence:
                self._rows.append(_Row(state.address, None, 0))
            elif 0 <= index < len(files) and index not in left_out:
                name = PurePath(files[index].name.decode(errors="replace")).name
                self._rows.append(_Row(state.address, name, state.line))

    def at(self, address: int) -> str:
        """`` (file:line)`` to put behind a function's name, empty when it is not known.

        Line 0 is DWARF's word for code of no one line (several places that were merged).
        """
        at = bisect_right(self._rows, address, key=lambda row: row.address) - 1
        if at < 0 or self._rows[at].file is None:
            return ""
        row = self._rows[at]
        return f" ({row.file}:{row.line})" if row.line else f" ({row.file})"


class Places(ABC):
    """The functions, variables and line numbers of one program file (the bytes of it)."""

    def __init__(self, image: bytes) -> None:
        elf = ELFFile(io.BytesIO(image))
        self._functions: list[Entry] = []
        self._variables: list[Entry] = []
        for table in elf.iter_sections():
            if isinstance(table, SymbolTableSection):
                for symbol in table.iter_symbols():
                    self._take(elf, symbol)
        self._functions.sort()
        self._variables.sort()
        self._lines = Lines(elf, self._left_out)

    @abstractmethod
    def _take(self, elf: ELFFile, symbol: Any) -> None:
        """Puts a symbol where it belongs, if it does."""

    def _left_out(self, program: Any) -> Container[int]:
        """As for Lines."""
        return ()


P = TypeVar("P", bound=Places)


def readable(read: Callable[[bytes], P], image: bytes | None) -> P | None:
    """None for a program without, or with damaged, debug information: what has happened in it is
    still worth telling."""
    try:
        return read(image) if image is not None else None
    except Exception:
        return None
