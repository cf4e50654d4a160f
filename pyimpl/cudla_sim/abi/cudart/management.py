"""nvml.h: what the machine has of GPUs."""

from __future__ import annotations

from functools import partial
from typing import Any

from ...constants import cudart_parameters
from ...constants.cudart import nvmlClockType_enum as Clock
from ...constants.cudart import nvmlComputeMode_enum as ComputeMode
from ...constants.cudart import nvmlReturn_enum as Result
from ...cudart import context, device
from ...cudart.device import Device
from ...cudart.errors import CudaError
from ..embedding import ffi, pointer
from ..entry import Family
from .device import lasting

DEVICE = "nvmlDevice_t"
DRIVER = "580.65"
"""A driver of CUDA 13.0 (CUDA Toolkit Release Notes, "CUDA Toolkit and Corresponding Driver
Versions")."""
AMPERE = 7  # NVML_DEVICE_ARCH_AMPERE
FLAGS = 1 | 2  # NVML_INIT_FLAG_NO_GPUS, NVML_INIT_FLAG_NO_ATTACH

nvml = Family("nvml", Result, cudart_parameters, error=CudaError)

null = partial(nvml.require, Result.NVML_ERROR_INVALID_ARGUMENT)

_TEXTS = {
    Result.NVML_SUCCESS: "no error",
    Result.NVML_ERROR_UNINITIALIZED: "nvmlInit has not been called",
    Result.NVML_ERROR_INVALID_ARGUMENT: "an argument is wrong",
    Result.NVML_ERROR_NOT_SUPPORTED: "the device cannot do that",
    Result.NVML_ERROR_NOT_FOUND: "there is no such thing",
    Result.NVML_ERROR_INSUFFICIENT_SIZE: "there is not enough room for the answer",
    Result.NVML_ERROR_MEMORY: "there is not enough memory",
    Result.NVML_ERROR_ARGUMENT_VERSION_MISMATCH: "a structure has another version",
    Result.NVML_ERROR_UNKNOWN: "an unknown error",
}


def _initialized() -> context.Context:
    current = context.current()
    if not current.management_uses:
        raise CudaError(Result.NVML_ERROR_UNINITIALIZED, "nvmlInit has not been called")
    return current


def _device(handle: Any) -> Device:
    _initialized()
    found: Device = nvml.resolve(handle, DEVICE, "device")
    return found


def _handle(current: context.Context, ordinal: int) -> Any:
    if not current.management_handles:
        current.management_handles = [
            current.process.handles.add(DEVICE, found) for found in current.devices
        ]
    return pointer(current.management_handles[ordinal])


def _write(target: Any, size: int, text: str, name: str) -> None:
    given = text.encode() + b"\0"
    if size < len(given):
        raise CudaError(
            Result.NVML_ERROR_INSUFFICIENT_SIZE,
            f"length is {size}; {name} takes {len(given)} bytes",
        )
    ffi.memmove(target, given, len(given))


def _uuid(found: Device) -> str:
    digits = found.uuid.hex()
    parts = (digits[:8], digits[8:12], digits[12:16], digits[16:20], digits[20:])
    return "GPU-" + "-".join(parts)


def _init() -> None:
    context.current().management_uses += 1


nvml.export("nvmlInit_v2")(_init)
nvml.export("nvmlInit")(_init)


@nvml.export("nvmlInitWithFlags")
def init_with_flags(flags: int) -> None:
    if flags & ~FLAGS:
        raise CudaError(
            Result.NVML_ERROR_INVALID_ARGUMENT,
            f"flags is {flags:#x}; NVML_INIT_FLAG_NO_GPUS and NVML_INIT_FLAG_NO_ATTACH are known",
        )
    _init()


@nvml.export("nvmlShutdown")
def shutdown() -> None:
    current = _initialized()
    current.management_uses -= 1
    if not current.management_uses:
        for handle in current.management_handles:
            current.process.handles.remove(handle, DEVICE, "nvmlShutdown")
        current.management_handles = []


@nvml.export("nvmlErrorString", status=False, failure=ffi.NULL, always=True)
def error_string(result: int) -> Any:
    if result not in Result._value2member_map_:
        return lasting("no result of NVML")
    known = Result(result)
    return lasting(_TEXTS.get(known, known.name))


