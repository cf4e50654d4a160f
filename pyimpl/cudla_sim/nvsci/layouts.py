"""From reconciled attributes to bytes: size, alignment, strides and planes of a buffer."""

from __future__ import annotations

import re
from typing import Any, NamedTuple

from ..constants.nvsci import (
    NvSciBufAttrKey as K,
)
from ..constants.nvsci import (
    NvSciBufAttrValColorFmt as Color,
)
from ..constants.nvsci import (
    NvSciBufAttrValDataType as DataType,
)
from ..constants.nvsci import (
    NvSciBufAttrValImageLayoutType as ImageLayout,
)
from ..constants.nvsci import (
    NvSciBufType as Type,
)
from ..constants.nvsci import (
    NvSciError as Status,
)
from .bufattrs import ELEMENT_BYTES
from .errors import NvSciError

PITCH_ALIGN = 256
PLANE_ALIGN = 4096
PAGE = 4096


class Layout(NamedTuple):
    """Bytes and alignment to allocate, and what the reconciled list answers (decoded values)."""

    size: int
    align: int
    answers: dict[int, Any]


def _failed(explanation: str) -> NvSciError:
    return NvSciError(Status.NvSciError_ReconciliationFailed, explanation)


def _missing(values: dict[int, Any], *keys: K) -> None:
    for key in keys:
        if key not in values:
            raise _failed(f"{key.name} is set in no list, but this buffer type needs it")


