"""Arrays, and copies from and to them."""

from __future__ import annotations

from typing import Any

from ...constants.cudart import cudaChannelFormatKind, cudaError
from ...cudart import arrays, context, transfer
from ...cudart.arrays import Array, Box
from ...cudart.errors import invalid_value
from ...cudart.state import ARRAY
from ...cudart.transfer import Copy
from ..embedding import pointer
from .family import cudart, null, number, required_flags

FLOAT = cudaChannelFormatKind.cudaChannelFormatKindFloat


def find(handle: Any, argument: str) -> Array:
    found: Array = cudart.resolve(handle, ARRAY, argument, cudaError.cudaErrorInvalidResourceHandle)
    return found


def format_of(desc: Any) -> arrays.Format:
    return arrays.format_of(desc.x, desc.y, desc.z, desc.w, desc.f)


def describe(desc: Any, of: arrays.Format) -> None:
    """Fills a cudaChannelFormatDesc."""
    bits = [of.bits] * of.channels + [0] * (4 - of.channels)
    desc.x, desc.y, desc.z, desc.w = bits
    desc.f = of.kind


def create(element: arrays.Format, width: int, height: int, how: str) -> Any:
    """Returns the handle of a new array. Raises CudaError (InvalidValue, MemoryAllocation)."""
    current = context.current()
    current.captures.forbid(how)
    made = arrays.create(current.memory, Array(element, width, height), how)
    made.of = current.thread.own_context
    made.handle = current.process.handles.add(ARRAY, made)
    return pointer(made.handle)


@cudart.export("cudaMallocArray")
def malloc_array(target: Any, desc: Any, width: int, height: int, flags: int) -> None:
    null(array=target, desc=desc)
    required_flags(flags, 0, "must be cudaArrayDefault (0)")
    target[0] = create(format_of(desc), width, height, "cudaMallocArray")


@cudart.export("cudaFreeArray", ruined="report")
def free_array(array: Any) -> None:
    if not array:
        return
    found = find(array, "array")
    current = context.current()
    current.captures.forbid("cudaFreeArray")
    current.streams.drain()
    current.process.handles.remove(found.handle, ARRAY, "cudaFreeArray")
    current.memory.free(found.address, "cudaFreeArray")


@cudart.export("cudaArrayGetInfo")
def array_get_info(desc: Any, extent: Any, flags: Any, array: Any) -> None:
    found = find(array, "array")
    if desc:
        describe(desc, found.format)
    if extent:
        extent.width, extent.height, extent.depth = found.width, found.height, 0
    if flags:
        flags[0] = 0


@cudart.export("cudaGetChannelDesc")
def get_channel_desc(desc: Any, array: Any) -> None:
    null(desc=desc)
    describe(desc, find(array, "array").format)


# --- copies --------------------------------------------------------------------------------------


def move(job: Copy, stream: Any) -> None:
    """Copies; at once without a stream."""
    if stream is None:
        current = context.current()
        current.streams.refuse_implicit_capture()
        current.captures.forbid("a copy that waits")
        transfer.copy(current, job)
    else:
        transfer.copy_async(job, context.stream_of(number(stream)))


def _plane(dst: Box, src: Box, kind: int, width: int, height: int, stream: Any) -> None:
    if stream is not None:
        context.stream_of(number(stream))
    if width and height:
        move(arrays.copy(context.current().memory, dst, src, kind, width, height), stream)


def rows_of(address: Any, pitch: int, width: int, name: str) -> Box:
    transfer.plane(width, 1, pitch)
    if not address:
        raise invalid_value(f"{name} is NULL; it points to the memory of the copy")
    return Box(number(address), pitch)


def _to_array(
    dst: Any, x: int, y: int, src: Any, pitch: int, width: int, height: int, kind: int, stream: Any
) -> None:
    target = arrays.box(find(dst, "dst"), x, y, width, height, "dst")
    _plane(target, rows_of(src, pitch, width, "src"), kind, width, height, stream)


@cudart.export("cudaMemcpy2DToArray")
def memcpy_2d_to_array(
    dst: Any, x: int, y: int, src: Any, pitch: int, width: int, height: int, kind: int
) -> None:
    _to_array(dst, x, y, src, pitch, width, height, kind, None)


@cudart.export("cudaMemcpy2DToArrayAsync")
def memcpy_2d_to_array_async(
    dst: Any, x: int, y: int, src: Any, pitch: int, width: int, height: int, kind: int, stream: Any
) -> None:
    _to_array(dst, x, y, src, pitch, width, height, kind, stream)


def _from_array(
    dst: Any, pitch: int, src: Any, x: int, y: int, width: int, height: int, kind: int, stream: Any
) -> None:
    source = arrays.box(find(src, "src"), x, y, width, height, "src")
    _plane(rows_of(dst, pitch, width, "dst"), source, kind, width, height, stream)


@cudart.export("cudaMemcpy2DFromArray")
def memcpy_2d_from_array(
    dst: Any, pitch: int, src: Any, x: int, y: int, width: int, height: int, kind: int
) -> None:
    _from_array(dst, pitch, src, x, y, width, height, kind, None)


@cudart.export("cudaMemcpy2DFromArrayAsync")
def memcpy_2d_from_array_async(
    dst: Any, pitch: int, src: Any, x: int, y: int, width: int, height: int, kind: int, stream: Any
) -> None:
    _from_array(dst, pitch, src, x, y, width, height, kind, stream)
