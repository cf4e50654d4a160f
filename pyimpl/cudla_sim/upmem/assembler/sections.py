"""What assembly text puts where: sections with their contents, and symbols."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import NamedTuple

from ...constants.dpu_protocol import (
    ATOMIC_BITS,
    IRAM_BASE,
    IRAM_INSTRUCTIONS,
    MRAM_BASE,
    MRAM_SIZE,
    WRAM_SIZE,
)
from ..isa.fields import WORD_BYTES
from ..vendor import ATOMIC_BASE
from .expressions import AsmError, Expression
from .operands import Instruction
from .statements import Where

TEXT, DATA, ATOMIC = ".text", ".data", ".atomic"
HOST, STACKS, HEAP = ".data.__sys_host", ".data.stacks", ".data.heap_pointer_reset"
MRAM, MRAM_NOINIT = ".mram", ".mram.noinit"
ORDER = (TEXT, ATOMIC, DATA, HOST, STACKS, HEAP, MRAM, MRAM_NOINIT)
"""Sections of a program, in the order of their addresses within each memory."""
WITHOUT_CONTENTS = (ATOMIC, STACKS, HEAP, MRAM_NOINIT)
_NOT_LOADED = (".debug", ".comment", ".note", ".stack_sizes", ".llvm", ".eh_frame")
NOP = 0x7C63_0000_0000


def output_section(name: str) -> str:
    """The section of the program that a section of the text goes to, "" for what is dropped."""
    if name in ORDER:
        return name
    if name.startswith((".data.__sys_host.", ".dpu_host")):
        return HOST
    for start, section in (
        (".text", TEXT), (".data", DATA), (".rodata", DATA), (".bss", DATA), (".atomic", ATOMIC),
        (".mram.noinit", MRAM_NOINIT), (".mram", MRAM),
    ):  # fmt: skip
        if name == start or name.startswith(start + "."):
            return section
    if name.startswith(_NOT_LOADED):
        return ""
    raise AsmError(
        f"there is no section {name!r} in a DPU program; known are .text, .data, .rodata, .bss, "
        ".data.__sys_host, .atomic, .mram and .mram.noinit"
    )


def memory_of(section: str) -> tuple[int, int, str]:
    """Base address, size in bytes and name of the memory."""
    if section == TEXT:
        return IRAM_BASE, IRAM_INSTRUCTIONS * WORD_BYTES, "IRAM"
    if section == ATOMIC:
        return ATOMIC_BASE, ATOMIC_BITS, "atomic bits"
    if section.startswith(MRAM):
        return MRAM_BASE, MRAM_SIZE, "MRAM"
    return 0, WRAM_SIZE, "WRAM"


@dataclass
class Data:
    """Values of ``size`` bytes each."""

    size: int
    values: list[Expression]


class Origin(NamedTuple):
    """When something was read: names mean what they mean there."""

    unit: int
    """Which of the texts it is from."""
    moment: int
    """How many assignments came before it."""


END = Origin(0, 1 << 62)
"""Behind all texts."""


@dataclass
class Item:
    """Something at an offset of a section."""

    offset: int
    content: bytes | Data | Instruction
    where: Where
    origin: Origin


@dataclass
class Section:
    name: str
    items: list[Item] = field(default_factory=list)
    size: int = 0
    alignment: int = 8
    address: int = 0

    def add(
        self, content: bytes | Data | Instruction, size: int, where: Where, origin: Origin
    ) -> None:
        self.items.append(Item(self.size, content, where, origin))
        self.size += size

    def align(self, boundary: int, where: Where, origin: Origin) -> None:
        missing = -self.size % boundary
        filler = b"\0" * missing
        if self.name == TEXT and missing % WORD_BYTES == 0:
            filler = NOP.to_bytes(WORD_BYTES, "little") * (missing // WORD_BYTES)
        if missing:
            self.add(filler, missing, where, origin)
        self.alignment = max(self.alignment, boundary)

    def contents(self, of: Callable[[Item], bytes]) -> bytes:
        return b"".join(of(item) for item in self.items)


@dataclass
class Symbol:
    """A name. ``section`` None: ``value`` is a number of its own, else an offset."""

    name: str
    section: Section | None
    value: int
    kind: str = ""
    """function or object, "" when the text does not say."""
    size: Expression | None = None
    size_at: tuple[Section, int] | None = None
    """Where the size was asked for: its ``.``."""
    shared: bool = False
    """Known to other files."""
    later: Callable[[], int] | None = None
    """What gives a number that depends on places."""
    pending: bool = False

    @property
    def address(self) -> int:
        return self.value + (self.section.address if self.section else 0)


def seen(section: Section, offset: int) -> int:
    """A place as instructions and data see it: indexes of instructions, numbers of atomic bits,
    and MRAM from 0."""
    address = section.address + offset
    base = memory_of(section.name)[0]
    if section.name == TEXT:
        return (address - base) // WORD_BYTES
    return address - base
