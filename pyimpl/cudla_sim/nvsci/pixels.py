"""Copies pixels between the planes of an image buffer and host memory."""

from __future__ import annotations

from ..constants.nvsci import NvSciBufAttrKey as K
from ..core.memory import Bytes
from .buf import Buffer
from .errors import bad_parameter


def copy(
    buffer: Buffer,
    plane: int,
    rect: tuple[int, int, int, int] | None,
    host: Bytes,
    host_pitch: int,
    *,
    to_buffer: bool,
) -> None:
    """Copies one plane's part of ``rect`` (x0, y0, x1, y1 in pixels of plane 0; None: all).

    ``host`` is the host plane (uint8) with ``host_pitch`` bytes a line. Raises NvSciError
    (BadParameter) for a rectangle outside the image or a host plane that is too small.
    """
    attributes = buffer.attributes
    width = attributes.value(K.NvSciBufImageAttrKey_PlaneWidth)
    height = attributes.value(K.NvSciBufImageAttrKey_PlaneHeight)
    x0, y0, x1, y1 = rect or (0, 0, width[0], height[0])
    if not (0 <= x0 < x1 <= width[0] and 0 <= y0 < y1 <= height[0]):
        raise bad_parameter(
            f"rect ({x0}, {y0})-({x1}, {y1}) is not within {width[0]} x {height[0]} pixels"
        )
    # A subsampled plane covers the same area with fewer pixels.
    x0, x1 = (v * width[plane] // width[0] for v in (x0, x1))
    y0, y1 = (v * height[plane] // height[0] for v in (y0, y1))
    bits = attributes.value(K.NvSciBufImageAttrKey_PlaneBitsPerPixel)[plane]
    first, line = x0 * bits // 8, (x1 - x0) * bits // 8
    lines = y1 - y0
    if host_pitch < line or host.size < (lines - 1) * host_pitch + line:
        raise bad_parameter(
            f"plane {plane} needs {lines} lines of {line} bytes; the host memory has "
            f"{host.size} bytes with a pitch of {host_pitch}"
        )
    pitch = attributes.value(K.NvSciBufImageAttrKey_PlanePitch)[plane]
    offset = attributes.value(K.NvSciBufImageAttrKey_PlaneOffset)[plane]
    size = attributes.value(K.NvSciBufImageAttrKey_PlaneAlignedSize)[plane]
    device = buffer.region.data[offset : offset + size]
    for row in range(lines):  # one memcpy a line
        d = device[(y0 + row) * pitch + first :][:line]
        h = host[row * host_pitch :][:line]
        if to_buffer:
            d[:] = h
        else:
            h[:] = d
