"""Software ("EMU") tasks: softmax, power and logarithm on the host processor.

Arithmetic follows the public emulator: single precision, sums in channel order, conversion to
half rounds to nearest with ties away from zero, conversion to int8 saturates and cuts off.
Two layouts of the structures exist (without and with scale factors and buffer offsets).
Source: nvdla/sw ``Emulator.cpp``, ``emu_interface.h``; the logarithm is ONNC's (ONNC/onnc-tutorial,
lab 5, ``emu_interface.h``).
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from enum import IntEnum
from struct import Struct
from time import perf_counter_ns
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .errors import NvdlaError, Status, UnsupportedOperation
from .facts.precisions import INT8, RANGES

Bytes = NDArray[np.uint8]


class EmuOp(IntEnum):
    """Operation codes."""

    POWER = 0
    SOFTMAX = 1
    LOG = 2

    @classmethod
    def word(cls, op_type: int) -> str:
        """The operation as a lower case word."""
        return cls(op_type).name.lower() if op_type in tuple(cls) else f"operation {op_type}"


class EmuFormat(IntEnum):
    """Buffer formats that the emulator computes on."""

    INT8 = 0
    INT8_8 = 1
    FF16 = 3


@dataclass(frozen=True, slots=True)
class BufferDesc:
    """A cube in memory; ``address`` indexes the task's address list."""

    address: int
    offset: int
    size: int
    format: int
    width: int
    height: int
    channel: int
    line_stride: int
    surf_stride: int


@dataclass(frozen=True, slots=True)
class EmuOperation:
    """One operation with its buffers."""

    op_type: int
    in_scale: float
    out_scale: float
    power: float
    scale: float
    shift: float
    axis: int
    src: BufferDesc
    dst: BufferDesc


NETWORK = Struct("<hhH")
NETWORK_SIZE = 256
BUFFER_SIZE = 256
_POWER_NEW, _POWER_OLD = Struct("<B3xff fff"), Struct("<Bfff")
_BUFFER_NEW, _BUFFER_OLD = Struct("<hIIHHHHII"), Struct("<hIHHHHII")


def operation_size(new: bool) -> int:
    """Bytes of one entry of the operation list."""
    return 24 if new else 16


def _buffer(data: Bytes, offset: int, new: bool) -> BufferDesc:
    if new:
        return BufferDesc(*_BUFFER_NEW.unpack_from(data.data, offset))
    address, size, kind, *rest = _BUFFER_OLD.unpack_from(data.data, offset)
    return BufferDesc(address, 0, size, kind + (kind > 0), *rest)  # INT8_8 did not exist yet


def _operation(
    data: Bytes, offset: int, new: bool, src: BufferDesc, dst: BufferDesc
) -> EmuOperation:
    """Read an entry of the operation list."""
    axis = int(data[offset + (12 if new else 1)])
    if new:
        op_type, in_scale, out_scale, power, scale, shift = _POWER_NEW.unpack_from(
            data.data, offset
        )
    else:
        op_type, power, scale, shift = _POWER_OLD.unpack_from(data.data, offset)
        in_scale = out_scale = 1.0
    return EmuOperation(op_type, in_scale, out_scale, power, scale, shift, axis, src, dst)


def operations(resolve: Callable[[int], Bytes], new: bool) -> list[EmuOperation]:
    """Read the operations of a task; *resolve* gives the memory behind an address list entry."""
    try:
        op_index, buffer_index, count = NETWORK.unpack_from(resolve(0).data, 0)
        op_list, buffers = resolve(op_index), resolve(buffer_index)
        size = operation_size(new)
        return [
            _operation(
                op_list,
                number * size,
                new,
                _buffer(buffers, number * 2 * BUFFER_SIZE, new),
                _buffer(buffers, (number * 2 + 1) * BUFFER_SIZE, new),
            )
            for number in range(count)
        ]
    except (struct.error, IndexError) as error:
        raise NvdlaError(f"EMU task: a descriptor list is too short ({error})") from None


