"""Planes of a surface in pixels: what kernels count in, while surfaces are described in bytes."""

from __future__ import annotations

import struct
from collections.abc import Sequence
from typing import NamedTuple

from .errors import invalid

MAX_PLANES = 6
_FORMAT = struct.Struct(f"<{MAX_PLANES}H{MAX_PLANES}H{MAX_PLANES}H{MAX_PLANES}IB15x")
"""``struct PlanarGeometry``."""


class Plane(NamedTuple):
    """Bytes, and rows."""

    offset: int
    line_pitch: int
    width: int
    height: int


def _pixels(size: int, bpp: int, limit: int, what: str) -> int:
    if size % bpp:
        raise invalid(f"{what} is {size} bytes, no whole number of pixels of {bpp} bytes")
    if not 0 <= size // bpp <= limit:
        raise invalid(f"{what} is {size // bpp} pixels; PlanarGeometry holds 0 to {limit}")
    return size // bpp


def planar_geometry(planes: Sequence[Plane], bpp: int) -> bytes:
    """The bytes of a ``struct PlanarGeometry`` of 1 to 6 planes.

    Raises CupvaError(CUPVA_INVALID_ARGUMENT) for what does not fit in it.
    """
    if bpp < 1:
        raise invalid(f"bpp is {bpp}; it is at least 1 byte per pixel")
    widths, heights, pitches, offsets = ([0] * MAX_PLANES for _ in range(4))
    for index, plane in enumerate(planes):
        name = f"planes[{index}]"
        widths[index] = _pixels(plane.width, bpp, 0xFFFF, f"{name}.widthInBytes")
        pitches[index] = _pixels(plane.line_pitch, bpp, 0xFFFF, f"{name}.linePitch")
        offsets[index] = _pixels(plane.offset, bpp, 0xFFFF_FFFF, f"{name}.offset")
        if not 0 <= plane.height <= 0xFFFF:
            raise invalid(f"{name}.height is {plane.height}; PlanarGeometry holds 0 to 65535")
        heights[index] = plane.height
    return _FORMAT.pack(*widths, *heights, *pitches, *offsets, len(planes))
