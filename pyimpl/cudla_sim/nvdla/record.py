"""Declaring packed little-endian structures as dataclasses.

A subclass of :class:`Record` lists its members in memory order with the helpers below; ``decode``
and ``encode`` follow from that. Members made with ``u32(since="new")`` exist only in the second
generation of the DLA interface (``new=True``).
"""

from __future__ import annotations

import dataclasses
import struct
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from typing_extensions import Self

_Reader = Callable[[Iterator[Any]], Any]
_Writer = Callable[[Any, list[Any]], None]


def _member(code: str, default: Any, **extra: Any) -> Any:
    metadata = {"code": code, **extra}
    if callable(default):
        return dataclasses.field(default_factory=default, metadata=metadata)
    return dataclasses.field(default=default, metadata=metadata)


def s8(default: int = 0) -> Any:
    """A signed byte."""
    return _member("b", default)


def u8(default: int = 0) -> Any:
    """An unsigned byte."""
    return _member("B", default)


def s16(default: int = 0) -> Any:
    """A signed 16-bit number."""
    return _member("h", default)


def u16(default: int = 0) -> Any:
    """An unsigned 16-bit number."""
    return _member("H", default)


def s32(default: int = 0) -> Any:
    """A signed 32-bit number."""
    return _member("i", default)


def u32(default: int = 0, since: str = "old") -> Any:
    """An unsigned 32-bit number."""
    return _member("I", default, since=since)


def f32(default: float = 0.0) -> Any:
    """An IEEE single."""
    return _member("f", default)


def s64(default: int = 0) -> Any:
    """A signed 64-bit number."""
    return _member("q", default)


def u64(default: int = 0) -> Any:
    """An unsigned 64-bit number."""
    return _member("Q", default)


def reserved(count: int) -> Any:
    """Bytes without meaning; kept as they are."""
    return _member(f"{count}s", bytes(count))


def numbers(code: str, count: int) -> Any:
    """*count* numbers of struct code *code*, as a list."""
    return _member(code, lambda: [0] * count, count=count)


def record(kind: type[Record]) -> Any:
    """One embedded record."""
    return _member("", kind, record=kind)


def records(kind: type[Record], count: int) -> Any:
    """*count* embedded records, as a list."""
    return _member("", lambda: [kind() for _ in range(count)], record=kind, count=count)


def _plain_writer(value: Any, out: list[Any]) -> None:
    out.append(value)


def _record_reader(kind: type[Record], readers: tuple[_Reader, ...]) -> _Reader:
    def read(values: Iterator[Any]) -> Any:
        return kind(*[reader(values) for reader in readers])

    return read


def _list_reader(reader: _Reader, count: int) -> _Reader:
    def read(values: Iterator[Any]) -> Any:
        return [reader(values) for _ in range(count)]

    return read


def _list_writer(writer: _Writer) -> _Writer:
    def write(value: Any, out: list[Any]) -> None:
        for item in value:
            writer(item, out)

    return write


def _record_writer(names: tuple[str, ...], writers: tuple[_Writer, ...]) -> _Writer:
    def write(value: Any, out: list[Any]) -> None:
        for name, writer in zip(names, writers, strict=True):
            writer(getattr(value, name), out)

    return write


def _absent_reader(default: Any) -> _Reader:
    return lambda values: default


def _absent_writer(value: Any, out: list[Any]) -> None:
    return


def _compile(kind: type[Record], new: bool) -> tuple[str, _Reader, _Writer]:
    """Return (struct codes, reader, writer) of a record class in one generation."""
    codes = ""
    names: list[str] = []
    readers: list[_Reader] = []
    writers: list[_Writer] = []
    for member in dataclasses.fields(kind):
        meta = member.metadata
        names.append(member.name)
        if meta.get("since") == "new" and not new:
            readers.append(_absent_reader(member.default))
            writers.append(_absent_writer)
            continue
        code: str = meta["code"]
        reader: _Reader = next
        writer: _Writer = _plain_writer
        if "record" in meta:
            code, reader, writer = _compile(meta["record"], new)
        if "count" in meta:
            code *= meta["count"]
            reader, writer = _list_reader(reader, meta["count"]), _list_writer(writer)
        codes += code
        readers.append(reader)
        writers.append(writer)
    return (
        codes,
        _record_reader(kind, tuple(readers)),
        _record_writer(tuple(names), tuple(writers)),
    )


_layouts: dict[tuple[type, bool], tuple[struct.Struct, _Reader, _Writer]] = {}


def _layout(kind: type[Record], new: bool) -> tuple[struct.Struct, _Reader, _Writer]:
    """Return the compiled form of a record class, made once."""
    found = _layouts.get((kind, new))
    if found is None:
        codes, reader, writer = _compile(kind, new)
        found = _layouts[kind, new] = struct.Struct("<" + codes), reader, writer
    return found


@dataclasses.dataclass(slots=True)
class Record:
    """Base of all packed structures."""

    @classmethod
    def byte_size(cls, new: bool = True) -> int:
        """Bytes of the structure."""
        return _layout(cls, new)[0].size

    @classmethod
    def decode(cls, data: bytes | memoryview, new: bool = True, offset: int = 0) -> Self:
        """Read the structure at *offset* of *data* (struct.error if it is too short)."""
        layout, reader, _ = _layout(cls, new)
        result: Self = reader(iter(layout.unpack_from(data, offset)))
        return result

    def encode(self, new: bool = True, pad_to: int = 0) -> bytes:
        """Return the bytes of the structure, filled with zeros up to *pad_to*."""
        layout, _, writer = _layout(type(self), new)
        values: list[Any] = []
        writer(self, values)
        return layout.pack(*values).ljust(pad_to, b"\0")
