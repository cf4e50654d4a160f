"""Device, managed and page-locked memory: ranges of host memory with a kind.

CUDA Runtime API, "Memory Management" and "Unified Addressing": with unified addressing a pointer
alone tells what it points to, so every range is one region of the process's address space.
"""

from __future__ import annotations

import threading
import time
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

from ..constants.cudart import cudaError as Status
from ..constants.cudart import cudaHostRegisterReadOnly
from ..constants.cudart import cudaMemoryType as Type
from ..core.memory import AddressSpace, Region
from ..core.pages import accessible
from .errors import CudaError, invalid_value

_FREED_KEPT = 4096
_BEHIND = 64 << 10
"""Bytes behind an allocation that a kernel may touch without a fault: a GPU's pages are larger than
a processor's (64 KiB to 2 MiB)."""
VARIABLE = "a variable of device code"


@dataclass(eq=False)
class Allocation:
    """One range that CUDA knows. ``how`` names the function that made it."""

    region: Region
    type: int  # a cudaMemoryType
    how: str
    flags: int = 0
    freed: bool = False
    of: int = 0
    """The context that the program created it in, 0 for the primary one."""

    @property
    def is_device(self) -> bool:
        return self.type == Type.cudaMemoryTypeDevice

    @property
    def is_managed(self) -> bool:
        return self.type == Type.cudaMemoryTypeManaged

    @property
    def is_host(self) -> bool:
        return self.type == Type.cudaMemoryTypeHost


class Mapping(NamedTuple):
    """A range of another interface's memory that is mapped for the device."""

    base: int
    size: int
    owner: Any  # the external object it was mapped from


class Attributes(NamedTuple):
    """What cudaPointerGetAttributes answers; ``device`` -2 and addresses 0 mean none."""

    type: int
    device: int
    device_address: int
    host_address: int


