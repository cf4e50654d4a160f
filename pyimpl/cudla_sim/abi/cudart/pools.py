"""Pools that stream-ordered allocations come from.

CUDA Runtime API, "Stream Ordered Memory Allocator". Memory goes back to the system when it is
freed; what a pool reserves beyond that, up to its release threshold, is counted only.
"""

from __future__ import annotations

import os
from typing import Any

from ...constants.cudart import (
    cudaError,
    cudaMemAccessFlags,
    cudaMemAllocationType,
    cudaMemLocationType,
    cudaMemPoolAttr,
)
from ...constants.cudart import cudaGraphNodeType as NodeType
from ...constants.cudart import cudaMemAllocationHandleType as HandleType
from ...cudart import context
from ...cudart.errors import CudaError, invalid_value, not_supported
from ...cudart.graph import Node
from ...cudart.memory import Allocation
from ...cudart.shared_files import SharedFile
from ...cudart.state import POOL
from ..embedding import ffi, pointer
from .device import get_device
from .family import cudart, null, number
from .memory import DEVICE

_INTEGERS = (1, 2, 3)  # the three ways of using memory again
_PINNED = cudaMemAllocationType.cudaMemAllocationTypePinned
_PINNED_OR_MANAGED = (_PINNED, cudaMemAllocationType.cudaMemAllocationTypeManaged)
_DEVICE_ONLY = cudaMemLocationType.cudaMemLocationTypeDevice


class Pool:
    """``maximum`` bytes at most, 0: as much as the device has.

    What other processes know it by is an empty file; ``imported``: it is that of another one.
    """

    def __init__(self, maximum: int = 0, exportable: bool = False) -> None:
        self.exportable = exportable
        self.imported = False
        self._file: SharedFile | None = None
        self.maximum = maximum
        self.handle = 0
        self.flags = dict.fromkeys(_INTEGERS, 1)
        self.threshold = 0
        self.high = self.reserved_high = 0
        self._kept = 0  # bytes at most, before the threshold is asked
        self._live: list[Allocation] = []

    @classmethod
    def adopted(cls, descriptor: int) -> Pool:
        """Raises CudaError (InvalidValue)."""
        made = cls()
        try:
            made._file = SharedFile(os.dup(descriptor), 0)
        except OSError as error:
            raise invalid_value(
                f"shareableHandle is descriptor {descriptor}: {error.strerror}"
            ) from None
        made.imported = True
        return made

    def _shared(self) -> SharedFile:
        if self._file is None:
            self._file = SharedFile.create("cuda memory pool", 0)
        return self._file

    def descriptor(self) -> int:
        """For another process. Raises CudaError (InvalidValue)."""
        if not self.exportable:
            raise invalid_value(
                "memPool was created without cudaMemHandleTypePosixFileDescriptor in handleTypes"
            )
        return os.dup(self._shared().descriptor)

    def identity(self) -> int:
        """The same in every process that has it."""
        return os.fstat(self._shared().descriptor).st_ino

    @property
    def used(self) -> int:
        """Bytes of what is not freed yet."""
        self._live = [a for a in self._live if not a.freed]
        return sum(a.region.size for a in self._live)

    @property
    def reserved(self) -> int:
        """Bytes that a pool has from the system: beyond the threshold they go back at the next
        synchronization, which is taken as done."""
        return max(self.used, min(self._kept, self.threshold))

    def trim(self, size: int) -> None:
        """Gives back what is not used, but for ``size`` bytes in all."""
        self._kept = max(self.used, min(self.reserved, size))

    def allocate(self, size: int, how: str) -> int:
        """Raises CudaError (MemoryAllocation)."""
        if self.imported:
            raise invalid_value("memPool is that of another process; only it allocates")
        used = self.used
        if self.maximum and used + size > self.maximum:
            raise CudaError(
                cudaError.cudaErrorMemoryAllocation,
                f"size is {size}; the pool has {self.maximum - used} of {self.maximum} bytes left",
            )
        memory = context.current().memory
        base = memory.allocate(size, DEVICE, how)
        found = memory.allocation(base)
        if found is not None:
            found.pool = self
            self._live.append(found)
        self._kept = max(self.reserved, used + size)
        self.high = max(self.high, used + size)
        self.reserved_high = max(self.reserved_high, self._kept)
        return base


