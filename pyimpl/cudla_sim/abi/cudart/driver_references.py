"""Texture and surface references of modules: variables that hold the object that kernels read.

CUDA Driver API, "Texture Reference Management"; a variable's layout is that of
``include/cuda/kernels/texture_references.hpp``.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from ...constants.cudart import CUaddress_mode_enum as AddressMode
from ...constants.cudart import CUarray_format_enum as ArrayFormat
from ...constants.cudart import CUfilter_mode_enum as FilterMode
from ...constants.cudart import CUresourcetype_enum as Resource
from ...constants.cudart import cudaDeviceAttr
from ...constants.cudart import cudaError_enum as Result
from ...cudart import context
from ...cudart.errors import CudaError
from ..embedding import ffi, pointer
from . import driver_arrays
from .device import get_device
from .driver import driver, null, require_current
from .modules import MODULE, check_kernel

TEXREF = "CUtexref"
SURFREF = "CUsurfref"
_AS_INTEGER, _NORMALIZED, _ALL_FLAGS = 1, 2, 0x33
_DIMENSIONS = 3
_MEMORY = (Resource.CU_RESOURCE_TYPE_LINEAR, Resource.CU_RESOURCE_TYPE_PITCH2D)
_OBJECT = {TEXREF: 72, SURFREF: 24}
"""Bytes from a variable to its object."""
_READ = 68
"""Bytes from a textureReference to cudla_sim_read."""


@dataclass
class TextureReference:
    """``variable`` 0: one that no kernel reads. ``resource``: what it is bound to."""

    variable: int = 0
    handle: int = 0
    modes: list[int] = field(
        default_factory=lambda: [int(AddressMode.CU_TR_ADDRESS_MODE_CLAMP)] * 3
    )
    filter: int = int(FilterMode.CU_TR_FILTER_MODE_POINT)
    flags: int = 0
    format: int = int(ArrayFormat.CU_AD_FORMAT_FLOAT)
    channels: int = 1
    resource: Any = None
    made: int = 0
    border: list[float] = field(default_factory=lambda: [0.0] * 4)
    anisotropy: int = 1
    level_filter: int = int(FilterMode.CU_TR_FILTER_MODE_POINT)
    level_bias: float = 0.0
    level_clamp: tuple[float, float] = (0.0, 0.0)

    def declared(self) -> None:
        """Takes over what the source says."""
        words = ffi.cast("int *", pointer(self.variable))
        self.filter, self.modes = words[1], [words[2], words[3], words[4]]
        self.flags = _NORMALIZED if words[0] else 0
        if words[_READ // 4] == 0:
            self.flags |= _AS_INTEGER

    def bind(self) -> None:
        """Makes the object anew, by what is set now. Raises CudaError."""
        if self.resource is None:
            return
        how = ffi.new("CUDA_TEXTURE_DESC *")
        how.addressMode = self.modes
        how.filterMode, how.flags = self.filter, self.flags
        how.borderColor, how.maxAnisotropy = self.border, self.anisotropy
        how.mipmapFilterMode, how.mipmapLevelBias = self.level_filter, self.level_bias
        how.minMipmapLevelClamp, how.maxMipmapLevelClamp = self.level_clamp
        made = ffi.new("CUtexObject *")
        driver_arrays.tex_object_create(made, self.resource, how, ffi.NULL)
        self.drop()
        self.made = int(made[0])
        self._show()

    def drop(self) -> None:
        if self.made:
            driver_arrays.tex_object_destroy(self.made)
        self.made = 0

    def _show(self) -> None:
        if self.variable:
            where = pointer(self.variable + _OBJECT[TEXREF])
            ffi.cast("unsigned long long *", where)[0] = self.made


@dataclass
class SurfaceReference:
    variable: int
    handle: int = 0
    array: Any = None
    made: int = 0

    def drop(self) -> None:
        if self.made:
            driver_arrays.surf_object_destroy(self.made)
        self.made = 0


def _invalid(text: str) -> CudaError:
    return CudaError(Result.CUDA_ERROR_INVALID_VALUE, text)


def texture_of(handle: Any) -> TextureReference:
    found: TextureReference = driver.resolve(
        handle, TEXREF, "hTexRef", Result.CUDA_ERROR_INVALID_VALUE
    )
    return found


def _surface(handle: Any) -> SurfaceReference:
    found: SurfaceReference = driver.resolve(
        handle, SURFREF, "hSurfRef", Result.CUDA_ERROR_INVALID_VALUE
    )
    return found


def _of_module(
    module: Any, name: Any, kind: str, make: Callable[[int], TextureReference | SurfaceReference]
) -> Any:
    """The handle of a module's variable, made when it is asked for first. Raises CudaError
    (NOT_FOUND)."""
    owner = driver.resolve(module, MODULE, "hmod", Result.CUDA_ERROR_INVALID_HANDLE)
    text = ffi.string(name).decode(errors="replace")
    address, size = owner.variable(text)
    if not address or size < _OBJECT[kind] + 8:
        raise CudaError(Result.CUDA_ERROR_NOT_FOUND, f"the module has no such variable {text!r}")
    if address not in owner.references:
        made = make(int(address))
        owner.references[address] = kind, made
        _add(kind, made)
    return pointer(owner.references[address][1].handle)


def _declared(variable: int) -> TextureReference:
    made = TextureReference(variable)
    made.declared()
    return made


def _add(kind: str, made: Any) -> int:
    made.handle = context.current().process.handles.add(kind, made)
    return int(made.handle)


# --- textures ------------------------------------------------------------------------------------


@driver.export("cuModuleGetTexRef")
def module_get_tex_ref(target: Any, module: Any, name: Any) -> None:
    null(pTexRef=target, name=name)
    target[0] = _of_module(module, name, TEXREF, _declared)


@driver.export("cuTexRefCreate")
def tex_ref_create(target: Any) -> None:
    null(pTexRef=target)
    require_current()
    target[0] = pointer(_add(TEXREF, TextureReference()))


@driver.export("cuTexRefDestroy")
def tex_ref_destroy(handle: Any) -> None:
    found = texture_of(handle)
    if found.variable:
        raise _invalid("hTexRef is a module's, which goes with it; cuTexRefCreate's are destroyed")
    found.drop()
    context.current().process.handles.remove(found.handle, TEXREF, "cuTexRefDestroy")


def resource_of(kind: int) -> Any:
    made = ffi.new("CUDA_RESOURCE_DESC *")
    made.resType = kind
    return made


@driver.export("cuTexRefSetArray")
def tex_ref_set_array(handle: Any, array: Any, flags: int) -> None:
    found = texture_of(handle)
    if flags not in (0, 1):
        raise _invalid(f"Flags is {flags:#x}; CU_TRSA_OVERRIDE_FORMAT 1")
    shape = ffi.new("CUDA_ARRAY3D_DESCRIPTOR *")
    driver_arrays.array_3d_get_descriptor(shape, array)
    found.format, found.channels = int(shape.Format), int(shape.NumChannels)
    made = resource_of(Resource.CU_RESOURCE_TYPE_ARRAY)
    made.res.array.hArray = array
    found.resource = made
    found.bind()


@driver.export("cuTexRefSetAddress_v2")
def tex_ref_set_address(offset: Any, handle: Any, address: int, size: int) -> None:
    found = texture_of(handle)
    alignment = get_device(0).attribute(cudaDeviceAttr.cudaDevAttrTextureAlignment)
    before = address % alignment
    if before and not offset:
        raise _invalid(f"dptr ({address:#x}) is no multiple of {alignment}, and ByteOffset is NULL")
    made = resource_of(Resource.CU_RESOURCE_TYPE_LINEAR)
    made.res.linear.devPtr = address - before
    made.res.linear.format, made.res.linear.numChannels = found.format, found.channels
    made.res.linear.sizeInBytes = size + before
    found.resource = made
    found.bind()
    if offset:
        offset[0] = before


@driver.export("cuTexRefSetAddress2D_v3")
def tex_ref_set_address_2d(handle: Any, shape: Any, address: int, pitch: int) -> None:
    null(desc=shape)
    found = texture_of(handle)
    found.format, found.channels = int(shape.Format), int(shape.NumChannels)
    made = resource_of(Resource.CU_RESOURCE_TYPE_PITCH2D)
    plane = made.res.pitch2D
    plane.devPtr, plane.pitchInBytes = address, pitch
    plane.format, plane.numChannels = found.format, found.channels
    plane.width, plane.height = shape.Width, shape.Height
    found.resource = made
    found.bind()


@driver.export("cuTexRefSetFormat")
def tex_ref_set_format(handle: Any, kind: int, channels: int) -> None:
    found = texture_of(handle)
    if kind not in ArrayFormat._value2member_map_:
        raise _invalid(f"fmt is {kind:#x}, which is no CUarray_format")
    if channels not in (1, 2, 4):
        raise _invalid(f"NumPackedComponents is {channels}; 1, 2 or 4")
    found.format, found.channels = kind, channels
    linear = Resource.CU_RESOURCE_TYPE_LINEAR
    if found.resource is not None and found.resource.resType == linear:
        found.resource.res.linear.format = kind
        found.resource.res.linear.numChannels = channels
        found.bind()


def _dimension(dimension: int) -> None:
    if not 0 <= dimension < _DIMENSIONS:
        raise _invalid(f"dim is {dimension}; 0 to {_DIMENSIONS - 1}")


@driver.export("cuTexRefSetAddressMode")
def tex_ref_set_address_mode(handle: Any, dimension: int, mode: int) -> None:
    found = texture_of(handle)
    _dimension(dimension)
    if mode not in AddressMode._value2member_map_:
        raise _invalid(f"am is {mode}; CUaddress_mode has 0 to 3")
    found.modes[dimension] = mode
    found.bind()


@driver.export("cuTexRefSetFilterMode")
def tex_ref_set_filter_mode(handle: Any, mode: int) -> None:
    found = texture_of(handle)
    if mode not in FilterMode._value2member_map_:
        raise _invalid(f"fm is {mode}; point 0 or linear 1")
    found.filter = mode
    found.bind()


@driver.export("cuTexRefSetFlags")
def tex_ref_set_flags(handle: Any, flags: int) -> None:
    found = texture_of(handle)
    if flags & ~_ALL_FLAGS:
        raise _invalid(f"Flags is {flags:#x}; CU_TRSF_* lie within {_ALL_FLAGS:#x}")
    found.flags = flags
    found.bind()


@driver.export("cuTexRefGetAddress_v2")
def tex_ref_get_address(target: Any, handle: Any) -> None:
    null(pdptr=target)
    resource = texture_of(handle).resource
    if resource is None or resource.resType not in _MEMORY:
        raise _invalid("hTexRef is not bound to device memory")
    linear = resource.resType == Resource.CU_RESOURCE_TYPE_LINEAR
    target[0] = (resource.res.linear if linear else resource.res.pitch2D).devPtr


@driver.export("cuTexRefGetArray")
def tex_ref_get_array(target: Any, handle: Any) -> None:
    null(phArray=target)
    resource = texture_of(handle).resource
    if resource is None or resource.resType != Resource.CU_RESOURCE_TYPE_ARRAY:
        raise _invalid("hTexRef is not bound to an array")
    target[0] = resource.res.array.hArray


@driver.export("cuTexRefGetFormat")
def tex_ref_get_format(kind: Any, channels: Any, handle: Any) -> None:
    null(pFormat=kind, pNumChannels=channels)
    found = texture_of(handle)
    kind[0], channels[0] = found.format, found.channels


@driver.export("cuTexRefGetAddressMode")
def tex_ref_get_address_mode(mode: Any, handle: Any, dimension: int) -> None:
    null(pam=mode)
    found = texture_of(handle)
    _dimension(dimension)
    mode[0] = found.modes[dimension]


@driver.export("cuTexRefGetFilterMode")
def tex_ref_get_filter_mode(mode: Any, handle: Any) -> None:
    null(pfm=mode)
    mode[0] = texture_of(handle).filter


@driver.export("cuTexRefGetFlags")
def tex_ref_get_flags(flags: Any, handle: Any) -> None:
    null(pFlags=flags)
    flags[0] = texture_of(handle).flags


@driver.export("cuParamSetTexRef")
def param_set_tex_ref(function: Any, unit: int, handle: Any) -> None:
    check_kernel(function)
    texture_of(handle)
    if unit != -1:
        raise _invalid(f"texunit is {unit}; CU_PARAM_TR_DEFAULT -1")


# --- surfaces ------------------------------------------------------------------------------------


@driver.export("cuModuleGetSurfRef")
def module_get_surf_ref(target: Any, module: Any, name: Any) -> None:
    null(pSurfRef=target, name=name)
    target[0] = _of_module(module, name, SURFREF, SurfaceReference)


@driver.export("cuSurfRefSetArray")
def surf_ref_set_array(handle: Any, array: Any, flags: int) -> None:
    found = _surface(handle)
    if flags:
        raise _invalid(f"Flags is {flags:#x}; it is 0")
    resource = resource_of(Resource.CU_RESOURCE_TYPE_ARRAY)
    resource.res.array.hArray = array
    made = ffi.new("CUsurfObject *")
    driver_arrays.surf_object_create(made, resource)
    found.drop()
    found.array, found.made = array, int(made[0])
    where = pointer(found.variable + _OBJECT[SURFREF])
    ffi.cast("unsigned long long *", where)[0] = found.made


@driver.export("cuSurfRefGetArray")
def surf_ref_get_array(target: Any, handle: Any) -> None:
    null(phArray=target)
    found = _surface(handle)
    if found.array is None:
        raise _invalid("hSurfRef is not bound to an array")
    target[0] = found.array
