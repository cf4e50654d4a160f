"""The entries of a loadable's lists. Entries refer to each other by position in their list.

Source: nvdla/sw ``loadable.fbs`` (schema 0.7).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import IntEnum, IntFlag
from typing import NamedTuple


class Interface(IntEnum):
    """Which engine a task or blob is for."""

    NONE = 0
    DLA1 = 1
    EMU1 = 2


class MemoryFlags(IntFlag):
    """memory_list[].flags."""

    NONE = 0
    ALLOC = 1
    SET = 2
    INPUT = 4
    OUTPUT = 8
    DEBUG = 16


class MemoryDomain(IntEnum):
    """memory_list[].domain."""

    SYSTEM = 0
    SRAM = 1


class DataType(IntEnum):
    """Element type of a tensor."""

    UNKNOWN = 0
    FLOAT = 1
    HALF = 2
    INT16 = 3
    INT8 = 4
    UINT8 = 5
    UINT16 = 6


_ELEMENT_BYTES: dict[int, int] = {
    DataType.FLOAT: 4,
    DataType.HALF: 2,
    DataType.INT16: 2,
    DataType.UINT16: 2,
}


class DataCategory(IntEnum):
    """Kind of memory layout of a tensor."""

    IMAGE = 0
    WEIGHT = 1
    FEATURE = 2
    PLANAR = 3
    BIAS = 4


class Version(NamedTuple):
    """A version triple, comparable."""

    major: int
    minor: int
    sub_minor: int

    def __str__(self) -> str:
        return f"{self.major}.{self.minor}.{self.sub_minor}"


@dataclass(frozen=True, slots=True)
class Blob:
    """A named piece of data that the runtime copies into memory."""

    name: str
    size: int
    interface: int
    sub_interface: int
    version: Version
    data: memoryview = field(repr=False)


@dataclass(frozen=True, slots=True)
class MemoryEntry:
    """One buffer; ``contents[i]`` names the blob that is copied to ``offsets[i]``."""

    id: int
    domain: int
    flags: MemoryFlags
    size: int
    alignment: int
    contents: tuple[str, ...]
    offsets: tuple[int, ...]
    bind_id: int
    tensor_desc_id: int

    @property
    def bindable(self) -> bool:
        """True if the program supplies this buffer."""
        return bool(self.flags & (MemoryFlags.INPUT | MemoryFlags.OUTPUT | MemoryFlags.DEBUG))


@dataclass(frozen=True, slots=True)
class EventEntry:
    """Synchronisation hint; the runtime ignores it."""

    id: int
    type: int
    target: int
    value: int
    op: int


@dataclass(frozen=True, slots=True)
class TaskEntry:
    """One task: which engine, and positions in address_list in the order the task counts them."""

    id: int
    interface: int
    instance: int
    address_list: tuple[int, ...]
    pre_actions: tuple[int, ...]
    post_actions: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class AddressEntry:
    """A place in a memory. ``size`` is informative (it may reach past the memory)."""

    id: int
    mem_id: int
    offset: int
    size: int


@dataclass(frozen=True, slots=True)
class SubmitEntry:
    """Tasks that are submitted together, in order."""

    id: int
    task_id: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class TensorDesc:
    """A network input or output. Strides: element, line, surface, … in bytes."""

    name: str
    id: int
    mem_id: int
    size: int
    offset: int
    data_format: int
    data_type: int
    data_category: int
    pixel_format: int
    pixel_mapping: int
    n: int
    c: int
    h: int
    w: int
    strides: tuple[int, ...]

    @property
    def element_size(self) -> int:
        """Bytes per element, from the data type (1 if that is unknown)."""
        return _ELEMENT_BYTES.get(self.data_type, 1)


@dataclass(frozen=True, slots=True)
class RelocEntry:
    """Where a stride of a bound tensor is stored: byte ``offset`` in memory ``write_id``."""

    address_id: int
    write_id: int
    offset: int
    interface: int
    sub_interface: int
    reloc_type: int
