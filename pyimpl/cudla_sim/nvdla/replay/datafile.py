"""The data files of traces, in the two text forms of the public hardware repository."""

from __future__ import annotations

import re
from pathlib import Path, PurePath

from ...core import untrusted
from .trace import MOST_BYTES, TraceError

_PIECE = re.compile(r"\{\s*offset\s*:\s*(\w+)\s*,\s*size\s*:\s*(\w+)\s*,\s*payload\s*:([^}]*)\}")


def text_of(path: Path) -> str:
    try:
        return untrusted.read_bytes(path, untrusted.MOST_TEXT).decode(errors="replace")
    except OSError as error:
        raise TraceError(f"{path}: {error.strerror}") from None
    except ValueError as error:
        raise TraceError(f"{path}: {error}") from None


def beside(folder: Path, name: str) -> Path:
    """The file *name* in the folder of a trace or below. Raises ValueError for one elsewhere: a
    trace reads no other files of this machine."""
    path = PurePath(name)
    if not name or "\0" in name or path.is_absolute() or ".." in path.parts:
        raise ValueError(f"{name!r} is no file beside the trace")
    return folder / path


def pieces(path: Path) -> list[tuple[int, bytes]]:
    """``{offset:O, size:N, payload:0xHH 0xHH ...}`` lines; bytes that are not given are zero."""
    found, room = [], MOST_BYTES
    try:
        for offset, size, payload in _PIECE.findall(text_of(path)):
            count = int(size, 0)
            room -= count
            if not 0 <= count <= count + room:
                raise ValueError(f"a piece of {count} bytes; {MOST_BYTES} in all are possible")
            data = bytes(int(word, 16) & 0xFF for word in payload.split())
            found.append((int(offset, 0), data[:count].ljust(count, b"\0")))
    except ValueError as error:
        raise TraceError(f"{path}: {error}") from None
    return found


def lines(path: Path, size: int) -> bytes:
    """Lines of hexadecimal bytes in address order; lines of another form are headers."""
    data = bytearray()
    for line in text_of(path).splitlines():
        words = line.split()
        if words and words[0].startswith("0x"):
            try:
                data += bytes(int(word, 16) & 0xFF for word in words if word.startswith("0x"))
            except ValueError as error:
                raise TraceError(f"{path}: {error}") from None
            if len(data) >= size:
                break
    if len(data) < size:
        raise TraceError(f"{path}: holds {len(data)} bytes; the trace needs {size}")
    return bytes(data[:size])
