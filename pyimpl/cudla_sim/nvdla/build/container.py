"""Writing the loadable: memories, tasks, blobs and their references.

The arrangement follows the public compiler: one buffer for weights, one for activations, one per
tensor bound by the program, then the private lists of each task.
Source: nvdla/sw ``loadable.fbs`` and ``Runtime.cpp``.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from ..facts.memory import PAGE
from ..loadable import IDENTIFIER, Interface, MemoryDomain, MemoryFlags
from .flatwriter import Node, Octets, Refs, Scalars, Tab, Text, serialize

DLA_VERSION = (0, 12, 3)
EMU_VERSION = (0, 0, 1)
_NO_VERSION = (0, 0, 0)
_SCHEMA_VERSION = (0, 7, 0)


@dataclass(slots=True)
class Tensor:
    """A tensor descriptor to write; *strides* are (element, line, surface) in bytes."""

    name: str
    shape: tuple[int, int, int]
    size: int
    data_type: int
    pixel_format: int
    strides: tuple[int, int, int]
    image: bool = False
    batch: int = 1
    planar: bool = False


@dataclass(slots=True)
class _Blob:
    name: str
    data: bytes
    interface: int
    sub_interface: int
    version: tuple[int, int, int]


@dataclass
class Container:
    """Collects the entries of a loadable. Every memory gets one address entry of its number."""

    blobs: list[_Blob] = field(default_factory=list)
    memories: list[Tab] = field(default_factory=list)
    sizes: list[int] = field(default_factory=list)
    tasks: list[Tab] = field(default_factory=list)
    tensors: list[Tab] = field(default_factory=list)
    relocs: list[Tab] = field(default_factory=list)

    def blob(
        self,
        name: str,
        data: bytes,
        interface: int = Interface.NONE,
        sub_interface: int = 0,
        version: tuple[int, int, int] = _NO_VERSION,
    ) -> str:
        """Add a blob; return its name."""
        self.blobs.append(_Blob(name, data, interface, sub_interface, version))
        return name

    def memory(
        self,
        size: int,
        contents: list[tuple[str, int]] | None = None,
        flags: MemoryFlags = MemoryFlags.NONE,
        bind_id: int = 0,
        tensor: int = 0,
        domain: int = MemoryDomain.SYSTEM,
    ) -> int:
        """Add a buffer with (blob name, offset) contents; return its number."""
        filled = contents or []
        flags |= MemoryFlags.ALLOC | (MemoryFlags.SET if filled else MemoryFlags.NONE)
        names: tuple[Node, ...] = tuple(Text(name) for name, _ in filled)
        number = len(self.memories)
        entry = Tab().put(0, "H", number).put(1, "B", domain).put(2, "H", flags)
        entry.put(3, "Q", size).put(4, "I", PAGE).put(7, "H", bind_id).put(8, "H", tensor)
        entry.ref(5, Refs(names))
        entry.ref(6, Scalars("Q", tuple(offset for _, offset in filled)))
        self.memories.append(entry)
        self.sizes.append(size)
        return number

    def single(self, name: str, data: bytes, interface: int, sub_interface: int) -> int:
        """Add a blob and a buffer of its size that holds it; return the buffer's number."""
        version = DLA_VERSION if interface == Interface.DLA1 else EMU_VERSION
        self.blob(name, data, interface, sub_interface, version)
        return self.memory(len(data), [(name, 0)])

    def tensor(self, item: Tensor, memory: int) -> None:
        """Add a tensor descriptor for a buffer."""
        entry = Tab().ref(0, Text(item.name)).put(1, "H", len(self.tensors)).put(2, "H", memory)
        entry.put(3, "Q", item.size).put(4, "Q", 0)
        form, category = (2, 0) if item.image else (1, 3) if item.planar else (3, 2)
        for slot, value in enumerate((form, item.data_type, category, item.pixel_format, 0), 5):
            entry.put(slot, "B", value)
        for slot, value in enumerate((item.batch, *item.shape), 10):
            entry.put(slot, "i", value)
        for slot in range(8):
            entry.put(14 + slot, "I", item.strides[slot] if slot < 3 else 0)
        self.tensors.append(entry)

    def task(self, interface: int, addresses: list[int]) -> None:
        """Add a task, submitted after the tasks before it."""
        entry = Tab().put(0, "H", len(self.tasks)).put(1, "I", interface).put(2, "h", -1)
        entry.ref(3, Scalars("H", tuple(addresses)))
        before = (2 * len(self.tasks) - 1,) if self.tasks else ()
        entry.ref(4, Scalars("H", before)).ref(5, Scalars("H", (2 * len(self.tasks),)))
        self.tasks.append(entry)

    def strides_at(
        self, address: int, write: int, offset: int, interface: int, sub_interface: int
    ) -> None:
        """Record where the line and surface stride of a bound tensor are stored."""
        for kind, step in ((1, 0), (2, 4)):
            entry = Tab().put(0, "H", address).put(1, "H", write).put(2, "Q", offset + step)
            entry.put(3, "I", interface).put(4, "I", sub_interface).put(5, "B", kind)
            self.relocs.append(entry)

    def _events(self) -> list[Tab]:
        """One signal per task, one wait before every task but the first."""
        result = []
        for number in range(2 * len(self.tasks) - 1):
            target = (number + 1) // 2
            entry = Tab().put(0, "H", number).put(1, "B", 0).put(2, "H", target)
            result.append(entry.put(3, "I", target + 1 - number % 2).put(4, "B", 1 - number % 2))
        return result

    def finish(self) -> bytes:
        """Return the bytes of the loadable."""
        blobs: list[Node] = []
        for item in sorted(self.blobs, key=lambda blob: blob.name):
            entry = Tab().ref(0, Text(item.name)).put(1, "Q", len(item.data))
            entry.put(2, "I", item.interface).put(3, "I", item.sub_interface)
            entry.inline(4, bytes(item.version)).ref(5, Octets(item.data))
            blobs.append(entry)
        addresses: list[Node] = [
            Tab().put(0, "H", number).put(1, "H", number).put(2, "Q", 0).put(3, "Q", size)
            for number, size in enumerate(self.sizes)
        ]
        submits: list[Node] = [
            Tab().put(0, "H", number).ref(1, Scalars("H", (number,)))
            for number in range(len(self.tasks))
        ]
        root = Tab().inline(0, bytes(_SCHEMA_VERSION))
        for slot, entries in (
            (1, self.tasks),
            (2, self.memories),
            (3, addresses),
            (4, self._events()),
            (5, blobs),
            (6, self.tensors),
            (7, self.relocs),
            (8, submits),
        ):
            root.ref(slot, Refs(tuple(entries)))
        return serialize(root, IDENTIFIER)
