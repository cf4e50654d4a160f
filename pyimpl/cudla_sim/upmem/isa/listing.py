"""Disassembly of a DPU program: words, text, names of functions and source lines."""

from __future__ import annotations

import io
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass, field

from elftools.elf.elffile import ELFFile
from elftools.elf.sections import SymbolTableSection

from ...constants.dpu_protocol import IRAM_BASE, IRAM_INSTRUCTIONS
from .disassembler import disassemble
from .fields import EM_DPU, WORD_BYTES

_IRAM_END = IRAM_BASE + IRAM_INSTRUCTIONS * WORD_BYTES


class NotAProgram(ValueError):
    """What was given holds no DPU instructions; the text is one sentence."""


@dataclass
class Code:
    """Instructions, and what is known of them."""

    words: list[int]
    """64 bits each, by instruction index."""
    names: dict[int, str] = field(default_factory=dict)
    """Instruction index -> symbol."""
    functions: dict[str, range] = field(default_factory=dict)
    """Indexes of each function."""
    lines: dict[int, str] = field(default_factory=dict)
    """First instruction of a source line -> ``file:line``."""


def of_words(data: bytes) -> Code:
    """Instructions of 8 little-endian bytes. Raises NotAProgram."""
    if len(data) % WORD_BYTES:
        raise NotAProgram(f"has {len(data)} bytes, which is no multiple of {WORD_BYTES}")
    return Code([int.from_bytes(data[i : i + 8], "little") for i in range(0, len(data), 8)])


def of_elf(data: bytes) -> Code:
    """The instructions of an ELF file with e_machine 245. Raises NotAProgram."""
    if data[:4] != b"\x7fELF":
        raise NotAProgram("is no ELF file; --raw lists plain words")
    try:
        elf = ELFFile(io.BytesIO(data))
        machine = elf.header["e_machine"]
        if machine not in (EM_DPU, "EM_DPU"):
            raise NotAProgram(f"is for another machine ({machine}), DPU programs have {EM_DPU}")
        code = of_words(_text(elf))
        _symbols(elf, code)
        _lines(elf, code)
    except NotAProgram:
        raise
    except Exception as cause:  # pyelftools answers damage with many kinds of exceptions
        raise NotAProgram(f"is a damaged ELF file: {cause}") from None
    return code


def _text(elf: ELFFile) -> bytes:
    """IRAM from its beginning, gaps between sections filled with zeros."""
    image = b""
    for section in elf.iter_sections():
        start = section["sh_addr"]
        loaded = section["sh_flags"] & 2 and section["sh_type"] != "SHT_NOBITS"
        if loaded and IRAM_BASE <= start < _IRAM_END:
            offset = start - IRAM_BASE
            image = image[:offset].ljust(offset, b"\0") + section.data()
    return image


def _symbols(elf: ELFFile, code: Code) -> None:
    """Names of instructions; of several, a function's, then a global one's."""
    ranks: dict[int, tuple[bool, bool]] = {}
    for table in elf.iter_sections():
        if not isinstance(table, SymbolTableSection):
            continue
        for entry in table.iter_symbols():
            kind, value = entry["st_info"]["type"], entry["st_value"]
            named = entry.name and kind in ("STT_FUNC", "STT_NOTYPE")
            if not named or not IRAM_BASE <= value < _IRAM_END:
                continue
            if entry["st_shndx"] in ("SHN_ABS", "SHN_UNDEF"):
                continue
            index = (value - IRAM_BASE) // WORD_BYTES
            rank = kind == "STT_FUNC", entry["st_info"]["bind"] == "STB_GLOBAL"
            if index not in ranks or rank > ranks[index]:
                ranks[index], code.names[index] = rank, entry.name
            if kind == "STT_FUNC":
                end = index + entry["st_size"] // WORD_BYTES
                code.functions[entry.name] = range(index, end)
    starts = sorted(code.names)
    for index in starts:
        code.functions.setdefault(code.names[index], range(index, index))
    for name, extent in code.functions.items():
        if not extent:  # without a size it goes on to the next name
            after = bisect_right(starts, extent.start)
            end = starts[after] if after < len(starts) else len(code.words)
            code.functions[name] = range(extent.start, end)


def _lines(elf: ELFFile, code: Code) -> None:
    if not elf.has_dwarf_info():
        return
    dwarf = elf.get_dwarf_info()
    for unit in dwarf.iter_CUs():
        program = dwarf.line_program_for_CU(unit)
        if program is None:
            continue
        header = program.header
        files = header["file_entry"]
        first = 0 if header["version"] >= 5 else 1
        for entry in program.get_entries():
            state = entry.state
            if state is None or state.end_sequence or state.address < IRAM_BASE:
                continue
            number = state.file - first
            if 0 <= number < len(files) and state.line:
                name = files[number].name.decode(errors="replace")
                code.lines[(state.address - IRAM_BASE) // WORD_BYTES] = f"{name}:{state.line}"


def listing(code: Code, function: str | None = None) -> Iterator[str]:
    """Lines as the vendor's disassembler prints them: ``address: bytes  text``.

    Raises NotAProgram: there is no such function.
    """
    indexes = range(len(code.words))
    if function is not None:
        if function not in code.functions:
            raise NotAProgram(f"has no function {function!r}")
        indexes = code.functions[function]
    previous = ""
    for index in indexes:
        if index in code.names:
            yield f"{'' if index == indexes.start else chr(10)}{_address(index)} " \
                f"<{code.names[index]}>:"  # fmt: skip
        line = code.lines.get(index, previous)
        if line != previous:
            yield f"; {line}"
            previous = line
        word = code.words[index]
        data = " ".join(f"{byte:02x}" for byte in word.to_bytes(WORD_BYTES, "little"))
        text = disassemble(word, code.names.get) if not word >> 48 else None
        yield f"{_address(index)}: {data}\t{text or '<unknown>'}"


def _address(index: int) -> str:
    return f"{IRAM_BASE + index * WORD_BYTES:08x}"
