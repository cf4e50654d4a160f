"""Reading NVDLA loadables: the tables of the FlatBuffers file as frozen dataclasses.

``Loadable.parse`` accepts any byte string and either returns a loadable whose references are
consistent, or raises :class:`BadLoadable`. Blob data are views into the caller's buffer.
Entries refer to each other by position in their list, as in the vendor's runtime.
Source: nvdla/sw ``loadable.fbs`` (schema 0.7) and ``Runtime.cpp`` (how the lists are used).
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from .errors import BadLoadable, Status
from .flatbuffer import Buffer, Table
from .references import check_memories, check_references
from .tables import (
    AddressEntry,
    Blob,
    DataCategory,
    DataType,
    EventEntry,
    Interface,
    MemoryDomain,
    MemoryEntry,
    MemoryFlags,
    RelocEntry,
    SubmitEntry,
    TaskEntry,
    TensorDesc,
    Version,
)

__all__ = [
    "AddressEntry",
    "Blob",
    "DataCategory",
    "DataType",
    "EventEntry",
    "Interface",
    "Loadable",
    "MemoryDomain",
    "MemoryEntry",
    "MemoryFlags",
    "RelocEntry",
    "SubmitEntry",
    "TaskEntry",
    "TensorDesc",
    "Version",
]


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
        """True for 32-byte data cubes (interface version 0.12 and later), False for 28 bytes.

        ONNC numbers its blobs 1.2.0 and writes 28 bytes (its NvDlaBackend.cpp and dla_interface.h).
        """
        return (0, 12, 0) <= self.interface_version < (1, 0, 0)

    def bound_memory(self, flag: MemoryFlags, bind_id: int) -> tuple[int, ...]:
        """Positions of the memories that carry *flag* and *bind_id*."""
        return tuple(
            index
            for index, entry in enumerate(self.memories)
            if entry.flags & flag and entry.bind_id == bind_id
        )


PACKAGE = b"PK\x03\x04"
"""How a network in parts begins (``nvdla.parts``): it is a zip archive."""

IDENTIFIER = b"NVDA"
"""Bytes 4 to 7 of a loadable: the file identifier of its schema."""
_MAGIC: tuple[tuple[int, bytes, str], ...] = (
    (0, b"ptrt", "a TensorRT engine plan (build a DLA-only loadable instead)"),
    (0, b"ftrt", "a TensorRT engine plan (build a DLA-only loadable instead)"),
    (0, b"\x7fELF", "an ELF file"),
    (0, PACKAGE, "a zip archive, maybe a network in parts (of compile --fallback cpu)"),
    (0, b"\x1f\x8b", "gzip data (unpack it first)"),
    (0, b"\x89PNG", "a PNG image"),
    (0, b"\xff\xd8\xff", "a JPEG image"),
    (0, b"DIMG", "an image written by the NVDLA runtime application"),
    (0, b"P5", "a PGM image"),
    (0, b"\x93NUMPY", "a numpy array"),
    (4, b"TFL3", "a TensorFlow Lite model"),
)


_ONNX = re.compile(rb"\x08[\x01-\x1f][\x12\x1a\x22\x28\x32\x3a\x42]")
"""A protobuf message whose first member is a small number, ir_version, and then another one."""


def _guess(head: bytes) -> str | None:
    """Say what a file that is no loadable looks like."""
    for offset, magic, name in _MAGIC:
        if head[offset : offset + len(magic)] == magic:
            return name
    if _ONNX.match(head):
        return "an ONNX model; cudla-sim compile makes a loadable of it"
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
    check_memories(memories, blobs, tensors)
    check_references(tasks, memories, addresses, tensors, submits, relocs)
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


def _interface_version(
    tasks: tuple[TaskEntry, ...],
    memories: tuple[MemoryEntry, ...],
    addresses: tuple[AddressEntry, ...],
    blobs: dict[str, Blob],
) -> Version:
    """Version of the blob that holds the first DLA task's network descriptor.

    EMU blobs have a numbering of their own; only ONNC's (1.x) says something about layouts.
    """
    for task in tasks:
        if task.interface != Interface.DLA1:
            continue
        for name in memories[addresses[task.address_list[0]].mem_id].contents:
            if name in blobs:
                return blobs[name].version
    versions = [blob.version for blob in blobs.values() if blob.interface == Interface.DLA1]
    versions += [blob.version for blob in blobs.values() if blob.version.major]
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