def half_ties_away(values: NDArray[np.float32]) -> NDArray[np.float16]:
    """Convert to half, to nearest, ties away from zero."""
    with np.errstate(over="ignore", invalid="ignore"):
        nearest = values.astype(np.float16)
        away = np.nextafter(nearest, np.copysign(np.float16(np.inf), values.astype(np.float16)))
        middle = (nearest.astype(np.float64) + away.astype(np.float64)) / 2
        tie = np.isfinite(away) & (middle == values)
    return np.where(tie, away, nearest).astype(np.float16)


def _to_int8(values: NDArray[np.float32]) -> NDArray[np.int8]:
    return np.trunc(np.clip(np.nan_to_num(values), *RANGES[INT8])).astype(np.int8)


def _softmax32(values: NDArray[np.float32]) -> NDArray[np.float32]:
    """Softmax in single precision; the sum runs in order of the channels."""
    with np.errstate(invalid="ignore", divide="ignore", over="ignore"):
        shifted = values - np.max(values)
        exponentials = np.exp(shifted.astype(np.float64)).astype(np.float32)
        total = np.cumsum(exponentials, dtype=np.float32)[-1]
        result: NDArray[np.float32] = exponentials / total
    return result


def softmax(op: EmuOperation, src: Bytes, dst: Bytes) -> None:
    """Softmax over the channels, which lie one after the other."""
    count = op.src.channel
    if count == 0:
        return
    if op.src.format == EmuFormat.FF16:
        inputs = _take(src, count, np.dtype("<f2")).astype(np.float32)
        _take(dst, count, np.dtype("<f2"))[...] = half_ties_away(_softmax32(inputs))
        return
    scaled = _take(src, count, np.dtype("i1")) * np.float32(op.in_scale)
    inputs = half_ties_away(scaled.astype(np.float32)).astype(np.float32)
    halves = half_ties_away(_softmax32(inputs)).astype(np.float32)
    with np.errstate(invalid="ignore", divide="ignore", over="ignore"):
        _take(dst, count, np.dtype("i1"))[...] = _to_int8(halves / np.float32(op.out_scale))


def power(op: EmuOperation, src: Bytes, dst: Bytes) -> None:
    """y = (shift + scale * x) ** power for every element."""

    def function(values: NDArray[np.float32]) -> NDArray[np.float32]:
        base = np.float32(op.shift) + np.float32(op.scale) * values
        return np.power(base.astype(np.float64), op.power).astype(np.float32)

    _each("power", function, op, src, dst)


def logarithm(op: EmuOperation, src: Bytes, dst: Bytes) -> None:
    """Natural logarithm of every element; -inf of 0, NaN of what is negative."""
    _each("log", lambda x: np.log(x.astype(np.float64)).astype(np.float32), op, src, dst)


def _each(
    name: str,
    function: Callable[[NDArray[np.float32]], NDArray[np.float32]],
    op: EmuOperation,
    src: Bytes,
    dst: Bytes,
) -> None:
    source, target = _cube(name, op.src, src), _cube(name, op.dst, dst)
    if source.shape[1:3] != target.shape[1:3] or source.shape[0] > target.shape[0]:
        raise NvdlaError(f"EMU {name}: source and destination cubes differ in size")
    with np.errstate(all="ignore"):
        values = source.astype(np.float32)
        if op.src.format != EmuFormat.FF16:
            values *= np.float32(op.in_scale)
        result = function(values)
        if op.src.format == EmuFormat.FF16:
            converted: NDArray[Any] = half_ties_away(result)
        else:
            converted = _to_int8(result / np.float32(op.out_scale))
    _store_channels(target[: len(source)], converted, op.src.channel)


def _store_channels(target: NDArray[Any], values: NDArray[Any], channels: int) -> None:
    """Store real channels only; *target* and *values* are [surface, y, x, channel]."""
    atom = target.shape[3]
    whole = channels // atom
    target[:whole] = values[:whole]
    if channels > whole * atom:
        rest = channels - whole * atom
        target[whole, :, :, :rest] = values[whole, :, :, :rest]


