"""Copies of several ranges by one call."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

from ...constants.cudart import cudaMemcpy3DOperandType as Operand
from ...constants.cudart import cudaMemcpyKind as Kind
from ...constants.cudart import cudaMemcpySrcAccessOrder as Order
from ...cudart import context, transfer
from ...cudart.errors import CudaError, invalid_handle, invalid_value
from ...cudart.streams import Stream
from ...cudart.transfer import Copy, Shape
from ..embedding import ffi, pointer
from . import arrays
from .driver import driver, require_current
from .family import cudart, null, number, required_flags

_NONE = (1 << 64) - 1  # SIZE_MAX: no copy was wrong
_MOST = 1 << 20
_ORDERS = (
    Order.cudaMemcpySrcAccessOrderStream,
    Order.cudaMemcpySrcAccessOrderDuringApiCall,
    Order.cudaMemcpySrcAccessOrderAny,
)


def _stream(handle: Any) -> Stream:
    found = context.stream_of(number(handle))
    if found is context.current().streams.legacy:
        raise invalid_handle("stream is the legacy stream; copies in batches take another one")
    return found


def _order(order: int, name: str) -> int:
    if order not in _ORDERS:
        raise invalid_value(f"{name} is {order}; cudaMemcpySrcAccessOrder* are 1 to 3")
    return order


def _put(jobs: list[tuple[Copy, int]], target: Stream) -> None:
    for job, order in jobs:
        if order == Order.cudaMemcpySrcAccessOrderDuringApiCall and not target.capturing:
            target.enqueue(job.from_staging(), label=job.label)
        else:
            transfer.copy_async(job, target)


def _count(count: int, name: str) -> None:
    if not 0 < count <= _MOST:
        raise invalid_value(f"{name} is {count}; 1 to {_MOST}")


def _orders(attributes: Any, places: Any, known: int, count: int) -> list[int]:
    """Of each copy. Raises CudaError (InvalidValue)."""
    null(attrs=attributes, attrsIdxs=places)
    if not 0 < known <= count:
        raise invalid_value(f"numAttrs is {known}; 1 to count, which is {count}")
    starts = [int(places[index]) for index in range(known)]
    rising = all(a < b for a, b in pairwise(starts))
    if starts[0] or not rising or starts[-1] >= count:
        raise invalid_value("attrsIdxs begins with 0, grows, and is less than count")
    found = []
    for index, (begin, end) in enumerate(zip(starts, [*starts[1:], count], strict=True)):
        order = _order(attributes[index].srcAccessOrder, f"attrs[{index}].srcAccessOrder")
        required_flags(attributes[index].flags, 1, "0 or cudaMemcpyFlagPreferOverlapWithCompute 1")
        found += [order] * (end - begin)
    return found


@cudart.export("cudaMemcpyBatchAsync")
def memcpy_batch_async(
    targets: Any,
    sources: Any,
    sizes: Any,
    count: int,
    attributes: Any,
    places: Any,
    known: int,
    failed: Any,
    stream: Any,
) -> None:
    if failed:
        failed[0] = _NONE
    null(dsts=targets, srcs=sources, sizes=sizes)
    _count(count, "count")
    target = _stream(stream)
    orders = _orders(attributes, places, known, count)
    memory = context.current().memory
    jobs = []
    for index, order in enumerate(orders):
        size = int(sizes[index])
        try:
            if not size:
                raise invalid_value(f"sizes[{index}] is 0; it is at least one byte")
            shape = Shape(size, 1, size)
            to, start = number(targets[index]), number(sources[index])
            jobs.append((Copy(memory, to, start, Kind.cudaMemcpyDefault, shape), order))
        except CudaError:
            if failed:
                failed[0] = index
            raise
    _put(jobs, target)


def _operand(made: Any, side: str, given: Any, size: int) -> None:
    """One side of a copy; ``size``: bytes of an element."""
    if given.type == Operand.cudaMemcpyOperandTypeArray:
        setattr(made, f"{side}Array", given.op.array.array)
        position = getattr(made, f"{side}Pos")
        for axis in "xyz":
            setattr(position, axis, getattr(given.op.array.offset, axis))
        return
    if given.type != Operand.cudaMemcpyOperandTypePointer:
        raise invalid_value(
            f"{side}.type is {given.type}; cudaMemcpyOperandTypePointer 1 or Array 2"
        )
    memory = getattr(made, f"{side}Ptr")
    memory.ptr = given.op.ptr.ptr
    memory.xsize = memory.pitch = (given.op.ptr.rowLength or made.extent.width) * size
    memory.ysize = given.op.ptr.layerHeight or made.extent.height


def _element(operation: Any) -> int:
    """Bytes of what lengths count."""
    for side in ("src", "dst"):
        given = getattr(operation, side)
        if given.type == Operand.cudaMemcpyOperandTypeArray:
            return arrays.find(given.op.array.array, f"{side}.op.array.array").format.size
    return 1


def _box(operation: Any) -> list[Copy]:
    made = ffi.new("struct cudaMemcpy3DParms *")
    made.extent = operation.extent
    made.kind = Kind.cudaMemcpyDefault
    size = _element(operation)
    for side in ("src", "dst"):
        _operand(made, side, getattr(operation, side), size)
    required_flags(operation.flags, 1, "0 or cudaMemcpyFlagPreferOverlapWithCompute 1")
    return list(arrays.copies_of(made))


@cudart.export("cudaMemcpy3DBatchAsync")
def memcpy_3d_batch_async(
    count: int, operations: Any, failed: Any, flags: int, stream: Any
) -> None:
    if failed:
        failed[0] = _NONE
    null(opList=operations)
    _count(count, "numOps")
    required_flags(flags, 0, "it is 0")
    target = _stream(stream)
    jobs = []
    for index in range(count):
        operation = operations[index]
        try:
            order = _order(operation.srcAccessOrder, f"opList[{index}].srcAccessOrder")
            jobs += [(job, order) for job in _box(operation)]
        except CudaError:
            if failed:
                failed[0] = index
            raise
    _put(jobs, target)


# --- one copy -----------------------------------------------------------------------------------


@cudart.export("cudaMemcpyWithAttributesAsync")
def memcpy_with_attributes_async(
    to: Any, start: Any, size: int, attributes: Any, stream: Any
) -> None:
    targets, sources = ffi.new("void *[]", [to]), ffi.new("void *[]", [start])
    sizes, places = ffi.new("size_t[]", [size]), ffi.new("size_t[]", [0])
    memcpy_batch_async(targets, sources, sizes, 1, attributes, places, 1, ffi.NULL, stream)


@cudart.export("cudaMemcpy3DWithAttributesAsync")
def memcpy_3d_with_attributes_async(operation: Any, flags: int, stream: Any) -> None:
    memcpy_3d_batch_async(1, operation, ffi.NULL, flags, stream)


# --- the driver's names; its structures are laid out as the runtime's ----------------------------


@driver.export("cuMemcpyBatchAsync")
def memcpy_batch_by_driver(
    targets: Any,
    sources: Any,
    sizes: Any,
    count: int,
    attributes: Any,
    places: Any,
    known: int,
    failed: Any,
    stream: Any,
) -> None:
    require_current()
    memcpy_batch_async(
        ffi.cast("void **", targets),
        ffi.cast("void **", sources),
        sizes,
        count,
        ffi.cast("struct cudaMemcpyAttributes *", attributes),
        places,
        known,
        failed,
        stream,
    )


@driver.export("cuMemcpyWithAttributesAsync")
def memcpy_with_attributes_by_driver(
    to: int, start: int, size: int, attributes: Any, stream: Any
) -> None:
    require_current()
    same = ffi.cast("struct cudaMemcpyAttributes *", attributes)
    memcpy_with_attributes_async(pointer(to), pointer(start), size, same, stream)


@driver.export("cuMemcpy3DWithAttributesAsync")
def memcpy_3d_with_attributes_by_driver(operation: Any, flags: int, stream: Any) -> None:
    memcpy_3d_batch_by_driver(1, operation, ffi.NULL, flags, stream)


@driver.export("cuMemcpy3DBatchAsync")
def memcpy_3d_batch_by_driver(
    count: int, operations: Any, failed: Any, flags: int, stream: Any
) -> None:
    require_current()
    same = ffi.cast("struct cudaMemcpy3DBatchOp *", operations)
    memcpy_3d_batch_async(count, same, failed, flags, stream)
