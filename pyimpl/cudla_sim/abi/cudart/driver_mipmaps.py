"""Mipmapped arrays by the driver's names: the runtime's."""

from __future__ import annotations

from typing import Any

from ...cudart.arrays import Array
from . import mipmaps
from .device import get_device
from .driver import driver, null, require_current
from .driver_arrays import check_flags, element_of

driver.export("cuArrayGetMemoryRequirements")(mipmaps.array_get_memory_requirements)
driver.export("cuMipmappedArrayGetMemoryRequirements")(mipmaps.mipmap_get_memory_requirements)
driver.export("cuArrayGetSparseProperties")(mipmaps.array_get_sparse_properties)
driver.export("cuMipmappedArrayGetSparseProperties")(mipmaps.mipmap_get_sparse_properties)
driver.export("cuArrayGetPlane")(mipmaps.array_get_plane)


@driver.export("cuMipmappedArrayCreate")
def mipmapped_array_create(target: Any, desc: Any, count: int) -> None:
    null(pHandle=target, pMipmappedArrayDesc=desc)
    require_current()
    check_flags(desc.Flags, "pMipmappedArrayDesc")
    of = element_of(desc.Format, desc.NumChannels, "pMipmappedArrayDesc")
    first = Array(of, desc.Width, desc.Height, desc.Depth, desc.Flags)
    mipmaps.create(target, first, count, "cuMipmappedArrayCreate")


@driver.export("cuMipmappedArrayGetLevel")
def mipmapped_array_get_level(target: Any, mipmap: Any, level: int) -> None:
    null(pLevelArray=target)
    require_current()
    mipmaps.get_mipmapped_array_level(target, mipmap, level)


@driver.export("cuMipmappedArrayDestroy")
def mipmapped_array_destroy(mipmap: Any) -> None:
    require_current()
    mipmaps.find(mipmap, "hMipmappedArray")
    mipmaps.free_mipmapped_array(mipmap)


@driver.export("cuDeviceGetTexture1DLinearMaxWidth")
def device_get_texture_1d_linear_max_width(
    width: Any, kind: int, channels: int, ordinal: int
) -> None:
    null(maxWidthInElements=width)
    element_of(kind, channels, "format")
    width[0] = get_device(ordinal).number("maxTexture1DLinear")