def _take(data: Bytes, count: int, dtype: np.dtype[Any]) -> NDArray[Any]:
    size = count * dtype.itemsize
    if len(data) < size:
        raise NvdlaError(f"EMU softmax: {size} bytes needed, the buffer has {len(data)}")
    return data[:size].view(dtype)


def _cube(name: str, desc: BufferDesc, data: Bytes) -> NDArray[Any]:
    """View a cube as [surface, y, x, channel]."""
    dtype = np.dtype("<f2") if desc.format == EmuFormat.FF16 else np.dtype("i1")
    atom = 8 if desc.format == EmuFormat.INT8_8 else 32
    surfaces = -(-desc.channel * dtype.itemsize // atom)
    if 0 in (surfaces, desc.width, desc.height):
        raise NvdlaError(f"EMU {name}: an empty cube")
    strides = (desc.surf_stride, desc.line_stride, atom, dtype.itemsize)
    shape = (surfaces, desc.height, desc.width, atom // dtype.itemsize)
    need = sum((n - 1) * s for n, s in zip(shape, strides, strict=True)) + dtype.itemsize
    line = desc.width * atom
    overlap = desc.height > 1 and desc.line_stride < line
    overlap |= surfaces > 1 and desc.surf_stride < (desc.height - 1) * desc.line_stride + line
    if need > len(data) or overlap:
        raise NvdlaError(
            f"EMU {name}: a cube of {desc.width} x {desc.height} x {desc.channel} needs {need}"
            f" bytes, the buffer has {len(data)}",
            Status.INVALID_SIZE,
        )
    return np.ndarray(shape, dtype, data, 0, strides)


def run(op: EmuOperation, resolve: Callable[[int], Bytes]) -> None:
    """Execute one operation."""
    if op.src.format != op.dst.format:
        raise NvdlaError(
            f"EMU: source format {op.src.format} and destination format {op.dst.format} differ",
            Status.NOT_SUPPORTED,
        )
    if op.src.format not in tuple(EmuFormat):
        raise UnsupportedOperation("EMU", f"buffer format {op.src.format}")
    src = resolve(op.src.address)[op.src.offset :]
    dst = resolve(op.dst.address)[op.dst.offset :]
    if op.op_type == EmuOp.SOFTMAX:
        softmax(op, src, dst)
    elif op.op_type == EmuOp.POWER:
        power(op, src, dst)
    elif op.op_type == EmuOp.LOG:
        logarithm(op, src, dst)
    else:
        raise UnsupportedOperation("EMU", f"operation {op.op_type}")


def run_task(
    resolve: Callable[[int], Bytes], new: bool, check: Callable[[], None]
) -> Iterator[tuple[int, EmuOperation, int, int]]:
    """Run a task: the operations as they are computed, with their numbers, and when each began
    and ended. *check* is called before each and may raise."""
    for number, operation in enumerate(operations(resolve, new)):
        check()
        start = perf_counter_ns()
        run(operation, resolve)
        yield number, operation, start, perf_counter_ns()


LINE_STRIDE_AT = 18
"""Byte offset of line_stride in a (new) buffer descriptor."""


def encode_network(operations_at: int, buffers_at: int, count: int) -> bytes:
    """Encode a network descriptor; positions are address list indices."""
    return NETWORK.pack(operations_at, buffers_at, count).ljust(NETWORK_SIZE, b"\0")


def encode_buffer(desc: BufferDesc) -> bytes:
    """Encode a buffer descriptor in the new layout."""
    packed = _BUFFER_NEW.pack(
        desc.address,
        desc.offset,
        desc.size,
        desc.format,
        desc.width,
        desc.height,
        desc.channel,
        desc.line_stride,
        desc.surf_stride,
    )
    return packed.ljust(BUFFER_SIZE, b"\0")


def encode_softmax(in_scale: float, out_scale: float, axis: int = 1) -> bytes:
    """Encode a softmax operation in the new layout."""
    packed = _POWER_NEW.pack(EmuOp.SOFTMAX, in_scale, out_scale, 0.0, 0.0, 0.0)
    data = bytearray(packed.ljust(operation_size(True), b"\0"))
    data[12] = axis
    return bytes(data)
