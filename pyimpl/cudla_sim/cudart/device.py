"""The GPU that is simulated: what cudaGetDeviceProperties and the attribute queries answer.

Numbers are those of a Jetson AGX Orin (integrated) or a mid-range Ampere card (discrete), with the
memory of the machine we run on. Sources: CUDA C++ Programming Guide, "Compute Capabilities";
CUDA Runtime API, "Device Management".
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Any

from ..constants.cudart import CUdevice_attribute_enum as D
from ..constants.cudart import cudaDeviceAttr as A
from ..constants.cudart import cudaError as Status
from ..core.config import Config
from .errors import CudaError, invalid_value
from .settings import Settings

VERSION = 12090  # of the runtime: CUDA 12.9
VERSION_13 = 13000  # for programs that were linked with libcudart.so.13
DRIVER_VERSION = VERSION_13
"""A driver serves the runtimes of its own release and of all before it (CUDA Compatibility,
"Minor Version Compatibility"): that of 13.0 those of CUDA 13 and 12."""
LEAST_PRIORITY, GREATEST_PRIORITY = 0, -5
PITCH_ALIGN = 512
TEXTURE_PITCH_ALIGN = 32

Value = int | bytes | tuple[int, ...]

_COMMON: dict[str, Value] = {
    "sharedMemPerBlock": 48 << 10,
    "regsPerBlock": 65536,
    "warpSize": 32,
    "memPitch": (1 << 31) - 1,
    "maxThreadsPerBlock": 1024,
    "maxThreadsDim": (1024, 1024, 64),
    "maxGridSize": ((1 << 31) - 1, 65535, 65535),
    "totalConstMem": 64 << 10,
    "major": 8,
    "textureAlignment": 512,
    "texturePitchAlignment": TEXTURE_PITCH_ALIGN,
    "deviceOverlap": 1,
    "canMapHostMemory": 1,
    "maxTexture1D": 131072,
    "maxTexture1DMipmap": 32768,
    "maxTexture1DLinear": 1 << 28,
    "maxTexture2D": (131072, 65536),
    "maxTexture2DMipmap": (32768, 32768),
    "maxTexture2DLinear": (131072, 65000, 2097120),
    "maxTexture2DGather": (32768, 32768),
    "maxTexture3D": (16384, 16384, 16384),
    "maxTexture3DAlt": (8192, 8192, 32768),
    "maxTextureCubemap": 32768,
    "maxTexture1DLayered": (32768, 2048),
    "maxTexture2DLayered": (32768, 32768, 2048),
    "maxTextureCubemapLayered": (32768, 2046),
    "maxSurface1D": 32768,
    "maxSurface2D": (131072, 65536),
    "maxSurface3D": (16384, 16384, 16384),
    "maxSurface1DLayered": (32768, 2048),
    "maxSurface2DLayered": (32768, 32768, 2048),
    "maxSurfaceCubemap": 32768,
    "maxSurfaceCubemapLayered": (32768, 2046),
    "surfaceAlignment": 512,
    "concurrentKernels": 1,
    "asyncEngineCount": 2,
    "unifiedAddressing": 1,
    "maxThreadsPerMultiProcessor": 1536,
    "streamPrioritiesSupported": 1,
    "globalL1CacheSupported": 1,
    "localL1CacheSupported": 1,
    "regsPerMultiprocessor": 65536,
    "managedMemory": 1,
    "computePreemptionSupported": 1,
    "canUseHostPointerForRegisteredMem": 1,
    "cooperativeLaunch": 1,
    "maxBlocksPerMultiProcessor": 16,
    "reservedSharedMemPerBlock": 1024,
    "hostRegisterSupported": 1,
    "memoryPoolsSupported": 1,
    "memoryPoolSupportedHandleTypes": 1,
    "ipcEventSupported": 1,
    "accessPolicyMaxWindowSize": 128 << 20,
}

_INTEGRATED: dict[str, Value] = {
    "name": b"cudla-sim integrated GPU",
    "uuid": b"cudla-sim-igpu-0",
    "minor": 7,
    "integrated": 1,
    "clockRate": 1300000,
    "memoryClockRate": 1300000,
    "memoryBusWidth": 256,
    "l2CacheSize": 4 << 20,
    "persistingL2CacheMaxSize": 3 << 20,
    "multiProcessorCount": 16,
    "sharedMemPerMultiprocessor": 164 << 10,
    "sharedMemPerBlockOptin": 163 << 10,
    "singleToDoublePrecisionPerfRatio": 64,
}

_DISCRETE: dict[str, Value] = {
    "name": b"cudla-sim discrete GPU",
    "uuid": b"cudla-sim-dgpu-0",
    "minor": 6,
    "integrated": 0,
    "clockRate": 1700000,
    "memoryClockRate": 9500000,
    "memoryBusWidth": 384,
    "l2CacheSize": 6 << 20,
    "persistingL2CacheMaxSize": 4608 << 10,
    "multiProcessorCount": 84,
    "sharedMemPerMultiprocessor": 100 << 10,
    "sharedMemPerBlockOptin": 99 << 10,
    "singleToDoublePrecisionPerfRatio": 32,
    "concurrentManagedAccess": 1,
    "pageableMemoryAccess": 0,
}

# Attribute -> field of the properties, or (field, index).
_ATTRIBUTES: dict[int, str | tuple[str, int]] = {
    A.cudaDevAttrMaxThreadsPerBlock: "maxThreadsPerBlock",
    A.cudaDevAttrMaxBlockDimX: ("maxThreadsDim", 0),
    A.cudaDevAttrMaxBlockDimY: ("maxThreadsDim", 1),
    A.cudaDevAttrMaxBlockDimZ: ("maxThreadsDim", 2),
    A.cudaDevAttrMaxGridDimX: ("maxGridSize", 0),
    A.cudaDevAttrMaxGridDimY: ("maxGridSize", 1),
    A.cudaDevAttrMaxGridDimZ: ("maxGridSize", 2),
    A.cudaDevAttrMaxSharedMemoryPerBlock: "sharedMemPerBlock",
    A.cudaDevAttrTotalConstantMemory: "totalConstMem",
    A.cudaDevAttrWarpSize: "warpSize",
    A.cudaDevAttrMaxPitch: "memPitch",
    A.cudaDevAttrMaxRegistersPerBlock: "regsPerBlock",
    A.cudaDevAttrClockRate: "clockRate",
    A.cudaDevAttrTextureAlignment: "textureAlignment",
    A.cudaDevAttrGpuOverlap: "deviceOverlap",
    A.cudaDevAttrMultiProcessorCount: "multiProcessorCount",
    A.cudaDevAttrIntegrated: "integrated",
    A.cudaDevAttrCanMapHostMemory: "canMapHostMemory",
    A.cudaDevAttrSurfaceAlignment: "surfaceAlignment",
    A.cudaDevAttrConcurrentKernels: "concurrentKernels",
    A.cudaDevAttrMemoryClockRate: "memoryClockRate",
    A.cudaDevAttrGlobalMemoryBusWidth: "memoryBusWidth",
    A.cudaDevAttrL2CacheSize: "l2CacheSize",
    A.cudaDevAttrMaxThreadsPerMultiProcessor: "maxThreadsPerMultiProcessor",
    A.cudaDevAttrAsyncEngineCount: "asyncEngineCount",
    A.cudaDevAttrUnifiedAddressing: "unifiedAddressing",
    A.cudaDevAttrTexturePitchAlignment: "texturePitchAlignment",
    A.cudaDevAttrComputeCapabilityMajor: "major",
    A.cudaDevAttrComputeCapabilityMinor: "minor",
    A.cudaDevAttrStreamPrioritiesSupported: "streamPrioritiesSupported",
    A.cudaDevAttrGlobalL1CacheSupported: "globalL1CacheSupported",
    A.cudaDevAttrLocalL1CacheSupported: "localL1CacheSupported",
    A.cudaDevAttrMaxSharedMemoryPerMultiprocessor: "sharedMemPerMultiprocessor",
    A.cudaDevAttrMaxRegistersPerMultiprocessor: "regsPerMultiprocessor",
    A.cudaDevAttrManagedMemory: "managedMemory",
    A.cudaDevAttrSingleToDoublePrecisionPerfRatio: "singleToDoublePrecisionPerfRatio",
    A.cudaDevAttrConcurrentManagedAccess: "concurrentManagedAccess",
    A.cudaDevAttrComputePreemptionSupported: "computePreemptionSupported",
    A.cudaDevAttrCanUseHostPointerForRegisteredMem: "canUseHostPointerForRegisteredMem",
    A.cudaDevAttrCooperativeLaunch: "cooperativeLaunch",
    A.cudaDevAttrMaxSharedMemoryPerBlockOptin: "sharedMemPerBlockOptin",
    A.cudaDevAttrHostRegisterSupported: "hostRegisterSupported",
    A.cudaDevAttrMemoryPoolsSupported: "memoryPoolsSupported",
    A.cudaDevAttrMemoryPoolSupportedHandleTypes: "memoryPoolSupportedHandleTypes",
    A.cudaDevAttrIpcEventSupport: "ipcEventSupported",
    A.cudaDevAttrMaxPersistingL2CacheSize: "persistingL2CacheMaxSize",
    A.cudaDevAttrMaxAccessPolicyWindowSize: "accessPolicyMaxWindowSize",
    A.cudaDevAttrMaxBlocksPerMultiprocessor: "maxBlocksPerMultiProcessor",
    A.cudaDevAttrReservedSharedMemoryPerBlock: "reservedSharedMemPerBlock",
    A.cudaDevAttrMaxTexture1DWidth: "maxTexture1D",
    A.cudaDevAttrMaxTexture2DWidth: ("maxTexture2D", 0),
    A.cudaDevAttrMaxTexture2DHeight: ("maxTexture2D", 1),
    A.cudaDevAttrMaxTexture3DWidth: ("maxTexture3D", 0),
    A.cudaDevAttrMaxTexture3DHeight: ("maxTexture3D", 1),
    A.cudaDevAttrMaxTexture3DDepth: ("maxTexture3D", 2),
}


_VIRTUAL_MEMORY = (
    D.CU_DEVICE_ATTRIBUTE_VIRTUAL_ADDRESS_MANAGEMENT_SUPPORTED,
    D.CU_DEVICE_ATTRIBUTE_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR_SUPPORTED,
)
"""What cudaDeviceProp does not have."""


def machine_memory() -> int:
    """Bytes of this machine's memory: device memory is host memory."""
    return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")


