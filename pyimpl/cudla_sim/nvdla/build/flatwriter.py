"""A small FlatBuffers writer: tables, strings, vectors.

Objects are laid out front to back, parents before children, each vtable right before its table.
Source: FlatBuffers documentation, "Internals".
"""

from __future__ import annotations

import struct
from dataclasses import dataclass, field

_SIZES = {"b": 1, "B": 1, "h": 2, "H": 2, "i": 4, "I": 4, "q": 8, "Q": 8}


@dataclass(frozen=True, slots=True)
class Text:
    """A string."""

    value: str


@dataclass(frozen=True, slots=True)
class Octets:
    """A vector of bytes."""

    value: bytes


@dataclass(frozen=True, slots=True)
class Scalars:
    """A vector of integers of one struct code."""

    code: str
    values: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Refs:
    """A vector of strings or tables."""

    items: tuple[Node, ...]


@dataclass(slots=True)
class Tab:
    """A table under construction; fields by slot."""

    scalars: dict[int, tuple[str, int]] = field(default_factory=dict)
    structs: dict[int, bytes] = field(default_factory=dict)
    refs: dict[int, Node] = field(default_factory=dict)

    def put(self, slot: int, code: str, value: int) -> Tab:
        """Set an integer field (struct code)."""
        self.scalars[slot] = (code, int(value))
        return self

    def inline(self, slot: int, data: bytes) -> Tab:
        """Set an inline struct made of bytes."""
        self.structs[slot] = data
        return self

    def ref(self, slot: int, node: Node) -> Tab:
        """Set a field that refers to another object."""
        self.refs[slot] = node
        return self


Node = Text | Octets | Scalars | Refs | Tab


class _Writer:
    def __init__(self) -> None:
        self.data = bytearray(8)

    def align(self, size: int, ahead: int = 0) -> None:
        """Pad so that position + *ahead* is a multiple of *size*."""
        self.data += bytes(-(len(self.data) + ahead) % size)

    def patch(self, where: int, target: int) -> None:
        struct.pack_into("<I", self.data, where, target - where)

    def vector(self, count: int, payload: bytes, size: int) -> int:
        self.align(max(size, 4), 4)
        start = len(self.data)
        self.data += struct.pack("<I", count) + payload
        return start

    def emit(self, node: Node) -> int:
        """Write an object and everything it refers to; return its position."""
        if isinstance(node, Text):
            raw = node.value.encode()
            return self.vector(len(raw), raw + b"\0", 1)
        if isinstance(node, Octets):
            return self.vector(len(node.value), node.value, 1)
        if isinstance(node, Scalars):
            payload = struct.pack(f"<{len(node.values)}{node.code}", *node.values)
            return self.vector(len(node.values), payload, _SIZES[node.code])
        if isinstance(node, Refs):
            start = self.vector(len(node.items), bytes(4 * len(node.items)), 4)
            for index, item in enumerate(node.items):
                self.patch(start + 4 + 4 * index, self.emit(item))
            return start
        return self._table(node)

    def _table(self, node: Tab) -> int:
        body = bytearray(4)
        offsets: dict[int, int] = {}

        def place(slot: int, data: bytes, align: int) -> None:
            body.extend(bytes(-len(body) % align))
            offsets[slot] = len(body)
            body.extend(data)

        for slot, (code, value) in node.scalars.items():
            place(slot, struct.pack("<" + code, value), _SIZES[code])
        for slot, data in node.structs.items():
            place(slot, data, 1)
        for slot in node.refs:
            place(slot, bytes(4), 4)
        slots = max(offsets, default=-1) + 1
        body.extend(bytes(-len(body) % 4))
        vtable = [4 + 2 * slots, len(body), *(offsets.get(slot, 0) for slot in range(slots))]
        packed = struct.pack(f"<{len(vtable)}H", *vtable)
        self.align(8, len(packed))
        position = len(self.data) + len(packed)
        struct.pack_into("<i", body, 0, len(packed))
        self.data += packed + body
        for slot, child in node.refs.items():
            self.patch(position + offsets[slot], self.emit(child))
        return position


def serialize(root: Tab, identifier: bytes) -> bytes:
    """Return the file: root offset, *identifier* (4 bytes), objects."""
    writer = _Writer()
    writer.data[4:8] = identifier
    writer.patch(0, writer.emit(root))
    return bytes(writer.data)
