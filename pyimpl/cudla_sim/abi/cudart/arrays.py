"""Arrays, and copies from and to them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ...constants.cudart import cudaChannelFormatKind, cudaError
from ...cudart import arrays, context, transfer
from ...cudart.arrays import Array, Box
from ...cudart.device import PITCH_ALIGN
from ...cudart.errors import invalid_value
from ...cudart.graph import Filling
from ...cudart.state import ARRAY
from ...cudart.transfer import Copy
from ..embedding import pointer
from .family import cudart, null, number, required_flags
from .memory import DEVICE
from .transfer import put

FLOAT = cudaChannelFormatKind.cudaChannelFormatKindFloat
FLAGS = 15
NAMES = "cudaArrayLayered 1, SurfaceLoadStore 2, Cubemap 4 and TextureGather 8 exist"


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


def _create(target: Any, desc: Any, extent: tuple[int, int, int], flags: int, how: str) -> None:
    null(array=target, desc=desc)
    required_flags(flags, FLAGS, NAMES)
    current = context.current()
    current.captures.forbid(how)
    made = arrays.create(current.memory, Array(format_of(desc), *extent, flags), how)
    made.of = current.thread.own_context
    made.handle = current.process.handles.add(ARRAY, made)
    target[0] = pointer(made.handle)


@cudart.export("cudaMallocArray")
def malloc_array(target: Any, desc: Any, width: int, height: int, flags: int) -> None:
    _create(target, desc, (width, height, 0), flags, "cudaMallocArray")


@cudart.export("cudaMalloc3DArray")
def malloc_3d_array(target: Any, desc: Any, extent: Any, flags: int) -> None:
    size = (extent.width, extent.height, extent.depth)
    _create(target, desc, size, flags, "cudaMalloc3DArray")


@cudart.export("cudaFreeArray", ruined="report")
def free_array(array: Any) -> None:
    if not array:
        return
    found = find(array, "array")
    if found.whole is not None:
        raise invalid_value("array is a level of a mipmapped array, which goes with all of them")
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
        extent.width, extent.height, extent.depth = found.width, found.height, found.depth
    if flags:
        flags[0] = found.flags


@cudart.export("cudaGetChannelDesc")
def get_channel_desc(desc: Any, array: Any) -> None:
    null(desc=desc)
    describe(desc, find(array, "array").format)


@cudart.export("cudaMalloc3D")
def malloc_3d(target: Any, extent: Any) -> None:
    null(pitchedDevPtr=target)
    current = context.current()
    current.captures.forbid("cudaMalloc3D")
    pitch = -(-extent.width // PITCH_ALIGN) * PITCH_ALIGN
    size = pitch * extent.height * extent.depth
    target.ptr = pointer(current.memory.allocate(size, DEVICE, "cudaMalloc3D"))
    target.pitch, target.xsize, target.ysize = pitch, extent.width, extent.height


def _fill(target: Any, value: int, extent: Any, stream: Any, wait: bool) -> None:
    current = context.current()
    place = current.streams.legacy if stream is None else current.streams.resolve(number(stream))
    if not extent.width or not extent.height or not extent.depth:
        return
    shape = transfer.plane(extent.width, extent.height, target.pitch)
    works = []
    for z in range(extent.depth):
        start = number(target.ptr) + z * target.pitch * target.ysize
        memory = transfer.check(current.memory, start, shape, "device", "pitchedDevPtr")
        filling = Filling(start, target.pitch, value & 0xFF, 1, extent.width, extent.height)
        works.append((transfer.fill(memory, value), filling))
    for each, filling in works:
        put(each, filling, place, wait)


@cudart.export("cudaMemset3D")
def memset_3d(target: Any, value: int, extent: Any) -> None:
    _fill(target, value, extent, None, wait=True)


@cudart.export("cudaMemset3DAsync")
def memset_3d_async(target: Any, value: int, extent: Any, stream: Any) -> None:
    _fill(target, value, extent, stream, wait=False)


# --- copies --------------------------------------------------------------------------------------


def move(jobs: Iterable[Copy], stream: Any) -> None:
    """All of them; at once without a stream."""
    current = context.current()
    checked = list(jobs)
    if stream is None:
        current.streams.refuse_implicit_capture()
        current.captures.forbid("a copy that waits")
        for job in checked:
            transfer.copy(current, job)
        return
    target = context.stream_of(number(stream))
    for job in checked:
        transfer.copy_async(job, target)


def plane(dst: Box, src: Box, kind: int, width: int, height: int, stream: Any) -> None:
    if stream is not None:
        context.stream_of(number(stream))
    if width and height:
        memory = context.current().memory
        move(arrays.copies(memory, dst, src, kind, width, height, 1), stream)


def rows_of(address: Any, pitch: int, width: int, name: str) -> Box:
    transfer.plane(width, 1, pitch)
    if not address:
        raise invalid_value(f"{name} is NULL; it points to the memory of the copy")
    return Box(number(address), pitch, 0)


def linear(array: Array, x: int, y: int, count: int, name: str) -> tuple[Box, int, int]:
    """A box of ``count`` bytes in the order of rows: its width and rows. Raises CudaError."""
    row = array.width * array.format.size
    if count <= row - x:
        return arrays.box(array, x, y, 0, count, 1, 1, name), count, 1
    if x or count % row:
        raise invalid_value(
            f"count is {count} from byte {x} of a row; part of a row, or whole rows of {row} bytes"
        )
    return arrays.box(array, 0, y, 0, row, count // row, 1, name), row, count // row


@cudart.export("cudaMemcpyToArray")
def memcpy_to_array(dst: Any, x: int, y: int, src: Any, count: int, kind: int) -> None:
    if count:
        target, width, rows = linear(find(dst, "dst"), x, y, count, "dst")
        plane(target, rows_of(src, width, width, "src"), kind, width, rows, None)


@cudart.export("cudaMemcpyFromArray")
def memcpy_from_array(dst: Any, src: Any, x: int, y: int, count: int, kind: int) -> None:
    if count:
        source, width, rows = linear(find(src, "src"), x, y, count, "src")
        plane(rows_of(dst, width, width, "dst"), source, kind, width, rows, None)


def _to_array(
    dst: Any, x: int, y: int, src: Any, pitch: int, width: int, height: int, kind: int, stream: Any
) -> None:
    target = arrays.box(find(dst, "dst"), x, y, 0, width, height, 1, "dst")
    plane(target, rows_of(src, pitch, width, "src"), kind, width, height, stream)


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
    source = arrays.box(find(src, "src"), x, y, 0, width, height, 1, "src")
    plane(rows_of(dst, pitch, width, "dst"), source, kind, width, height, stream)


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


@cudart.export("cudaMemcpy2DArrayToArray")
def memcpy_2d_array_to_array(
    dst: Any, to_x: int, to_y: int, src: Any, x: int, y: int, width: int, height: int, kind: int
) -> None:
    target = arrays.box(find(dst, "dst"), to_x, to_y, 0, width, height, 1, "dst")
    source = arrays.box(find(src, "src"), x, y, 0, width, height, 1, "src")
    plane(target, source, kind, width, height, None)


def _side(p: Any, array: Array | None, side: str, width: int, rows: int, planes: int) -> Box:
    position, memory = getattr(p, f"{side}Pos"), getattr(p, f"{side}Ptr")
    if array is not None:
        x = position.x * array.format.size
        return arrays.box(array, x, position.y, position.z, width, rows, planes, f"{side}Array")
    transfer.plane(width, rows, memory.pitch)
    if not memory.ptr:
        raise invalid_value(f"{side}Array and {side}Ptr.ptr are NULL; one of them is given")
    slice_ = memory.pitch * memory.ysize
    start = number(memory.ptr) + position.z * slice_ + position.y * memory.pitch + position.x
    return Box(start, memory.pitch, slice_)


def copies_of(p: Any) -> Iterable[Copy]:
    """Those of a cudaMemcpy3DParms. Raises CudaError."""
    null(p=p)
    src = find(p.srcArray, "srcArray") if p.srcArray else None
    dst = find(p.dstArray, "dstArray") if p.dstArray else None
    if (src and p.srcPtr.ptr) or (dst and p.dstPtr.ptr):
        raise invalid_value("both an array and a pointer are given on one side; the other is NULL")
    sizes = {a.format.size for a in (src, dst) if a is not None}
    if len(sizes) > 1:
        raise invalid_value(f"elements have {' and '.join(map(str, sizes))} bytes; both the same")
    width = p.extent.width * (sizes.pop() if sizes else 1)
    rows, planes = p.extent.height, p.extent.depth
    if not width or not rows or not planes:
        return ()
    target = _side(p, dst, "dst", width, rows, planes)
    source = _side(p, src, "src", width, rows, planes)
    memory = context.current().memory
    return arrays.copies(memory, target, source, p.kind, width, rows, planes)


def _box(p: Any, stream: Any) -> None:
    null(p=p)
    if stream is not None:
        context.stream_of(number(stream))
    move(copies_of(p), stream)


@cudart.export("cudaMemcpy3D")
def memcpy_3d(p: Any) -> None:
    _box(p, None)


@cudart.export("cudaMemcpy3DAsync")
def memcpy_3d_async(p: Any, stream: Any) -> None:
    _box(p, stream)
