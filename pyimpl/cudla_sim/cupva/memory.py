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
import weakref
from collections.abc import Callable
from typing import NamedTuple

from ..core import forks, pages
from ..core.pages import accessible
from ..cudart.memory import Allocation as CudaAllocation
from ..workers.files import shared_memory
from . import sharing
from .dma import DRAM, L2, VMEM, Descriptors
from .errors import CupvaError, Error, error, invalid
from .pointers import Location
from .ranges import Ranges

DRAM_SIZES = 256 << 30, 2 << 30, 256 << 20
"""Bytes of address space, of which the first that a process may have is taken; pages exist when
they are touched. Less where limits of the process are, or valgrind, whose search for leaks reads
all of it."""
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
    """Memory of the program (or of CUDA, or NvSci) that the DMA reaches through ``size`` bytes of
    DRAM at ``offset``.

    ``shared``: the whole pages in the middle that are those of DRAM itself, as addresses [first,
    end). The rest is copied there before a program that touches it, and back after one that writes
    it. ``ended`` is called when the import ends.
    """

    address: int
    offset: int
    size: int
    shared: tuple[int, int]
    ended: Callable[[], None] | None = None

    @property
    def edges(self) -> list[tuple[int, int, int]]:
        """Address, DRAM offset and size of what is not shared."""
        first, end = self.shared
        last = self.address + self.size
        parts = [(self.address, first), (end, last)] if first < end else [(self.address, last)]
        return [(a, self.offset + a - self.address, b - a) for a, b in parts if a < b]


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
        self.fd = shared_memory("cudla-sim-pva-dram", DRAM_SIZES[0])
        self.l2_fd = shared_memory("cudla-sim-pva-l2", L2_SIZE)
        self.dram_size = self._map_dram()
        self.host_base = ctypes.addressof(ctypes.c_char.from_buffer(self._map))
        self._l2_map = mmap.mmap(self.l2_fd, L2_SIZE)
        self.l2_host_base = ctypes.addressof(ctypes.c_char.from_buffer(self._l2_map))
        self.device_base = self._window.base
        self._protect()
        self._lock = threading.Lock()
        self._ranges = Ranges(_PAGE, self.dram_size)
        self._starts: list[int] = []
        self._allocations: dict[int, Allocation] = {}
        self._imports: dict[int, Import] = {}
        self._vmem: dict[int, list[VmemSymbol]] = {}
        self._cuda: dict[int, tuple[CudaAllocation, int]] = {}
        self.cuda: Callable[[int], CudaAllocation | None] = lambda address: None
        """Finds the device memory of CUDA around an address."""
        self._programs = 0
        self._inode = os.fstat(self.fd).st_ino
        _living.add(self)

    @property
    def copies(self) -> bool:
        """Whether programs may need copies of imported memory around them."""
        return bool(self._imports) and any(one.edges for one in list(self._imports.values()))

    @property
    def l2_size(self) -> int:
        return L2_SIZE

    def _map_dram(self) -> int:
        """DRAM as the host sees it, and the addresses that programs know it by; its size."""
        flags = mmap.MAP_SHARED | _NORESERVE
        for size in DRAM_SIZES:
            try:
                self._map = mmap.mmap(self.fd, size, flags=flags)
                self._window = pages.Zeros(size + L2_SIZE, reserve=False)
            except (OSError, ValueError, MemoryError) as cause:
                why = cause
            else:
                return size
        raise error(
            Error.CUPVA_DRIVER_API_ERROR,
            f"the system gives no address space for device memory ({DRAM_SIZES[-1] >> 20} MiB, "
            f"backed only where touched): {why}",
        ) from None

    def _protect(self) -> None:
        _LIBC.mprotect.argtypes = (ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int)
        _LIBC.mprotect(self.device_base, self.dram_size + L2_SIZE, 0)

    # --- DRAM ---

    def allocate(self, size: int, lead: int = 0) -> int:
        """The device address of ``size`` fresh bytes that read as zero, ``lead`` bytes behind the
        start of a page.

        Raises CupvaError: CUPVA_INVALID_ARGUMENT, CUPVA_DRIVER_API_ERROR when memory is used up.
        """
        if size <= 0:
            raise invalid(f"size is {size}; it is at least 1 byte")
        with self._lock:
            # A page stays free behind each buffer: what runs over its end hits no other one.
            offset = self._ranges.take(_room(lead + size))
            if offset is None:
                raise error(
                    Error.CUPVA_DRIVER_API_ERROR,
                    f"{size} bytes asked for; {max(0, self._ranges.largest - _PAGE)} are left in "
                    "the largest free range of device memory",
                )
            offset += lead
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
            imported = self._imports.pop(offset, None)
            lead = offset % _PAGE  # an import begins in its page where its memory does
            first = offset - lead
            if imported is None or self._give_back(imported):
                # Emptied before another thread can get the range: what it writes stays.
                room = _room(lead + found.size)
                _LIBC.fallocate(self.fd, _PUNCH_HOLE_KEEP_SIZE, first, room - _PAGE)
                self._ranges.give_back(first, room)
        if imported is not None and imported.ended is not None:
            imported.ended()

    def _give_back(self, imported: Import) -> bool:
        """The program's pages are its own again."""
        first, end = imported.shared
        at = imported.offset + first - imported.address
        return first == end or sharing.give_back(first, end, self._inode, at)

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

    def take_in(self, address: int, size: int, ended: Callable[[], None] | None = None) -> int:
        """A device address for memory that the host can reach. ``free`` gives it up again, and then
        calls ``ended``.

        Whole pages of ordinary memory are shared with the VPU from then on; what else belongs to it
        is copied around each program.

        Raises CupvaError(CUPVA_INVALID_ARGUMENT) for what is not memory of this process.
        """
        if size <= 0 or not accessible(address, size):
            raise invalid(f"{address:#x} is not memory of this process for {size} bytes")
        device = self.allocate(size, address % _PAGE)
        offset = device - self.device_base
        first, end = -(-address // _PAGE) * _PAGE, (address + size) // _PAGE * _PAGE
        if first >= end or not sharing.share(first, end, self.fd, offset + first - address):
            first = end = address
        self._imports[offset] = Import(address, offset, size, (first, end), ended)
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
            for address, offset, size in one.edges:
                ctypes.memmove(self.host_base + offset, address, size)

    def copy_out(self, imports: list[Import]) -> None:
        for one in imports:
            for address, offset, size in one.edges:
                ctypes.memmove(address, self.host_base + offset, size)

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
        return self.device_base + self.dram_size

    def locate(self, address: int) -> Location:
        """Raises CupvaError(CUPVA_INVALID_ARGUMENT) for an address that nothing lies at."""
        if self.l2_base <= address < self.l2_base + L2_SIZE:
            return Location(L2, address - self.l2_base, (0, L2_SIZE), "L2SRAM")
        if address >= _VMEM_BASE:
            return self._locate_vmem(address)
        found = self.allocation(address)
        if found is None:
            address = self._of_cuda(address)
            found = self.allocation(address)
            assert found is not None, "imported just now"
        offset = address - self.device_base
        return Location(DRAM, offset, (found.offset, found.offset + found.size))

    def register(self, address: int) -> None:
        """Imports the CUDA allocation at an address, which its first use would do. Raises
        CupvaError(CUPVA_INVALID_ARGUMENT)."""
        self._of_cuda(address)

    def unregister(self, address: int) -> None:
        """Nothing: CUDA memory is given up after cudaFree, as drivers since 2006 do. Raises
        CupvaError(CUPVA_INVALID_ARGUMENT) for what is no memory of CUDA."""
        if self.cuda(address) is None:
            raise invalid(f"{address:#x} is no device pointer of CUDA; only such are registered")

    def _of_cuda(self, address: int) -> int:
        """The PVA's device address of one of CUDA; its allocation is imported on first use, and
        given up after cudaFree. Raises CupvaError(CUPVA_INVALID_ARGUMENT)."""
        allocation = self.cuda(address)
        if allocation is None:
            raise self._stranger(address)
        base = allocation.region.base
        known = self._cuda.get(base)
        if known is None or known[0] is not allocation:
            for old, (gone, _) in list(self._cuda.items()):
                if gone.freed or old == base:
                    self.free(self._cuda.pop(old)[1])
            known = allocation, self.take_in(base, allocation.region.size)
            self._cuda[base] = known
        return known[1] + address - base

    def _stranger(self, address: int) -> CupvaError:
        if self.device_base <= address < self.device_base + self.dram_size:
            return invalid(f"{address:#x} lies in no live allocation (freed, or past its end)")
        if self.host_base <= address < self.host_base + self.dram_size:
            return invalid(
                f"{address:#x} is the host's view of device memory; give the device pointer that "
                "mem::Alloc returned"
            )
        return invalid(f"{address:#x} is no device pointer; mem::Alloc and cudaMalloc give them")

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


_living: weakref.WeakSet[DeviceMemory] = weakref.WeakSet()


@forks.in_child
def _own_copies() -> None:
    """A child of the host has copies of its memory, as of all else."""
    for memory in list(_living):
        for imported in memory._imports.values():
            memory._give_back(imported)
