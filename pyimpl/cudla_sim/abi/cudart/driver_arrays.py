"""Arrays, copies from and to them, texture and surface objects by the driver's names.

CUDA Driver API, "Memory Management" (cuArray3DCreate, cuMemcpy3D), "Texture Object Management".
What they are is the runtime's; here its structures are made from the driver's, and back.
"""

from __future__ import annotations

from typing import Any

from ...constants.cudart import (
    CUarray_format_enum,
    CUresourcetype_enum,
    cudaChannelFormatKind,
    cudaTextureReadMode,
)
from ...constants.cudart import cudaError_enum as Result
from ...constants.cudart import cudaMemcpyKind as Kind
from ...cudart import arrays as model
from ...cudart import context
from ...cudart.arrays import Array, Format
from ...cudart.errors import CudaError
from ...cudart.state import ARRAY, SURFACE, TEXTURE
from ..embedding import ffi, pointer
from . import arrays, driver_copies, mipmaps, textures
from .driver import CONTEXT, driver, null, require_current
from .family import number

_FORMATS = {
    CUarray_format_enum.CU_AD_FORMAT_UNSIGNED_INT8: (8, "Unsigned"),
    CUarray_format_enum.CU_AD_FORMAT_UNSIGNED_INT16: (16, "Unsigned"),
    CUarray_format_enum.CU_AD_FORMAT_UNSIGNED_INT32: (32, "Unsigned"),
    CUarray_format_enum.CU_AD_FORMAT_SIGNED_INT8: (8, "Signed"),
    CUarray_format_enum.CU_AD_FORMAT_SIGNED_INT16: (16, "Signed"),
    CUarray_format_enum.CU_AD_FORMAT_SIGNED_INT32: (32, "Signed"),
    CUarray_format_enum.CU_AD_FORMAT_HALF: (16, "Float"),
    CUarray_format_enum.CU_AD_FORMAT_FLOAT: (32, "Float"),
}
_CHANNELS = (1, 2, 4)
_AS_INTEGER, _NORMALIZED, _SRGB = 0x01, 0x02, 0x10  # CU_TRSF_...
_ELEMENTS = cudaTextureReadMode.cudaReadModeElementType
_NUMBERS = cudaTextureReadMode.cudaReadModeNormalizedFloat


def _invalid(text: str) -> CudaError:
    return CudaError(Result.CUDA_ERROR_INVALID_VALUE, text)


def element_of(number_of: int, channels: int, name: str) -> Format:
    known = {int(member): value for member, value in _FORMATS.items()}
    if number_of not in known:
        raise CudaError(
            Result.CUDA_ERROR_INVALID_VALUE,
            f"{name}: Format is {number_of:#x}; CUarray_format has {', '.join(map(hex, known))}",
        )
    if channels not in _CHANNELS:
        raise CudaError(
            Result.CUDA_ERROR_INVALID_VALUE, f"{name}: NumChannels is {channels}; 1, 2 or 4"
        )
    bits, kind = known[number_of]
    return Format(bits, channels, cudaChannelFormatKind[f"cudaChannelFormatKind{kind}"])


def _number(of: Format) -> int:
    """The CUarray_format of an element."""
    kind = cudaChannelFormatKind(of.kind).name.removeprefix("cudaChannelFormatKind")
    return int(next(f for f, value in _FORMATS.items() if value == (of.bits, kind)))


# --- arrays --------------------------------------------------------------------------------------


def _create(target: Any, desc: Any, depth: int, flags: int, how: str) -> None:
    of = element_of(desc.Format, desc.NumChannels, "pAllocateArray")
    current = context.current()
    current.captures.forbid(how)
    array = Array(of, desc.Width, desc.Height, depth, flags)
    made = model.create(current.memory, array, how)
    made.handle = current.process.handles.add(ARRAY, made)
    target[0] = pointer(made.handle)


@driver.export("cuArrayCreate_v2")
def array_create(target: Any, desc: Any) -> None:
    null(pHandle=target, pAllocateArray=desc)
    require_current()
    _create(target, desc, 0, 0, "cuArrayCreate")