def _up(value: int, align: int) -> int:
    return -(-value // align) * align


def _element_bytes(data_type: int, what: str) -> int:
    size = ELEMENT_BYTES.get(DataType(data_type))
    if size is None:
        raise NvSciError(
            Status.NvSciError_UnsupportedConfig,
            f"{what} {DataType(data_type).name} has no whole number of bytes an element",
        )
    return size


def raw_buffer(values: dict[int, Any]) -> Layout:
    _missing(values, K.NvSciBufRawBufferAttrKey_Size)
    align = values.get(K.NvSciBufRawBufferAttrKey_Align, 1)
    return Layout(_up(values[K.NvSciBufRawBufferAttrKey_Size], align), align, {})


def tensor(values: dict[int, Any]) -> Layout:
    """Row-major; dimension i is padded to a multiple of AlignmentPerDim[i] elements."""
    _missing(
        values,
        K.NvSciBufTensorAttrKey_DataType,
        K.NvSciBufTensorAttrKey_NumDims,
        K.NvSciBufTensorAttrKey_SizePerDim,
    )
    dims = values[K.NvSciBufTensorAttrKey_NumDims]
    sizes = values[K.NvSciBufTensorAttrKey_SizePerDim]
    aligns = values.get(K.NvSciBufTensorAttrKey_AlignmentPerDim, (1,) * dims)
    if len(sizes) != dims or len(aligns) != dims:
        raise _failed(
            f"NumDims is {dims}, but SizePerDim has {len(sizes)} and AlignmentPerDim "
            f"{len(aligns)} values"
        )
    stride = _element_bytes(values[K.NvSciBufTensorAttrKey_DataType], "Tensor DataType")
    strides = []
    for size, align in zip(reversed(sizes), reversed(aligns), strict=True):
        strides.append(stride)
        stride *= _up(size, align)
        if stride >= 1 << 63:
            raise NvSciError(Status.NvSciError_Overflow, f"a tensor of {sizes} has too many bytes")
    base = values.get(K.NvSciBufTensorAttrKey_BaseAddrAlign, 1)
    answers = {
        K.NvSciBufTensorAttrKey_StridesPerDim: tuple(reversed(strides)),
        K.NvSciBufTensorAttrKey_AlignmentPerDim: tuple(aligns),
        K.NvSciBufTensorAttrKey_Size: stride,
    }
    return Layout(stride, base, {int(k): v for k, v in answers.items()})


def array(values: dict[int, Any]) -> Layout:
    _missing(values, K.NvSciBufArrayAttrKey_DataType, K.NvSciBufArrayAttrKey_Capacity)
    element = _element_bytes(values[K.NvSciBufArrayAttrKey_DataType], "Array DataType")
    stride = values.get(K.NvSciBufArrayAttrKey_Stride, element)
    size = stride * values[K.NvSciBufArrayAttrKey_Capacity]
    answers = {
        K.NvSciBufArrayAttrKey_Stride: stride,
        K.NvSciBufArrayAttrKey_Size: size,
        K.NvSciBufArrayAttrKey_Alignment: PAGE,
    }
    return Layout(size, PAGE, {int(k): v for k, v in answers.items()})


def pixel(color: int) -> tuple[int, int]:
    """Bits a pixel and channels of a colour format, read off its name (A8B8G8R8: 32 and 4)."""
    name = Color(color).name.removeprefix("NvSciColor_")
    parts = [(letters, int(bits)) for letters, bits in re.findall(r"([A-Za-z]+?)(\d+)", name)]
    bits = sum(b for _, b in parts)
    channels = sum(letters[-1] != "X" for letters, _ in parts)
    if sorted(letters[-1] for letters, _ in parts) == ["U", "V", "Y", "Y"]:
        return bits // 2, 3  # one U and one V for two pixels
    return bits, channels


def image(values: dict[int, Any]) -> Layout:
    """Pitch-linear planes, each line padded to 256 bytes and each plane to 4 KiB."""
    _missing(
        values,
        K.NvSciBufImageAttrKey_PlaneCount,
        K.NvSciBufImageAttrKey_PlaneColorFormat,
        K.NvSciBufImageAttrKey_PlaneWidth,
        K.NvSciBufImageAttrKey_PlaneHeight,
    )
    layout = values.get(K.NvSciBufImageAttrKey_Layout, ImageLayout.NvSciBufImage_PitchLinearType)
    if layout != ImageLayout.NvSciBufImage_PitchLinearType:
        raise NvSciError(
            Status.NvSciError_UnsupportedConfig,
            "Image Layout is BlockLinear, whose address pattern is not public; PitchLinear works",
        )
    planes = values[K.NvSciBufImageAttrKey_PlaneCount]
    per_plane = [
        values[k]
        for k in (
            K.NvSciBufImageAttrKey_PlaneColorFormat,
            K.NvSciBufImageAttrKey_PlaneWidth,
            K.NvSciBufImageAttrKey_PlaneHeight,
        )
    ]
    if any(len(v) < planes for v in per_plane):
        raise _failed(f"PlaneCount is {planes}, but colours, widths and heights are fewer")
    offset = 0
    offsets, pitches, bits, channels, sizes, heights = [], [], [], [], [], []
    for color, width, height in list(zip(*per_plane, strict=False))[:planes]:
        depth, count = pixel(color)
        pitch = _up(-(-width * depth // 8), PITCH_ALIGN)
        offsets.append(offset)
        pitches.append(pitch)
        bits.append(depth)
        channels.append(count)
        heights.append(height)
        sizes.append(_up(pitch * height, PLANE_ALIGN))
        offset += sizes[-1]
    total = offset * values.get(K.NvSciBufImageAttrKey_ImageCount, 1)
    answers = {
        K.NvSciBufImageAttrKey_Layout: int(layout),
        K.NvSciBufImageAttrKey_Size: total,
        K.NvSciBufImageAttrKey_Alignment: PLANE_ALIGN,
        K.NvSciBufImageAttrKey_PlaneOffset: tuple(offsets),
        K.NvSciBufImageAttrKey_PlanePitch: tuple(pitches),
        K.NvSciBufImageAttrKey_PlaneBitsPerPixel: tuple(bits),
        K.NvSciBufImageAttrKey_PlaneChannelCount: tuple(channels),
        K.NvSciBufImageAttrKey_PlaneAlignedHeight: tuple(heights),
        K.NvSciBufImageAttrKey_PlaneAlignedSize: tuple(sizes),
    }
    return Layout(total, PLANE_ALIGN, {int(k): v for k, v in answers.items()})


_BY_TYPE = {
    Type.NvSciBufType_RawBuffer: raw_buffer,
    Type.NvSciBufType_Tensor: tensor,
    Type.NvSciBufType_Array: array,
    Type.NvSciBufType_Image: image,
}


def lay_out(types: tuple[int, ...], values: dict[int, Any]) -> Layout:
    """The memory that serves all ``types`` at once.

    Raises NvSciError: ReconciliationFailed for missing or contradictory values, UnsupportedConfig
    for what this machine cannot lay out.
    """
    size, align = 0, PAGE
    answers: dict[int, Any] = {}
    for kind in types:
        compute = _BY_TYPE.get(Type(kind))
        if compute is None:
            raise NvSciError(
                Status.NvSciError_UnsupportedConfig,
                f"{Type(kind).name} buffers are not laid out here; RawBuffer, Tensor, Array and "
                "pitch-linear Image are",
            )
        part = compute(values)
        size, align = max(size, part.size), max(align, part.align)
        answers.update(part.answers)
    return Layout(size, align, answers)
