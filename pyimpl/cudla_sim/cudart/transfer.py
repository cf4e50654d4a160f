"""Copying and filling: what the addresses are, whether the range fits, and the bytes themselves.

CUDA Runtime API, "API synchronization behavior": an asynchronous copy to pageable host memory
returns when it is done, one from pageable host memory may return once the source was read.
Where real hardware leaves a wrong direction undefined, we answer an error.
"""

from __future__ import annotations

import ctypes
from typing import TYPE_CHECKING, NamedTuple

from .. import lazy
from ..constants.cudart import cudaError as Status
from ..constants.cudart import cudaMemcpyKind as Kind
from ..core.memory import Bytes, host_bytes
from ..core.pages import accessible
from ..core.queue import Work
from .context import Context
from .errors import CudaError, invalid_value
from .memory import Memory
from .streams import Stream

if TYPE_CHECKING:
    import numpy as np
else:
    np = lazy.module("numpy")

_SIDES = {  # kind -> (where dst is, where src is)
    Kind.cudaMemcpyHostToHost: ("host", "host"),
    Kind.cudaMemcpyHostToDevice: ("device", "host"),
    Kind.cudaMemcpyDeviceToHost: ("host", "device"),
    Kind.cudaMemcpyDeviceToDevice: ("device", "device"),
    Kind.cudaMemcpyDefault: ("", ""),
}


class Shape(NamedTuple):
    """``height`` rows of ``width`` bytes; in memory rows begin every ``pitch`` bytes."""

    width: int
    height: int
    pitch: int

    @property
    def span(self) -> int:
        """Bytes from the first to the last."""
        return (self.height - 1) * self.pitch + self.width

    @property
    def contiguous(self) -> bool:
        return self.height == 1 or self.pitch == self.width


class Range:
    """Checked memory. ``data`` keeps what CUDA allocated alive, even if it is freed meanwhile."""

    __slots__ = ("address", "data", "pageable", "shape")

    def __init__(self, address: int, data: Bytes, shape: Shape, pageable: bool) -> None:
        self.address = address
        self.data = data
        self.shape = shape
        self.pageable = pageable

    @property
    def rows(self) -> Bytes:
        """The memory as a (height, width) array."""
        return np.lib.stride_tricks.as_strided(
            self.data, (self.shape.height, self.shape.width), (self.shape.pitch, 1)
        )


def _check_side(memory: Memory, address: int, side: str, argument: str) -> None:
    """Raises CudaError (InvalidValue) when the address is not on the side that ``kind`` says."""
    found = memory.allocation(address)
    on_device = found.is_device if found is not None else memory.mapping(address) is not None
    pageable = found is None and not on_device
    if side == "host" and on_device:
        what = found.region if found is not None else "a mapped external buffer"
        raise invalid_value(f"{argument} ({address:#x}) is device memory, kind says host: {what}")
    if side == "device" and pageable:
        raise invalid_value(
            f"{argument} ({address:#x}) is memory of the program, kind says device: "
            + memory.space.explain(address, 1)
        )


def check(
    memory: Memory, address: int, shape: Shape, side: str, argument: str, *, write: bool = False
) -> Range:
    """The memory behind a pointer argument. Raises CudaError (InvalidValue)."""
    size = shape.span
    if address == 0:
        raise invalid_value(f"{argument} is NULL; it points to {size} bytes")
    _check_side(memory, address, side, argument)
    region = memory.space.find(address)
    if region is not None:
        if address + size > region.end:
            raise invalid_value(f"{argument} {memory.space.explain(address, size)}")
        mapping = memory.mapping(address)
        if mapping is not None and address + size > mapping.base + mapping.size:
            over = address + size - mapping.base - mapping.size
            raise invalid_value(f"{argument} runs {over} bytes past the end of the mapped buffer")
        start = address - region.base
        return Range(address, region.data[start : start + size], shape, pageable=False)
    clash = memory.space.overlapping(address, size)
    if clash is not None:
        raise invalid_value(f"{argument} [{address:#x}, +{size}) runs into {clash}")
    if not accessible(address, size, write=write):
        verb = "write to" if write else "read"
        raise invalid_value(
            f"{argument} [{address:#x}, +{size}) is no memory that this process may {verb}"
        )
    return Range(address, host_bytes(address, size), shape, pageable=True)


