"""Small ELF files as the vendor's compiler lays them out, written byte by byte."""

from __future__ import annotations

import struct
from collections.abc import Sequence
from dataclasses import dataclass, field

EM_DPU = 245
IRAM, MRAM = 0x8000_0000, 0x0800_0000
PROGBITS, SYMTAB, STRTAB = 1, 2, 3
ABS, OBJECT, FUNCTION = 0xFFF1, 1, 2


@dataclass
class Elf:
    """``sections``: name, address, contents. ``symbols``: name, value, size, section's name or ""
    for a number, kind. Every section is a segment, too, unless ``segments`` says other ones:
    address, contents, bytes in memory."""

    sections: list[tuple[str, int, bytes]] = field(default_factory=list)
    symbols: list[tuple[str, int, int, str, int]] = field(default_factory=list)
    segments: list[tuple[int, bytes, int]] | None = None
    machine: int = EM_DPU
    kind: int = 2

    def image(self) -> bytes:
        loads = self.segments
        if loads is None:
            loads = [(at, data, len(data)) for _, at, data in self.sections]
        body, headers = b"", []
        start = 52 + 32 * len(loads)
        for address, data, size in loads:
            place = start + len(body)
            headers.append(struct.pack("<8I", 1, place, address, address, len(data), size, 7, 8))
            body += data
        table, names = self._symbols()
        sections = [("", 0, 0, 0, b"", 0, 0)]
        sections += [(name, PROGBITS, 3, at, data, 0, 0) for name, at, data in self.sections]
        count = len(sections)
        sections += [(".symtab", SYMTAB, 0, 0, table, count + 1, 16)]
        sections += [(".strtab", STRTAB, 0, 0, names, 0, 0)]
        texts = b"\0" + b"".join(s[0].encode() + b"\0" for s in sections[1:]) + b".shstrtab\0"
        sections += [(".shstrtab", STRTAB, 0, 0, texts, 0, 0)]
        rows, blobs = [], b""
        for name, kind, flags, at, data, link, size in sections:
            place = start + len(body) + len(blobs)
            where = texts.index(name.encode() + b"\0") if name else 0
            rows.append(
                struct.pack(
                    "<10I",
                    where,
                    kind,
                    flags,
                    at,
                    place,
                    len(data),
                    link,
                    1 if link else 0,
                    1,
                    size,
                )
            )
            blobs += data
        head = b"\x7fELF\1\1\1".ljust(16, b"\0") + struct.pack(
            "<HHIIIIIHHHHHH", self.kind, self.machine, 1, IRAM, 52, start + len(body) + len(blobs),
            0x0280_0000, 52, 32, len(loads), 40, len(rows), len(rows) - 1,
        )  # fmt: skip
        return head + b"".join(headers) + body + blobs + b"".join(rows)

    def _symbols(self) -> tuple[bytes, bytes]:
        numbers = {name: i for i, (name, _, _) in enumerate(self.sections, 1)}
        table, names = bytes(16), b"\0"
        for name, value, size, section, kind in self.symbols:
            index = numbers[section] if section else ABS
            table += struct.pack("<IIIBBH", len(names), value, size, 0x10 | kind, 0, index)
            names += name.encode() + b"\0"
        return table, names


def words(code: Sequence[int]) -> bytes:
    return b"".join(word.to_bytes(8, "little") for word in code)


def program(
    code: Sequence[int],
    tasklets: int = 1,
    *,
    waits: tuple[int, int] | None = None,
    host: bytes = bytes(1024),
    mram: bytes = b"",
) -> Elf:
    """A program whose ``__host`` variable ``shared`` lies at WRAM address 256, with ``mram`` in an
    MRAM variable ``table``; ``waits``: first and last instruction
    of ``barrier_wait``."""
    text = words(code)
    made = Elf([(".text", IRAM, text), (".data.__sys_host", 256, host)])
    made.symbols = [
        ("NR_TASKLETS", tasklets, 0, "", 0),
        ("main", IRAM, len(text), ".text", FUNCTION),
        ("shared", 256, len(host), ".data.__sys_host", OBJECT),
    ]
    if mram:
        made.sections.append((".mram", MRAM, mram))
        made.symbols.append(("table", MRAM, len(mram), ".mram", OBJECT))
        after = MRAM + len(mram)
        made.symbols.append(("__sys_used_mram_end", after, 0, ".mram", 0))
    if waits is not None:
        first, last = waits
        size = 8 * (last + 1 - first)
        made.symbols.append(("barrier_wait", IRAM + 8 * first, size, ".text", FUNCTION))
    return made