@nvml.export("nvmlSystemGetDriverVersion")
def driver_version(version: Any, length: int) -> None:
    _initialized()
    null(version=version)
    _write(version, length, DRIVER, "version")


@nvml.export("nvmlSystemGetNVMLVersion")
def nvml_version(version: Any, length: int) -> None:
    _initialized()
    null(version=version)
    _write(version, length, f"{device.DRIVER_VERSION // 1000}.{DRIVER}", "version")


def _cuda_driver_version(version: Any) -> None:
    null(cudaDriverVersion=version)
    version[0] = device.DRIVER_VERSION


nvml.export("nvmlSystemGetCudaDriverVersion")(_cuda_driver_version)
nvml.export("nvmlSystemGetCudaDriverVersion_v2")(_cuda_driver_version)


def _count(count: Any) -> None:
    current = _initialized()
    null(deviceCount=count)
    count[0] = len(current.devices)


nvml.export("nvmlDeviceGetCount_v2")(_count)
nvml.export("nvmlDeviceGetCount")(_count)


def _by_index(index: int, target: Any) -> None:
    current = _initialized()
    null(device=target)
    count = len(current.devices)
    if index >= count:
        raise CudaError(
            Result.NVML_ERROR_INVALID_ARGUMENT, f"index is {index}; there are {count} devices"
        )
    target[0] = _handle(current, index)


nvml.export("nvmlDeviceGetHandleByIndex_v2")(_by_index)
nvml.export("nvmlDeviceGetHandleByIndex")(_by_index)


@nvml.export("nvmlDeviceGetHandleByUUID")
def by_uuid(uuid: Any, target: Any) -> None:
    current = _initialized()
    null(uuid=uuid, device=target)
    wanted = ffi.string(uuid).decode(errors="replace")
    for found in current.devices:
        if wanted.lower() == _uuid(found).lower():
            target[0] = _handle(current, found.ordinal)
            return
    known = ", ".join(map(_uuid, current.devices)) or "none"
    raise CudaError(Result.NVML_ERROR_NOT_FOUND, f"uuid is {wanted!r}; there is {known}")


def _by_bus(bus: Any, target: Any) -> None:
    current = _initialized()
    null(pciBusId=bus, device=target)
    wanted = ffi.string(bus).decode(errors="replace")
    place = wanted.rpartition(".")[0] or wanted
    domain, _, rest = place.rpartition(":")[0].rpartition(":")
    own = domain.strip("0") == "" and f"{rest}:{place.rpartition(':')[2]}" == "00:00"
    if not current.devices or not own:
        raise CudaError(
            Result.NVML_ERROR_NOT_FOUND,
            f"pciBusId is {wanted!r}; the only device is {device.PCI_BUS_ID}",
        )
    target[0] = _handle(current, 0)


nvml.export("nvmlDeviceGetHandleByPciBusId_v2")(_by_bus)
nvml.export("nvmlDeviceGetHandleByPciBusId")(_by_bus)


@nvml.export("nvmlDeviceGetName")
def name(handle: Any, target: Any, length: int) -> None:
    found = _device(handle)
    null(name=target)
    _write(target, length, found.name.decode(), "name")


@nvml.export("nvmlDeviceGetUUID")
def uuid(handle: Any, target: Any, length: int) -> None:
    found = _device(handle)
    null(uuid=target)
    _write(target, length, _uuid(found), "uuid")


@nvml.export("nvmlDeviceGetIndex")
def index(handle: Any, target: Any) -> None:
    found = _device(handle)
    null(index=target)
    target[0] = found.ordinal


@nvml.export("nvmlDeviceGetMinorNumber")
def minor_number(handle: Any, target: Any) -> None:
    found = _device(handle)
    null(minorNumber=target)
    target[0] = found.ordinal


@nvml.export("nvmlDeviceGetPciInfo_v3")
def pci_info(handle: Any, pci: Any) -> None:
    _device(handle)
    null(pci=pci)
    ffi.memmove(pci, bytes(ffi.sizeof(pci[0])), ffi.sizeof(pci[0]))
    pci.busIdLegacy = device.PCI_BUS_ID.encode()
    pci.busId = b"0000" + device.PCI_BUS_ID.encode()


def _memory(target: Any) -> None:
    memory = context.current().memory
    target.total = memory.total_bytes
    target.used = memory.used_bytes
    target.free = memory.total_bytes - memory.used_bytes


