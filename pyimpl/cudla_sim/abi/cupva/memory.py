"""Device memory."""

from __future__ import annotations

from typing import Any

from ...cupva.dma import DRAM, L2
from ...cupva.geometry import MAX_PLANES, Plane, planar_geometry
from ..embedding import address, ffi
from .family import Error, cupva, error, invalid, machine, result

_READ_WRITE = 3
_DRAM, _CVSRAM = 1, 2
_MEM_TYPES = {DRAM: 1, L2: 2}
_RAW = 1
_SURFACE_FORMATS = 1, 2


@cupva.export("CupvaMemAlloc")
def alloc(target: Any, size: int, access: int, kind: int) -> None:
    result(target, "devicePtr")
    if access != _READ_WRITE:
        raise invalid(f"access is {access}; memory is allocated CUPVA_READ_WRITE (3)")
    if kind not in (_DRAM, _CVSRAM):
        raise invalid(f"type is {kind}; CUPVA_ALLOC_DRAM (1) and CUPVA_ALLOC_CVSRAM (2) exist")
    target[0] = ffi.cast("void *", machine().memory.allocate(size))


@cupva.export("CupvaMemFree")
def free(pointer: Any) -> None:
    if pointer:
        machine().memory.free(address(pointer))


@cupva.export("CupvaMemGetHostPointer")
def get_host_pointer(target: Any, pointer: Any) -> None:
    result(target, "hostPtr")
    target[0] = ffi.cast("void *", machine().memory.host_address(address(pointer)))


@cupva.export("CupvaMemGetL2BaseAddress")
def get_l2_base(target: Any) -> None:
    result(target, "base")
    target[0] = ffi.cast("void *", machine().memory.l2_base)


@cupva.export("CupvaMemGetPointerAttributes")
def get_pointer_attributes(pointer: Any, attributes: Any) -> None:
    result(attributes, "attributes")
    memory = machine().memory
    number = address(pointer)
    place = memory.locate(number)
    offset = place.at - place.limits[0]
    attributes.devicePtr = ffi.cast("void *", number - offset)
    attributes.size = place.limits[1] - place.limits[0]
    attributes.offset = offset
    attributes.memType = _MEM_TYPES.get(place.space, 3)
    attributes.bufferType = _RAW
    mapped = place.space == DRAM and memory.allocation(number) is not None  # not that of CUDA
    host = memory.host_address(number) if mapped else 0
    attributes.hostPtr = ffi.cast("void *", host)


@cupva.export("CupvaMemGetSurfaceAttributes")
def get_surface_attributes(pointer: Any, attributes: Any) -> None:
    result(attributes, "attributes")
    machine().memory.locate(address(pointer))
    raise invalid("devicePtr is raw memory, no surface; surfaces come from imports")


@cupva.export("CupvaMemConvertToGeometry")
def convert_to_geometry(attributes: Any, bpp: int, geometry: Any) -> None:
    result(geometry, "geometry")
    if not attributes:
        raise invalid("attributes is NULL; it points to the attributes of a surface")
    if attributes.format not in _SURFACE_FORMATS:
        raise invalid(
            f"format is {attributes.format}; it is CUPVA_PITCH_LINEAR (1) or CUPVA_BLOCK_LINEAR (2)"
        )
    count = attributes.numPlanes
    if not 1 <= count <= MAX_PLANES:
        raise invalid(f"numPlanes is {count}; it is 1 to {MAX_PLANES}")
    planes = [
        Plane(p.offset, p.linePitch, p.widthInBytes, p.height) for p in attributes.planes[0:count]
    ]
    packed = planar_geometry(planes, bpp)
    ffi.memmove(geometry, packed, len(packed))


_HOST, _CUDA = 1, 2


@cupva.export("CupvaSetVPUPrintBufferSize")
def set_print_buffer_size(size: int) -> None:
    if not size:
        raise invalid("size is 0; it is the bytes that a VPU program may print")


@cupva.export("CupvaImportFromHostPtr")
@cupva.export("CupvaMemImportFromHostPtr")
def import_from_host(target: Any, host: Any, size: int, access: int) -> None:
    result(target, "devicePtr")
    if access not in (1, 2, 3):
        raise invalid(f"access is {access}; CUPVA_READ (1), WRITE (2), READ_WRITE (3)")
    target[0] = ffi.cast("void *", machine().memory.take_in(address(host), size))


@cupva.export("CupvaMemRegister")
def register(pointer: Any, size: int, kind: int) -> None:
    if kind == _HOST:
        raise error(
            Error.CUPVA_UNSUPPORTED_FEATURE,
            "UnsupportedOperation: memory of the host is not registered; "
            "CupvaMemImportFromHostPtr imports it",
        )
    if kind != _CUDA:
        raise invalid(f"type is {kind}; EXTERNAL_ALLOC_TYPE_HOST (1) and _CUDA (2) exist")
    if size <= 0:
        raise invalid(f"size is {size}; it is at least 1 byte")
    machine().memory.register(address(pointer))


@cupva.export("CupvaMemUnregister")
def unregister(pointer: Any) -> None:
    machine().memory.unregister(address(pointer))


cupva.unsupported(
    "CupvaMemMapL2",
    "CupvaMemUnmapL2",
    because="UnsupportedOperation: L2SRAM is reached through CupvaMemGetL2BaseAddress here",
)