class Memory:
    """The allocations of one context. ``used`` counts bytes of device and managed memory."""

    def __init__(
        self, space: AddressSpace, total_bytes: int, own_context: Callable[[], int] = int
    ) -> None:
        self.space = space
        self.total_bytes = total_bytes
        self.used_bytes = 0
        self.mappings: list[Mapping] = []
        self._own_context = own_context
        self._going: list[Region] = []
        self._freed: OrderedDict[int, tuple[str, float]] = OrderedDict()
        self._lock = threading.Lock()

    # --- making ---------------------------------------------------------------------------------

    def allocate(self, size: int, type_: int, how: str, flags: int = 0) -> int:
        """New zero-filled memory; its address, 0 for ``size`` 0.

        Raises CudaError (MemoryAllocation) when it does not fit.
        """
        if size == 0:
            return 0
        counted = size if type_ != Type.cudaMemoryTypeHost else 0
        self.take(size, counted)
        names = {Type.cudaMemoryTypeHost: "page-locked host", Type.cudaMemoryTypeManaged: "managed"}
        name = f"{names.get(Type(type_), 'device')} memory"
        try:
            region = self.space.allocate(size, name=name, behind=_BEHIND)
        except MemoryError as error:
            self.give_back(counted)
            raise CudaError(Status.cudaErrorMemoryAllocation, f"size is {size}: {error}") from None
        region.owner = Allocation(region, type_, how, flags, of=self._own_context())
        with self._lock:
            self._freed.pop(region.base, None)
        return region.base

    def take(self, size: int, counted: int | None = None) -> None:
        """Of the device's memory; ``counted`` 0: of the host's, which is as large. Raises CudaError
        (MemoryAllocation)."""
        counted = size if counted is None else counted
        with self._lock:
            free = self.total_bytes - self.used_bytes
            if size > (free if counted else self.total_bytes):
                raise CudaError(
                    Status.cudaErrorMemoryAllocation,
                    f"size is {size} bytes; {free} of {self.total_bytes} are free",
                )
            self.used_bytes += counted

    def give_back(self, size: int) -> None:
        with self._lock:
            self.used_bytes -= size

    def register(self, address: int, size: int, flags: int) -> None:
        """cudaHostRegister. Raises CudaError (HostMemoryAlreadyRegistered, InvalidValue)."""
        if address == 0 or size == 0:
            raise invalid_value(f"ptr is {address:#x} and size {size}; neither may be 0")
        clash = self.space.overlapping(address, size)
        if clash is not None:
            owner = clash.owner
            if isinstance(owner, Allocation) and owner.is_host:
                raise CudaError(
                    Status.cudaErrorHostMemoryAlreadyRegistered,
                    f"[{address:#x}, +{size}) overlaps {clash}, which is page-locked already",
                )
            raise invalid_value(
                f"[{address:#x}, +{size}) overlaps {clash}, no memory of the host's"
            )
        if not accessible(address, size, write=not flags & cudaHostRegisterReadOnly):
            raise invalid_value(f"[{address:#x}, +{size}) is not memory of this process")
        region = self.space.map(address, size, name="registered host memory")
        region.owner = Allocation(
            region, Type.cudaMemoryTypeHost, "cudaHostRegister", flags, of=self._own_context()
        )

    def variable(self, address: int, size: int) -> None:
        """A variable of device code, which copies and fills may name from now on."""
        if size == 0 or self.space.overlapping(address, size) is not None:
            return
        region = self.space.map(address, size, name=VARIABLE)
        region.owner = Allocation(region, Type.cudaMemoryTypeDevice, VARIABLE)

    # --- finding --------------------------------------------------------------------------------

    def allocation(self, address: int) -> Allocation | None:
        """What CUDA knows about the memory at ``address``."""
        region = self.space.find(address)
        owner = region.owner if region is not None else None
        return owner if isinstance(owner, Allocation) else None

    def mapping(self, address: int) -> Mapping | None:
        """The external buffer mapped at ``address``."""
        for mapping in list(self.mappings):
            if mapping.base <= address < mapping.base + mapping.size:
                return mapping
        return None

    def type_of(self, address: int) -> int:
        """The cudaMemoryType of an address; memory of the program itself is Unregistered."""
        found = self.allocation(address)
        if found is not None:
            return found.type
        mapped = self.mapping(address) is not None
        return Type.cudaMemoryTypeDevice if mapped else Type.cudaMemoryTypeUnregistered

    def attributes(self, address: int) -> Attributes:
        kind = self.type_of(address)
        if kind == Type.cudaMemoryTypeUnregistered:
            return Attributes(kind, -2, 0, address)
        host = 0 if kind == Type.cudaMemoryTypeDevice else address
        return Attributes(kind, 0, address, host)

    def require_managed(self, address: int, size: int, argument: str = "devPtr") -> Allocation:
        """Raises CudaError (InvalidValue) unless the range is managed memory."""
        found = self.allocation(address)
        if found is None or not found.is_managed or address + size > found.region.end:
            raise invalid_value(
                f"{argument} [{address:#x}, +{size}) is not managed memory: "
                + (repr(found.region) if found else self.space.explain(address, size))
            )
        return found

    # --- freeing --------------------------------------------------------------------------------

    def free(self, address: int, by: str) -> None:
        """Device or managed memory, or a mapped buffer. Raises CudaError (InvalidValue)."""
        if address == 0:
            return
        if self._unmap(address):
            return
        found = self._exactly(address, "devPtr")
        if found.is_host:
            raise invalid_value(f"devPtr ({address:#x}) came from {found.how}; free it accordingly")
        if found.how == VARIABLE:
            raise invalid_value(f"devPtr ({address:#x}) is {VARIABLE}; it goes with its module")
        self._release(found, by)

    def free_later(self, address: int, by: str) -> Callable[[], None]:
        """As ``free``; but what is before it in a stream may touch the memory until the answer is
        called."""
        found = self.allocation(address)
        if found is None:
            self.free(address, by)
            return lambda: None
        region = found.region
        with self._lock:
            self._going.append(region)
        try:
            self.free(address, by)
        except CudaError:
            self._gone(region)
            raise
        return lambda: self._gone(region)

    def _gone(self, region: Region) -> None:
        with self._lock:
            self._going = [other for other in self._going if other is not region]

    def add_mapping(self, mapping: Mapping) -> None:
        with self._lock:
            self.mappings.append(mapping)

    def drop_mappings(self, owner: Any) -> None:
        """Ends every mapping of one external object."""
        with self._lock:
            self.mappings = [m for m in self.mappings if m.owner is not owner]

    def _unmap(self, address: int) -> bool:
        """Ends one mapping that begins at ``address``; False when there is none."""
        with self._lock:
            for index, mapping in enumerate(self.mappings):
                if mapping.base == address:
                    del self.mappings[index]
                    return True
        return False

    def free_host(self, address: int, by: str) -> None:
        """Memory of cudaMallocHost and cudaHostAlloc. Raises CudaError (InvalidValue)."""
        if address == 0:
            return
        found = self._exactly(address, "ptr")
        if not found.is_host or found.how == "cudaHostRegister":
            raise invalid_value(f"ptr ({address:#x}) came from {found.how}; free it accordingly")
        self._release(found, by)

    def unregister(self, address: int) -> None:
        """cudaHostUnregister. Raises CudaError (HostMemoryNotRegistered, InvalidValue)."""
        found = self.allocation(address)
        if found is None or found.how != "cudaHostRegister":
            raise CudaError(
                Status.cudaErrorHostMemoryNotRegistered,
                f"ptr ({address:#x}) is in no range given to cudaHostRegister",
            )
        if found.region.base != address:
            raise invalid_value(
                f"ptr ({address:#x}) is inside a range given to cudaHostRegister, which begins at "
                f"{found.region.base:#x}"
            )
        self._release(found, "cudaHostUnregister")

    def free_of(self, context: int, by: str) -> None:
        """What goes with a context."""
        for region in list(self.space):
            owner = region.owner
            if isinstance(owner, Allocation) and owner.of == context:
                self._release(owner, by)

    def free_all(self, by: str) -> None:
        self.mappings.clear()
        for region in list(self.space):
            owner = region.owner
            if isinstance(owner, Allocation):
                self._release(owner, by)

    def _exactly(self, address: int, argument: str) -> Allocation:
        """The allocation that begins at ``address``. Raises CudaError (InvalidValue)."""
        found = self.allocation(address)
        if found is not None and found.region.base == address:
            return found
        if found is not None:
            inside = address - found.region.base
            raise invalid_value(
                f"{argument} ({address:#x}) lies {inside} bytes inside {found.region}; "
                "pass its beginning"
            )
        past = self._freed.get(address)
        if past is not None:
            ago_ms = (time.monotonic() - past[1]) * 1e3
            raise invalid_value(
                f"{argument} ({address:#x}) was freed already, by {past[0]} {ago_ms:.1f} ms ago"
            )
        raise invalid_value(
            f"{argument} ({address:#x}) was not allocated by CUDA: {self.space.explain(address, 1)}"
        )

    def _release(self, found: Allocation, by: str) -> None:
        with self._lock:
            if found.freed:
                raise invalid_value(f"{found.region} is being freed by another thread")
            found.freed = True
            if not found.is_host and found.how != VARIABLE:
                self.used_bytes -= found.region.size
            self._freed[found.region.base] = (by, time.monotonic())
            if len(self._freed) > _FREED_KEPT:
                self._freed.popitem(last=False)
        self.space.unmap(found.region)
        found.region.owner = None  # no cycle: the pages go now, and a stale pointer is an error
