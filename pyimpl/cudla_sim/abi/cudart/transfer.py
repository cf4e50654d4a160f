"""Copying and filling."""

from __future__ import annotations

from typing import Any

from ...core.queue import Work
from ...cudart import context, transfer
from ...cudart.streams import Stream
from ...cudart.transfer import Copy, Shape, plane
from .family import cudart, number


def _copy(dst: Any, src: Any, kind: int, shape: Shape, src_pitch: int | None = None) -> Copy | None:
    """The checked copy; None when there is nothing to do."""
    if shape.width == 0 or shape.height == 0:
        return None
    memory = context.current().memory
    return Copy(memory, number(dst), number(src), kind, shape, src_pitch=src_pitch)


def _now(job: Copy | None) -> None:
    if job is not None:
        current = context.current()
        current.streams.refuse_implicit_capture()
        current.captures.forbid("a copy that waits")
        transfer.copy(current, job)


def _later(job: Copy | None, stream: Any) -> None:
    target = context.stream_of(number(stream))
    if job is not None:
        transfer.copy_async(job, target)


def _row(size: int) -> Shape:
    return Shape(size, 1, size)


@cudart.export("cudaMemcpy")
def memcpy(dst: Any, src: Any, size: int, kind: int) -> None:
    _now(_copy(dst, src, kind, _row(size)))


@cudart.export("cudaMemcpyAsync")
def memcpy_async(dst: Any, src: Any, size: int, kind: int, stream: Any) -> None:
    _later(_copy(dst, src, kind, _row(size)), stream)


def _copy_2d(
    dst: Any, dst_pitch: int, src: Any, src_pitch: int, width: int, height: int, kind: int
) -> Copy | None:
    return _copy(dst, src, kind, plane(width, height, dst_pitch, src_pitch), src_pitch)


@cudart.export("cudaMemcpy2D")
def memcpy_2d(
    dst: Any, dst_pitch: int, src: Any, src_pitch: int, width: int, height: int, kind: int
) -> None:
    _now(_copy_2d(dst, dst_pitch, src, src_pitch, width, height, kind))


@cudart.export("cudaMemcpy2DAsync")
def memcpy_2d_async(
    dst: Any,
    dst_pitch: int,
    src: Any,
    src_pitch: int,
    width: int,
    height: int,
    kind: int,
    stream: Any,
) -> None:
    _later(_copy_2d(dst, dst_pitch, src, src_pitch, width, height, kind), stream)


def put(work: Work, size: int, target: Stream, wait: bool) -> None:
    """Puts a checked fill of ``size`` bytes into a stream."""
    label = f"fill of {size} bytes"
    if wait:
        context.current().captures.forbid("a fill that waits")
        target.run(work, label)
    else:
        target.enqueue(work, label=label)


def _fill(ptr: Any, value: int, shape: Shape, stream: Any, wait: bool) -> None:
    current = context.current()
    target = current.streams.legacy if stream is None else current.streams.resolve(number(stream))
    if shape.width and shape.height:
        memory = transfer.check(current.memory, number(ptr), shape, "device", "devPtr")
        put(transfer.fill(memory, value), shape.width * shape.height, target, wait)


@cudart.export("cudaMemset")
def memset(ptr: Any, value: int, size: int) -> None:
    _fill(ptr, value, _row(size), None, wait=True)


@cudart.export("cudaMemsetAsync")
def memset_async(ptr: Any, value: int, size: int, stream: Any) -> None:
    _fill(ptr, value, _row(size), stream, wait=False)


@cudart.export("cudaMemset2D")
def memset_2d(ptr: Any, pitch: int, value: int, width: int, height: int) -> None:
    _fill(ptr, value, plane(width, height, pitch), None, wait=True)


@cudart.export("cudaMemset2DAsync")
def memset_2d_async(ptr: Any, pitch: int, value: int, width: int, height: int, stream: Any) -> None:
    _fill(ptr, value, plane(width, height, pitch), stream, wait=False)
