"""What else texture references are set to: mipmaps, the color of the border, anisotropy."""

from __future__ import annotations

from typing import Any

from ...constants.cudart import CUfilter_mode_enum as FilterMode
from ...constants.cudart import CUresourcetype_enum as Resource
from ...constants.cudart import cudaError_enum as Result
from ...cudart.errors import CudaError
from . import mipmaps
from .driver import driver, null
from .driver_references import resource_of, texture_of

_CHANNELS = 4


def _invalid(text: str) -> CudaError:
    return CudaError(Result.CUDA_ERROR_INVALID_VALUE, text)


@driver.export("cuTexRefSetMipmappedArray")
def tex_ref_set_mipmapped_array(handle: Any, mipmap: Any, flags: int) -> None:
    found = texture_of(handle)
    if flags not in (0, 1):
        raise _invalid(f"Flags is {flags:#x}; CU_TRSA_OVERRIDE_FORMAT 1")
    mipmaps.find(mipmap, "hMipmappedArray")
    made = resource_of(Resource.CU_RESOURCE_TYPE_MIPMAPPED_ARRAY)
    made.res.mipmap.hMipmappedArray = mipmap
    found.resource = made
    found.bind()


@driver.export("cuTexRefGetMipmappedArray")
def tex_ref_get_mipmapped_array(target: Any, handle: Any) -> None:
    null(phMipmappedArray=target)
    resource = texture_of(handle).resource
    if resource is None or resource.resType != Resource.CU_RESOURCE_TYPE_MIPMAPPED_ARRAY:
        raise _invalid("hTexRef is not bound to a mipmapped array")
    target[0] = resource.res.mipmap.hMipmappedArray


@driver.export("cuTexRefSetMipmapFilterMode")
def tex_ref_set_mipmap_filter_mode(handle: Any, mode: int) -> None:
    found = texture_of(handle)
    if mode not in FilterMode._value2member_map_:
        raise _invalid(f"fm is {mode}; point 0 or linear 1")
    found.level_filter = mode
    found.bind()


@driver.export("cuTexRefGetMipmapFilterMode")
def tex_ref_get_mipmap_filter_mode(mode: Any, handle: Any) -> None:
    null(pfm=mode)
    mode[0] = texture_of(handle).level_filter


@driver.export("cuTexRefSetMipmapLevelBias")
def tex_ref_set_mipmap_level_bias(handle: Any, bias: float) -> None:
    found = texture_of(handle)
    found.level_bias = bias
    found.bind()


@driver.export("cuTexRefGetMipmapLevelBias")
def tex_ref_get_mipmap_level_bias(bias: Any, handle: Any) -> None:
    null(pbias=bias)
    bias[0] = texture_of(handle).level_bias


@driver.export("cuTexRefSetMipmapLevelClamp")
def tex_ref_set_mipmap_level_clamp(handle: Any, least: float, most: float) -> None:
    found = texture_of(handle)
    found.level_clamp = least, most
    found.bind()


@driver.export("cuTexRefGetMipmapLevelClamp")
def tex_ref_get_mipmap_level_clamp(least: Any, most: Any, handle: Any) -> None:
    null(pminMipmapLevelClamp=least, pmaxMipmapLevelClamp=most)
    least[0], most[0] = texture_of(handle).level_clamp


@driver.export("cuTexRefSetMaxAnisotropy")
def tex_ref_set_max_anisotropy(handle: Any, most: int) -> None:
    texture_of(handle).anisotropy = most


@driver.export("cuTexRefGetMaxAnisotropy")
def tex_ref_get_max_anisotropy(most: Any, handle: Any) -> None:
    null(pmaxAniso=most)
    most[0] = texture_of(handle).anisotropy


@driver.export("cuTexRefSetBorderColor")
def tex_ref_set_border_color(handle: Any, color: Any) -> None:
    null(pBorderColor=color)
    found = texture_of(handle)
    found.border = list(color[0:_CHANNELS])
    found.bind()


@driver.export("cuTexRefGetBorderColor")
def tex_ref_get_border_color(color: Any, handle: Any) -> None:
    null(pBorderColor=color)
    color[0:_CHANNELS] = texture_of(handle).border
