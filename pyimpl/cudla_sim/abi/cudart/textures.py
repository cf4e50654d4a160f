"""Texture and surface objects: numbers that are addresses of what kernels read.

CUDA Programming Guide, "Texture and Surface Memory"; kernels' side is in
``include/cuda/kernels/textures.hpp``.
"""

from __future__ import annotations

from typing import Any

from ...constants.cudart import (
    cudaArraySurfaceLoadStore,
    cudaError,
    cudaResourceType,
    cudaTextureAddressMode,
    cudaTextureFilterMode,
    cudaTextureReadMode,
)
from ...cudart import context, transfer
from ...cudart.arrays import Array, Format, Mipmap
from ...cudart.errors import CudaError, invalid_value, not_supported
from ...cudart.state import SURFACE, TEXTURE
from ...cudart.transfer import Shape
from ..embedding import address, ffi
from . import arrays, mipmaps
from .family import cudart, null, number

_FLOAT_READ = cudaTextureReadMode.cudaReadModeNormalizedFloat
_LINEAR = cudaTextureFilterMode.cudaFilterModeLinear


class _Object:
    """A texture or surface object; kernels read ``texels``."""

    def __init__(self, resource: Any, texels: Any) -> None:
        self.resource = ffi.new("struct cudaResourceDesc *", resource[0])
        self.texture = ffi.new("struct cudaTextureDesc *")
        self.texels = texels
        self.levels: Any = None  # those of a mipmap
        self.handle = address(texels)


def _device(memory: Any, size: int) -> int:
    where = number(memory)
    shape = Shape(size, 1, size)
    transfer.check(context.current().memory, where, shape, "device", "pResDesc->res.*.devPtr")
    return where


def _lies(texels: Any, array: Array) -> int:
    """Where the elements of an array are."""
    texels.pitch, texels.slice = array.pitch, array.slice
    texels.width, texels.height, texels.depth = array.width, array.rows, array.planes
    texels.dimensions = array.dimensions
    return array.address


def _mipmap(resource: Any) -> Mipmap:
    return mipmaps.find(resource.res.mipmap.mipmap, "pResDesc->res.mipmap.mipmap")


def _levels(texels: Any, resource: Any, how: Any) -> Any:
    """The texels of each level, which are read as those of the first; what is read without a level
    of detail is the nearest to the bias. Raises CudaError."""
    levels = _mipmap(resource).levels
    if not how.normalizedCoords:
        raise invalid_value("pTexDesc->normalizedCoords is 0; levels differ in size, so it is 1")
    mode = how.mipmapFilterMode
    if mode not in cudaTextureFilterMode._value2member_map_:
        raise invalid_value(
            f"pTexDesc->mipmapFilterMode is {mode}; cudaTextureFilterMode has 0 to 1"
        )
    made = ffi.new("struct cudlaSimTexels[]", len(levels))
    for index, level in enumerate(levels):
        made[index] = texels[0]
        made[index].data = ffi.cast("unsigned char *", _lies(ffi.addressof(made[index]), level))
    least, most = how.minMipmapLevelClamp, how.maxMipmapLevelClamp
    usual = max(min(how.mipmapLevelBias, most), least, 0.0)
    texels[0] = made[min(int(usual + 0.5), len(levels) - 1)]
    texels.level, texels.levels = made, len(levels)
    texels.level_filter, texels.level_bias = mode, how.mipmapLevelBias
    texels.least_level, texels.most_level = least, most
    return made


def _texels(resource: Any) -> Any:
    """The memory of a cudaResourceDesc. Raises CudaError."""
    texels = ffi.new("struct cudlaSimTexels *")
    kind = resource.resType
    if kind == cudaResourceType.cudaResourceTypeArray:
        array = arrays.find(resource.res.array.array, "pResDesc->res.array.array")
        of, where = array.format, _lies(texels, array)
    elif kind == cudaResourceType.cudaResourceTypeMipmappedArray:
        array = _mipmap(resource).levels[0]
        of, where = array.format, _lies(texels, array)
    elif kind == cudaResourceType.cudaResourceTypeLinear:
        linear = resource.res.linear
        of = arrays.format_of(linear.desc)
        where = _device(linear.devPtr, linear.sizeInBytes)
        texels.linear, texels.dimensions = 1, 1
        texels.width, texels.height, texels.depth = linear.sizeInBytes // of.size, 1, 1
        texels.pitch = texels.slice = linear.sizeInBytes
    elif kind == cudaResourceType.cudaResourceTypePitch2D:
        plane = resource.res.pitch2D
        of = arrays.format_of(plane.desc)
        transfer.plane(plane.width * of.size, plane.height, plane.pitchInBytes)
        where = _device(
            plane.devPtr, (plane.height - 1) * plane.pitchInBytes + plane.width * of.size
        )
        texels.dimensions = 2
        texels.width, texels.height, texels.depth = plane.width, plane.height, 1
        texels.pitch = plane.pitchInBytes
        texels.slice = plane.pitchInBytes * plane.height
    else:
        raise invalid_value(f"pResDesc->resType is {kind}; cudaResourceType has 0 to 3")
    texels.data = ffi.cast("unsigned char *", where)
    texels.bits, texels.channels, texels.kind = of
    return texels


