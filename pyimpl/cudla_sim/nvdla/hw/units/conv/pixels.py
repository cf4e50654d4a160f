"""Image input of CDMA: pixel formats in pitch-linear memory.

Source: nvdla/hw ``cmod/cdma/NV_NVDLA_cdma.cpp`` (pixel format cases); nvdla hardware manual
"Pixel formats". Channels are delivered in the order R, G, B, A (Y, U, V, A).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ....errors import HardwareFault
from ....facts.maps.enums import ENUMS
from ...memory import Memory
from .registers import Cdma

NAMES = {value: name[2:] for name, value in ENUMS["pixel_format"].items()}
"""Format name by number, without the ``T_`` of the register header."""

_RGBA, _BGRA, _GBAR, _ABGR = (0, 1, 2, 3), (2, 1, 0, 3), (1, 2, 3, 0), (3, 2, 1, 0)

_ORDER: dict[str, tuple[int, ...]] = {
    **dict.fromkeys(("R8", "R10", "R12", "R16", "R16_I", "R16_F"), (0,)),
    **dict.fromkeys(
        (
            "A8B8G8R8",
            "X8B8G8R8",
            "A16B16G16R16",
            "A16B16G16R16_F",
            "X16B16G16R16",
        ),
        _RGBA,
    ),
    **dict.fromkeys(("A8R8G8B8", "X8R8G8B8", "A8Y8U8V8", "A16Y16U16V16", "A16Y16U16V16_F"), _BGRA),
    **dict.fromkeys(("B8G8R8A8", "B8G8R8X8", "V8U8Y8A8", "V16U16Y16A16"), _GBAR),
    **dict.fromkeys(("R8G8B8A8", "R8G8B8X8"), _ABGR),
}
"""Position of each channel inside a pixel of an interleaved format, counted in elements."""

TEN_BIT: dict[str, tuple[int, int, int, int]] = {
    "A2B10G10R10": (0, 10, 20, 30),
    "A2R10G10B10": (20, 10, 0, 30),
    "A2Y10U10V10": (20, 10, 0, 30),
    "B10G10R10A2": (2, 12, 22, 0),
    "V10U10Y10A2": (2, 12, 22, 0),
    "R10G10B10A2": (22, 12, 2, 0),
}
"""Lowest bit of the channels R, G, B, A in the 32-bit word of a packed format."""


def channel_order(name: str) -> tuple[int, ...] | None:
    """Position of each channel in a pixel, None for packed and two-plane formats."""
    return _ORDER.get(name)


def element_bytes(name: str) -> int:
    """Bytes of one channel of a format that is not packed in 32-bit words."""
    return 2 if any(mark in name for mark in ("16", "10", "12")) else 1


def channel_count(name: str) -> int:
    """Channels of a format."""
    if "___" in name:
        return 3
    return 4 if name in TEN_BIT else len(_ORDER[name])


def unpack(p: Cdma, memory: Memory) -> tuple[NDArray[Any], bool]:
    """Return ([y, x, channel], is floating point) of the picture that *p* describes."""
    name = NAMES.get(p.pixel_format)
    if name is None:
        raise HardwareFault("CDMA", f"pixel format {p.pixel_format} does not exist")
    channels = channel_count(name)
    if p.channels != channels:
        raise HardwareFault(
            "CDMA", f"{p.channels} channels are set, pixel format {name} has {channels}"
        )
    if name in TEN_BIT:
        return _packed(p, memory, name), False
    if "___" in name:
        return _two_planes(p, memory, name), False
    dtype = _element(p, name)
    data = _plane(p, memory, p.data_address, p.line_stride, channels, dtype)
    if channels > 1 and _ORDER[name] != _RGBA:
        data = data[:, :, list(_ORDER[name])]
    return data, name.endswith("_F")


def _element(p: Cdma, name: str) -> np.dtype[Any]:
    """Element type: unsigned unless the sign is overridden (or no converter reads it)."""
    if name.endswith("_F"):
        return np.dtype("<f2")
    sign = "i" if p.sign_override or not p.convert else "u"
    return np.dtype(f"<{sign}{element_bytes(name)}")


def _plane(
    p: Cdma, memory: Memory, start: int, stride: int, channels: int, dtype: np.dtype[Any]
) -> NDArray[Any]:
    pixel = channels * dtype.itemsize
    if p.height > 1 and stride < p.width * pixel:
        raise HardwareFault(
            "CDMA", f"line stride {stride} is less than {p.width} pixels of {pixel} bytes"
        )
    return memory.strided(
        "CDMA image",
        start + p.x_offset * pixel,
        dtype,
        (p.height, p.width, channels),
        (stride, pixel, dtype.itemsize),
    )


def _packed(p: Cdma, memory: Memory, name: str) -> NDArray[Any]:
    words = _plane(p, memory, p.data_address, p.line_stride, 1, np.dtype("<u4"))[:, :, 0]
    shifts = TEN_BIT[name]
    channels = [((words >> shift) & 0x3FF) << 6 for shift in shifts[:3]]
    channels.append(((words >> shifts[3]) & 3) << 14)
    data = np.stack(channels, axis=-1).astype("<u2")
    return data.view("<i2") if p.sign_override or not p.convert else data


def _two_planes(p: Cdma, memory: Memory, name: str) -> NDArray[Any]:
    dtype = _element(p, name)
    luma = _plane(p, memory, p.data_address, p.line_stride, 1, dtype)
    chroma = _plane(p, memory, p.uv_address, p.uv_line_stride, 2, dtype)
    first = name.partition("___")[2][0]  # the name lists the channels from the highest address
    if first == "U":
        chroma = chroma[:, :, ::-1]
    return np.concatenate([luma, chroma], axis=-1)
