"""``input.txn``: the tests of the nvdlav1 branch of the public hardware repository (nv_full).

``until``, which gem5-NVDLA's traces have in place of ``wait`` (its README, "until $reg $val"), is
read too.
"""

from __future__ import annotations

from functools import partial
from pathlib import Path

from . import datafile
from .trace import (
    CheckMemory,
    MemLoad,
    Operation,
    RegCheck,
    RegUntil,
    RegWrite,
    Trace,
    TraceError,
    WaitInterrupt,
    checked,
)


def read(path: Path) -> Trace:
    """Raises TraceError."""
    trace = Trace(path.resolve().parent.name, "v1", ["nv_full"], flat=True)
    for number, line in enumerate(datafile.text_of(path).splitlines(), 1):
        words = line.split("#")[0].split()
        if not words:
            continue
        try:
            trace.operations.append(checked(_operation(words, path.parent)))
        except (IndexError, ValueError) as error:
            raise TraceError(f"{path}:{number}: {line.strip()}: {error}") from None
    return trace


def _operation(words: list[str], folder: Path) -> Operation:
    name, *rest = words
    if name == "write_reg":
        return RegWrite(_csb(rest[0]), int(rest[1], 16))
    if name == "read_reg":
        return RegCheck(_csb(rest[0]), int(rest[2], 16), int(rest[1], 16))
    if name == "until":
        return RegUntil(_csb(rest[0]), int(rest[1], 16))
    if name == "load_mem":
        address, size = int(rest[0], 16), int(rest[1], 16)
        return MemLoad(0, address, rest[2], partial(_whole, datafile.beside(folder, rest[2]), size))
    if name == "dump_mem":
        address, size = int(rest[0], 16), int(rest[1], 16)
        golden = partial(datafile.lines, datafile.beside(folder, rest[2]), size)
        return CheckMemory("", 0, address, rest[2], golden)
    if name == "wait":
        return WaitInterrupt()
    raise ValueError("no such command")


def _csb(text: str) -> int:
    """The low 16 bits are a word address; those above are bus flags."""
    return (int(text, 16) & 0xFFFF) << 2


def _whole(path: Path, size: int) -> list[tuple[int, bytes]]:
    return [(0, datafile.lines(path, size))]
