"""A register trace as a list of operations, whatever file it came from."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from dataclasses import dataclass, field

from ..facts.registers import MapName


class TraceError(Exception):
    """A trace file that cannot be read; the text names file, line and what is wrong."""


MOST_BYTES = 1 << 30
"""Of memory that one operation fills, loads or compares."""
_LIMITS = {"memory": 1, "address": (1 << 62) - 1, "size": MOST_BYTES}
_WORD = (1 << 32) - 1


@dataclass(frozen=True)
class MemInit:
    """Fills memory with a pattern: ALL_ZERO, ONES, AFIVE, FIVEA or ADDR, after event ``sync`` ("":
    at once)."""

    memory: int  # 0: primary (DRAM), 1: secondary (SRAM)
    address: int
    size: int
    pattern: str
    sync: str = ""


@dataclass(frozen=True)
class MemLoad:
    """Writes pieces of data (offset from ``address``, bytes) after event ``sync``, "": at once."""

    memory: int
    address: int
    name: str
    pieces: Callable[[], list[tuple[int, bytes]]]
    sync: str = ""


@dataclass(frozen=True)
class RegWrite:
    address: int
    value: int


@dataclass(frozen=True)
class RegCheck:
    """Reads until ``value & mask`` is found; the chip moves on between the reads."""

    address: int
    value: int
    mask: int = 0xFFFF_FFFF


@dataclass(frozen=True)
class RegUntil:
    """Reads until ``value`` is found. Of the interrupt status, its bits are awaited in this order:
    which of the units of a layer is done first depends on the time that each takes."""

    address: int
    value: int


@dataclass(frozen=True)
class WaitInterrupt:
    """Waits until the interrupt line is high."""


@dataclass(frozen=True)
class Notify:
    """When one of the status ``bits`` comes, event ``sync`` is signaled."""

    bits: int
    sync: str


@dataclass(frozen=True)
class CheckCrc:
    """After ``sync``: zlib's CRC-32 of a range of memory."""

    sync: str
    memory: int
    address: int
    size: int
    crc: int


@dataclass(frozen=True)
class CheckMemory:
    """A range of memory must equal the golden bytes. ``sync`` "" checks at once."""

    sync: str
    memory: int
    address: int
    name: str
    golden: Callable[[], bytes]


@dataclass(frozen=True)
class CheckNothing:
    """Consumes an event."""

    sync: str


@dataclass(frozen=True)
class SyncWait:
    """The accesses to ``block`` that follow wait for event ``sync``."""

    block: str
    sync: str


@dataclass(frozen=True)
class SyncNotify:
    """Event ``sync`` is signaled when the accesses to ``block`` before it are done."""

    block: str
    sync: str


Operation = (
    MemInit
    | MemLoad
    | RegWrite
    | RegCheck
    | RegUntil
    | WaitInterrupt
    | Notify
    | CheckCrc
    | CheckMemory
    | CheckNothing
    | SyncWait
    | SyncNotify
)


def within(value: object, what: str, most: int) -> int:
    """A whole number from 0 to *most*. Raises ValueError."""
    if not isinstance(value, int) or isinstance(value, bool) or not 0 <= value <= most:
        raise ValueError(f"{what} is {value!r}; it is a whole number, {most:#x} at most")
    return value


def checked(operation: Operation) -> Operation:
    """The operation, when its numbers are such and its names are text. Raises ValueError."""
    for item in dataclasses.fields(operation):
        value = getattr(operation, item.name)
        if item.type == "int":
            within(value, item.name, _LIMITS.get(item.name, _WORD))
        elif item.type == "str" and not isinstance(value, str):
            raise ValueError(f"{item.name} is {value!r}; a word is expected")
    return operation


@dataclass
class Trace:
    """``configs`` are the hardware configurations it is known to be for; the first is the default.

    ``flat``: both memories are one address space, as in the traces of the v1 hardware.
    """

    name: str
    line: MapName
    configs: list[str]
    operations: list[Operation] = field(default_factory=list)
    flat: bool = False
