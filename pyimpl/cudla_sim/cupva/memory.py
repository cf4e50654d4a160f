"""Device memory: DRAM that the VPU's worker processes share, L2SRAM, and addresses in VMEM.

Device pointers are numbers in ranges of their own: they can be added to, and a host that
dereferences one faults. ``host_address`` gives the host's view of DRAM.
"""

from __future__ import annotations

import bisect
import ctypes
import mmap
import os
import threading
from typing import NamedTuple

from ..core import pages
from ..core.pages import accessible
from .dma import DRAM, L2, VMEM, Descriptors
from .errors import CupvaError, Error, error, invalid
from .pointers import Location
from .ranges import Ranges

DRAM_SIZE = 256 << 30  # address space; pages exist when they are touched
L2_SIZE = 1 << 20
"""MAX_L2SRAM_SIZE."""
_PAGE = 4096
_NORESERVE = 0x4000
_PUNCH_HOLE_KEEP_SIZE = 3

# VMEM of program n: a range where no mapping of a 48-bit process can be.
_VMEM_BASE = 0x00D1_B000_0000_0000
_VMEM_STRIDE = 1 << 24

_LIBC = ctypes.CDLL(None, use_errno=True)
_LIBC.fallocate.argtypes = (ctypes.c_int, ctypes.c_int, ctypes.c_int64, ctypes.c_int64)


class Allocation(NamedTuple):
    """Bytes [offset, offset + size) of DRAM."""

    offset: int
    size: int


class Import(NamedTuple):
    """Memory of the program (or of CUDA) that the DMA reaches through ``size`` bytes of DRAM at
    ``offset``: copied there before a program that touches it, and back after one that writes it."""

    address: int
    offset: int
    size: int


class VmemSymbol(NamedTuple):
    """A variable in VMEM, for messages and limits."""

    name: str
    offset: int
    size: int


