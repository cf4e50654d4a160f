"""Arrays: elements by coordinates, and the boxes of them that copies move.

CUDA Runtime API, "Memory Management" (cudaMalloc3DArray, cudaMemcpy3D): extents and positions are
in elements where an array takes part, in bytes for memory alone.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

from ..constants.cudart import (
    cudaArrayCubemap,
    cudaArrayLayered,
    cudaChannelFormatKind,
    cudaMemoryType,
)
from ..constants.cudart import cudaError as Status
from .device import TEXTURE_PITCH_ALIGN
from .errors import CudaError, invalid_value
from .memory import Memory
from .transfer import Copy, Shape

_FACES = 6
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
    """An array of ``width`` x ``height`` x ``depth`` elements; 0: no such dimension."""

    format: Format
    width: int
    height: int
    depth: int
    flags: int
    address: int = 0
    handle: int = 0
    of: int = 0
    """The program's own context that it goes with."""
    whole: Mipmap | None = None
    """What it is a level of, which gives it back."""

    @property
    def rows(self) -> int:
        return max(self.height, 1)

    @property
    def planes(self) -> int:
        return max(self.depth, 1)

    @property
    def pitch(self) -> int:
        """Bytes from row to row."""
        return -(-self.width * self.format.size // TEXTURE_PITCH_ALIGN) * TEXTURE_PITCH_ALIGN

    @property
    def slice(self) -> int:
        """Bytes from plane to plane."""
        return self.pitch * self.rows

    @property
    def layered(self) -> bool:
        return bool(self.flags & cudaArrayLayered)

    @property
    def cubemap(self) -> bool:
        return bool(self.flags & cudaArrayCubemap)

    @property
    def dimensions(self) -> int:
        """Of coordinates, layers and faces aside."""
        if self.depth and not self.layered and not self.cubemap:
            return 3
        return 2 if self.height else 1

    def __str__(self) -> str:
        shape = [n for n in (self.width, self.height, self.depth) if n]
        return f"an array of {' x '.join(map(str, shape))} elements of {self.format.size} bytes"


def create(memory: Memory, array: Array, how: str) -> Array:
    """Gives it memory. Raises CudaError (InvalidValue, MemoryAllocation)."""
    if array.width == 0 or (array.depth and not array.height and not array.layered):
        raise invalid_value(
            f"the extent is {array.width} x {array.height} x {array.depth}; the width is at least "
            "1, and what is deep is high, too, unless it has layers"
        )
    if array.cubemap:
        wanted = array.depth % _FACES == 0 if array.layered else array.depth == _FACES
        if array.width != array.height or not wanted or not array.depth:
            raise invalid_value(
                f"the extent is {array.width} x {array.height} x {array.depth}; a cubemap is "
                "square and has 6 faces (a multiple with layers)"
            )
    array.address = memory.allocate(
        array.slice * array.planes, cudaMemoryType.cudaMemoryTypeDevice, how
    )
    return array


@dataclass(eq=False)
class Mipmap:
    """Arrays of which each is half as large as the one before."""

    levels: list[Array]
    handle: int = 0


def create_mipmap(memory: Memory, first: Array, count: int, how: str) -> Mipmap:
    """With memory, and as many levels as there are halves. Raises CudaError (InvalidValue,
    MemoryAllocation)."""
    if count == 0:
        raise invalid_value("numLevels is 0; there is at least one")
    deep = not (first.layered or first.cubemap)
    sizes = (first.width, first.height, first.depth if deep else 0)
    made = Mipmap([])
    for level in range(min(count, max(sizes).bit_length())):
        width, height, depth = (size and max(size >> level, 1) for size in sizes)
        array = Array(first.format, width, height, depth if deep else first.depth, first.flags)
        array.whole = made
        try:
            made.levels.append(create(memory, array, how))
        except CudaError:
            for done in made.levels:
                memory.free(done.address, how)
            raise
    return made


class Box(NamedTuple):
    """Where a copy begins, and its strides, in bytes."""

    start: int
    pitch: int
    slice: int


def box(array: Array, x: int, y: int, z: int, width: int, rows: int, planes: int, name: str) -> Box:
    """``width`` bytes, ``rows`` and ``planes`` at byte ``x`` of row ``y``. Raises CudaError."""
    size = array.format.size
    if x + width > array.width * size or y + rows > array.rows or z + planes > array.planes:
        raise invalid_value(
            f"{name}: {width} bytes x {rows} x {planes} at ({x}, {y}, {z}) are outside {array}"
        )
    return Box(array.address + z * array.slice + y * array.pitch + x, array.pitch, array.slice)


def copies(
    memory: Memory, dst: Box, src: Box, kind: int, width: int, rows: int, planes: int
) -> Iterator[Copy]:
    """The copies of planes that move a box. Raises what ``Copy`` does."""
    for plane in range(planes):
        shape = Shape(width, rows, dst.pitch or width)
        yield Copy(
            memory,
            dst.start + plane * dst.slice,
            src.start + plane * src.slice,
            kind,
            shape,
            src_pitch=src.pitch or width,
        )
