"""Driver functions that do what a runtime function does, as a table.

Each row names the driver function, the runtime function's handler, and how the arguments are
converted, one letter an argument:

    .  passed on
    o  a pointer that must not be NULL
    p  a CUdeviceptr, passed on as a pointer
    a  a CUdeviceptr *, filled from a void ** of the runtime
    n  a size, which must be at least 1
    s  a stream or an event, which belongs to a context

A function without an ``s`` works in the calling thread's current context.
"""

from __future__ import annotations

from functools import partial
from typing import Any

from ...constants.cudart import cudaError_enum as Result
from ...constants.cudart import cudaMemcpyKind as Kind
from ...cudart.errors import CudaError
from ..embedding import address, ffi, pointer
from ..entry import Handler
from . import device, events, external, graphs, memory, streams, transfer
from .driver import driver, require_context_of, require_current


class _Conversion:
    """A driver function: checks its arguments, converts them and calls the runtime's handler."""

    def __init__(self, name: str, handler: Handler, letters: str) -> None:
        self._handler = handler
        names = [each.partition(":")[0].rstrip("*$") for each in driver.parameters[name]]
        self._columns = list(zip(letters, names, strict=True))

    def __call__(self, *args: Any) -> None:
        if all(letter != "s" for letter, _ in self._columns):
            require_current()
        converted: list[Any] = []
        results = []
        for value, (letter, name) in zip(args, self._columns, strict=True):
            if letter in "oa":
                driver.require(Result.CUDA_ERROR_INVALID_VALUE, **{name: value})
            if letter == "n" and value == 0:
                raise CudaError(Result.CUDA_ERROR_INVALID_VALUE, f"{name} is 0; must be at least 1")
            if letter == "s":
                require_context_of(value)
            if letter == "p":
                converted.append(pointer(value))
            elif letter == "a":
                results.append((value, ffi.new("void **")))
                converted.append(results[-1][1])
            else:
                converted.append(value)
        self._handler(*converted)
        for target, made in results:
            target[0] = address(made[0])


class _Table:
    def export(self, name: str, handler: Handler, letters: str) -> None:
        """Attaches one row."""
        driver.export(name)(_Conversion(name, handler, letters))


table = _Table()


def _copy(kind: Kind, dst: Any, src: Any, size: int) -> None:
    transfer.memcpy(dst, src, size, kind)


def _copy_async(kind: Kind, dst: Any, src: Any, size: int, stream: Any) -> None:
    transfer.memcpy_async(dst, src, size, kind, stream)


def _copies(kind: Kind) -> tuple[Handler, Handler]:
    return partial(_copy, kind), partial(_copy_async, kind)


_any_copy, _any_copy_async = _copies(Kind.cudaMemcpyDefault)
_to_device, _to_device_async = _copies(Kind.cudaMemcpyHostToDevice)
_to_host, _to_host_async = _copies(Kind.cudaMemcpyDeviceToHost)
_on_device, _on_device_async = _copies(Kind.cudaMemcpyDeviceToDevice)

table.export("cuMemGetInfo_v2", memory.mem_get_info, "..")
table.export("cuMemAlloc_v2", memory.malloc, "an")
table.export("cuMemAllocManaged", memory.malloc_managed, "a..")
table.export("cuMemAllocAsync", memory.malloc_async, "a.s")
table.export("cuMemAllocHost_v2", memory.malloc_host, "on")
table.export("cuMemHostAlloc", memory.host_alloc, "on.")
table.export("cuMemFree_v2", memory.free, "p")
table.export("cuMemFreeAsync", memory.free_async, "ps")
table.export("cuMemFreeHost", memory.free_host, "o")
table.export("cuMemHostRegister_v2", memory.host_register, "o..")
table.export("cuMemHostUnregister", memory.host_unregister, "o")
table.export("cuMemHostGetDevicePointer_v2", memory.host_get_device_pointer, "ao.")
table.export("cuMemHostGetFlags", memory.host_get_flags, "oo")

table.export("cuMemcpy", _any_copy, "pp.")
table.export("cuMemcpyHtoD_v2", _to_device, "p..")
table.export("cuMemcpyDtoH_v2", _to_host, ".p.")
table.export("cuMemcpyDtoD_v2", _on_device, "pp.")
table.export("cuMemcpyAsync", _any_copy_async, "pp.s")
table.export("cuMemcpyHtoDAsync_v2", _to_device_async, "p..s")
table.export("cuMemcpyDtoHAsync_v2", _to_host_async, ".p.s")
table.export("cuMemcpyDtoDAsync_v2", _on_device_async, "pp.s")
table.export("cuMemsetD8_v2", transfer.memset, "p..")
table.export("cuMemsetD8Async", transfer.memset_async, "p..s")

table.export("cuStreamCreate", streams.stream_create_with_flags, "o.")
table.export("cuStreamCreateWithPriority", streams.stream_create_with_priority, "o..")
table.export("cuStreamDestroy_v2", streams.stream_destroy, "s")
table.export("cuStreamSynchronize", streams.stream_synchronize, "s")
table.export("cuStreamQuery", streams.stream_query, "s")
table.export("cuStreamWaitEvent", events.stream_wait_event, "s..")
table.export("cuStreamGetPriority", streams.stream_get_priority, "so")
table.export("cuStreamGetFlags", streams.stream_get_flags, "so")
table.export("cuStreamAddCallback", streams.stream_add_callback, "s...")
table.export("cuLaunchHostFunc", streams.launch_host_func, "s..")
table.export("cuStreamAttachMemAsync", memory.stream_attach_mem_async, "sp..")
table.export("cuStreamBeginCapture_v2", streams.stream_begin_capture, "s.")
table.export("cuStreamEndCapture", streams.stream_end_capture, "s.")
table.export("cuStreamIsCapturing", streams.stream_is_capturing, "so")
table.export("cuGraphInstantiateWithFlags", graphs.graph_instantiate, "o..")
table.export("cuGraphLaunch", graphs.graph_launch, ".s")
table.export("cuGraphDestroy", graphs.graph_destroy, ".")
table.export("cuGraphExecDestroy", graphs.graph_exec_destroy, ".")

table.export("cuEventCreate", events.event_create_with_flags, "o.")
table.export("cuEventDestroy_v2", events.event_destroy, "s")
table.export("cuEventRecord", events.event_record, ".s")
table.export("cuEventRecordWithFlags", events.event_record_with_flags, ".s.")
table.export("cuEventQuery", events.event_query, "s")
table.export("cuEventSynchronize", events.event_synchronize, "s")
table.export("cuEventElapsedTime", events.elapsed, "os.")
table.export("cuEventElapsedTime_v2", events.elapsed, "os.")

# The driver's structures have the runtime's members under the same names.
table.export("cuImportExternalMemory", external.import_external_memory, "oo")
table.export("cuExternalMemoryGetMappedBuffer", external.get_mapped_buffer, "a.o")
table.export("cuDestroyExternalMemory", external.destroy_external_memory, ".")
table.export("cuImportExternalSemaphore", external.import_external_semaphore, "oo")
table.export("cuSignalExternalSemaphoresAsync", external.signal, "...s")
table.export("cuWaitExternalSemaphoresAsync", external.wait, "...s")
table.export("cuDestroyExternalSemaphore", external.destroy_external_semaphore, ".")

table.export("cuCtxGetLimit", device.device_get_limit, "o.")
table.export("cuCtxSetLimit", device.device_set_limit, "..")
table.export("cuCtxGetStreamPriorityRange", device.stream_priority_range, "..")
