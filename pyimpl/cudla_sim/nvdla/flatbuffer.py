"""A bounds-checked reader for FlatBuffers.

Only reading, and only what loadables need: tables, inline structs, scalars, strings, vectors of
scalars, of strings and of tables. Offsets are checked against the buffer before every access and
the total number of elements handed out is limited, so that no input can make the reader crash,
loop or use memory out of proportion. Source: FlatBuffers documentation, "Internals".
"""

from __future__ import annotations

import struct
from collections.abc import Iterator

from .errors import BadLoadable

_SCALARS = {code: struct.Struct("<" + code) for code in "bBhHiIqQ"}

MAX_ELEMENTS = 1 << 20
"""Elements (table entries, list items, strings) that one buffer may hand out in total."""


class Buffer:
    """The whole file. ``budget`` counts down with every element that is read."""

    def __init__(self, data: bytes | bytearray | memoryview) -> None:
        self.data = memoryview(data).cast("B").toreadonly()
        self.size = len(self.data)
        self.budget = MAX_ELEMENTS

    def need(self, offset: int, size: int, what: str) -> None:
        """Raise BadLoadable unless *size* bytes at *offset* lie inside the buffer."""
        if offset < 0 or size < 0 or offset + size > self.size:
            raise BadLoadable(
                f"{what}: needs bytes {offset}..{offset + size}, the file has {self.size}"
            )

    def scalar(self, offset: int, code: str, what: str) -> int:
        """Read one little-endian integer (struct code) at *offset*."""
        reader = _SCALARS[code]
        self.need(offset, reader.size, what)
        value: int = reader.unpack_from(self.data, offset)[0]
        return value

    def follow(self, offset: int, what: str) -> int:
        """Return the target of the relative offset stored at *offset*."""
        step = self.scalar(offset, "I", what)
        if step == 0:
            raise BadLoadable(f"{what}: offset 0 at byte {offset} points to itself")
        return offset + step

    def spend(self, count: int, what: str) -> None:
        """Account for *count* elements; raise BadLoadable when the budget is used up."""
        self.budget -= count
        if self.budget < 0:
            raise BadLoadable(f"{what}: the file describes more than {MAX_ELEMENTS} elements")

    def root(self, what: str) -> Table:
        """Return the root table."""
        if self.size < 8:
            raise BadLoadable(f"{what}: {self.size} bytes are too short for a FlatBuffers file")
        return Table(self, self.follow(0, what), what)


class Table:
    """One table; fields are addressed by their slot number in declaration order.

    Fields are checked against the buffer, not against the length the vtable gives: the compiler
    that wrote the public loadables of the first generation gave a length that is too short.
    """

    __slots__ = ("_buffer", "_fields", "position", "what")

    def __init__(self, buffer: Buffer, position: int, what: str) -> None:
        self._buffer = buffer
        self.position = position
        self.what = what
        vtable = position - buffer.scalar(position, "i", what)
        size = buffer.scalar(vtable, "H", f"{what} vtable")
        length = buffer.scalar(vtable + 2, "H", f"{what} vtable")
        if size < 4 or size % 2 or length < 4:
            raise BadLoadable(f"{what}: vtable at byte {vtable} is malformed")
        buffer.need(vtable, size, f"{what} vtable")
        buffer.need(position, length, what)
        count = size // 2 - 2
        self._fields = struct.unpack_from(f"<{count}H", buffer.data, vtable + 4)

    def _locate(self, slot: int, size: int, name: str) -> int | None:
        """Return the absolute offset of a field, None if it is absent."""
        if slot >= len(self._fields) or self._fields[slot] == 0:
            return None
        offset = self.position + self._fields[slot]
        self._buffer.need(offset, size, f"{self.what}.{name}")
        return offset

    def scalar(self, slot: int, code: str, name: str, default: int = 0) -> int:
        """Read an integer field (struct code), or its default."""
        offset = self._locate(slot, _SCALARS[code].size, name)
        if offset is None:
            return default
        value: int = _SCALARS[code].unpack_from(self._buffer.data, offset)[0]
        return value

    def inline(self, slot: int, size: int, name: str) -> bytes | None:
        """Read an inline struct of *size* bytes, None if it is absent."""
        offset = self._locate(slot, size, name)
        return None if offset is None else bytes(self._buffer.data[offset : offset + size])

    def _vector(self, slot: int, item: int, name: str) -> tuple[int, int] | None:
        """Return (first byte, count) of a vector field, None if it is absent."""
        offset = self._locate(slot, 4, name)
        if offset is None:
            return None
        what = f"{self.what}.{name}"
        start = self._buffer.follow(offset, what)
        count = self._buffer.scalar(start, "I", what)
        self._buffer.need(start + 4, count * item, f"{what} ({count} elements)")
        return start + 4, count

    def string(self, slot: int, name: str) -> str:
        """Read a string field; an absent one is empty."""
        found = self._vector(slot, 1, name)
        return "" if found is None else self._text(*found, name)

    def _text(self, start: int, count: int, name: str) -> str:
        if count > 4096:
            raise BadLoadable(f"{self.what}.{name}: a name of {count} bytes (at most 4096)")
        return bytes(self._buffer.data[start : start + count]).decode("utf-8", "replace")

    def octets(self, slot: int, name: str) -> memoryview:
        """Return a byte vector field without copying it; an absent one is empty."""
        start, count = self._vector(slot, 1, name) or (0, 0)
        return self._buffer.data[start : start + count]

    def scalars(self, slot: int, code: str, name: str) -> tuple[int, ...]:
        """Read a vector of integers."""
        found = self._vector(slot, _SCALARS[code].size, name)
        if found is None:
            return ()
        self._buffer.spend(found[1], f"{self.what}.{name}")
        return struct.unpack_from(f"<{found[1]}{code}", self._buffer.data, found[0])

    def strings(self, slot: int, name: str) -> tuple[str, ...]:
        """Read a vector of strings."""
        found = self._vector(slot, 4, name)
        if found is None:
            return ()
        start, count = found
        self._buffer.spend(count, f"{self.what}.{name}")
        result = []
        for index in range(count):
            what = f"{self.what}.{name}[{index}]"
            target = self._buffer.follow(start + 4 * index, what)
            length = self._buffer.scalar(target, "I", what)
            self._buffer.need(target + 4, length, what)
            result.append(self._text(target + 4, length, f"{name}[{index}]"))
        return tuple(result)

    def tables(self, slot: int, name: str) -> Iterator[Table]:
        """Iterate over a vector of tables; each is called ``name[index]`` in messages."""
        found = self._vector(slot, 4, name)
        if found is None:
            return
        start, count = found
        self._buffer.spend(count, f"{self.what}.{name}")
        for index in range(count):
            what = f"{name}[{index}]"
            yield Table(self._buffer, self._buffer.follow(start + 4 * index, what), what)
