"""Green contexts: streams that have a part of the multiprocessors.

CUDA Driver API, "Green Contexts". The parts are counted and told; kernels run as elsewhere.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...constants.cudart import CUdevResourceType as Type
from ...constants.cudart import cudaDeviceAttr, cudaStreamNonBlocking
from ...constants.cudart import cudaError_enum as Result
from ...cudart import context
from ...cudart.errors import CudaError
from ...cudart.events import Event
from ...cudart.streams import Stream
from ..embedding import ffi, pointer
from .device import get_device
from .driver import CONTEXT, DriverContext, context_of, driver, null, require_current
from .events import resolve as event_of
from .streams import resolve

GREEN = "CUgreenCtx"
DESCRIPTION = "CUdevResourceDesc"
_LEAST, _STEP = 4, 2
"""Multiprocessors of a group, compute capability 8 (cuDevSmResourceSplitByCount)."""
_MOST_RESOURCES = 1024


class Description:
    """What a context shall have."""

    def __init__(self, multiprocessors: int) -> None:
        self.multiprocessors = multiprocessors
        self.handle = context.current().process.handles.add(DESCRIPTION, self)


class GreenContext:
    """``context`` is what can be made current, once a program has asked for it. ``held``: events
    that streams made later wait for, too."""

    def __init__(self, multiprocessors: int) -> None:
        self.multiprocessors = multiprocessors
        self.streams: list[Stream] = []
        self.context: DriverContext | None = None
        self.held: list[Event] = []
        self.handle = context.current().process.handles.add(GREEN, self)

    def add(self, flags: int, priority: int) -> Stream:
        made = context.current().streams.create(flags, priority)
        self.streams.append(made)
        for event in self.held:
            event.hold(made)
        return made

    def alive(self) -> list[Stream]:
        self.streams = [stream for stream in self.streams if not stream.closed]
        return self.streams

    def current(self) -> DriverContext:
        if self.context is None:
            self.context = DriverContext(context.current())
        return self.context


def _green(handle: Any, argument: str = "hCtx") -> GreenContext:
    found: GreenContext = driver.resolve(handle, GREEN, argument, Result.CUDA_ERROR_INVALID_CONTEXT)
    return found


def _all() -> list[GreenContext]:
    return list(context.current().process.handles.live(GREEN))


def _invalid(text: str) -> CudaError:
    return CudaError(Result.CUDA_ERROR_INVALID_VALUE, text)


# --- multiprocessors -----------------------------------------------------------------------------


def _whole() -> int:
    return get_device(0).attribute(cudaDeviceAttr.cudaDevAttrMultiProcessorCount)


def _tell(resource: Any, kind: int, multiprocessors: int) -> None:
    if kind != Type.CU_DEV_RESOURCE_TYPE_SM:
        raise CudaError(
            Result.CUDA_ERROR_INVALID_RESOURCE_TYPE, f"type is {kind}; CU_DEV_RESOURCE_TYPE_SM 1"
        )
    _fill(resource, multiprocessors)


def _fill(resource: Any, multiprocessors: int) -> None:
    size = ffi.sizeof("CUdevResource")
    ffi.memmove(resource, bytes(size), size)
    if multiprocessors:
        resource.type = Type.CU_DEV_RESOURCE_TYPE_SM
        resource.sm.smCount = multiprocessors


def _count(resource: Any, name: str) -> int:
    """Raises CudaError (INVALID_RESOURCE_TYPE, INVALID_RESOURCE_CONFIGURATION)."""
    if resource.type != Type.CU_DEV_RESOURCE_TYPE_SM:
        raise CudaError(
            Result.CUDA_ERROR_INVALID_RESOURCE_TYPE,
            f"{name}.type is {resource.type}; CU_DEV_RESOURCE_TYPE_SM 1",
        )
    found = int(resource.sm.smCount)
    if not 0 < found <= _whole():
        raise CudaError(
            Result.CUDA_ERROR_INVALID_RESOURCE_CONFIGURATION,
            f"{name}.sm.smCount is {found}; 1 to {_whole()}",
        )
    return found


@driver.export("cuDeviceGetDevResource")
def device_get_dev_resource(ordinal: int, resource: Any, kind: int) -> None:
    null(resource=resource)
    get_device(ordinal)
    _tell(resource, kind, _whole())


@driver.export("cuCtxGetDevResource")
def ctx_get_dev_resource(wanted: Any, resource: Any, kind: int) -> None:
    null(resource=resource)
    found = driver.resolve(wanted, CONTEXT, "hCtx")
    of = next((each for each in _all() if each.context is found), None)
    _tell(resource, kind, of.multiprocessors if of is not None else _whole())


@driver.export("cuGreenCtxGetDevResource")
def green_ctx_get_dev_resource(wanted: Any, resource: Any, kind: int) -> None:
    null(resource=resource)
    _tell(resource, kind, _green(wanted).multiprocessors)


@driver.export("cuDevSmResourceSplitByCount")
def sm_resource_split_by_count(
    result: Any, groups: Any, given: Any, remaining: Any, flags: int, least: int
) -> None:
    null(nbGroups=groups, input=given)
    if flags & ~3:
        raise _invalid(f"useFlags is {flags:#x}; CU_DEV_SM_RESOURCE_SPLIT_* are 1 and 2")
    whole = _count(given, "input")
    size = max(-(-least // _STEP) * _STEP, _LEAST)
    most = whole // size
    if most == 0:
        raise CudaError(
            Result.CUDA_ERROR_INVALID_RESOURCE_CONFIGURATION,
            f"minCount is {least}, a group of {size}; input has {whole} multiprocessors",
        )
    made = min(int(groups[0]), most) if result else most
    groups[0] = made
    if result:
        for index in range(made):
            _fill(result + index, size)
    if remaining:
        _fill(remaining, whole - made * size)


@driver.export("cuDevResourceGenerateDesc")
def dev_resource_generate_desc(target: Any, resources: Any, count: int) -> None:
    null(phDesc=target, resources=resources)
    if not 0 < count <= _MOST_RESOURCES:
        raise _invalid(f"nbResources is {count}; 1 to {_MOST_RESOURCES}")
    found = sum(_count(resources[index], f"resources[{index}]") for index in range(count))
    if found > _whole():
        raise CudaError(
            Result.CUDA_ERROR_INVALID_RESOURCE_CONFIGURATION,
            f"resources have {found} multiprocessors together; the device has {_whole()}",
        )
    target[0] = pointer(Description(found).handle)


# --- contexts ------------------------------------------------------------------------------------


@driver.export("cuGreenCtxCreate")
def green_ctx_create(target: Any, description: Any, ordinal: int, flags: int) -> None:
    null(phCtx=target)
    get_device(ordinal)
    found = driver.resolve(
        description, DESCRIPTION, "desc", Result.CUDA_ERROR_INVALID_RESOURCE_CONFIGURATION
    )
    if flags != 1:
        raise _invalid(f"flags is {flags:#x}; CU_GREEN_CTX_DEFAULT_STREAM 1")
    target[0] = pointer(GreenContext(found.multiprocessors).handle)


@driver.export("cuGreenCtxDestroy")
def green_ctx_destroy(wanted: Any) -> None:
    found = _green(wanted)
    current = context.current()
    for stream in found.alive():
        current.streams.destroy(stream.handle)
    current.process.handles.remove(found.handle, GREEN, "cuGreenCtxDestroy")
    if found.context is not None:
        current.process.handles.remove(found.context.handle, CONTEXT, "cuGreenCtxDestroy")


@driver.export("cuCtxFromGreenCtx")
def ctx_from_green_ctx(target: Any, wanted: Any) -> None:
    null(pContext=target)
    target[0] = pointer(_green(wanted).current().handle)


# --- streams -------------------------------------------------------------------------------------


@driver.export("cuGreenCtxStreamCreate")
def green_ctx_stream_create(target: Any, wanted: Any, flags: int, priority: int) -> None:
    null(phStream=target)
    found = _green(wanted, "greenCtx")
    if flags != cudaStreamNonBlocking:
        raise _invalid(f"flags is {flags:#x}; CU_STREAM_NON_BLOCKING 1")
    target[0] = pointer(found.add(flags, priority).handle)


def _of(stream: Stream) -> GreenContext | None:
    return next((each for each in _all() if stream in each.streams), None)


@driver.export("cuStreamGetGreenCtx")
def stream_get_green_ctx(stream: Any, target: Any) -> None:
    null(phCtx=target)
    found = _of(resolve(stream))
    target[0] = pointer(found.handle if found is not None else 0)


@driver.export("cuStreamGetCtx_v2")
def stream_get_ctx_v2(stream: Any, target: Any, green: Any) -> None:
    null(pCtx=target, pGreenCtx=green)
    require_current()
    asked = resolve(stream)
    found = _of(asked)
    target[0] = pointer(context_of(asked) if found is None else found.current().handle)
    green[0] = pointer(found.handle if found is not None else 0)


def _record(event: Any, streams: Sequence[Stream], mark: Stream) -> None:
    """Behind what all of the streams have; ``mark`` is where the event stands."""
    found = event_of(event, "hEvent")
    waits = [stream.queue.last for stream in streams if stream is not mark]
    with context.current().lock:
        mark.enqueue(None, waits)
        found.record(mark)


def _wait(event: Any, streams: Sequence[Stream]) -> None:
    found = event_of(event, "hEvent")
    for stream in streams:
        found.hold(stream)


@driver.export("cuGreenCtxRecordEvent")
def green_ctx_record_event(wanted: Any, event: Any) -> None:
    green = _green(wanted)
    mark = green.alive()[0] if green.alive() else green.add(cudaStreamNonBlocking, 0)
    _record(event, green.streams, mark)


@driver.export("cuGreenCtxWaitEvent")
def green_ctx_wait_event(wanted: Any, event: Any) -> None:
    green = _green(wanted)
    _wait(event, green.alive())
    green.held = [*(held for held in green.held if not held.reached), event_of(event, "hEvent")]


def _others() -> list[Stream]:
    """All streams that are no green context's."""
    return [each for each in context.current().streams.all() if _of(each) is None]


@driver.export("cuCtxRecordEvent")
def ctx_record_event(wanted: Any, event: Any) -> None:
    found = driver.resolve(wanted, CONTEXT, "hCtx")
    of = next((each for each in _all() if each.context is found), None)
    if of is not None:
        green_ctx_record_event(of.handle, event)
    else:
        _record(event, _others(), context.current().streams.legacy)


@driver.export("cuCtxWaitEvent")
def ctx_wait_event(wanted: Any, event: Any) -> None:
    found = driver.resolve(wanted, CONTEXT, "hCtx")
    of = next((each for each in _all() if each.context is found), None)
    if of is not None:
        green_ctx_wait_event(of.handle, event)
    else:
        _wait(event, _others())
