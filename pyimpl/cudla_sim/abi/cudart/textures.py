"""Texture objects: numbers that are addresses of what kernels read.

CUDA Programming Guide, "Texture and Surface Memory"; the kernels' side is in
``include/cuda/kernels/textures.hpp``.
"""

from __future__ import annotations

from typing import Any

from ...constants.cudart import (
    cudaError,
    cudaResourceType,
    cudaTextureAddressMode,
    cudaTextureFilterMode,
    cudaTextureReadMode,
)
from ...cudart import context, transfer
from ...cudart.arrays import Format
from ...cudart.errors import CudaError, invalid_value, not_supported
from ..embedding import address, ffi
from . import arrays
from .family import cudart, null, number

_FLOAT_READ = cudaTextureReadMode.cudaReadModeNormalizedFloat
_LINEAR = cudaTextureFilterMode.cudaFilterModeLinear


def _texels(resource: Any) -> Any:
    """The memory of a cudaResourceDesc. Raises CudaError."""
    texels = ffi.new("struct cudlaSimTexels *")
    kind = resource.resType
    if kind == cudaResourceType.cudaResourceTypeArray:
        array = arrays.find(resource.res.array.array, "pResDesc->res.array.array")
        element, where = array.format, array.address
        texels.pitch, texels.width, texels.height = array.pitch, array.width, array.rows
    elif kind == cudaResourceType.cudaResourceTypePitch2D:
        plane = resource.res.pitch2D
        element = arrays.format_of(plane.desc)
        shape = transfer.plane(plane.width * element.size, plane.height, plane.pitchInBytes)
        where = number(plane.devPtr)
        memory = context.current().memory
        transfer.check(memory, where, shape, "device", "pResDesc->res.pitch2D.devPtr")
        texels.pitch, texels.width, texels.height = plane.pitchInBytes, plane.width, plane.height
    elif kind in cudaResourceType._value2member_map_:
        raise not_supported(
            f"pResDesc->resType is {cudaResourceType(kind).name}; supported: "
            "cudaResourceTypeArray (0), cudaResourceTypePitch2D (3)"
        )
    else:
        raise invalid_value(f"pResDesc->resType is {kind}; must be in 0..3")
    texels.data = ffi.cast("unsigned char *", where)
    texels.bits, texels.channels, texels.kind = element
    return texels


def _sample(texels: Any, how: Any) -> None:
    """Applies a cudaTextureDesc. Raises CudaError."""
    for name, value, kind in (
        ("filterMode", how.filterMode, cudaTextureFilterMode),
        ("readMode", how.readMode, cudaTextureReadMode),
        ("addressMode[0]", how.addressMode[0], cudaTextureAddressMode),
        ("addressMode[1]", how.addressMode[1], cudaTextureAddressMode),
    ):
        if value not in kind._value2member_map_:
            raise invalid_value(f"pTexDesc->{name} is {value}; must be in 0..{len(kind) - 1}")
    if how.sRGB:
        raise not_supported("pTexDesc->sRGB is set; must be 0")
    element = Format(texels.bits, texels.channels, texels.kind)
    is_float = element.kind == arrays.FLOAT
    if how.readMode == _FLOAT_READ and not is_float and element.bits > 16:
        raise invalid_value(
            "pTexDesc->readMode is cudaReadModeNormalizedFloat for 32-bit integers; supported for "
            "8 and 16 bits"
        )
    if how.filterMode == _LINEAR and not is_float and how.readMode != _FLOAT_READ:
        raise invalid_value(
            "pTexDesc->filterMode is linear for integers that are read as such; use point, or "
            "cudaReadModeNormalizedFloat"
        )
    for i in range(2):
        texels.address[i] = how.addressMode[i]
    texels.filter = how.filterMode
    texels.normalized = how.normalizedCoords != 0
    texels.normalized_float = how.readMode == _FLOAT_READ and not is_float
    for i in range(4):
        texels.border[i] = how.borderColor[i]


@cudart.export("cudaCreateTextureObject")
def create_texture_object(target: Any, resource: Any, how: Any, view: Any) -> None:
    null(pTexObject=target, pResDesc=resource, pTexDesc=how)
    if view:
        raise not_supported("pResViewDesc is set; must be NULL")
    texels = _texels(resource)
    _sample(texels, how)
    handle = address(texels)
    context.current().textures[handle] = texels
    target[0] = handle


@cudart.export("cudaDestroyTextureObject", ruined="report")
def destroy_texture_object(texture: int) -> None:
    if not texture:
        return
    current = context.current()
    current.streams.drain()
    if current.textures.pop(int(texture), None) is None:
        raise CudaError(
            cudaError.cudaErrorInvalidResourceHandle,
            f"texObject ({int(texture):#x}) is not a texture object of this process",
        )