def _copy_bytes(dst: Range, src: Range) -> None:
    # ctypes leaves the interpreter lock for the call, so big copies do not hold up the others.
    if dst.shape.contiguous and src.shape.contiguous:
        ctypes.memmove(dst.address, src.address, dst.shape.width * dst.shape.height)
    else:
        np.copyto(dst.rows, src.rows)


class Copy:
    """One checked copy."""

    def __init__(
        self,
        memory: Memory,
        dst: int,
        src: int,
        kind: int,
        shape: Shape,
        *,
        src_pitch: int | None = None,
    ) -> None:
        if kind not in _SIDES:
            raise CudaError(
                Status.cudaErrorInvalidMemcpyDirection,
                f"kind is {kind}; cudaMemcpyKind has 0 to {int(Kind.cudaMemcpyDefault)}",
            )
        src_shape = shape if src_pitch is None else shape._replace(pitch=src_pitch)
        self.dst_side, self.src_side = _SIDES[Kind(kind)]
        self.dst = check(memory, dst, shape, self.dst_side, "dst", write=True)
        self.src = check(memory, src, src_shape, self.src_side, "src")

    @property
    def label(self) -> str:
        return f"copy of {self.dst.shape.width * self.dst.shape.height} bytes"

    def perform(self) -> None:
        _copy_bytes(self.dst, self.src)

    def from_staging(self) -> Work:
        """Reads the source now; the rest of the copy is for later."""
        shape = self.src.shape
        staged = np.empty((shape.height, shape.width), np.uint8)
        np.copyto(staged, self.src.rows)
        flat = staged.reshape(-1)
        address = flat.ctypes.data
        source = Range(address, flat, Shape(shape.width, shape.height, shape.width), False)
        return lambda: _copy_bytes(self.dst, source)


def copy(context: Context, job: Copy) -> None:
    """A copy that is done on return, in order of the legacy stream."""
    context.streams.legacy.run(job.perform, job.label)
    context.check()


def copy_async(job: Copy, stream: Stream) -> None:
    """A copy in stream order."""
    if stream.capturing:
        stream.enqueue(job.perform, label=job.label)
        return
    if job.dst.pageable:
        # The program may use its memory on return: API synchronization behavior, "Asynchronous".
        stream.enqueue(job.perform, label=job.label).wait()
        stream.context.check()
    elif job.src.pageable:
        if stream.idle:
            stream.run(job.perform, job.label)
        else:
            stream.enqueue(job.from_staging(), label=job.label)
    else:
        stream.enqueue(job.perform, label=job.label)


def fill(target: Range, value: int) -> Work:
    """What sets every byte to the low byte of ``value``."""
    byte = value & 0xFF
    if target.shape.contiguous:
        size = target.shape.width * target.shape.height
        return lambda: _fill_bytes(target, byte, size)
    return lambda: target.rows.fill(byte)


def _fill_bytes(target: Range, byte: int, size: int) -> None:
    ctypes.memset(target.address, byte, size)


def fill_elements(target: Range, value: int, size: int) -> Work:
    """What sets every element of ``size`` bytes (1, 2 or 4) to ``value``, cut to it."""
    if size == 1:
        return fill(target, value)
    kind = np.dtype(f"<u{size}")
    return lambda: target.rows.view(kind).fill(value & ((1 << 8 * size) - 1))


def plane(width: int, height: int, *pitches: int) -> Shape:
    """A checked 2D shape with the first pitch. Raises CudaError (InvalidPitchValue)."""
    for pitch in pitches:
        if width > pitch:
            raise CudaError(
                Status.cudaErrorInvalidPitchValue,
                f"a row of {width} bytes does not fit into a pitch of {pitch}",
            )
    return Shape(width, height, pitches[0])
