"""CUDA_MEMCPY3D and its like: the copies that they ask for, and the runtime's form of them.

CUDA Driver API, cuMemcpy3D. Positions and widths are bytes here; the runtime counts elements where
an array takes part.
"""

from __future__ import annotations

from typing import Any

from ...constants.cudart import CUmemorytype_enum
from ...constants.cudart import cudaError_enum as Result
from ...constants.cudart import cudaMemcpyKind as Kind
from ...cudart import arrays as model
from ...cudart import context
from ...cudart.arrays import Box
from ...cudart.errors import CudaError
from ...cudart.transfer import Copy
from ..embedding import ffi, pointer
from . import arrays
from .family import number

_HOST, _DEVICE, _ARRAY, _UNIFIED = CUmemorytype_enum
_KINDS = {
    (True, True): Kind.cudaMemcpyHostToHost,
    (True, False): Kind.cudaMemcpyHostToDevice,
    (False, True): Kind.cudaMemcpyDeviceToHost,
    (False, False): Kind.cudaMemcpyDeviceToDevice,
}
"""By whether the source and the target are memory of the host."""


def _invalid(text: str) -> CudaError:
    return CudaError(Result.CUDA_ERROR_INVALID_VALUE, text)


def _side(p: Any, side: str, size: tuple[int, int, int], deep: bool) -> Box:
    width, rows, planes = size
    kind = getattr(p, f"{side}MemoryType")
    x, y = getattr(p, f"{side}XInBytes"), getattr(p, f"{side}Y")
    z = getattr(p, f"{side}Z") if deep else 0
    if deep and getattr(p, f"{side}LOD"):
        raise _invalid(f"{side}LOD is {getattr(p, f'{side}LOD')}; it is 0")
    if kind == _ARRAY:
        name = f"{side}Array"
        return model.box(arrays.find(getattr(p, name), name), x, y, z, width, rows, planes, name)
    if kind not in (_HOST, _DEVICE, _UNIFIED):
        raise _invalid(f"{side}MemoryType is {kind}; CUmemorytype has 1 to 4")
    name = f"{side}Host" if kind == _HOST else f"{side}Device"
    given = getattr(p, name)
    start = number(given) if kind == _HOST else int(given)
    if not start:
        raise _invalid(f"{name} is NULL; it points to the memory of the copy")
    pitch = getattr(p, f"{side}Pitch") or x + width
    if pitch < x + width:
        raise _invalid(f"{side}Pitch is {pitch}; {x} + {width} bytes of a row are used")
    high = (getattr(p, f"{side}Height") if deep else 0) or y + rows
    if high < y + rows:
        raise _invalid(f"{side}Height is {high}; {y} + {rows} rows of a plane are used")
    return Box(start + z * pitch * high + y * pitch + x, pitch, pitch * high)


def _kind(p: Any) -> Kind:
    if _UNIFIED in (p.srcMemoryType, p.dstMemoryType):
        return Kind.cudaMemcpyDefault
    return _KINDS[p.srcMemoryType == _HOST, p.dstMemoryType == _HOST]


def jobs(p: Any, planes: int, deep: bool) -> list[Copy]:
    """What a CUDA_MEMCPY3D asks for; ``deep`` False: a CUDA_MEMCPY2D. Raises CudaError."""
    size = (p.WidthInBytes, p.Height, planes)
    if 0 in size:
        return []
    target, source = _side(p, "dst", size, deep), _side(p, "src", size, deep)
    return list(model.copies(context.current().memory, target, source, _kind(p), *size))


# --- the two forms -------------------------------------------------------------------------------


def _element(array: Any, argument: str) -> int:
    return arrays.find(array, argument).format.size if array else 1


def to_runtime(p: Any) -> Any:
    """A struct cudaMemcpy3DParms of a CUDA_MEMCPY3D."""
    made = ffi.new("struct cudaMemcpy3DParms *")
    largest = 1
    for side in ("src", "dst"):
        kind = getattr(p, f"{side}MemoryType")
        array = getattr(p, f"{side}Array") if kind == _ARRAY else ffi.NULL
        size = _element(array, f"{side}Array")
        largest = max(largest, size)
        setattr(made, f"{side}Array", ffi.cast("cudaArray_t", array))
        position, memory = getattr(made, f"{side}Pos"), getattr(made, f"{side}Ptr")
        position.x = getattr(p, f"{side}XInBytes") // size
        position.y, position.z = getattr(p, f"{side}Y"), getattr(p, f"{side}Z")
        if kind != _ARRAY:
            host = kind == _HOST
            address = getattr(p, f"{side}Host") if host else getattr(p, f"{side}Device")
            memory.ptr = pointer(number(address) if host else int(address))
            memory.pitch = getattr(p, f"{side}Pitch") or position.x + p.WidthInBytes
            memory.xsize = memory.pitch
            memory.ysize = getattr(p, f"{side}Height") or position.y + p.Height
    made.extent.width = p.WidthInBytes // largest
    made.extent.height, made.extent.depth = p.Height, p.Depth
    made.kind = _kind(p)
    return made


def from_runtime(p: Any) -> Any:
    """A CUDA_MEMCPY3D of a struct cudaMemcpy3DParms."""
    made = ffi.new("CUDA_MEMCPY3D *")
    hosts = {kind: ends for ends, kind in _KINDS.items()}
    source, target = hosts.get(Kind(p.kind), (None, None))
    largest = 1
    for side, host in (("src", source), ("dst", target)):
        array, memory = getattr(p, f"{side}Array"), getattr(p, f"{side}Ptr")
        position, size = getattr(p, f"{side}Pos"), _element(array, f"{side}Array")
        largest = max(largest, size)
        setattr(made, f"{side}XInBytes", position.x * size)
        setattr(made, f"{side}Y", position.y)
        setattr(made, f"{side}Z", position.z)
        if array:
            setattr(made, f"{side}MemoryType", _ARRAY)
            setattr(made, f"{side}Array", ffi.cast("CUarray", array))
            continue
        setattr(made, f"{side}Pitch", memory.pitch)
        setattr(made, f"{side}Height", memory.ysize)
        if host:
            setattr(made, f"{side}MemoryType", _HOST)
            setattr(made, f"{side}Host", memory.ptr)
        else:
            setattr(made, f"{side}MemoryType", _UNIFIED if host is None else _DEVICE)
            setattr(made, f"{side}Device", number(memory.ptr))
    made.WidthInBytes = p.extent.width * largest
    made.Height, made.Depth = p.extent.height, p.extent.depth
    return made