class _Pools:
    def __init__(self) -> None:
        self.default = Pool()
        self.default.handle = context.current().process.handles.add(POOL, self.default)
        self.current = self.default


def pools() -> _Pools:
    """Of this process: the device's default pool, and the current one."""
    return context.current().process.family("cuda memory pools", lambda _: _Pools())


def pool_of(handle: Any) -> Pool:
    found: Pool = cudart.resolve(handle, POOL, "memPool", cudaError.cudaErrorInvalidValue)
    return found


@cudart.export("cudaDeviceGetDefaultMemPool")
def device_get_default_mem_pool(target: Any, device: int) -> None:
    null(memPool=target)
    get_device(device)
    target[0] = pointer(pools().default.handle)


@cudart.export("cudaDeviceGetMemPool")
def device_get_mem_pool(target: Any, device: int) -> None:
    null(memPool=target)
    get_device(device)
    target[0] = pointer(pools().current.handle)


@cudart.export("cudaDeviceSetMemPool")
def device_set_mem_pool(device: int, pool: Any) -> None:
    get_device(device)
    pools().current = pool_of(pool)


def _of_location(location: Any, kind: int) -> int:
    """The device whose pool is meant. Raises CudaError (InvalidValue, NotSupported)."""
    null(location=location)
    if kind not in _PINNED_OR_MANAGED:
        raise invalid_value(f"type is {kind}; cudaMemAllocationTypePinned 1 or Managed 2")
    if kind != _PINNED or location.type != _DEVICE_ONLY:
        raise not_supported(
            f"a pool of type {kind} at a location of type {location.type}; the device has one of "
            "cudaMemAllocationTypePinned 1 at cudaMemLocationTypeDevice 1"
        )
    return int(location.id)


@cudart.export("cudaMemGetDefaultMemPool")
def mem_get_default_mem_pool(target: Any, location: Any, kind: int) -> None:
    device_get_default_mem_pool(target, _of_location(location, kind))


@cudart.export("cudaMemGetMemPool")
def mem_get_mem_pool(target: Any, location: Any, kind: int) -> None:
    device_get_mem_pool(target, _of_location(location, kind))


@cudart.export("cudaMemSetMemPool")
def mem_set_mem_pool(location: Any, kind: int, pool: Any) -> None:
    device_set_mem_pool(_of_location(location, kind), pool)


@cudart.export("cudaMemPoolCreate")
def mem_pool_create(target: Any, props: Any) -> None:
    null(memPool=target, poolProps=props)
    if props.handleTypes & ~HandleType.cudaMemHandleTypePosixFileDescriptor:
        raise not_supported(
            f"poolProps->handleTypes {props.handleTypes:#x}; None 0 and PosixFileDescriptor 1 are"
        )
    require_device(props.location, "poolProps->location")
    target[0] = add_pool(Pool(props.maxSize, bool(props.handleTypes)))


def add_pool(made: Pool) -> Any:
    made.handle = context.current().process.handles.add(POOL, made)
    return pointer(made.handle)


def require_device(location: Any, name: str) -> None:
    if location.type != _DEVICE_ONLY:
        raise invalid_value(f"{name}.type is {location.type}; cudaMemLocationTypeDevice 1")
    get_device(location.id)


@cudart.export("cudaMemPoolDestroy", ruined="report")
def mem_pool_destroy(pool: Any) -> None:
    found, all_ = pool_of(pool), pools()
    if found is all_.default:
        raise invalid_value("memPool is the device's default pool, which stays")
    context.current().process.handles.remove(found.handle, POOL, "cudaMemPoolDestroy")
    if all_.current is found:
        all_.current = all_.default


@cudart.export("cudaMemPoolTrimTo")
def mem_pool_trim_to(pool: Any, size: int) -> None:
    pool_of(pool).trim(size)


