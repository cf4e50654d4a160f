"""Virtual memory of the driver interface: addresses, memory behind them, and who may touch them.

Addresses are reserved without memory; memory is an anonymous file, mapped where a program says and
touchable once access is set. Regions that lie side by side and may be touched alike are one range
for copies. Source: CUDA Driver API, "Virtual Memory Management".
"""

from __future__ import annotations

import ctypes
import mmap
import os
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import count

from ..constants.cudart import cudaError_enum as Result
from ..constants.cudart import cudaMemoryType as Type
from ..core.memory import Region
from .errors import CudaError
from .memory import VIRTUAL, Allocation, Memory

GRANULARITY = 2 << 20
"""Bytes of which sizes, addresses and offsets are multiples, as on NVIDIA's GPUs since Pascal."""
NO_ACCESS, READ, READ_WRITE = 0, 1, 3
_PROTECTION = {
    NO_ACCESS: 0,
    READ: mmap.PROT_READ,
    READ_WRITE: mmap.PROT_READ | mmap.PROT_WRITE,
}
_FIXED, _NO_RESERVE = 0x10, 0x4000  # MAP_FIXED, MAP_NORESERVE
_FAILED = ctypes.c_void_p(-1).value

_libc = ctypes.CDLL(None, use_errno=True)
_libc.mmap.restype = ctypes.c_void_p
_libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int, ctypes.c_int, ctypes.c_int,
                       ctypes.c_long]  # fmt: skip
_libc.munmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t]
_libc.mprotect.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int]


def _invalid(text: str) -> CudaError:
    return CudaError(Result.CUDA_ERROR_INVALID_VALUE, text)


@dataclass(eq=False)
class Physical:
    """Memory of cuMemCreate. It goes when nobody holds its handle or maps it."""

    number: int
    size: int
    file: int
    exportable: bool
    held: int = 1
    mapped: int = 0


@dataclass(eq=False)
class _Mapped:
    base: int
    size: int
    memory: Physical
    access: int = NO_ACCESS

    @property
    def end(self) -> int:
        return self.base + self.size


@dataclass(eq=False)
class _Reservation:
    base: int
    size: int
    mapped: dict[int, _Mapped] = field(default_factory=dict)
    regions: list[Region] = field(default_factory=list)

    @property
    def end(self) -> int:
        return self.base + self.size

    def within(self, address: int, size: int) -> list[_Mapped]:
        """What is mapped in a range, in order."""
        found = (m for m in self.mapped.values() if m.base < address + size and address < m.end)
        return sorted(found, key=lambda m: m.base)