def _sampled(texels: Any, how: Any) -> None:
    """What a cudaTextureDesc says. Raises CudaError."""
    for name, value, kind in (
        ("filterMode", how.filterMode, cudaTextureFilterMode),
        ("readMode", how.readMode, cudaTextureReadMode),
        *(("addressMode", how.addressMode[i], cudaTextureAddressMode) for i in range(3)),
    ):
        if value not in kind._value2member_map_:
            raise invalid_value(
                f"pTexDesc->{name} is {value}; {kind.__name__} has 0 to {len(kind) - 1}"
            )
    if how.sRGB:
        raise not_supported("pTexDesc->sRGB; it is 0")
    of = Format(texels.bits, texels.channels, texels.kind)
    is_float = of.kind == arrays.FLOAT
    if how.readMode == _FLOAT_READ and not is_float and of.bits > 16:
        raise invalid_value(
            "pTexDesc->readMode is cudaReadModeNormalizedFloat for integers of 32 bits; 8 or 16"
        )
    if how.filterMode == _LINEAR and not is_float and how.readMode != _FLOAT_READ:
        raise invalid_value(
            "pTexDesc->filterMode is linear for integers that are read as such; point, or "
            "cudaReadModeNormalizedFloat"
        )
    for i in range(3):
        texels.address[i] = how.addressMode[i]
    texels.filter = how.filterMode
    texels.normalized = how.normalizedCoords != 0
    texels.normalized_float = how.readMode == _FLOAT_READ and not is_float
    for i in range(4):
        texels.border[i] = how.borderColor[i]


def _add(target: Any, kind: str, made: _Object) -> None:
    objects = context.current().objects
    objects[kind, made.handle] = made
    target[0] = made.handle


def find(handle: int, kind: str, argument: str) -> _Object:
    found: _Object | None = context.current().objects.get((kind, int(handle)))
    if found is None:
        raise CudaError(
            cudaError.cudaErrorInvalidResourceHandle,
            f"{argument} ({int(handle):#x}) is no {kind} of this process",
        )
    return found


@cudart.export("cudaCreateTextureObject")
def create_texture_object(target: Any, resource: Any, how: Any, view: Any) -> None:
    null(pTexObject=target, pResDesc=resource, pTexDesc=how)
    if view:
        raise not_supported("views of resources; pResViewDesc is NULL")
    texels = _texels(resource)
    _sampled(texels, how)
    made = _Object(resource, texels)
    if resource.resType == cudaResourceType.cudaResourceTypeMipmappedArray:
        made.levels = _levels(texels, resource, how)
    made.texture = ffi.new("struct cudaTextureDesc *", how[0])
    _add(target, TEXTURE, made)


@cudart.export("cudaDestroyTextureObject", ruined="report")
def destroy_texture_object(texture: int) -> None:
    if texture:
        _destroy(texture, TEXTURE, "texObject")


def _destroy(handle: int, kind: str, argument: str) -> None:
    found = find(handle, kind, argument)
    current = context.current()
    current.streams.drain()
    del current.objects[kind, found.handle]


@cudart.export("cudaGetTextureObjectResourceDesc")
def get_texture_object_resource_desc(resource: Any, texture: int) -> None:
    null(pResDesc=resource)
    resource[0] = find(texture, TEXTURE, "texObject").resource[0]


@cudart.export("cudaGetTextureObjectTextureDesc")
def get_texture_object_texture_desc(how: Any, texture: int) -> None:
    null(pTexDesc=how)
    how[0] = find(texture, TEXTURE, "texObject").texture[0]


@cudart.export("cudaCreateSurfaceObject")
def create_surface_object(target: Any, resource: Any) -> None:
    null(pSurfObject=target, pResDesc=resource)
    if resource.resType != cudaResourceType.cudaResourceTypeArray:
        raise invalid_value("pResDesc->resType is no array; surfaces are arrays")
    array = arrays.find(resource.res.array.array, "pResDesc->res.array.array")
    if not array.flags & cudaArraySurfaceLoadStore:
        raise invalid_value(f"{array} was made without cudaArraySurfaceLoadStore")
    _add(target, SURFACE, _Object(resource, _texels(resource)))


@cudart.export("cudaDestroySurfaceObject", ruined="report")
def destroy_surface_object(surface: int) -> None:
    if surface:
        _destroy(surface, SURFACE, "surfObject")


@cudart.export("cudaGetSurfaceObjectResourceDesc")
def get_surface_object_resource_desc(resource: Any, surface: int) -> None:
    null(pResDesc=resource)
    resource[0] = find(surface, SURFACE, "surfObject").resource[0]