@nvml.export("nvmlDeviceGetMemoryInfo")
def memory_info(handle: Any, target: Any) -> None:
    _device(handle)
    null(memory=target)
    _memory(target)


@nvml.export("nvmlDeviceGetMemoryInfo_v2")
def memory_info_v2(handle: Any, target: Any) -> None:
    _device(handle)
    null(memory=target)
    wanted = ffi.sizeof(target[0]) | 2 << 24
    if target.version != wanted:
        raise CudaError(
            Result.NVML_ERROR_ARGUMENT_VERSION_MISMATCH,
            f"memory.version is {target.version:#x}; nvmlMemory_v2 is {wanted:#x}",
        )
    target.reserved = 0
    _memory(target)


@nvml.export("nvmlDeviceGetMemoryBusWidth")
def memory_bus_width(handle: Any, target: Any) -> None:
    found = _device(handle)
    null(busWidth=target)
    target[0] = found.properties["memoryBusWidth"]


def _clock(handle: Any, kind: int, target: Any) -> None:
    found = _device(handle)
    null(clock=target)
    if kind in (Clock.NVML_CLOCK_GRAPHICS, Clock.NVML_CLOCK_SM):
        rate = found.properties["clockRate"]
    elif kind == Clock.NVML_CLOCK_MEM:
        rate = found.properties["memoryClockRate"]
    elif kind == Clock.NVML_CLOCK_VIDEO:
        raise CudaError(
            Result.NVML_ERROR_NOT_SUPPORTED, "not supported: there is no clock of video"
        )
    else:
        raise CudaError(
            Result.NVML_ERROR_INVALID_ARGUMENT, f"type is {kind}, which is no nvmlClockType_t"
        )
    assert isinstance(rate, int)
    target[0] = rate // 1000


nvml.export("nvmlDeviceGetClockInfo")(_clock)
nvml.export("nvmlDeviceGetMaxClockInfo")(_clock)


@nvml.export("nvmlDeviceGetComputeMode")
def compute_mode(handle: Any, target: Any) -> None:
    _device(handle)
    null(mode=target)
    target[0] = ComputeMode.NVML_COMPUTEMODE_DEFAULT


@nvml.export("nvmlDeviceGetCudaComputeCapability")
def compute_capability(handle: Any, major: Any, minor: Any) -> None:
    found = _device(handle)
    null(major=major, minor=minor)
    major[0], minor[0] = found.properties["major"], found.properties["minor"]


@nvml.export("nvmlDeviceGetArchitecture")
def architecture(handle: Any, target: Any) -> None:
    _device(handle)
    null(arch=target)
    target[0] = AMPERE


def _refuse(handle: Any, why: str) -> None:
    _device(handle)
    raise CudaError(Result.NVML_ERROR_NOT_SUPPORTED, f"not supported: {why}")


@nvml.export("nvmlDeviceGetUtilizationRates")
@nvml.export("nvmlDeviceGetTemperature")
@nvml.export("nvmlDeviceGetFanSpeed")
@nvml.export("nvmlDeviceGetPowerUsage")
@nvml.export("nvmlDeviceGetTotalEnergyConsumption")
@nvml.export("nvmlDeviceGetPowerManagementLimit")
@nvml.export("nvmlDeviceGetEnforcedPowerLimit")
def measured(handle: Any, *_: Any) -> None:
    _refuse(handle, "a simulated device has no sensors")


@nvml.export("nvmlDeviceGetSerial")
@nvml.export("nvmlDeviceGetPerformanceState")
@nvml.export("nvmlDeviceGetApplicationsClock")
@nvml.export("nvmlDeviceGetPersistenceMode")
@nvml.export("nvmlDeviceGetEccMode")
@nvml.export("nvmlDeviceGetComputeRunningProcesses_v3")
def state(handle: Any, *_: Any) -> None:
    _refuse(handle, "a simulated device has no such state")


@nvml.export("nvmlDeviceSetPersistenceMode")
@nvml.export("nvmlDeviceSetApplicationsClocks")
@nvml.export("nvmlDeviceResetApplicationsClocks")
@nvml.export("nvmlDeviceSetGpuLockedClocks")
@nvml.export("nvmlDeviceResetGpuLockedClocks")
@nvml.export("nvmlDeviceSetPowerManagementLimit")
def set_something(handle: Any, *_: Any) -> None:
    _refuse(handle, "a simulated device has nothing to set")
