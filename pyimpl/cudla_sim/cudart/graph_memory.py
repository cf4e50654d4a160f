"""Memory that a node of a graph allocates and another one, or the program, frees.

CUDA Programming Guide, "Graph Memory Nodes". Its address is there from the node on and stays as
long as the graph, its executables or the allocation itself. Whether it is allocated is known in the
order of calls: a launch counts when it is put into its stream.
"""

from __future__ import annotations

import ctypes
import mmap
import weakref
from collections.abc import Sequence
from contextlib import suppress

from ..constants.cudart import cudaMemoryType
from .errors import CudaError, invalid_value
from .memory import Memory

HOW = "cudaGraphAddMemAllocNode"

_libc = ctypes.CDLL(None, use_errno=True)
_libc.madvise.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int]


class NodeMemory:
    """One allocation: it is there (``live``) between its node and whatever frees it."""

    def __init__(self, all_: NodeMemories, size: int) -> None:
        self.base = all_.memory.allocate(size, cudaMemoryType.cudaMemoryTypeDevice, HOW)
        self.size = size
        self.live = False
        self.held = False  # it has pages, or may have
        self._all = all_
        found = all_.memory.allocation(self.base)
        assert found is not None
        own = weakref.ref(self)  # the allocation must not keep alive what gives it back

        def free(by: str) -> None:
            if (node := own()) is not None:
                node.free(by)

        found.taken_back = free
        weakref.finalize(self, _give_back, all_, self.base, found).atexit = False

    def free(self, by: str) -> None:
        """Raises CudaError (InvalidValue) where it is not allocated."""
        if not self.live:
            raise invalid_value(
                f"{by}: the memory of a node at {self.base:#x} is not allocated now"
            )
        self._all.set(self, False)


def _give_back(all_: NodeMemories, base: int, found: object) -> None:
    memory = all_.memory
    if memory.allocation(base) is found:  # else the device was reset
        all_.left_behind(base)
        memory.allocation(base).taken_back = None  # type: ignore[union-attr]
        with suppress(CudaError):
            memory.free(base, "the end of its graph")


class NodeMemories:
    """Those of one context."""

    def __init__(self, memory: Memory) -> None:
        self.memory = memory
        self._known: weakref.WeakValueDictionary[int, NodeMemory] = weakref.WeakValueDictionary()
        self._live: dict[int, NodeMemory] = {}
        self._held: dict[int, int] = {}
        """Sizes of what has pages, by address."""
        self._left = 0
        """Bytes of graphs that are gone: the next ones would find them (cudaDeviceGraphMemTrim)."""
        self.high = {"used": 0, "reserved": 0}

    def create(self, size: int) -> NodeMemory:
        """Raises CudaError (MemoryAllocation, InvalidValue)."""
        if size == 0:
            raise invalid_value("bytesize is 0; it is the number of bytes to allocate")
        made = NodeMemory(self, size)
        self._known[made.base] = made
        return made

    def at(self, address: int) -> NodeMemory:
        """Raises CudaError (InvalidValue)."""
        found = self._known.get(address)
        if found is None:
            raise invalid_value(f"dptr ({address:#x}) is no memory of a graph's node")
        return found

    def set(self, memory: NodeMemory, live: bool) -> None:
        memory.live = live
        if live:
            memory.held = True
            self._held[memory.base] = memory.size
            self._live[memory.base] = memory
        else:
            self._live.pop(memory.base, None)
        for name in self.high:
            self.high[name] = max(self.high[name], self.now(name))

    def now(self, name: str) -> int:
        """Bytes ``used``: those that a graph maps, from its first launch on. ``reserved``: with
        those of graphs that are gone (CUDA Programming Guide, "Physical Memory Footprint")."""
        used = sum(self._held.values())
        return used if name == "used" else used + self._left

    def left_behind(self, base: int) -> None:
        """The last graph that maps it is gone."""
        self._left += self._held.pop(base, 0)

    def trim(self) -> None:
        """Pages that no launch holds go back to the system."""
        self._left = 0
        for memory in list(self._known.values()):
            if memory.held and not memory.live:
                memory.held = False
                self._held.pop(memory.base, None)
                whole = (memory.size + mmap.PAGESIZE - 1) // mmap.PAGESIZE * mmap.PAGESIZE
                _libc.madvise(memory.base, whole, mmap.MADV_DONTNEED)

    def launch(self, touched: Sequence[tuple[NodeMemory, bool]], free_first: bool) -> None:
        """What the nodes of a launch begin (True) and end, in their order.

        Raises CudaError (InvalidValue), and nothing changes, where memory of a node is allocated
        still, or memory is freed that is not."""
        state: dict[NodeMemory, bool] = {}
        for memory, begins in touched:
            now = state.get(memory, memory.live)
            if begins and now and not (free_first and memory not in state):
                raise invalid_value(
                    f"the memory of a node at {memory.base:#x} is allocated since a launch before: "
                    "it is freed first, or cudaGraphInstantiateFlagAutoFreeOnLaunch does it"
                )
            if not begins and not now:
                raise invalid_value(
                    f"a node frees the memory of a node at {memory.base:#x}, which is not "
                    "allocated then"
                )
            state[memory] = begins
        for memory, begins in touched:
            self.set(memory, begins)
