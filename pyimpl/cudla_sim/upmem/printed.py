"""The log of programs of the vendor's compiler: formats and arguments in MRAM, put together here.

A message is a list of specifications, a zero byte, and the arguments, unaligned and little-endian.
Each specification begins with ``%``; text between conversions is an argument of ``%s``. Zero bytes
fill a message up to a multiple of 8. (Facts of the instruction set, section 9.)
"""

from __future__ import annotations

import re
import struct

_SPECIFICATION = re.compile(rb"%([-+ #0]*)(\d*)(?:\.(\d*))?([lhLjzt]*)(.)", re.DOTALL)
_FORMAT = re.compile(rb"(?:%[-+ #0]*\d*(?:\.\d*)?[lhLjzt]*[a-zA-Z%])+\0")
_SIGNED, _UNSIGNED, _FLOATS = "di", "xXoup", "eEfFgG"


class LogFormatError(Exception):
    """The bytes are no log; the text says where."""


def holds_messages(buffer: bytes) -> bool:
    """Whether a print buffer begins with a message, rather than with the plain text that programs
    for this machine's processor print."""
    return _FORMAT.match(buffer) is not None


def text(log: bytes) -> str:
    """What a program has printed. Raises LogFormatError."""
    written: list[str] = []
    position = log.find(b"%")
    while position >= 0:
        end = log.find(b"\0", position)
        if end < 0:
            raise LogFormatError(f"the format at byte {position} has no end")
        arguments = _Arguments(log, end + 1)
        for found in _SPECIFICATION.finditer(log, position, end):
            written.append(_converted(found, arguments))
        position = log.find(b"%", arguments.position)
    return "".join(written)


class _Arguments:
    def __init__(self, log: bytes, position: int) -> None:
        self._log = log
        self.position = position

    def take(self, layout: str) -> int | float:
        size = struct.calcsize(layout)
        if self.position + size > len(self._log):
            raise LogFormatError(f"the arguments end at byte {len(self._log)}, inside a message")
        (value,) = struct.unpack_from(layout, self._log, self.position)
        self.position += size
        return value

    def take_text(self) -> bytes:
        end = self._log.find(b"\0", self.position)
        if end < 0:
            raise LogFormatError(f"the text at byte {self.position} has no end")
        start, self.position = self.position, end + 1
        return self._log[start:end]


def _converted(found: re.Match[bytes], arguments: _Arguments) -> str:
    flags, width, precision, size, letter = (
        part.decode(errors="replace") if part is not None else None for part in found.groups()
    )
    assert letter is not None
    if letter == "%":
        return "%"
    points = "" if precision is None else f".{precision or 0}"
    head = f"%{flags}{width}{points}"
    long = "l" in (size or "")
    if letter == "s":
        return (head + "s") % arguments.take_text().decode(errors="replace")
    if letter == "c":
        return f"%{flags}{width}c" % chr(int(arguments.take("<B")))
    if letter in _SIGNED:
        return (head + "d") % arguments.take("<q" if long else "<i")
    if letter in _FLOATS:
        return (head + letter) % arguments.take("<d")
    if letter in _UNSIGNED:
        return _unsigned(head, letter, int(arguments.take("<Q" if long else "<I")))
    value = arguments.take("<I")
    if letter == "b":
        return format(int(value), "032b")[::-1]
    return found[0].decode(errors="replace")


def _unsigned(head: str, letter: str, value: int) -> str:
    """Where Python's conversions are not C's: ``#o`` and p."""
    if letter == "p":
        return (head.replace("%", "%#", 1) + "x") % value
    if letter == "o" and "#" in head:
        return (head.replace("#", "") + "s") % ("0" + format(value, "o") if value else "0")
    return (head.replace("+", "").replace(" ", "") + letter) % value
