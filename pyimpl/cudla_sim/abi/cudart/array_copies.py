"""Copies of bytes in arrays in the order of rows, and of boxes between devices."""

from __future__ import annotations

from typing import Any

from ...constants.cudart import cudaMemcpyKind as Kind
from ...cudart import context
from ...cudart.errors import invalid_value
from ..embedding import ffi
from . import arrays
from .device import get_device
from .family import cudart, null, number


@cudart.export("cudaMemcpyToArrayAsync")
def memcpy_to_array_async(
    dst: Any, x: int, y: int, src: Any, count: int, kind: int, stream: Any
) -> None:
    found = arrays.find(dst, "dst")
    context.stream_of(number(stream))
    if count:
        target, width, rows = arrays.linear(found, x, y, count, "dst")
        source = arrays.rows_of(src, width, width, "src")
        arrays.plane(target, source, kind, width, rows, stream)


@cudart.export("cudaMemcpyFromArrayAsync")
def memcpy_from_array_async(
    dst: Any, src: Any, x: int, y: int, count: int, kind: int, stream: Any
) -> None:
    found = arrays.find(src, "src")
    context.stream_of(number(stream))
    if count:
        source, width, rows = arrays.linear(found, x, y, count, "src")
        target = arrays.rows_of(dst, width, width, "dst")
        arrays.plane(target, source, kind, width, rows, stream)


@cudart.export("cudaMemcpyArrayToArray")
def memcpy_array_to_array(
    dst: Any, to_x: int, to_y: int, src: Any, x: int, y: int, count: int, kind: int
) -> None:
    target_of, source_of = arrays.find(dst, "dst"), arrays.find(src, "src")
    if not count:
        return
    target, width, rows = arrays.linear(target_of, to_x, to_y, count, "dst")
    source, other, other_rows = arrays.linear(source_of, x, y, count, "src")
    if (width, rows) != (other, other_rows):
        raise invalid_value(
            f"the rows are {width} bytes in dst and {other} in src; the same in both, or part of "
            "one row"
        )
    arrays.plane(target, source, kind, width, rows, None)


def _between(p: Any) -> Any:
    """The struct cudaMemcpy3DParms of a struct cudaMemcpy3DPeerParms."""
    null(p=p)
    get_device(p.srcDevice)
    get_device(p.dstDevice)
    made = ffi.new("struct cudaMemcpy3DParms *")
    for name in ("srcArray", "srcPos", "srcPtr", "dstArray", "dstPos", "dstPtr", "extent"):
        setattr(made, name, getattr(p, name))
    made.kind = Kind.cudaMemcpyDeviceToDevice
    return made


@cudart.export("cudaMemcpy3DPeer")
def memcpy_3d_peer(p: Any) -> None:
    arrays.memcpy_3d(_between(p))


@cudart.export("cudaMemcpy3DPeerAsync")
def memcpy_3d_peer_async(p: Any, stream: Any) -> None:
    arrays.memcpy_3d_async(_between(p), stream)
