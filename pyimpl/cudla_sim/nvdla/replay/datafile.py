"""The data files of traces, in the two text forms of the public hardware repository."""

from __future__ import annotations

import re
from pathlib import Path

from .trace import TraceError

_PIECE = re.compile(r"\{\s*offset\s*:\s*(\w+)\s*,\s*size\s*:\s*(\w+)\s*,\s*payload\s*:([^}]*)\}")


def text_of(path: Path) -> str:
    try:
        return path.read_text(errors="replace")
    except OSError as error:
        raise TraceError(f"{path}: {error.strerror}") from None


def pieces(path: Path) -> list[tuple[int, bytes]]:
    """``{offset:O, size:N, payload:0xHH 0xHH ...}`` lines; bytes that are not given are zero."""
    found = []
    for offset, size, payload in _PIECE.findall(text_of(path)):
        count = int(size, 0)
        data = bytes(int(word, 16) & 0xFF for word in payload.split())
        found.append((int(offset, 0), data[:count].ljust(count, b"\0")))
    return found


def lines(path: Path, size: int) -> bytes:
    """Lines of hexadecimal bytes in address order; lines of another form are headers."""
    data = bytearray()
    for line in text_of(path).splitlines():
        words = line.split()
        if words and words[0].startswith("0x"):
            data += bytes(int(word, 16) & 0xFF for word in words if word.startswith("0x"))
            if len(data) >= size:
                break
    if len(data) < size:
        raise TraceError(f"{path}: holds {len(data)} bytes; the trace needs {size}")
    return bytes(data[:size])
