"""Reading NVDLA loadables: the tables of the FlatBuffers file as frozen dataclasses.

``Loadable.parse`` accepts any byte string and either returns a loadable whose references are
consistent, or raises :class:`BadLoadable`. Blob data are views into the caller's buffer.
Entries refer to each other by position in their list, as in the vendor's runtime.
Source: nvdla/sw ``loadable.fbs`` (schema 0.7) and ``Runtime.cpp`` (how the lists are used).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import IntEnum, IntFlag
from typing import NamedTuple

from cudla_sim.nvdla.errors import BadLoadable, Status
from cudla_sim.nvdla.flatbuffer import Buffer, Table

MAX_MEMORY_BYTES = 1 << 32
"""Largest total of memory_list sizes that is accepted (the simulator allocates host memory)."""


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


@dataclass(frozen=True, slots=True)
class Loadable:
    """A whole loadable. ``inputs`` and ``outputs`` are in bind order."""

    version: Version
    tasks: tuple[TaskEntry, ...]
    memories: tuple[MemoryEntry, ...]
    addresses: tuple[AddressEntry, ...]
    events: tuple[EventEntry, ...]
    blobs: dict[str, Blob]
    tensors: tuple[TensorDesc, ...]
    relocs: tuple[RelocEntry, ...]
    submits: tuple[SubmitEntry, ...]
    interface_version: Version
    inputs: tuple[TensorDesc, ...]
    outputs: tuple[TensorDesc, ...]

    @staticmethod
    def parse(data: bytes | bytearray | memoryview) -> Loadable:
        """Read a loadable; raise BadLoadable with table and index if anything is wrong."""
        try:
            root = Buffer(data).root("loadable")
            return _read(root)
        except BadLoadable as error:
            guess = _guess(bytes(memoryview(data).cast("B")[:16]))
            if guess is None:
                raise
            raise BadLoadable(
                f"not an NVDLA loadable but {guess} ({error})", Status.BAD_PARAMETER
            ) from None

    @property
    def new_layout(self) -> bool:
        """True for 32-byte data cubes (interface version 0.12 and later), False for 28 bytes."""
        return self.interface_version >= (0, 12, 0)

    def bound_memory(self, flag: MemoryFlags, bind_id: int) -> tuple[int, ...]:
        """Positions of the memories that carry *flag* and *bind_id*."""
        return tuple(
            index
            for index, entry in enumerate(self.memories)
            if entry.flags & flag and entry.bind_id == bind_id
        )


_MAGIC: tuple[tuple[int, bytes, str], ...] = (
    (0, b"ptrt", "a TensorRT engine plan (build a DLA-only loadable instead)"),
    (0, b"ftrt", "a TensorRT engine plan (build a DLA-only loadable instead)"),
    (0, b"\x7fELF", "an ELF file"),
    (0, b"PK\x03\x04", "a zip archive"),
    (0, b"\x1f\x8b", "gzip data (unpack it first)"),
    (0, b"\x89PNG", "a PNG image"),
    (0, b"\xff\xd8\xff", "a JPEG image"),
    (0, b"DIMG", "an image written by the NVDLA runtime application"),
    (0, b"P5", "a PGM image"),
    (0, b"\x93NUMPY", "a numpy array"),
    (0, b"\x08\x03\x12", "an ONNX model"),
    (0, b"\x08\x07\x12", "an ONNX model"),
    (0, b"\x08\x08\x12", "an ONNX model"),
    (4, b"TFL3", "a TensorFlow Lite model"),
)


def _guess(head: bytes) -> str | None:
    """Say what a file that is no loadable looks like."""
    for offset, magic, name in _MAGIC:
        if head[offset : offset + len(magic)] == magic:
            return name
    if head and all(byte in b"\t\r\n" or 32 <= byte < 127 for byte in head):
        return "text"
    return None


def _version(raw: bytes | None) -> Version:
    return Version(*raw) if raw else Version(0, 0, 0)


def _blob(table: Table) -> Blob:
    return Blob(
        name=table.string(0, "name"),
        size=table.scalar(1, "Q", "size"),
        interface=table.scalar(2, "I", "interface"),
        sub_interface=table.scalar(3, "I", "sub_interface"),
        version=_version(table.inline(4, 3, "version")),
        data=table.octets(5, "data"),
    )


def _memory(table: Table) -> MemoryEntry:
    return MemoryEntry(
        id=table.scalar(0, "H", "id"),
        domain=table.scalar(1, "B", "domain"),
        flags=MemoryFlags(table.scalar(2, "H", "flags")),
        size=table.scalar(3, "Q", "size"),
        alignment=table.scalar(4, "I", "alignment"),
        contents=table.strings(5, "contents"),
        offsets=table.scalars(6, "Q", "offsets"),
        bind_id=table.scalar(7, "H", "bind_id"),
        tensor_desc_id=table.scalar(8, "H", "tensor_desc_id"),
    )


def _task(table: Table) -> TaskEntry:
    return TaskEntry(
        id=table.scalar(0, "H", "id"),
        interface=table.scalar(1, "I", "interface"),
        instance=table.scalar(2, "h", "instance", -1),
        address_list=table.scalars(3, "H", "address_list"),
        pre_actions=table.scalars(4, "H", "pre_actions"),
        post_actions=table.scalars(5, "H", "post_actions"),
    )


def _tensor(table: Table) -> TensorDesc:
    return TensorDesc(
        name=table.string(0, "name"),
        id=table.scalar(1, "H", "id"),
        mem_id=table.scalar(2, "H", "mem_id"),
        size=table.scalar(3, "Q", "size"),
        offset=table.scalar(4, "Q", "offset"),
        data_format=table.scalar(5, "B", "data_format"),
        data_type=table.scalar(6, "B", "data_type"),
        data_category=table.scalar(7, "B", "data_category"),
        pixel_format=table.scalar(8, "B", "pixel_format"),
        pixel_mapping=table.scalar(9, "B", "pixel_mapping"),
        n=table.scalar(10, "i", "n"),
        c=table.scalar(11, "i", "c"),
        h=table.scalar(12, "i", "h"),
        w=table.scalar(13, "i", "w"),
        strides=tuple(table.scalar(14 + slot, "I", "stride") for slot in range(8)),
    )


def _read(root: Table) -> Loadable:
    version = root.inline(0, 3, "version")
    if version is None:
        raise BadLoadable("loadable: the required field version is missing")
    blobs: dict[str, Blob] = {}
    for table in root.tables(5, "blobs"):
        blob = _blob(table)
        if blob.size != len(blob.data):
            raise BadLoadable(
                f"{table.what}.size = {blob.size}: {blob.name!r} has {len(blob.data)} bytes"
            )
        blobs[blob.name] = blob
    memories = tuple(_memory(table) for table in root.tables(2, "memory_list"))
    tensors = tuple(_tensor(table) for table in root.tables(6, "tensor_desc_list"))
    addresses = tuple(
        AddressEntry(
            table.scalar(0, "H", "id"),
            table.scalar(1, "H", "mem_id"),
            table.scalar(2, "Q", "offset"),
            table.scalar(3, "Q", "size"),
        )
        for table in root.tables(3, "address_list")
    )
    tasks = tuple(_task(table) for table in root.tables(1, "task_list"))
    submits = tuple(
        SubmitEntry(table.scalar(0, "H", "id"), table.scalars(1, "H", "task_id"))
        for table in root.tables(8, "submit_list")
    )
    events = tuple(
        EventEntry(
            table.scalar(0, "H", "id"),
            table.scalar(1, "B", "type"),
            table.scalar(2, "H", "target"),
            table.scalar(3, "I", "val"),
            table.scalar(4, "B", "op"),
        )
        for table in root.tables(4, "event_list")
    )
    relocs = tuple(
        RelocEntry(
            table.scalar(0, "H", "address_id"),
            table.scalar(1, "H", "write_id"),
            table.scalar(2, "Q", "offset"),
            table.scalar(3, "I", "interface"),
            table.scalar(4, "I", "sub_interface"),
            table.scalar(5, "B", "reloc_type"),
        )
        for table in root.tables(7, "reloc_list")
    )
    _check_memories(memories, blobs, tensors)
    _check_references(tasks, memories, addresses, tensors, submits, relocs)
    return Loadable(
        version=_version(version),
        tasks=tasks,
        memories=memories,
        addresses=addresses,
        events=events,
        blobs=blobs,
        tensors=tensors,
        relocs=relocs,
        submits=submits,
        interface_version=_interface_version(tasks, memories, addresses, blobs),
        inputs=_bound(MemoryFlags.INPUT, memories, tensors),
        outputs=_bound(MemoryFlags.OUTPUT, memories, tensors),
    )


def _index(what: str, value: int, count: int, of: str) -> None:
    if not 0 <= value < count:
        raise BadLoadable(f"{what} = {value}: only {count} {of}")


def _check_memories(
    memories: tuple[MemoryEntry, ...], blobs: dict[str, Blob], tensors: tuple[TensorDesc, ...]
) -> None:
    total = 0
    for index, entry in enumerate(memories):
        what = f"memory_list[{index}]"
        total += entry.size
        if total > MAX_MEMORY_BYTES:
            raise BadLoadable(
                f"{what}.size = {entry.size}: the memories need more than"
                f" {MAX_MEMORY_BYTES >> 20} MiB together",
                Status.INSUFFICIENT_MEMORY,
            )
        if entry.domain not in (MemoryDomain.SYSTEM, MemoryDomain.SRAM):
            raise BadLoadable(f"{what}.domain = {entry.domain}: 0 (system) or 1 (SRAM) expected")
        if entry.bindable:
            _index(
                f"{what}.tensor_desc_id", entry.tensor_desc_id, len(tensors), "tensor descriptors"
            )
        if entry.flags & MemoryFlags.SET and not entry.bindable:
            _check_contents(what, entry, blobs)


def _check_contents(what: str, entry: MemoryEntry, blobs: dict[str, Blob]) -> None:
    if len(entry.contents) != len(entry.offsets):
        raise BadLoadable(
            f"{what}: {len(entry.contents)} contents but {len(entry.offsets)} offsets"
        )
    filled = 0
    for position, (name, offset) in enumerate(zip(entry.contents, entry.offsets, strict=True)):
        if name not in blobs:
            raise BadLoadable(f"{what}.contents[{position}] = {name!r}: there is no such blob")
        end = offset + blobs[name].size
        filled += blobs[name].size
        if end > entry.size:
            raise BadLoadable(
                f"{what}.offsets[{position}] = {offset}: blob {name!r} ends at {end},"
                f" the memory has {entry.size} bytes"
            )
    if filled > entry.size:
        raise BadLoadable(f"{what}: its blobs overlap ({filled} bytes into {entry.size})")


def _check_references(
    tasks: tuple[TaskEntry, ...],
    memories: tuple[MemoryEntry, ...],
    addresses: tuple[AddressEntry, ...],
    tensors: tuple[TensorDesc, ...],
    submits: tuple[SubmitEntry, ...],
    relocs: tuple[RelocEntry, ...],
) -> None:
    for label, entries in (
        ("submit_list", submits),
        ("task_list", tasks),
        ("memory_list", memories),
    ):
        if not entries:
            raise BadLoadable(f"{label} is empty: a loadable needs a task to submit and memory")
    for index, address in enumerate(addresses):
        what = f"address_list[{index}]"
        _index(f"{what}.mem_id", address.mem_id, len(memories), "memories")
        size = memories[address.mem_id].size
        if address.offset > size:
            raise BadLoadable(
                f"{what}.offset = {address.offset}: memory {address.mem_id} has {size} bytes"
            )
    for index, task in enumerate(tasks):
        if task.interface not in (Interface.DLA1, Interface.EMU1):
            raise BadLoadable(
                f"task_list[{index}].interface = {task.interface}: 1 (DLA) or 2 (EMU) expected"
            )
        if not task.address_list:
            raise BadLoadable(f"task_list[{index}].address_list is empty: entry 0 is the network")
        for position, value in enumerate(task.address_list):
            name = f"task_list[{index}].address_list[{position}]"
            _index(name, value, len(addresses), "addresses")
    for index, submit in enumerate(submits):
        for position, value in enumerate(submit.task_id):
            _index(f"submit_list[{index}].task_id[{position}]", value, len(tasks), "tasks")
    for index, tensor in enumerate(tensors):
        _check_tensor(f"tensor_desc_list[{index}]", tensor, memories)
    for index, reloc in enumerate(relocs):
        name = f"reloc_list[{index}]"
        _index(f"{name}.address_id", reloc.address_id, len(addresses), "addresses")
        _index(f"{name}.write_id", reloc.write_id, len(memories), "memories")


def _check_tensor(what: str, tensor: TensorDesc, memories: tuple[MemoryEntry, ...]) -> None:
    _index(f"{what}.mem_id", tensor.mem_id, len(memories), "memories")
    for name in "nchw":
        value = getattr(tensor, name)
        if not 0 < value <= 65536:
            raise BadLoadable(f"{what}.{name} = {value}: 1..65536 expected")
    size = memories[tensor.mem_id].size
    if tensor.offset + tensor.size > size:
        raise BadLoadable(
            f"{what}.size = {tensor.size}: with offset {tensor.offset} it does not fit into"
            f" memory {tensor.mem_id} of {size} bytes"
        )


def _interface_version(
    tasks: tuple[TaskEntry, ...],
    memories: tuple[MemoryEntry, ...],
    addresses: tuple[AddressEntry, ...],
    blobs: dict[str, Blob],
) -> Version:
    """Version of the blob that holds the first DLA task's network descriptor."""
    for task in tasks:
        if task.interface != Interface.DLA1:
            continue
        for name in memories[addresses[task.address_list[0]].mem_id].contents:
            if name in blobs:
                return blobs[name].version
    versions = [blob.version for blob in blobs.values() if blob.interface == Interface.DLA1]
    return versions[0] if versions else Version(0, 12, 0)


def _bound(
    flag: MemoryFlags, memories: tuple[MemoryEntry, ...], tensors: tuple[TensorDesc, ...]
) -> tuple[TensorDesc, ...]:
    """Tensor descriptors of the input or output memories, ordered and numbered by bind id."""
    found: dict[int, int] = {}
    for index, entry in enumerate(memories):
        if not entry.flags & flag:
            continue
        if entry.bind_id in found:
            raise BadLoadable(
                f"memory_list[{index}].bind_id = {entry.bind_id}: memory"
                f" {found[entry.bind_id]} has the same {flag.name} number"
            )
        found[entry.bind_id] = index
    for number in range(len(found)):
        if number not in found:
            raise BadLoadable(
                f"memory_list: {flag.name} numbers {sorted(found)} leave out {number}"
            )
    return tuple(tensors[memories[found[number]].tensor_desc_id] for number in range(len(found)))
