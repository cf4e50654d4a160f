"""Mipmapped arrays, and what arrays here are not."""

from __future__ import annotations

from typing import Any

from ...constants.cudart import cudaError
from ...cudart import arrays as model
from ...cudart import context
from ...cudart.arrays import Array, Mipmap
from ...cudart.errors import CudaError, invalid_value
from ...cudart.state import ARRAY, MIPMAP
from ..embedding import pointer
from . import arrays
from .device import get_device
from .family import cudart, null, required_flags


def find(handle: Any, argument: str) -> Mipmap:
    found: Mipmap = cudart.resolve(
        handle, MIPMAP, argument, cudaError.cudaErrorInvalidResourceHandle
    )
    return found


def create(target: Any, first: Array, count: int, how: str) -> None:
    """With handles of all its levels."""
    current = context.current()
    current.captures.forbid(how)
    made = model.create_mipmap(current.memory, first, count, how)
    for level in made.levels:
        level.handle = current.process.handles.add(ARRAY, level)
    made.handle = current.process.handles.add(MIPMAP, made)
    target[0] = pointer(made.handle)


@cudart.export("cudaMallocMipmappedArray")
def malloc_mipmapped_array(target: Any, desc: Any, extent: Any, count: int, flags: int) -> None:
    null(mipmappedArray=target, desc=desc)
    required_flags(flags, arrays.FLAGS, arrays.NAMES)
    size = (extent.width, extent.height, extent.depth)
    first = Array(arrays.format_of(desc), *size, flags)
    create(target, first, count, "cudaMallocMipmappedArray")


@cudart.export("cudaGetMipmappedArrayLevel")
def get_mipmapped_array_level(target: Any, mipmap: Any, level: int) -> None:
    null(levelArray=target)
    levels = find(mipmap, "mipmappedArray").levels
    if level >= len(levels):
        raise invalid_value(f"level is {level}; there are {len(levels)}")
    target[0] = pointer(levels[level].handle)


@cudart.export("cudaFreeMipmappedArray", ruined="report")
def free_mipmapped_array(mipmap: Any) -> None:
    if not mipmap:
        return
    found, how = find(mipmap, "mipmappedArray"), "cudaFreeMipmappedArray"
    current = context.current()
    current.captures.forbid(how)
    current.streams.drain()
    current.process.handles.remove(found.handle, MIPMAP, how)
    for level in found.levels:
        current.process.handles.remove(level.handle, ARRAY, how)
        current.memory.free(level.address, how)


# --- what arrays are not -------------------------------------------------------------------------


def _not_later(name: str) -> CudaError:
    return invalid_value(f"{name} has its memory; none is made whose memory is mapped later")


def _not_sparse(name: str) -> CudaError:
    return invalid_value(f"{name} has all of its memory; there are no sparse arrays")


@cudart.export("cudaArrayGetMemoryRequirements")
def array_get_memory_requirements(requirements: Any, array: Any, ordinal: int) -> None:
    null(memoryRequirements=requirements)
    arrays.find(array, "array")
    get_device(ordinal)
    raise _not_later("array")


@cudart.export("cudaMipmappedArrayGetMemoryRequirements")
def mipmap_get_memory_requirements(requirements: Any, mipmap: Any, ordinal: int) -> None:
    null(memoryRequirements=requirements)
    find(mipmap, "mipmap")
    get_device(ordinal)
    raise _not_later("mipmap")


@cudart.export("cudaArrayGetSparseProperties")
def array_get_sparse_properties(properties: Any, array: Any) -> None:
    null(sparseProperties=properties)
    arrays.find(array, "array")
    raise _not_sparse("array")


@cudart.export("cudaMipmappedArrayGetSparseProperties")
def mipmap_get_sparse_properties(properties: Any, mipmap: Any) -> None:
    null(sparseProperties=properties)
    find(mipmap, "mipmap")
    raise _not_sparse("mipmap")


@cudart.export("cudaArrayGetPlane")
def array_get_plane(target: Any, array: Any, plane: int) -> None:
    null(pPlaneArray=target)
    arrays.find(array, "hArray")
    raise invalid_value("hArray is of one plane; formats of several planes do not exist here")


# --- linear memory -------------------------------------------------------------------------------


@cudart.export("cudaDeviceGetTexture1DLinearMaxWidth")
def device_get_texture_1d_linear_max_width(width: Any, desc: Any, ordinal: int) -> None:
    null(maxWidthInElements=width, fmtDesc=desc)
    arrays.format_of(desc)
    width[0] = get_device(ordinal).number("maxTexture1DLinear")
