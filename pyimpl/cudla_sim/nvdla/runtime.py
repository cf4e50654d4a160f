"""``nvdla::IRuntime`` without its C++ class: what it knows, checks and prepares.

The class in ``shim/library/nvdla/runtime.cpp`` does what must go through C functions that a program
may have replaced (allocating memory, submitting tasks); everything else is here. Memories are known
by the pointer and the handle that the program's (or our) ``NvDlaAllocMem`` gave.
Source: nvdla/sw ``Runtime.cpp``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from struct import pack_into
from typing import TYPE_CHECKING

from .. import lazy
from ..core.memory import host_bytes
from .errors import NvdlaError, Status
from .facts.limits import MOST_ADDRESSES
from .loadable import (
    Interface,
    Loadable,
    MemoryDomain,
    MemoryEntry,
    MemoryFlags,
    TaskEntry,
    TensorDesc,
)

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from .facts.configs import HardwareConfig
else:
    np = lazy.module("numpy")

LINE, SURFACE = 1, 2
"""Relocation types, and the strides they stand for."""

_SURFACE_LISTS = (3, 4)  # sub-interfaces whose strides may be rewritten: operations, surfaces
_DEPENDENCIES = 2


@dataclass(slots=True)
class PlacedMemory:
    """A memory of the loadable that has its place: the driver's handle, host address, size."""

    handle: int
    address: int
    size: int

    @property
    def data(self) -> NDArray[np.uint8]:
        return host_bytes(self.address, self.size)


@dataclass(frozen=True, slots=True)
class DlaTask:
    """A task for the driver: handles and offsets of its address list."""

    number: int
    addresses: list[tuple[int, int]]


