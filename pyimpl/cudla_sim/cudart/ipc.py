"""Memory of one process in another: by handles, or as pointers into a pool that was exported.

CUDA Runtime API, "Device Management" (cudaIpc...) and "Stream Ordered Memory Allocator". Memory of
the device is private to the process until it is first shared; then the same addresses become those
of a file, which others map.
"""

from __future__ import annotations

import ctypes
import mmap
from dataclasses import dataclass

from ..constants.cudart import cudaError as Status
from ..constants.cudart import cudaMemoryType as Type
from .errors import CudaError, invalid_handle, invalid_value
from .memory import OPENED, Allocation, Memory
from .shared_files import SharedFile, Ticket

MEMORY_MARK = b"cudamem\0"
_SHARED = ("cudaMalloc", "cuMemAlloc")  # functions whose memory can be shared


@dataclass(eq=False)
class _Opened:
    allocation: Allocation
    pages: mmap.mmap
    count: int
    inode: tuple[int, int]


class SharedMemory:
    """That of one context."""

    def __init__(self, memory: Memory) -> None:
        self._memory = memory
        self._opened: dict[int, _Opened] = {}

    def share(self, address: int, argument: str, more: int = 0) -> Ticket:
        """Memory of the device that begins at ``address``; the device is idle.

        Raises CudaError (InvalidValue, MapBufferObjectFailed).
        """
        found = self._memory.allocation(address)
        if found is None or not found.is_device or not found.how.startswith(_SHARED):
            raise invalid_value(
                f"{argument} ({address:#x}) is no memory of cudaMalloc or cuMemAlloc"
            )
        if found.region.base != address:
            raise invalid_value(
                f"{argument} ({address:#x}) lies inside {found.region}; pass its beginning"
            )
        if found.file is None:
            try:
                file = SharedFile.create("cuda memory", found.region.size)
                file.replace(address)
            except OSError as error:
                raise CudaError(
                    Status.cudaErrorMapBufferObjectFailed,
                    f"{found.region} cannot be shared: {error.strerror}",
                ) from None
            found.file = file
        return found.file.ticket(MEMORY_MARK, more)

    def open(self, ticket: Ticket, argument: str) -> int:
        """The address of memory that another process shares; the same for the same memory.

        Raises CudaError (InvalidResourceHandle).
        """
        if ticket.mark != MEMORY_MARK:
            raise invalid_handle(f"{argument} is no handle of memory")
        for base, opened in self._opened.items():
            if opened.inode == (ticket.device, ticket.inode):
                opened.count += 1
                return base
        try:
            pages = SharedFile.open(ticket).map()
        except (OSError, ValueError) as error:
            raise invalid_handle(
                f"{argument} names memory of process {ticket.process} that is gone: {error}"
            ) from None
        base = ctypes.addressof(ctypes.c_char.from_buffer(pages))
        region = self._memory.space.map(base, ticket.size, name="memory of another process")
        region.owner = Allocation(region, Type.cudaMemoryTypeDevice, OPENED)
        region.owner.taken_back = lambda by: self.close(base, by)
        inode = (ticket.device, ticket.inode)
        self._opened[base] = _Opened(region.owner, pages, 1, inode)
        return base

    def close(self, address: int, by: str) -> None:
        """Raises CudaError (InvalidValue)."""
        found = self._opened.get(address)
        if found is None:
            raise invalid_value(
                f"{by}: devPtr ({address:#x}) is no memory of another process that is open"
            )
        found.count -= 1
        if found.count == 0:
            del self._opened[address]
            self._memory.space.unmap(found.allocation.region)