class VirtualMemory:
    """That of one context."""

    def __init__(self, memory: Memory) -> None:
        self._memory = memory
        self._handles: dict[int, Physical] = {}
        self._reserved: dict[int, _Reservation] = {}
        self._numbers = count(1)
        self._lock = threading.RLock()

    # -- memory

    def create(self, size: int, exportable: bool) -> int:
        """A handle. Raises CudaError (INVALID_VALUE, OUT_OF_MEMORY)."""
        _multiple("size", size)
        self._memory.take(size)
        try:
            file = os.memfd_create("cuda memory", os.MFD_CLOEXEC)
            os.ftruncate(file, size)
        except OSError as error:
            self._memory.give_back(size)
            text = f"size is {size}: {error.strerror}"
            raise CudaError(Result.CUDA_ERROR_OUT_OF_MEMORY, text) from None
        return self._added(size, file, exportable)

    def _added(self, size: int, file: int, exportable: bool) -> int:
        with self._lock:
            made = Physical(next(self._numbers) << 8, size, file, exportable)
            self._handles[made.number] = made
        return made.number

    def release(self, handle: int) -> None:
        """Raises CudaError (INVALID_VALUE)."""
        with self._lock:
            found = self.of(handle)
            found.held -= 1
            if found.held == 0:
                del self._handles[handle]
            self._end(found)

    def of(self, handle: int) -> Physical:
        """Raises CudaError (INVALID_VALUE)."""
        found = self._handles.get(handle)
        if found is None:
            raise _invalid(f"handle ({handle:#x}) is none of cuMemCreate, or was released")
        return found

    def retain(self, address: int) -> int:
        """The handle of what is mapped at an address, held once more. Raises CudaError."""
        with self._lock:
            found = self._mapped_at(address).memory
            found.held += 1
            self._handles[found.number] = found
            return found.number

    def export(self, handle: int) -> int:
        """A descriptor of the file that is the memory. Raises CudaError (INVALID_VALUE)."""
        found = self.of(handle)
        if not found.exportable:
            raise _invalid(
                f"handle ({handle:#x}) was created without "
                "CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR in requestedHandleTypes"
            )
        return os.dup(found.file)

    def adopt(self, descriptor: int) -> int:
        """A handle of another process's memory (or of this one's). Raises CudaError."""
        try:
            file = os.dup(descriptor)
            size = os.fstat(file).st_size
        except OSError as error:
            raise _invalid(f"osHandle is descriptor {descriptor}: {error.strerror}") from None
        if size == 0 or size % GRANULARITY:
            os.close(file)
            raise _invalid(f"osHandle is descriptor {descriptor}, which is no memory of CUDA's")
        self._memory.take(size)
        return self._added(size, file, True)

    def _end(self, memory: Physical) -> None:
        if memory.held == 0 and memory.mapped == 0:
            os.close(memory.file)
            self._memory.give_back(memory.size)

    # -- addresses

    def reserve(self, size: int, alignment: int, wanted: int) -> int:
        """The first address. Raises CudaError (INVALID_VALUE, OUT_OF_MEMORY)."""
        _multiple("size", size)
        if alignment & (alignment - 1):
            raise _invalid(f"alignment is {alignment}; it is 0 or a power of two")
        boundary = max(alignment, GRANULARITY)
        flags = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | _NO_RESERVE
        if wanted and wanted % boundary == 0:
            found = _libc.mmap(wanted, size, 0, flags, -1, 0)
            if found == wanted:
                return self._reserve(wanted, size)
            if found not in (None, _FAILED):
                _libc.munmap(found, size)
        found = _libc.mmap(None, size + boundary, 0, flags, -1, 0)
        if found in (None, _FAILED):
            text = f"size is {size}: {os.strerror(ctypes.get_errno())}"
            raise CudaError(Result.CUDA_ERROR_OUT_OF_MEMORY, text)
        base = (found + boundary - 1) // boundary * boundary
        for start, length in ((found, base - found), (base + size, found + boundary - base)):
            if length:
                _libc.munmap(start, length)
        return self._reserve(base, size)

    def _reserve(self, base: int, size: int) -> int:
        with self._lock:
            self._reserved[base] = _Reservation(base, size)
        return base

    def give_up(self, address: int, size: int) -> None:
        """cuMemAddressFree. Raises CudaError (INVALID_VALUE)."""
        with self._lock:
            found = self._reservation(address, size)
            if (found.base, found.size) != (address, size):
                raise _invalid(
                    f"[{address:#x}, +{size}) is not all of the reservation [{found.base:#x}, "
                    f"+{found.size})"
                )
            if found.mapped:
                raise _invalid(
                    f"{len(found.mapped)} mapping(s) are left in [{address:#x}, +{size}): "
                    "cuMemUnmap comes first"
                )
            del self._reserved[address]
            _libc.munmap(address, size)

    def map(self, address: int, size: int, offset: int, handle: int) -> None:
        """Raises CudaError (INVALID_VALUE)."""
        _multiple("size", size)
        _multiple("ptr", address)
        with self._lock:
            memory = self.of(handle)
            if offset:
                raise _invalid(f"offset is {offset}; CUDA takes 0 alone")
            if size > memory.size:
                raise _invalid(f"size is {size}; the memory of the handle has {memory.size} bytes")
            found = self._reservation(address, size)
            if clash := found.within(address, size):
                text = f"[{clash[0].base:#x}, +{clash[0].size}) is mapped already"
                raise _invalid(text)
            self._place(address, size, memory.file)
            found.mapped[address] = _Mapped(address, size, memory)
            memory.mapped += 1

    def unmap(self, address: int, size: int) -> None:
        """All mappings in a range, which begins and ends where mappings do. Raises CudaError."""
        with self._lock:
            found = self._reservation(address, size)
            own = self._whole(found, address, size)
            for mapping in own:
                del found.mapped[mapping.base]
            self._refresh(found)
            for mapping in own:
                self._clear(mapping.base, mapping.size)
                mapping.memory.mapped -= 1
                self._end(mapping.memory)

    def set_access(self, address: int, size: int, access: int) -> None:
        """Raises CudaError (INVALID_VALUE)."""
        with self._lock:
            found = self._reservation(address, size)
            for mapping in self._whole(found, address, size):
                _libc.mprotect(mapping.base, mapping.size, _PROTECTION[access])
                mapping.access = access
            self._refresh(found)

    def access(self, address: int) -> int:
        """Raises CudaError (INVALID_VALUE)."""
        with self._lock:
            return self._mapped_at(address).access

    def reset(self) -> None:
        """Everything goes, as with the context."""
        with self._lock:
            for reservation in list(self._reserved.values()):
                for mapping in reservation.mapped.values():
                    mapping.memory.mapped -= 1
                    if mapping.memory.held == 0:
                        self._end(mapping.memory)
                reservation.mapped.clear()
                self._refresh(reservation)
                _libc.munmap(reservation.base, reservation.size)
            self._reserved.clear()
            for memory in self._handles.values():
                memory.held = 0
                self._end(memory)
            self._handles.clear()

    # -- what lies where

    def _reservation(self, address: int, size: int) -> _Reservation:
        for found in self._reserved.values():
            if found.base <= address and address + size <= found.end:
                return found
        raise _invalid(f"[{address:#x}, +{size}) lies in no range of cuMemAddressReserve")

    def _mapped_at(self, address: int) -> _Mapped:
        for reservation in self._reserved.values():
            for mapping in reservation.within(address, 1):
                return mapping
        raise _invalid(f"ptr ({address:#x}) is not mapped: cuMemMap maps memory there")

    def _whole(self, found: _Reservation, address: int, size: int) -> list[_Mapped]:
        own = found.within(address, size)
        at = address
        for mapping in own:
            if mapping.base != at:
                break
            at = mapping.end
        if at != address + size or not own:
            raise _invalid(
                f"[{address:#x}, +{size}) is not made of whole mappings; nothing of cuMemMap "
                f"begins at {at:#x}" if at < address + size
                else f"[{address:#x}, +{size}) ends inside of a mapping that ends at {at:#x}"
            )  # fmt: skip
        return own

    def _place(self, address: int, size: int, file: int) -> None:
        found = _libc.mmap(address, size, 0, mmap.MAP_SHARED | _FIXED, file, 0)
        if found != address:
            text = f"size is {size}: {os.strerror(ctypes.get_errno())}"
            raise CudaError(Result.CUDA_ERROR_OUT_OF_MEMORY, text)

    def _clear(self, address: int, size: int) -> None:
        """Reserved again, without memory."""
        flags = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | _FIXED | _NO_RESERVE
        _libc.mmap(address, size, 0, flags, -1, 0)

    def _refresh(self, found: _Reservation) -> None:
        """Regions for copies: runs of mappings that may be touched alike."""
        for region in found.regions:
            self._memory.space.unmap(region)
        found.regions = []
        for base, size, access in _runs(found):
            writable = access == READ_WRITE
            region = self._memory.space.map(base, size, name="mapped memory", writable=writable)
            region.owner = Allocation(region, Type.cudaMemoryTypeDevice, VIRTUAL)
            found.regions.append(region)


def _runs(found: _Reservation) -> Iterator[tuple[int, int, int]]:
    """(address, size, access) of what may be touched."""
    base = size = access = 0
    for mapping in sorted(found.mapped.values(), key=lambda m: m.base):
        if size and mapping.base == base + size and mapping.access == access:
            size += mapping.size
            continue
        if size and access != NO_ACCESS:
            yield base, size, access
        base, size, access = mapping.base, mapping.size, mapping.access
    if size and access != NO_ACCESS:
        yield base, size, access


def _multiple(name: str, value: int) -> None:
    if value == 0 or value % GRANULARITY:
        raise _invalid(
            f"{name} is {value:#x}; it is a multiple of {GRANULARITY}, as "
            "cuMemGetAllocationGranularity says"
        )