def _attribute(attribute: int, value: Any) -> cudaMemPoolAttr:
    null(value=value)
    if attribute not in cudaMemPoolAttr._value2member_map_:
        raise invalid_value(f"attr is {attribute}; cudaMemPoolAttr has 1 to 8")
    return cudaMemPoolAttr(attribute)


@cudart.export("cudaMemPoolSetAttribute")
def mem_pool_set_attribute(pool: Any, attribute: int, value: Any) -> None:
    found, which = pool_of(pool), _attribute(attribute, value)
    if which in _INTEGERS:
        found.flags[which] = ffi.cast("int *", value)[0]
        return
    given = ffi.cast("uint64_t *", value)[0]
    if which == cudaMemPoolAttr.cudaMemPoolAttrReleaseThreshold:
        found.threshold = given
    elif which == cudaMemPoolAttr.cudaMemPoolAttrUsedMemHigh and given == 0:
        found.high = found.used
    elif which == cudaMemPoolAttr.cudaMemPoolAttrReservedMemHigh and given == 0:
        found.reserved_high = found.reserved
    else:
        raise invalid_value(f"{which.name} cannot be set to {given}; high marks to 0 only")


@cudart.export("cudaMemPoolGetAttribute")
def mem_pool_get_attribute(pool: Any, attribute: int, value: Any) -> None:
    found, which = pool_of(pool), _attribute(attribute, value)
    if which in _INTEGERS:
        ffi.cast("int *", value)[0] = found.flags[which]
        return
    ffi.cast("uint64_t *", value)[0] = {
        cudaMemPoolAttr.cudaMemPoolAttrReleaseThreshold: found.threshold,
        cudaMemPoolAttr.cudaMemPoolAttrReservedMemCurrent: found.reserved,
        cudaMemPoolAttr.cudaMemPoolAttrReservedMemHigh: found.reserved_high,
        cudaMemPoolAttr.cudaMemPoolAttrUsedMemCurrent: found.used,
        cudaMemPoolAttr.cudaMemPoolAttrUsedMemHigh: found.high,
    }[which]


@cudart.export("cudaMemPoolSetAccess")
def mem_pool_set_access(pool: Any, descriptions: Any, count: int) -> None:
    pool_of(pool)
    if count:
        null(descList=descriptions)
    for index in range(count):
        require_device(descriptions[index].location, f"descList[{index}].location")
        if descriptions[index].flags != cudaMemAccessFlags.cudaMemAccessFlagsProtReadWrite:
            raise invalid_value(
                f"descList[{index}].flags is {descriptions[index].flags}; the device that owns a "
                "pool reads and writes it (3)"
            )


@cudart.export("cudaMemPoolGetAccess")
def mem_pool_get_access(flags: Any, pool: Any, location: Any) -> None:
    null(flags=flags, location=location)
    pool_of(pool)
    require_device(location, "location")
    flags[0] = cudaMemAccessFlags.cudaMemAccessFlagsProtReadWrite


def _allocate(target: Any, size: int, pool: Pool, stream: Any, how: str) -> None:
    current = context.current()
    found = current.streams.resolve(number(stream))
    if found.capture is not None:
        node = Node(None, NodeType.cudaGraphNodeTypeMemAlloc, [])
        found.capture.require_valid()
        node.memory = current.node_memories.create(size)
        found.capture.insert(found, node)
        target[0] = pointer(node.memory.base)
        return
    target[0] = pointer(pool.allocate(size, how))


@cudart.export("cudaMallocAsync")
def malloc_async(target: Any, size: int, stream: Any) -> None:
    null(devPtr=target)
    _allocate(target, size, pools().current, stream, "cudaMallocAsync")


@cudart.export("cudaMallocFromPoolAsync")
def malloc_from_pool_async(target: Any, size: int, pool: Any, stream: Any) -> None:
    null(ptr=target)
    _allocate(target, size, pool_of(pool), stream, "cudaMallocFromPoolAsync")