def check_flags(flags: int, name: str) -> None:
    if flags & ~arrays.FLAGS:
        raise CudaError(
            Result.CUDA_ERROR_INVALID_VALUE,
            f"{name}->Flags is {flags:#x}; CUDA_ARRAY3D_LAYERED 1, SURFACE_LDST 2, "
            "CUBEMAP 4 and TEXTURE_GATHER 8 exist",
        )


@driver.export("cuArray3DCreate_v2")
def array_3d_create(target: Any, desc: Any) -> None:
    null(pHandle=target, pAllocateArray=desc)
    require_current()
    check_flags(desc.Flags, "pAllocateArray")
    _create(target, desc, desc.Depth, desc.Flags, "cuArray3DCreate")


def _describe(desc: Any, array: Array) -> None:
    desc.Width, desc.Height = array.width, array.height
    desc.Format, desc.NumChannels = _number(array.format), array.format.channels


@driver.export("cuArrayGetDescriptor_v2")
def array_get_descriptor(desc: Any, array: Any) -> None:
    null(pArrayDescriptor=desc)
    require_current()
    _describe(desc, arrays.find(array, "hArray"))


@driver.export("cuArray3DGetDescriptor_v2")
def array_3d_get_descriptor(desc: Any, array: Any) -> None:
    null(pArrayDescriptor=desc)
    require_current()
    found = arrays.find(array, "hArray")
    _describe(desc, found)
    desc.Depth, desc.Flags = found.depth, found.flags


@driver.export("cuArrayDestroy")
def array_destroy(array: Any) -> None:
    require_current()
    arrays.find(array, "hArray")
    arrays.free_array(array)


# --- copies --------------------------------------------------------------------------------------


def _to_array(dst: Any, offset: int, src: Any, size: int, kind: Kind, stream: Any) -> None:
    require_current()
    found = arrays.find(dst, "dstArray")
    if size:
        target, width, rows = arrays.linear(found, offset, 0, size, "dstArray")
        source = arrays.rows_of(src, width, width, "the source")
        arrays.plane(target, source, kind, width, rows, stream)


def _from_array(dst: Any, src: Any, offset: int, size: int, kind: Kind, stream: Any) -> None:
    require_current()
    found = arrays.find(src, "srcArray")
    if size:
        source, width, rows = arrays.linear(found, offset, 0, size, "srcArray")
        target = arrays.rows_of(dst, width, width, "the target")
        arrays.plane(target, source, kind, width, rows, stream)


@driver.export("cuMemcpyHtoA_v2")
def memcpy_htoa(dst: Any, offset: int, src: Any, size: int) -> None:
    _to_array(dst, offset, src, size, Kind.cudaMemcpyHostToDevice, None)


@driver.export("cuMemcpyHtoAAsync_v2")
def memcpy_htoa_async(dst: Any, offset: int, src: Any, size: int, stream: Any) -> None:
    _to_array(dst, offset, src, size, Kind.cudaMemcpyHostToDevice, stream)


@driver.export("cuMemcpyDtoA_v2")
def memcpy_dtoa(dst: Any, offset: int, src: int, size: int) -> None:
    _to_array(dst, offset, pointer(src), size, Kind.cudaMemcpyDeviceToDevice, None)


@driver.export("cuMemcpyAtoH_v2")
def memcpy_atoh(dst: Any, src: Any, offset: int, size: int) -> None:
    _from_array(dst, src, offset, size, Kind.cudaMemcpyDeviceToHost, None)


@driver.export("cuMemcpyAtoHAsync_v2")
def memcpy_atoh_async(dst: Any, src: Any, offset: int, size: int, stream: Any) -> None:
    _from_array(dst, src, offset, size, Kind.cudaMemcpyDeviceToHost, stream)


@driver.export("cuMemcpyAtoD_v2")
def memcpy_atod(dst: int, src: Any, offset: int, size: int) -> None:
    _from_array(pointer(dst), src, offset, size, Kind.cudaMemcpyDeviceToDevice, None)