class Runtime:
    """State of one IRuntime object."""

    def __init__(self, settle: Callable[[Loadable], HardwareConfig]) -> None:
        """*settle* tells the configuration that a loadable will run on."""
        self._settle = settle
        self.emulator = False
        self._loadable: Loadable | None = None
        self._places: dict[int, PlacedMemory] = {}
        self._tensors: dict[MemoryFlags, list[TensorDesc]] = {}
        self._steps: Iterator[TaskEntry] | None = None

    @property
    def loadable(self) -> Loadable:
        if self._loadable is None:
            raise NvdlaError("nothing is loaded; load() comes first", Status.INVALID_STATE)
        return self._loadable

    # -- loading ------------------------------------------------------------------------------

    def load(self, loadable: Loadable) -> list[tuple[int, int, bool]]:
        """Take a loadable; returns the memories to allocate: (number, size, in SRAM)."""
        from . import target

        hardware = self._settle(loadable)
        reason = target.mismatch(loadable, hardware)
        if reason is not None:
            raise NvdlaError(reason, Status.NOT_SUPPORTED)
        self.unload()
        self._loadable = loadable
        self._tensors = {
            MemoryFlags.INPUT: list(loadable.inputs),
            MemoryFlags.OUTPUT: list(loadable.outputs),
        }
        return [
            (number, entry.size, entry.domain == MemoryDomain.SRAM)
            for number, entry in enumerate(loadable.memories)
            if not entry.bindable and entry.size
        ]

    def place(self, number: int, handle: int, address: int) -> None:
        """Note where a memory was allocated, and fill it from its blobs."""
        entry = self.loadable.memories[number]
        self._places[number] = PlacedMemory(handle, address, entry.size)
        self._fill(number, entry)

    def _fill(self, number: int, entry: MemoryEntry) -> None:
        if not entry.flags & MemoryFlags.SET:
            return
        data = self._places[number].data
        for name, offset in zip(entry.contents, entry.offsets, strict=True):
            blob = self.loadable.blobs[name]
            data[offset : offset + blob.size] = np.frombuffer(blob.data, np.uint8)

    def settle(self) -> None:
        """Let go of the caller's image: only dependency graphs are needed again."""
        loadable = self.loadable
        again = {
            name
            for entry in loadable.memories
            for name in entry.contents
            if any("dep_graph" in other for other in entry.contents)
        }
        blobs = {
            name: replace(blob, data=memoryview(bytes(blob.data) if name in again else b""))
            for name, blob in loadable.blobs.items()
        }
        self._loadable = replace(loadable, blobs=blobs)

    def unload(self) -> list[tuple[int, int, int]]:
        """Forget the loadable; returns what to free: (handle, address, size)."""
        owned = []
        if self._loadable is not None:
            memories = self._loadable.memories
            owned = [
                (place.handle, place.address, place.size)
                for number, place in self._places.items()
                if not memories[number].bindable
            ]
        self._loadable = None
        self._places = {}
        self._tensors = {}
        self._steps = None
        return owned

    # -- tensors ------------------------------------------------------------------------------

    def bind(self, flag: MemoryFlags, index: int, place: PlacedMemory) -> None:
        """Bind a tensor to memory. An index that no tensor has is not an error."""
        if index < 0:
            raise NvdlaError(f"index is {index}; tensors are numbered from 0")
        for number in self.loadable.bound_memory(flag, index):
            if place.handle:
                self._places[number] = place
            else:
                self._places.pop(number, None)

    def count(self, flag: MemoryFlags) -> int:
        """Return the number of inputs or outputs; 0 when nothing is loaded."""
        return len(self._tensors.get(flag, ()))

    def tensor(self, flag: MemoryFlags, index: int) -> TensorDesc:
        """Return the descriptor of a tensor, with the strides that were set last."""
        tensors = self._tensors.get(flag, [])
        if not 0 <= index < len(tensors):
            kind = "input" if flag == MemoryFlags.INPUT else "output"
            have = f"the network has {len(tensors)}" if tensors else "nothing is loaded"
            raise NvdlaError(f"{kind} tensor {index}: {have}")
        return tensors[index]

    def set_tensor(self, flag: MemoryFlags, index: int, wanted: TensorDesc) -> None:
        """Change the strides of a tensor; everything else must stay.

        The public runtime multiplies the offset of a relocation by four; the compiler writes byte
        offsets, which is what is used here.
        """
        have = self.tensor(flag, index)
        _unchanged(have, wanted, ("name",), Status.NOT_SUPPORTED)
        kinds = ("data_format", "data_type", "data_category")
        _unchanged(have, wanted, kinds, Status.NOT_IMPLEMENTED)
        _unchanged(have, wanted, ("pixel_format", "pixel_mapping"), Status.NOT_SUPPORTED)
        _unchanged(have, wanted, ("n", "c", "h", "w"), Status.NOT_SUPPORTED)
        self._tensors[flag][index] = replace(have, strides=wanted.strides)
        self._rewrite(flag, index, wanted.strides)

    def _rewrite(self, flag: MemoryFlags, index: int, strides: tuple[int, ...]) -> None:
        loadable = self.loadable
        memories = set(loadable.bound_memory(flag, index))
        for number, reloc in enumerate(loadable.relocs):
            if loadable.addresses[reloc.address_id].mem_id not in memories:
                continue
            where = f"reloc_list[{number}]"
            if reloc.sub_interface == _DEPENDENCIES:
                raise NvdlaError(
                    f"{where} changes a dependency graph, which is in use", Status.NOT_SUPPORTED
                )
            place = self._places.get(reloc.write_id)
            if reloc.sub_interface not in _SURFACE_LISTS or place is None:
                continue
            if reloc.reloc_type not in (LINE, SURFACE):
                raise NvdlaError(
                    f"{where}.reloc_type = {reloc.reloc_type}: 1 (line) or 2 (surface) expected",
                    Status.INVALID_STATE,
                )
            if reloc.offset + 4 > place.size:
                raise NvdlaError(
                    f"{where}.offset = {reloc.offset}: the memory has {place.size} bytes",
                    Status.INVALID_STATE,
                )
            pack_into("<I", place.data.data, reloc.offset, strides[reloc.reloc_type] & 0xFFFFFFFF)

    # -- running ------------------------------------------------------------------------------

    def begin(self) -> None:
        """Prepare for submission: dependency graphs are copied again.

        As in the public runtime only blobs named ``…dep_graph…`` are: the first generation of
        loadables calls them DEPGraph, and runs once.
        """
        loadable = self.loadable
        for number, entry in enumerate(loadable.memories):
            if number in self._places and any("dep_graph" in name for name in entry.contents):
                self._fill(number, entry)
        self._steps = iter(
            [loadable.tasks[t] for submit in loadable.submits for t in submit.task_id]
        )

    def next(self) -> DlaTask | None:
        """Run software tasks up to the next hardware task and return it; None at the end."""
        if self._steps is None:
            raise NvdlaError("no submission is in progress", Status.INVALID_STATE)
        for task in self._steps:
            if task.interface == Interface.DLA1:
                return self._dla_task(task)
            self._emulate(task)
        self._steps = None
        return None

    def _dla_task(self, task: TaskEntry) -> DlaTask:
        if len(task.address_list) > MOST_ADDRESSES:
            raise NvdlaError(
                f"task {task.id} has {len(task.address_list)} addresses; {MOST_ADDRESSES} at most"
            )
        addresses = []
        for position in range(len(task.address_list)):
            place, offset = self._address(task, position)
            addresses.append((place.handle, offset))
        return DlaTask(task.id, addresses)

    def _address(self, task: TaskEntry, position: int) -> tuple[PlacedMemory, int]:
        if not 0 <= position < len(task.address_list):
            raise NvdlaError(f"address index {position}: task {task.id} has fewer addresses")
        address = self.loadable.addresses[task.address_list[position]]
        place = self._places.get(address.mem_id)
        if place is None:
            entry = self.loadable.memories[address.mem_id]
            if entry.bindable:
                kind = "input" if entry.flags & MemoryFlags.INPUT else "output"
                raise NvdlaError(
                    f"{kind} tensor {entry.bind_id} is not bound", Status.INVALID_STATE
                )
            raise NvdlaError(f"memory {address.mem_id} of the loadable has no buffer")
        return place, address.offset

    def _emulate(self, task: TaskEntry) -> None:
        if not self.emulator:
            raise NvdlaError(
                f"task {task.id} is a software task; initEMU() starts what executes it",
                Status.NOT_INITIALIZED,
            )

        from . import emu

        def resolve(position: int) -> NDArray[np.uint8]:
            place, offset = self._address(task, position)
            if not place.address:
                raise NvdlaError(
                    f"address index {position} of software task {task.id}: only memory of"
                    " allocateSystemMemory can be used",
                    Status.INVALID_ADDRESS,
                )
            return place.data[offset:]

        for operation in emu.operations(resolve, self.loadable.new_layout):
            emu.run(operation, resolve)


def _unchanged(
    have: TensorDesc, wanted: TensorDesc, names: tuple[str, ...], status: Status
) -> None:
    for name in names:
        if getattr(have, name) != getattr(wanted, name):
            raise NvdlaError(
                f"{name} is {getattr(wanted, name)!r}; it is {getattr(have, name)!r} and cannot be"
                " changed: only strides can",
                status,
            )
