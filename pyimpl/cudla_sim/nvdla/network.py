"""A loadable in memory: buffers allocated and filled, tasks resolved.

Source: nvdla/sw ``Runtime.cpp`` (load, submit): every memory that is not bound by the program is
allocated and filled from its blobs; the dependency graphs are copied again before each run,
because the firmware counts them down.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from . import target
from .descriptors import NETWORK_SIZE, NetworkDesc
from .errors import NvdlaError, Status, WrongConfiguration
from .facts.configs import HardwareConfig, config
from .facts.memory import PAGE
from .hw.memory import Window, Windows
from .kmd.list_port import Entries, Entry
from .loadable import Interface, Loadable, MemoryFlags, TaskEntry, TensorDesc

if TYPE_CHECKING:
    from cudla_sim.core.memory import AddressSpace, Region

BINDINGS = 64
"""Sets of tensors that a network remembers."""

_NOTHING = np.zeros(0, np.uint8)


@dataclass(slots=True)
class Binding:
    """The memories of one run: windows by memory number, and all of them together."""

    by_memory: list[Window | None]
    windows: Windows
    shadows: list[tuple[NDArray[np.uint8], NDArray[np.uint8]]]
    """A tensor of the program, and the bytes (with a margin behind them) that stand for it."""
    lists: dict[int, Entries] = field(default_factory=dict)
    """Address lists by the place of their task in memory."""

    def begin(self) -> None:
        """Copy tensors to their shadows."""
        for tensor, shadow in self.shadows:
            shadow[: len(tensor)] = tensor
            shadow[len(tensor) :] = 0

    def end(self) -> None:
        """Copy what became of them back."""
        for tensor, shadow in self.shadows:
            if tensor.flags.writeable:
                tensor[:] = shadow[: len(tensor)]


class LoadedNetwork:
    """A loadable whose memories live in an AddressSpace until :meth:`close`.

    *hardware* is the name of a hardware configuration, *margin* the bytes behind each memory that
    may be overrun with a warning. Raises WrongConfiguration if the loadable
    was clearly compiled for another one, NvdlaError (INSUFFICIENT_MEMORY) if memory cannot be had.
    """

    def __init__(
        self,
        loadable: Loadable,
        space: AddressSpace,
        hardware: str | HardwareConfig,
        margin: int = 0,
    ) -> None:
        self.loadable = loadable
        self.new_layout = loadable.new_layout
        self.space = space
        self._margin = margin
        self.config = config(hardware) if isinstance(hardware, str) else hardware
        reason = target.mismatch(loadable, self.config)
        if reason is not None:
            raise WrongConfiguration(reason)
        for index, task in enumerate(loadable.tasks):
            if task.instance > 0:
                raise NvdlaError(
                    f"task_list[{index}].instance = {task.instance}: an engine has one core (0)"
                )
        self._region: Region | None = None
        self._windows: list[Window | None] = self._allocate()
        self._graph_bytes = [
            pair
            for index in self._graph_memories()
            if (window := self._windows[index]) is not None
            for pair in self._contents(index, window.data)
        ]
        """The dependency graphs: where they lie, and what they are before a run."""
        self.order = [number for submit in loadable.submits for number in submit.task_id]
        """Numbers of its tasks, as they are submitted."""
        self._bindings: dict[tuple[tuple[int, ...], tuple[int, ...]], Binding] = {}
        self._bound_at: tuple[int, ...] = ()

    @property
    def inputs(self) -> tuple[TensorDesc, ...]:
        """Input tensors in bind order."""
        return self.loadable.inputs

    @property
    def outputs(self) -> tuple[TensorDesc, ...]:
        """Output tensors in bind order."""
        return self.loadable.outputs

    @property
    def size_bytes(self) -> int:
        """Bytes of memory that belong to the network (weights, activations, descriptors)."""
        return 0 if self._region is None else self._region.size

    @property
    def operation_count(self) -> int:
        """Operations of all hardware tasks, and one for each software task."""
        count = 0
        for task in self.loadable.tasks:
            window = self._windows[self.loadable.addresses[task.address_list[0]].mem_id]
            if task.interface == Interface.DLA1 and window is not None:
                count += NetworkDesc.decode(window.data.tobytes()[:NETWORK_SIZE]).num_operations
            else:
                count += 1
        return count

    def _allocate(self) -> list[Window | None]:
        """Reserve one region for all own memories and fill it from the blobs."""
        starts: list[int | None] = []
        total = 0
        for entry in self.loadable.memories:
            if entry.bindable or entry.size == 0:
                starts.append(None)
                continue
            starts.append(total)
            total += -(-(entry.size + self._margin) // PAGE) * PAGE
        if total == 0:
            return [None] * len(starts)
        try:
            region = self.space.allocate(total, name="NVDLA network", owner=self)
        except (MemoryError, OSError) as error:
            raise NvdlaError(
                f"cannot allocate {total} bytes for the network: {error}",
                Status.INSUFFICIENT_MEMORY,
            ) from None
        self._region = region
        windows: list[Window | None] = []
        for index, (entry, start) in enumerate(zip(self.loadable.memories, starts, strict=True)):
            if start is None:
                windows.append(None)
                continue
            data = region.data[start : start + entry.size]
            whole = region.data[start : start + entry.size + self._margin] if self._margin else None
            windows.append(Window(region.base + start, data, f"memory {index}", whole=whole))
            self._fill(index, data)
        return windows

    def _fill(self, index: int, data: NDArray[np.uint8]) -> None:
        """Copy the blobs of a memory to their offsets."""
        for place, blob in self._contents(index, data):
            place[:] = blob

    def _contents(
        self, index: int, data: NDArray[np.uint8]
    ) -> Iterator[tuple[NDArray[np.uint8], NDArray[np.uint8]]]:
        """The blobs of a memory with their places in *data*."""
        entry = self.loadable.memories[index]
        if not entry.flags & MemoryFlags.SET:
            return
        for name, offset in zip(entry.contents, entry.offsets, strict=True):
            blob = self.loadable.blobs[name]
            yield data[offset : offset + blob.size], np.frombuffer(blob.data, np.uint8)

    def _graph_memories(self) -> tuple[int, ...]:
        """Numbers of the memories that hold dependency graphs (and statistics)."""
        found = set()
        for task in self.loadable.tasks:
            if task.interface != Interface.DLA1:
                continue
            window = self._windows[self.loadable.addresses[task.address_list[0]].mem_id]
            if window is None or window.size < NETWORK_SIZE:
                continue
            position = NetworkDesc.decode(window.data.tobytes()[:NETWORK_SIZE])
            index = position.dependency_graph_index
            if 0 <= index < len(task.address_list):
                found.add(self.loadable.addresses[task.address_list[index]].mem_id)
        return tuple(sorted(found))

    def reload_graphs(self) -> None:
        """Copy the dependency graphs again, so that the network can run once more."""
        for place, blob in self._graph_bytes:
            place[:] = blob

    def bind(self, inputs: Sequence[int], outputs: Sequence[int]) -> Binding:
        """Resolve the addresses of all tensors.

        Raises NvdlaError for a wrong number of tensors or an unaligned address, MemoryFault if a
        tensor is not completely inside mapped memory.
        """
        signature = self.space.signature
        if signature != self._bound_at:
            self._bindings.clear()
            self._bound_at = signature
        key = tuple(inputs), tuple(outputs)
        found = self._bindings.get(key)
        if found is None:
            found = self._bind(inputs, outputs)
            if not self._margin:
                if len(self._bindings) == BINDINGS:
                    self._bindings.clear()
                self._bindings[key] = found
        return found

    def _bind(self, inputs: Sequence[int], outputs: Sequence[int]) -> Binding:
        by_memory = list(self._windows)
        for flag, kind, tensors, given in (
            (MemoryFlags.INPUT, "input", self.inputs, inputs),
            (MemoryFlags.OUTPUT, "output", self.outputs, outputs),
        ):
            if len(tensors) != len(given):
                raise NvdlaError(
                    f"the network has {len(tensors)} {kind} tensors, {len(given)} addresses given",
                    Status.COUNT_MISMATCH,
                )
            for number, (tensor, address) in enumerate(zip(tensors, given, strict=True)):
                name = f"{kind} {number} ({tensor.name})"
                for index in self.loadable.bound_memory(flag, number):
                    by_memory[index] = self._tensor_window(
                        name, tensor, index, address, flag == MemoryFlags.OUTPUT
                    )
        shadows = self._with_margins(by_memory) if self._margin else []
        return Binding(by_memory, Windows(w for w in by_memory if w is not None), shadows)

    def _with_margins(
        self, by_memory: list[Window | None]
    ) -> list[tuple[NDArray[np.uint8], NDArray[np.uint8]]]:
        """Let bytes of ours, with a margin, stand for the program's tensors."""
        shadows = []
        for index, window in enumerate(by_memory):
            if window is None or window.whole is not None:
                continue
            whole = np.zeros(window.size + self._margin, np.uint8)
            shadows.append((window.data, whole))
            by_memory[index] = Window(
                window.base, whole[: window.size], window.name, window.writable, whole
            )
        return shadows

    def _tensor_window(
        self, name: str, tensor: TensorDesc, index: int, address: int, write: bool
    ) -> Window:
        if address % self.config.memory_atom:
            raise NvdlaError(
                f"{name} is at 0x{address:x}: {self.config.name} needs multiples of"
                f" {self.config.memory_atom}",
                Status.INVALID_ADDRESS,
            )
        size = self.loadable.memories[index].size
        need = min(tensor.offset + tensor.size, size)
        self.space.view(address, need, write=write)
        region = self.space.find(address)
        if region is not None:
            need = max(need, min(size, region.base + region.size - address))
        return Window(address, self.space.view(address, need), name, True)

    def entries(self, task: TaskEntry, binding: Binding) -> Entries:
        """Return a task's address list with the memories of one run."""
        known = binding.lists.get(id(task))
        if known is not None:
            return known
        found = []
        for number in task.address_list:
            address = self.loadable.addresses[number]
            window = binding.by_memory[address.mem_id]
            if window is None:
                missing = f"memory {address.mem_id}, which has no buffer"
                found.append(Entry(0, _NOTHING, address.offset, missing=missing))
            else:
                found.append(Entry(window.base, window.data, address.offset, window.name))
        binding.lists[id(task)] = made = Entries(found)
        return made

    def resolver(self, task: TaskEntry, binding: Binding) -> Callable[[int], NDArray[np.uint8]]:
        """What gives software tasks the bytes behind an entry of their list."""

        def resolve(position: int) -> NDArray[np.uint8]:
            window, offset = self.task_memory(task, position, binding)
            return window.data[offset:]

        return resolve

    def task_memory(self, task: TaskEntry, position: int, binding: Binding) -> tuple[Window, int]:
        """Return the window and the offset in it behind entry *position* of a task's list."""
        if not 0 <= position < len(task.address_list):
            raise NvdlaError(
                f"address index {position}: the task has {len(task.address_list)} addresses",
                Status.INVALID_ADDRESS,
            )
        address = self.loadable.addresses[task.address_list[position]]
        window = binding.by_memory[address.mem_id]
        if window is None:
            raise NvdlaError(
                f"address index {position} is memory {address.mem_id}, which has no buffer",
                Status.INVALID_ADDRESS,
            )
        return window, address.offset

    def close(self) -> None:
        """Unmap the network's memory."""
        if self._region is not None:
            self.space.unmap(self._region)
        self._region = None
        self._bindings.clear()
        self._windows = [None] * len(self.loadable.memories)