@driver.export("cuMemcpyAtoA_v2")
def memcpy_atoa(dst: Any, to: int, src: Any, offset: int, size: int) -> None:
    require_current()
    target_of, source_of = arrays.find(dst, "dstArray"), arrays.find(src, "srcArray")
    if not size:
        return
    target, width, rows = arrays.linear(target_of, to, 0, size, "dstArray")
    source, other, other_rows = arrays.linear(source_of, offset, 0, size, "srcArray")
    if (width, rows) != (other, other_rows):
        raise CudaError(
            Result.CUDA_ERROR_INVALID_VALUE,
            f"the rows are {width} bytes in dstArray and {other} in srcArray; the same in "
            "both, or part of one row",
        )
    arrays.plane(target, source, Kind.cudaMemcpyDeviceToDevice, width, rows, None)


def _copy(p: Any, planes: int, deep: bool, stream: Any) -> None:
    require_current()
    if stream is not None:
        context.stream_of(number(stream))
    found = driver_copies.jobs(p, planes, deep)
    if found:
        arrays.move(found, stream)


@driver.export("cuMemcpy2D_v2")
@driver.export("cuMemcpy2DUnaligned_v2")
def memcpy_2d(p: Any) -> None:
    null(pCopy=p)
    _copy(p, 1, False, None)


@driver.export("cuMemcpy2DAsync_v2")
def memcpy_2d_async(p: Any, stream: Any) -> None:
    null(pCopy=p)
    _copy(p, 1, False, stream)


@driver.export("cuMemcpy3D_v2")
def memcpy_3d(p: Any) -> None:
    null(pCopy=p)
    _copy(p, p.Depth, True, None)


@driver.export("cuMemcpy3DAsync_v2")
def memcpy_3d_async(p: Any, stream: Any) -> None:
    null(pCopy=p)
    _copy(p, p.Depth, True, stream)


def _contexts(p: Any) -> None:
    null(pCopy=p)
    driver.resolve(p.srcContext, CONTEXT, "pCopy->srcContext")
    driver.resolve(p.dstContext, CONTEXT, "pCopy->dstContext")


@driver.export("cuMemcpy3DPeer")
def memcpy_3d_peer(p: Any) -> None:
    _contexts(p)
    _copy(p, p.Depth, True, None)


@driver.export("cuMemcpy3DPeerAsync")
def memcpy_3d_peer_async(p: Any, stream: Any) -> None:
    _contexts(p)
    _copy(p, p.Depth, True, stream)


# --- objects -------------------------------------------------------------------------------------


def _resource(desc: Any) -> tuple[Any, Format]:
    """The runtime's description of the same memory, and its elements. Raises CudaError."""
    made = ffi.new("struct cudaResourceDesc *")
    kind = desc.resType
    if kind not in CUresourcetype_enum._value2member_map_:
        raise _invalid(f"pResDesc->resType is {kind}; CUresourcetype has 0 to 3")
    if desc.flags:
        raise _invalid(f"pResDesc->flags is {desc.flags:#x}; it is 0")
    made.resType = kind
    if kind == CUresourcetype_enum.CU_RESOURCE_TYPE_ARRAY:
        handle = desc.res.array.hArray
        made.res.array.array = ffi.cast("cudaArray_t", handle)
        return made, arrays.find(handle, "pResDesc->res.array.hArray").format
    if kind == CUresourcetype_enum.CU_RESOURCE_TYPE_MIPMAPPED_ARRAY:
        handle = desc.res.mipmap.hMipmappedArray
        made.res.mipmap.mipmap = ffi.cast("cudaMipmappedArray_t", handle)
        found = mipmaps.find(handle, "pResDesc->res.mipmap.hMipmappedArray")
        return made, found.levels[0].format
    linear = kind == CUresourcetype_enum.CU_RESOURCE_TYPE_LINEAR
    given = desc.res.linear if linear else desc.res.pitch2D
    to = made.res.linear if linear else made.res.pitch2D
    of = element_of(given.format, given.numChannels, "pResDesc")
    to.devPtr = pointer(given.devPtr)
    arrays.describe(to.desc, of)
    if linear:
        to.sizeInBytes = given.sizeInBytes
    else:
        if given.width * of.size > given.pitchInBytes:
            raise CudaError(
                Result.CUDA_ERROR_INVALID_VALUE,
                f"pResDesc->res.pitch2D.pitchInBytes is {given.pitchInBytes}; a row has "
                f"{given.width * of.size} bytes",
            )
        to.width, to.height, to.pitchInBytes = given.width, given.height, given.pitchInBytes
    return made, of


