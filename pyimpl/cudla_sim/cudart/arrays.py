"""2D arrays: elements by coordinates, copies of parts. CUDA Runtime API, "Memory Management"."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from ..constants.cudart import cudaChannelFormatKind, cudaMemoryType
from ..constants.cudart import cudaError as Status
from .device import TEXTURE_PITCH_ALIGN
from .errors import CudaError, invalid_value
from .memory import Memory
from .transfer import Copy, Shape

_CHANNEL_BITS = (8, 16, 32)


class Format(NamedTuple):
    """An element: ``channels`` (1, 2 or 4) of ``bits`` each, and a cudaChannelFormatKind."""

    bits: int
    channels: int
    kind: int

    @property
    def size(self) -> int:
        """Bytes."""
        return self.bits * self.channels // 8


def format_of(x: int, y: int, z: int, w: int, kind: int) -> Format:
    """A cudaChannelFormatDesc. Raises CudaError (InvalidChannelDescriptor)."""
    widths = [bits for bits in (x, y, z, w) if bits]
    known = kind in tuple(cudaChannelFormatKind)[:3]
    gap = [bool(bits) for bits in (x, y, z, w)] != [True] * len(widths) + [False] * (
        4 - len(widths)
    )
    wrong = not widths or len(set(widths)) > 1 or len(widths) == 3 or gap
    if wrong or widths[0] not in _CHANNEL_BITS or not known:
        raise CudaError(
            Status.cudaErrorInvalidChannelDescriptor,
            f"desc is {{{x}, {y}, {z}, {w}, {kind}}}; one, two or four channels of the same 8, 16 "
            "or 32 bits, signed 0, unsigned 1 or float 2",
        )
    if kind == cudaChannelFormatKind.cudaChannelFormatKindFloat and widths[0] == min(_CHANNEL_BITS):
        raise CudaError(
            Status.cudaErrorInvalidChannelDescriptor, "desc says floats of 8 bits; 16 or 32"
        )
    return Format(widths[0], len(widths), kind)


@dataclass(eq=False)
class Array:
    """A 2D array of ``width`` x ``height`` elements."""

    format: Format
    width: int
    height: int
    address: int = 0
    handle: int = 0
    of: int = 0
    """The context that the program created it in, 0 for the primary one."""

    @property
    def pitch(self) -> int:
        """Bytes from row to row."""
        return -(-self.width * self.format.size // TEXTURE_PITCH_ALIGN) * TEXTURE_PITCH_ALIGN

    @property
    def rows(self) -> int:
        """Rows; a height of 0 is one row."""
        return max(self.height, 1)

    def __str__(self) -> str:
        return f"an array of {self.width} x {self.rows} elements of {self.format.size} bytes"


def create(memory: Memory, array: Array, how: str) -> Array:
    """Allocates its memory. Raises CudaError (InvalidValue, MemoryAllocation)."""
    if array.width == 0:
        raise invalid_value("width is 0; must be at least 1")
    size = array.pitch * array.rows
    array.address = memory.allocate(size, cudaMemoryType.cudaMemoryTypeDevice, how)
    return array


class Box(NamedTuple):
    """Where a 2D copy begins, and its pitch, in bytes."""

    start: int
    pitch: int


def box(array: Array, x: int, y: int, width: int, rows: int, name: str) -> Box:
    """``width`` bytes of ``rows`` rows at byte ``x`` of row ``y``. Raises CudaError."""
    if x + width > array.width * array.format.size or y + rows > array.rows:
        raise invalid_value(f"{name}: {width} bytes x {rows} at ({x}, {y}) are outside {array}")
    return Box(array.address + y * array.pitch + x, array.pitch)


def copy(memory: Memory, dst: Box, src: Box, kind: int, width: int, rows: int) -> Copy:
    """Raises what ``Copy`` does."""
    shape = Shape(width, rows, dst.pitch or width)
    return Copy(memory, dst.start, src.start, kind, shape, src_pitch=src.pitch or width)