def _room(size: int) -> int:
    """Whole pages, and one that stays free behind them."""
    return -(-size // _PAGE) * _PAGE + _PAGE


class DeviceMemory:
    """One PVA's view of memory. All methods may be called from several threads."""

    def __init__(self) -> None:
        self.fd = os.memfd_create("cudla-sim-pva-dram", os.MFD_CLOEXEC)
        self.l2_fd = os.memfd_create("cudla-sim-pva-l2", os.MFD_CLOEXEC)
        os.ftruncate(self.fd, DRAM_SIZE)
        os.ftruncate(self.l2_fd, L2_SIZE)
        flags = mmap.MAP_SHARED | _NORESERVE
        try:
            self._map = mmap.mmap(self.fd, DRAM_SIZE, flags=flags)
        except (OSError, ValueError) as cause:
            raise error(
                Error.CUPVA_DRIVER_API_ERROR, f"no address space for device memory: {cause}"
            ) from None
        self.host_base = ctypes.addressof(ctypes.c_char.from_buffer(self._map))
        self._l2_map = mmap.mmap(self.l2_fd, L2_SIZE)
        self.l2_host_base = ctypes.addressof(ctypes.c_char.from_buffer(self._l2_map))
        self._window = pages.anonymous(DRAM_SIZE + L2_SIZE, reserve=False)
        self.device_base = int(self._window.__array_interface__["data"][0])
        self._protect()
        self._lock = threading.Lock()
        self._ranges = Ranges(_PAGE, DRAM_SIZE)
        self._starts: list[int] = []
        self._allocations: dict[int, Allocation] = {}
        self._imports: dict[int, Import] = {}
        self._vmem: dict[int, list[VmemSymbol]] = {}
        self._programs = 0

    @property
    def dram_size(self) -> int:
        return DRAM_SIZE

    @property
    def l2_size(self) -> int:
        return L2_SIZE

    def _protect(self) -> None:
        _LIBC.mprotect.argtypes = (ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int)
        _LIBC.mprotect(self.device_base, DRAM_SIZE + L2_SIZE, 0)

    # --- DRAM ---

    def allocate(self, size: int) -> int:
        """The device address of ``size`` fresh bytes that read as zero.

        Raises CupvaError: CUPVA_INVALID_ARGUMENT, CUPVA_DRIVER_API_ERROR when memory is used up.
        """
        if size <= 0:
            raise invalid(f"size is {size}; it is at least 1 byte")
        with self._lock:
            # A page stays free behind each buffer: what runs over its end hits no other one.
            offset = self._ranges.take(_room(size))
            if offset is None:
                raise error(
                    Error.CUPVA_DRIVER_API_ERROR,
                    f"{size} bytes asked for; {max(0, self._ranges.largest - _PAGE)} are left in "
                    "the largest free range of device memory",
                )
            self._allocations[offset] = Allocation(offset, size)
            bisect.insort(self._starts, offset)
        return self.device_base + offset

    def free(self, address: int) -> None:
        """Raises CupvaError(CUPVA_INVALID_ARGUMENT) for what allocate did not give."""
        offset = address - self.device_base
        with self._lock:
            found = self._allocations.pop(offset, None)
            if found is None:
                raise invalid(f"{address:#x} is not the start of a live allocation")
            self._starts.remove(offset)
            self._imports.pop(offset, None)
            # Emptied before another thread can get the range: what it writes stays.
            room = _room(found.size)
            _LIBC.fallocate(self.fd, _PUNCH_HOLE_KEEP_SIZE, offset, room - _PAGE)
            self._ranges.give_back(offset, room)

    def allocation(self, address: int) -> Allocation | None:
        """The live allocation around a device address."""
        offset = address - self.device_base
        with self._lock:
            index = bisect.bisect_right(self._starts, offset) - 1
            if index < 0:
                return None
            found = self._allocations[self._starts[index]]
        return found if offset <= found.offset + found.size else None

    def host_address(self, address: int) -> int:
        """Where the host sees a device address. Raises CupvaError(CUPVA_INVALID_ARGUMENT)."""
        found = self.allocation(address)
        if found is None:
            raise invalid(f"{address:#x} is no device memory of mem::Alloc")
        return self._host(found.offset, address - self.device_base)

    def _host(self, start: int, offset: int) -> int:
        """The host's address of a DRAM offset in the allocation at ``start``."""
        imported = self._imports.get(start)
        return self.host_base + offset if imported is None else imported.address + offset - start

    def host_of(self, place: Location) -> int:
        """Where the host sees a place in DRAM or L2SRAM."""
        if place.space == DRAM:
            return self._host(place.limits[0], place.at)
        return place.at + self.l2_host_base

    # --- memory of others ---

    def take_in(self, address: int, size: int) -> int:
        """A device address for memory that the host can reach. ``free`` gives it up again.

        Raises CupvaError(CUPVA_INVALID_ARGUMENT) for what is not memory of this process.
        """
        if size <= 0 or not accessible(address, size):
            raise invalid(f"{address:#x} is not memory of this process for {size} bytes")
        device = self.allocate(size)
        offset = device - self.device_base
        self._imports[offset] = Import(address, offset, size)
        return device

    def touched(self, descriptors: list[Descriptors], side: str) -> list[Import]:
        """The imports that descriptors have as their ``src`` or ``dst``."""
        if not self._imports:
            return []
        found = {}
        for listed in descriptors:
            part = listed[side][listed[side]["space"] == DRAM]
            for at in set(part["at"].tolist()):
                allocation = self.allocation(self.device_base + at)
                start = allocation.offset if allocation else -1
                imported = self._imports.get(start)
                if imported is not None:  # another thread may free it meanwhile
                    found[start] = imported
        return list(found.values())

    def copy_in(self, imports: list[Import]) -> None:
        for one in imports:
            ctypes.memmove(self.host_base + one.offset, one.address, one.size)

    def copy_out(self, imports: list[Import]) -> None:
        for one in imports:
            ctypes.memmove(one.address, self.host_base + one.offset, one.size)

    # --- VMEM ---

    def publish(self, symbols: list[VmemSymbol]) -> int:
        """The VMEM of one more program; the address of its offset 0."""
        with self._lock:
            base = _VMEM_BASE + self._programs * _VMEM_STRIDE
            self._programs += 1
            self._vmem[base] = sorted(symbols, key=lambda s: s.offset)
        return base

    def retire(self, base: int) -> None:
        with self._lock:
            self._vmem.pop(base, None)

    # --- what an address is ---

    @property
    def l2_base(self) -> int:
        return self.device_base + DRAM_SIZE

    def locate(self, address: int) -> Location:
        """Raises CupvaError(CUPVA_INVALID_ARGUMENT) for an address that nothing lies at."""
        if self.l2_base <= address < self.l2_base + L2_SIZE:
            return Location(L2, address - self.l2_base, (0, L2_SIZE), "L2SRAM")
        if address >= _VMEM_BASE:
            return self._locate_vmem(address)
        found = self.allocation(address)
        if found is None:
            raise self._stranger(address)
        offset = address - self.device_base
        return Location(DRAM, offset, (found.offset, found.offset + found.size))

    def _stranger(self, address: int) -> CupvaError:
        if self.device_base <= address < self.device_base + DRAM_SIZE:
            return invalid(f"{address:#x} lies in no live allocation (freed, or past its end)")
        if self.host_base <= address < self.host_base + DRAM_SIZE:
            return invalid(
                f"{address:#x} is the host's view of device memory; give the device pointer that "
                "mem::Alloc returned"
            )
        return invalid(f"{address:#x} is no device pointer; mem::Alloc gives them")

    def _locate_vmem(self, address: int) -> Location:
        base = address - (address - _VMEM_BASE) % _VMEM_STRIDE
        symbols = self._vmem.get(base)
        if symbols is None:
            raise invalid(f"{address:#x} points into the VMEM of no live program")
        offset = address - base
        for symbol in reversed(symbols):
            if symbol.offset <= offset <= symbol.offset + symbol.size:
                end = symbol.offset + symbol.size
                return Location(
                    VMEM, offset, (symbol.offset, end), f"VMEM variable {symbol.name!r}"
                )
        raise invalid(f"VMEM offset {offset:#x} belongs to no exported variable")

    def close(self) -> None:
        os.close(self.fd)
        os.close(self.l2_fd)