def _resource_back(desc: Any, of: Any) -> None:
    """The driver's description of a resource."""
    desc.resType = of.resType
    desc.flags = 0
    if of.resType == CUresourcetype_enum.CU_RESOURCE_TYPE_ARRAY:
        desc.res.array.hArray = ffi.cast("CUarray", of.res.array.array)
        return
    if of.resType == CUresourcetype_enum.CU_RESOURCE_TYPE_MIPMAPPED_ARRAY:
        desc.res.mipmap.hMipmappedArray = ffi.cast("CUmipmappedArray", of.res.mipmap.mipmap)
        return
    linear = of.resType == CUresourcetype_enum.CU_RESOURCE_TYPE_LINEAR
    given = of.res.linear if linear else of.res.pitch2D
    to = desc.res.linear if linear else desc.res.pitch2D
    element = arrays.format_of(given.desc)
    to.devPtr, to.format, to.numChannels = number(given.devPtr), _number(element), element.channels
    if linear:
        to.sizeInBytes = given.sizeInBytes
    else:
        to.width, to.height, to.pitchInBytes = given.width, given.height, given.pitchInBytes


_SAME = (
    "filterMode", "maxAnisotropy", "mipmapFilterMode", "mipmapLevelBias", "minMipmapLevelClamp",
    "maxMipmapLevelClamp",
)  # fmt: skip


@driver.export("cuTexObjectCreate")
def tex_object_create(target: Any, resource: Any, how: Any, view: Any) -> None:
    null(pTexObject=target, pResDesc=resource, pTexDesc=how)
    require_current()
    made, of = _resource(resource)
    texture = ffi.new("struct cudaTextureDesc *")
    for name in _SAME:
        setattr(texture, name, getattr(how, name))
    texture.addressMode = list(how.addressMode)
    texture.borderColor = list(how.borderColor)
    texture.normalizedCoords = bool(how.flags & _NORMALIZED)
    texture.sRGB = bool(how.flags & _SRGB)
    promoted = of.bits < 32 and of.kind != arrays.FLOAT and not how.flags & _AS_INTEGER
    texture.readMode = _NUMBERS if promoted else _ELEMENTS
    textures.create_texture_object(target, made, texture, view)


@driver.export("cuTexObjectDestroy")
def tex_object_destroy(texture: int) -> None:
    require_current()
    textures.find(texture, TEXTURE, "texObject")
    textures.destroy_texture_object(texture)


@driver.export("cuTexObjectGetResourceDesc")
def tex_object_get_resource_desc(desc: Any, texture: int) -> None:
    null(pResDesc=desc)
    require_current()
    _resource_back(desc, textures.find(texture, TEXTURE, "texObject").resource)


@driver.export("cuTexObjectGetTextureDesc")
def tex_object_get_texture_desc(desc: Any, texture: int) -> None:
    null(pTexDesc=desc)
    require_current()
    how = textures.find(texture, TEXTURE, "texObject").texture
    for name in _SAME:
        setattr(desc, name, getattr(how, name))
    desc.addressMode = list(how.addressMode)
    desc.borderColor = list(how.borderColor)
    flags = _NORMALIZED if how.normalizedCoords else 0
    desc.flags = flags | (_AS_INTEGER if how.readMode == _ELEMENTS else 0)


@driver.export("cuSurfObjectCreate")
def surf_object_create(target: Any, resource: Any) -> None:
    null(pSurfObject=target, pResDesc=resource)
    require_current()
    textures.create_surface_object(target, _resource(resource)[0])


@driver.export("cuSurfObjectDestroy")
def surf_object_destroy(surface: int) -> None:
    require_current()
    textures.find(surface, SURFACE, "surfObject")
    textures.destroy_surface_object(surface)


@driver.export("cuSurfObjectGetResourceDesc")
def surf_object_get_resource_desc(desc: Any, surface: int) -> None:
    null(pResDesc=desc)
    require_current()
    _resource_back(desc, textures.find(surface, SURFACE, "surfObject").resource)