@dataclass(frozen=True)
class Device:
    """One GPU. ``properties`` holds the non-zero fields of cudaDeviceProp by their names."""

    ordinal: int
    integrated: bool
    properties: dict[str, Value]

    @property
    def name(self) -> bytes:
        return bytes(self.properties["name"])

    @property
    def uuid(self) -> bytes:
        """16 bytes, the same in every process."""
        return bytes(self.properties["uuid"])

    @property
    def total_bytes(self) -> int:
        return self.number("totalGlobalMem")

    def number(self, name: str) -> int:
        """A field that is one number."""
        return int(self.properties.get(name, 0))  # type: ignore[arg-type]  # scalars only

    def attribute(self, number: int) -> int:
        """The value of a cudaDeviceAttr (CUdevice_attribute has the same numbers).

        Features outside the subset answer 0. Raises CudaError (InvalidValue) for no attribute.
        """
        if not 0 < number < A.cudaDevAttrMax:
            raise invalid_value(f"attr is {number}; attributes are 1 to {A.cudaDevAttrMax - 1}")
        where: Any = _ATTRIBUTES.get(number)
        if where is None:
            return int(number in _VIRTUAL_MEMORY)
        if isinstance(where, tuple):
            found: Any = self.properties[where[0]]
            return int(found[where[1]])
        return self.number(where)


def devices(config: Config) -> list[Device]:
    """The GPUs of the configured machine: one, or none."""
    gpu = config.of(Settings).gpu
    if gpu == "none":
        return []
    integrated = gpu == "integrated"
    special = _INTEGRATED if integrated else _DISCRETE
    properties: dict[str, Value] = {**_COMMON, **special, "totalGlobalMem": machine_memory()}
    return [Device(0, integrated, properties)]


def require(known: list[Device], ordinal: int) -> Device:
    """Raises CudaError: NoDevice on a machine without GPU, InvalidDevice for a wrong number."""
    if not known:
        raise CudaError(Status.cudaErrorNoDevice, "this machine has no GPU (setting gpu is none)")
    if not 0 <= ordinal < len(known):
        raise CudaError(
            Status.cudaErrorInvalidDevice,
            f"device is {ordinal}; this machine has device 0 only",
        )
    return known[ordinal]
