"""Memory and events of other processes."""

from __future__ import annotations

from typing import Any

from ...constants.cudart import cudaError, cudaMemAllocationHandleType
from ...cudart import context
from ...cudart.errors import CudaError, invalid_handle, invalid_value
from ...cudart.shared_events import SharedEvent
from ...cudart.shared_files import Ticket
from ..embedding import ffi, pointer
from .events import resolve as event_of
from .family import cudart, null, number, required_flags
from .pools import Pool, add_pool, pool_of

_DESCRIPTOR = cudaMemAllocationHandleType.cudaMemHandleTypePosixFileDescriptor
_SIZE = 64


def _read(handle: Any) -> Ticket:
    return Ticket.read(bytes(ffi.buffer(ffi.addressof(handle), _SIZE)))


@cudart.export("cudaIpcGetMemHandle")
def get_mem_handle(handle: Any, dev_ptr: Any) -> None:
    null(handle=handle, devPtr=dev_ptr)
    current = context.current()
    current.synchronize()
    ticket = current.shared_memory.share(number(dev_ptr), "devPtr")
    ffi.memmove(handle, ticket.pack(), _SIZE)


@cudart.export("cudaIpcOpenMemHandle")
def open_mem_handle(dev_ptr: Any, handle: Any, flags: int) -> None:
    null(devPtr=dev_ptr)
    required_flags(flags, 1, "cudaIpcMemLazyEnablePeerAccess 1")
    dev_ptr[0] = pointer(context.current().shared_memory.open(_read(handle), "handle"))


@cudart.export("cudaIpcCloseMemHandle", ruined="report")
def close_mem_handle(dev_ptr: Any) -> None:
    null(devPtr=dev_ptr)
    current = context.current()
    current.streams.drain()
    current.shared_memory.close(number(dev_ptr), "cudaIpcCloseMemHandle")


@cudart.export("cudaIpcGetEventHandle")
def get_event_handle(handle: Any, event: Any) -> None:
    null(handle=handle)
    found = event_of(event)
    if not isinstance(found, SharedEvent):
        raise invalid_handle(
            "event was created without cudaEventInterprocess and cudaEventDisableTiming"
        )
    ffi.memmove(handle, found.ticket().pack(), _SIZE)


@cudart.export("cudaIpcOpenEventHandle")
def open_event_handle(event: Any, handle: Any) -> None:
    null(event=event)
    event[0] = pointer(SharedEvent.open(context.current(), _read(handle)).handle)


# --- pools ---------------------------------------------------------------------------------------


def _descriptor(kind: int, flags: int) -> None:
    required_flags(flags, 0, "it is 0")
    if kind != _DESCRIPTOR:
        raise CudaError(
            cudaError.cudaErrorNotSupported,
            f"handleType is {kind}; cudaMemHandleTypePosixFileDescriptor (1) is known here",
        )


@cudart.export("cudaMemPoolExportToShareableHandle")
def export_to_shareable_handle(target: Any, pool: Any, kind: int, flags: int) -> None:
    null(shareableHandle=target)
    found = pool_of(pool)
    _descriptor(kind, flags)
    ffi.cast("int *", target)[0] = found.descriptor()


@cudart.export("cudaMemPoolImportFromShareableHandle")
def import_from_shareable_handle(target: Any, handle: Any, kind: int, flags: int) -> None:
    null(memPool=target)
    _descriptor(kind, flags)
    descriptor = int(ffi.cast("intptr_t", handle))
    target[0] = add_pool(Pool.adopted(descriptor))


@cudart.export("cudaMemPoolExportPointer")
def export_pointer(data: Any, ptr: Any) -> None:
    null(exportData=data, ptr=ptr)
    current = context.current()
    found = current.memory.allocation(number(ptr))
    pool = None if found is None else found.pool
    if not isinstance(pool, Pool) or not pool.exportable:
        raise invalid_value(f"ptr ({number(ptr):#x}) is no memory of a pool that can be exported")
    current.synchronize()
    ticket = current.shared_memory.share(number(ptr), "ptr", pool.identity())
    ffi.memmove(data, ticket.pack(), _SIZE)


@cudart.export("cudaMemPoolImportPointer")
def import_pointer(target: Any, pool: Any, data: Any) -> None:
    null(ptr=target, exportData=data)
    found = pool_of(pool)
    ticket = _read(data[0])
    if not found.imported or ticket.more != found.identity():
        raise invalid_value("exportData is of another pool than the one that was imported")
    target[0] = pointer(context.current().shared_memory.open(ticket, "exportData"))
