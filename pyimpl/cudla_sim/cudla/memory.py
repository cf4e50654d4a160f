"""What a device handle may touch: registered CUDA memory, imported buffers and semaphores."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

from ..constants.cudla import cudlaAccessPermissionFlags as Flag
from ..constants.cudla import cudlaStatus as Status
from ..core import forks
from ..core.memory import AddressSpace, Bytes, MemoryFault, Region, host_bytes
from ..core.process import Process
from .errors import CudlaError, invalid_address
from .settings import Settings

if TYPE_CHECKING:
    from ..nvsci.buf import Buffer
    from ..nvsci.sync import SyncObj

ALIGNMENT = 32  # cuDLA reference: a pointer that is not 32-byte aligned is undefined behaviour

# Engine addresses lie above every address a process can have, so that a CUDA or CPU pointer passed
# by mistake instead of the registered one is told apart from it.
_ENGINE_BASE = 0xD1A0_0000_0000
_GUARD = 1 << 16
_LOOKUPS = 256
_cursor = _ENGINE_BASE
_cursor_lock = threading.Lock()


@forks.in_child
def _begin_child() -> None:
    global _cursor_lock
    _cursor_lock = threading.Lock()


def _engine_address(size: int, like: int) -> int:
    """A fresh engine address range with the same offset in its page as ``like``."""
    global _cursor
    with _cursor_lock:
        address = _cursor + like % 4096
        _cursor += -(-(size + like % 4096) // 4096) * 4096 + _GUARD
    return address


class Registered:
    """A range of memory that tasks of one handle may use.

    ``device_address`` is what cudlaMemRegister and cudlaImportExternalMemory return. ``array`` is
    the memory as uint8, zero-copy. ``uses`` counts submitted tasks that still need it.
    """

    def __init__(
        self,
        space: AddressSpace,
        *,
        address: int,
        data: Bytes,
        flags: int,
        source: Region | None,
        buffer: Buffer | None = None,
    ) -> None:
        self.address = address
        self.size = len(data)
        self.flags = flags
        self.source = source
        self.buffer = buffer
        self.uses = 0
        self.host: Region | None = None  # its place among the host addresses
        self._space = space
        self.region = space.map(
            _engine_address(self.size, address),
            self.size,
            name="imported NvSciBuf" if buffer else "registered CUDA memory",
            data=data,
            writable=not flags & Flag.CUDLA_READ_ONLY_PERM,
            owner=self,
        )
        if buffer is not None:
            buffer.retain()

    @property
    def device_address(self) -> int:
        return self.region.base

    @property
    def array(self) -> Bytes:
        return self.region.data

    @property
    def is_statistics(self) -> bool:
        return bool(self.flags & Flag.CUDLA_TASK_STATISTICS)

    def alive(self, process: Process) -> bool:
        """False once the program freed the memory behind the registration."""
        return self.source is None or process.memory.find(self.source.base) is self.source

    def release(self) -> None:
        self._space.unmap(self.region)
        if self.buffer is not None:
            self.buffer.release()
            self.buffer = None

    def __repr__(self) -> str:
        return f"<registered [{self.address:#x}, +{self.size}) as {self.device_address:#x}>"


class Semaphore:
    """An imported NvSciSync object."""

    def __init__(self, sync: SyncObj) -> None:
        self.sync = sync
        self.uses = 0
        self.device_address = _engine_address(4096, 0)


class DeviceMemory:
    """Everything registered through one device handle. ``others``: that of all other handles."""

    def __init__(
        self,
        process: Process,
        name: str,
        others: Callable[[], Iterable[DeviceMemory]] = lambda: (),
    ) -> None:
        self._process = process
        self.name = name
        self.space = AddressSpace(name)
        self.semaphores: dict[int, Semaphore] = {}
        self._others = others
        self._entries: dict[int, Registered] = {}  # by engine address
        self._imports: dict[Buffer, Registered] = {}
        self._found: tuple[Any, dict[tuple[int, int], Registered]] = None, {}
        """What was looked up, by address and size, and the signatures that it holds for. Replaced
        as a whole: another thread may still look into the one before."""
        self._hosts = AddressSpace(f"host addresses of {name}")

    @property
    def registered(self) -> list[Registered]:
        """What is registered or imported now, oldest first."""
        return list(self._entries.values())

    def register(self, address: int, size: int, flags: int) -> Registered:
        """cudlaMemRegister: CUDA memory becomes visible to the engine.

        Raises CudlaError: InvalidAddress for memory that CUDA did not allocate, a range that
        runs past it or a misaligned pointer, MemoryRegistered for a second registration.
        """
        if size == 0:
            raise invalid_address("size is 0; it is the number of bytes to register")
        if address == 0:
            raise invalid_address("ptr is NULL; it is memory of cudaMalloc or cudaMallocHost")
        other = self._hosts.overlapping(address, size)
        if other is not None:
            raise CudlaError(
                Status.cudlaErrorMemoryRegistered,
                f"ptr ({address:#x}) is registered already: {other.owner}; this error is harmless",
            )
        source = self._process.memory.find(address)
        if source is not None or not self._process.config.of(Settings).register_host_memory:
            data = self._cuda_memory(address, size)
        else:
            data = host_bytes(address, size)
        if address % ALIGNMENT:
            raise invalid_address(f"ptr ({address:#x}) is not aligned to {ALIGNMENT} bytes")
        return self._add(data, address, flags, source, None)

    def _cuda_memory(self, address: int, size: int) -> Bytes:
        try:
            return self._process.memory.view(address, size)
        except MemoryFault as fault:
            raise invalid_address(
                f"ptr and size are no CUDA memory: {fault.explanation}; cudaMalloc and "
                "cudaMallocHost make memory that can be registered"
            ) from None

    def import_buffer(self, buffer: Buffer, size: int, flags: int) -> Registered:
        """cudlaImportExternalMemory. Raises CudlaError (MemoryRegistered, InvalidParam)."""
        if not 0 < size <= buffer.size:
            raise CudlaError(
                Status.cudlaErrorInvalidParam,
                f"desc.size is {size}; the buffer has {buffer.size} bytes",
            )
        other = self._imports.get(buffer)
        if other is not None:
            raise CudlaError(
                Status.cudlaErrorMemoryRegistered,
                f"extBufObject is imported already: {other}; this error is harmless",
            )
        entry = self._add(buffer.region.data[:size], buffer.address, flags, None, buffer)
        self._imports[buffer] = entry
        return entry

    def _add(
        self, data: Bytes, address: int, flags: int, source: Region | None, buffer: Buffer | None
    ) -> Registered:
        entry = Registered(
            self.space, address=address, data=data, flags=flags, source=source, buffer=buffer
        )
        self._entries[entry.device_address] = entry
        if self._hosts.overlapping(address, entry.size) is None:
            entry.host = self._hosts.map(
                address, entry.size, name="registered", data=data, owner=entry
            )
        return entry

    def import_semaphore(self, sync: SyncObj) -> Semaphore:
        """cudlaImportExternalSemaphore. Raises CudlaError (MemoryRegistered)."""
        for other in self.semaphores.values():
            if other.sync is sync:
                raise CudlaError(
                    Status.cudlaErrorMemoryRegistered,
                    f"extSyncObject is imported already as {other.device_address:#x}; this error "
                    "is harmless",
                )
        semaphore = Semaphore(sync)
        self.semaphores[semaphore.device_address] = semaphore
        return semaphore

    def unregister(self, device_address: int) -> None:
        """cudlaMemUnregister: of memory or of a semaphore.

        Raises CudlaError: InvalidAddress for an address that is not registered, Umd while a
        submitted task still needs it.
        """
        entry: Registered | Semaphore | None = self.semaphores.get(device_address)
        if entry is None:
            entry = self._entries.get(device_address)
        if entry is None:
            raise invalid_address(f"devPtr {self.explain(device_address)}")
        if entry.uses:
            raise CudlaError(
                Status.cudlaErrorUmd,
                f"devPtr ({device_address:#x}) is still used by {entry.uses} submitted task(s); "
                "wait for them first",
            )
        if isinstance(entry, Semaphore):
            del self.semaphores[device_address]
        else:
            self._release(entry)

    def _release(self, entry: Registered) -> None:
        del self._entries[entry.device_address]
        if entry.buffer is not None:
            del self._imports[entry.buffer]
        if entry.host is not None:
            self._hosts.unmap(entry.host)
        entry.release()

    def release_all(self) -> None:
        self.semaphores.clear()
        for entry in self.registered:
            self._release(entry)

    def size_at(self, device_address: int) -> int:
        """Bytes registered from an engine address on; 0 when it is none."""
        region = self.space.find(device_address)
        return 0 if region is None else region.end - device_address

    def lookup(self, device_address: int, size: int) -> Registered:
        """The registration that holds a task's tensor. Raises CudlaError (InvalidAddress)."""
        # As long as nothing is mapped or unmapped, what was found is what would be found.
        now = self.space.signature, self._process.memory.signature
        at, found = self._found
        if at != now or len(found) == _LOOKUPS:
            found = {}
            self._found = now, found
        entry = found.get((device_address, size))
        if entry is None:
            entry = found[device_address, size] = self._find(device_address, size)
        return entry

    def _find(self, device_address: int, size: int) -> Registered:
        region = self.space.find(device_address)
        entry: Any = region.owner if region is not None else None
        if region is None or not isinstance(entry, Registered):
            raise invalid_address(self.explain(device_address))
        if device_address + size > region.end:
            raise invalid_address(
                f"({device_address:#x}) needs {size} bytes, but only "
                f"{region.end - device_address} are registered from there on: {entry}"
            )
        if not entry.alive(self._process):
            raise invalid_address(f"{entry} was freed after it was registered")
        return entry

    def explain(self, device_address: int) -> str:
        """Why ``device_address`` is none that this handle's tasks may use."""
        if device_address == 0:
            return "is NULL; it is what cudlaMemRegister or cudlaImportExternalMemory returned"
        own = self._hosts.find(device_address)
        if own is not None:
            return (
                f"({device_address:#x}) is the CPU's address of {own.owner}; "
                f"pass {own.owner.device_address:#x}, the pointer that registration returned"
            )
        if device_address in self.semaphores:
            return f"({device_address:#x}) is a semaphore, no memory"
        inside = self.space.find(device_address)
        if inside is not None:
            return (
                f"({device_address:#x}) lies {device_address - inside.base} bytes inside "
                f"{inside.owner}; pass {inside.base:#x}, the pointer that registration returned"
            )
        for other in self._others():
            region = other.space.find(device_address)
            if region is not None and isinstance(region.owner, Registered):
                return (
                    f"({device_address:#x}) is {region.owner} of another device handle "
                    f"({other.name}); each handle registers memory for itself"
                )
        return "is not registered: " + self.space.explain(device_address, 1)
