"""Arrays, 2D copies and texture objects of the driver API, made from the runtime's.

CUDA Driver API, "Memory Management" (cuArrayCreate, cuMemcpy2D), "Texture Object Management".
"""

from __future__ import annotations

from typing import Any

from ...constants.cudart import (
    CUarray_format_enum,
    CUmemorytype_enum,
    CUresourcetype_enum,
    cudaChannelFormatKind,
    cudaTextureReadMode,
)
from ...constants.cudart import cudaError_enum as Result
from ...constants.cudart import cudaMemcpyKind as Kind
from ...cudart import arrays as model
from ...cudart import context
from ...cudart.arrays import Box, Format
from ...cudart.errors import CudaError
from ..embedding import ffi, pointer
from . import arrays, textures
from .driver import driver, null, require_current
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
_HOST, _DEVICE, _ARRAY, _UNIFIED = CUmemorytype_enum
_KINDS = {
    (True, True): Kind.cudaMemcpyHostToHost,
    (True, False): Kind.cudaMemcpyHostToDevice,
    (False, True): Kind.cudaMemcpyDeviceToHost,
    (False, False): Kind.cudaMemcpyDeviceToDevice,
}
"""By whether the source and the target are memory of the host."""
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


@driver.export("cuArrayCreate_v2")
def array_create(target: Any, desc: Any) -> None:
    null(pHandle=target, pAllocateArray=desc)
    require_current()
    element = element_of(desc.Format, desc.NumChannels, "pAllocateArray")
    target[0] = arrays.create(element, desc.Width, desc.Height, "cuArrayCreate")


@driver.export("cuArrayDestroy")
def array_destroy(array: Any) -> None:
    require_current()
    arrays.find(array, "hArray")
    arrays.free_array(array)


# --- copies --------------------------------------------------------------------------------------


def _side(p: Any, side: str) -> Box:
    """One side of a CUDA_MEMCPY2D. Raises CudaError."""
    kind = getattr(p, f"{side}MemoryType")
    x, y = getattr(p, f"{side}XInBytes"), getattr(p, f"{side}Y")
    if kind == _ARRAY:
        name = f"{side}Array"
        array = arrays.find(getattr(p, name), name)
        return model.box(array, x, y, p.WidthInBytes, p.Height, name)
    if kind not in (_HOST, _DEVICE, _UNIFIED):
        raise _invalid(f"{side}MemoryType is {kind}; must be in 1..4")
    name = f"{side}Host" if kind == _HOST else f"{side}Device"
    given = getattr(p, name)
    start = number(given) if kind == _HOST else int(given)
    if not start:
        raise _invalid(f"{name} is NULL; must point to the memory of the copy")
    pitch = getattr(p, f"{side}Pitch") or x + p.WidthInBytes
    if pitch < x + p.WidthInBytes:
        raise _invalid(f"{side}Pitch is {pitch}; {x} + {p.WidthInBytes} bytes of a row are used")
    return Box(start + y * pitch + x, pitch)


def _copy(p: Any, stream: Any) -> None:
    null(pCopy=p)
    require_current()
    if stream is not None:
        context.stream_of(number(stream))
    if not p.WidthInBytes or not p.Height:
        return
    target, source = _side(p, "dst"), _side(p, "src")
    if _UNIFIED in (p.srcMemoryType, p.dstMemoryType):
        kind = Kind.cudaMemcpyDefault
    else:
        kind = _KINDS[p.srcMemoryType == _HOST, p.dstMemoryType == _HOST]
    memory = context.current().memory
    arrays.move(model.copy(memory, target, source, kind, p.WidthInBytes, p.Height), stream)


@driver.export("cuMemcpy2D_v2")
def memcpy_2d(p: Any) -> None:
    _copy(p, None)


@driver.export("cuMemcpy2DAsync_v2")
def memcpy_2d_async(p: Any, stream: Any) -> None:
    _copy(p, stream)


# --- texture objects -----------------------------------------------------------------------------


def _resource(desc: Any) -> tuple[Any, Format]:
    """The runtime's description of the same memory, and its elements. Raises CudaError."""
    made = ffi.new("struct cudaResourceDesc *")
    kind = desc.resType
    if desc.flags:
        raise _invalid(f"pResDesc->flags is {desc.flags:#x}; must be 0")
    made.resType = kind
    if kind == CUresourcetype_enum.CU_RESOURCE_TYPE_ARRAY:
        handle = desc.res.array.hArray
        made.res.array.array = ffi.cast("cudaArray_t", handle)
        return made, arrays.find(handle, "pResDesc->res.array.hArray").format
    if kind != CUresourcetype_enum.CU_RESOURCE_TYPE_PITCH2D:
        raise CudaError(
            Result.CUDA_ERROR_NOT_SUPPORTED,
            f"pResDesc->resType is {kind}; supported: CU_RESOURCE_TYPE_ARRAY (0), "
            "CU_RESOURCE_TYPE_PITCH2D (3)",
        )
    given, to = desc.res.pitch2D, made.res.pitch2D
    element = element_of(given.format, given.numChannels, "pResDesc")
    to.devPtr = pointer(given.devPtr)
    arrays.describe(to.desc, element)
    to.width, to.height, to.pitchInBytes = given.width, given.height, given.pitchInBytes
    return made, element


@driver.export("cuTexObjectCreate")
def tex_object_create(target: Any, resource: Any, how: Any, view: Any) -> None:
    null(pTexObject=target, pResDesc=resource, pTexDesc=how)
    require_current()
    made, element = _resource(resource)
    texture = ffi.new("struct cudaTextureDesc *")
    texture.filterMode = how.filterMode
    texture.addressMode = list(how.addressMode)
    texture.borderColor = list(how.borderColor)
    texture.normalizedCoords = bool(how.flags & _NORMALIZED)
    texture.sRGB = bool(how.flags & _SRGB)
    is_narrow = element.bits < 32 and element.kind != arrays.FLOAT
    as_float = is_narrow and not how.flags & _AS_INTEGER
    texture.readMode = _NUMBERS if as_float else _ELEMENTS
    textures.create_texture_object(target, made, texture, view)


@driver.export("cuTexObjectDestroy")
def tex_object_destroy(texture: int) -> None:
    require_current()
    textures.destroy_texture_object(texture)
