"""Memory as text, in the forms that benches read."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ...core.memory import Bytes

LINE = 32
"""Bytes of a line."""

_DIGITS = np.array([f"{value:02x}" for value in range(256)], "S2")


def _lines(data: Bytes) -> Iterator[tuple[int, bytes]]:
    """(offset, hexadecimal digits) of each line that is not zero."""
    whole = -(-len(data) // LINE) * LINE
    padded = np.zeros(whole, np.uint8)
    padded[: len(data)] = data
    rows = padded.reshape(-1, LINE)
    for row in np.flatnonzero(rows.any(axis=1)):
        size = min(LINE, len(data) - int(row) * LINE)
        yield int(row) * LINE, _DIGITS[rows[row, :size]].tobytes()


def pieces(data: Bytes) -> Iterator[str]:
    """Lines ``{offset:O, size:N, payload:0xHH ...},`` of what is not zero: the data files of the
    public verification suite (master)."""
    for offset, digits in _lines(data):
        words = digits.decode()
        payload = " ".join(f"0x{words[i : i + 2]}" for i in range(0, len(words), 2))
        yield f"{{offset:{offset:#x}, size:{len(words) // 2}, payload:{payload}}},\n"


def rows(data: Bytes) -> Iterator[str]:
    """Lines of ``0xHH ...``, zeros as well: the data files of the public suite (nvdlav1)."""
    for start in range(0, len(data), LINE):
        yield " ".join(f"{value:#04x}" for value in data[start : start + LINE]) + "\n"


def verilog(data: Bytes, base: int) -> Iterator[str]:
    """What ``$readmemh`` reads into bytes: ``@ADDRESS`` (hexadecimal) where lines of zeros were
    left out, and the bytes."""
    expected = -1
    for offset, digits in _lines(data):
        if offset != expected:
            yield f"@{base + offset:08X}\n"
        words = digits.decode().upper()
        yield " ".join(words[i : i + 2] for i in range(0, len(words), 2)) + "\n"
        expected = offset + len(words) // 2
