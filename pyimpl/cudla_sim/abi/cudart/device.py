"""Versions, errors and devices."""

from __future__ import annotations

import re
from typing import Any

from ...constants.cudart import (
    cudaDeviceMask,
    cudaDeviceP2PAttr,
    cudaError,
    cudaFuncCache,
    cudaLimit,
    cudaSharedMemConfig,
)
from ...constants.nvsci import NvSciSyncAttrKey
from ...cudart import context, device, messages
from ...cudart.device import Device
from ...cudart.errors import CudaError, invalid_value
from ...nvsci import sync
from ...nvsci.errors import NvSciError
from ..embedding import ffi
from ..nvsci import sync as nvsci_sync
from .family import cudart, enter, null, required_flags

_texts: dict[str, Any] = {}  # C strings that were handed out: they live as long as the process


def lasting(text: str) -> Any:
    """The same C string for the same text, for ever."""
    if text not in _texts:
        _texts[text] = ffi.new("char[]", text.encode())
    return _texts[text]


def get_device(ordinal: int) -> Device:
    return device.require(context.current().devices, ordinal)


@cudart.export("cudaDriverGetVersion", ruined="ignore")
def driver_version(version: Any) -> None:
    null(driverVersion=version)
    version[0] = device.DRIVER_VERSION


@cudart.export("cudaRuntimeGetVersion", ruined="ignore")
def runtime_version(version: Any) -> None:
    null(runtimeVersion=version)
    version[0] = device.VERSION


@cudart.export("cudaRuntimeGetVersion_v13", ruined="ignore")
def runtime_version_13(version: Any) -> None:
    null(runtimeVersion=version)
    version[0] = device.VERSION_13


def _last() -> int:
    current = context.current()
    return current.sticky.status if current.sticky is not None else current.thread.last_error


@cudart.export("cudaGetLastError", ruined="ignore")
def get_last_error() -> int:
    status = _last()
    context.current().thread.last_error = 0
    return status


@cudart.export("cudaPeekAtLastError", ruined="ignore")
def peek_at_last_error() -> int:
    return _last()


@cudart.export("cudaGetErrorName", status=False, failure=ffi.NULL, always=True)
def get_error_name(error: int) -> Any:
    return lasting(messages.runtime_name(error))


@cudart.export("cudaGetErrorString", status=False, failure=ffi.NULL, always=True)
def get_error_string(error: int) -> Any:
    return lasting(messages.runtime_text(error))


@cudart.export("cudaGetDeviceCount", ruined="ignore")
def get_device_count(count: Any) -> None:
    null(count=count)
    current = context.current()
    count[0] = len(current.devices)
    enter(current)


def _fill(prop: Any, found: Device) -> None:
    size = ffi.sizeof(prop[0])
    ffi.memmove(prop, bytes(size), size)
    known = {name for name, _ in ffi.typeof(prop[0]).fields}
    for name, value in found.properties.items():
        if name not in known:
            continue
        if name == "uuid":
            ffi.memmove(prop.uuid.bytes, value, 16)
        elif isinstance(value, tuple):
            target = getattr(prop, name)
            for index, element in enumerate(value):
                target[index] = element
        else:
            setattr(prop, name, value)


def _properties(prop: Any, ordinal: int) -> None:
    null(prop=prop)
    _fill(prop, get_device(ordinal))


cudart.export("cudaGetDeviceProperties_v2", ruined="ignore")(_properties)
cudart.export("cudaGetDeviceProperties", ruined="ignore")(_properties)
cudart.export("cudaGetDeviceProperties_v13", ruined="ignore")(_properties)


@cudart.export("cudaDeviceGetAttribute", ruined="ignore")
def device_get_attribute(value: Any, attribute: int, ordinal: int) -> None:
    null(value=value)
    value[0] = get_device(ordinal).attribute(attribute)


@cudart.export("cudaChooseDevice")
def choose_device(ordinal: Any, prop: Any) -> None:
    null(device=ordinal, prop=prop)
    ordinal[0] = 0  # the only one matches any wish best


@cudart.export("cudaSetDevice")
def set_device(ordinal: int) -> None:
    context.current().thread.device = get_device(ordinal).ordinal


@cudart.export("cudaGetDevice")
def get_current_device(ordinal: Any) -> None:
    null(device=ordinal)
    ordinal[0] = context.current().thread.device


@cudart.export("cudaInitDevice")
def init_device(ordinal: int, device_flags: int, flags: int) -> None:
    get_device(ordinal)
    required_flags(flags, 1, "0 or cudaInitDeviceFlagsAreValid 1")
    if flags:
        _set_flags(device_flags)


@cudart.export("cudaSetValidDevices")
def set_valid_devices(ordinals: Any, count: int) -> None:
    if count < 0 or (count and not ordinals):
        raise invalid_value(f"device_arr has {count} elements")
    for index in range(min(count, 64)):
        get_device(ordinals[index])


def checked_flags(flags: int) -> int:
    """Of a device or a context. Raises CudaError (InvalidValue)."""
    required_flags(flags, cudaDeviceMask, f"device flags lie within {cudaDeviceMask:#x}")
    if flags & 7 not in (0, 1, 2, 4):
        raise invalid_value(f"flags is {flags:#x}; only one way of scheduling can be chosen")
    return flags


def _set_flags(flags: int) -> None:
    context.current().flags = checked_flags(flags)


@cudart.export("cudaSetDeviceFlags")
def set_device_flags(flags: int) -> None:
    _set_flags(flags)


@cudart.export("cudaGetDeviceFlags")
def get_device_flags(flags: Any) -> None:
    null(flags=flags)
    flags[0] = context.current().flags | 8  # host memory is always mapped


@cudart.export("cudaThreadSynchronize")
@cudart.export("cudaDeviceSynchronize")
def device_synchronize() -> None:
    current = context.current()
    current.captures.forbid("waiting for the device")
    current.synchronize()


@cudart.export("cudaThreadExit", ruined="ignore")
@cudart.export("cudaDeviceReset", ruined="ignore")
def device_reset() -> None:
    current = context.current()
    enter(current)
    current.reset()
    current.thread.last_error = 0


def _limit(limit: int) -> dict[int, int]:
    limits = context.current().limits
    if limit not in cudaLimit._value2member_map_:
        raise invalid_value(f"limit is {limit}; cudaLimit has 0 to {max(cudaLimit)}")
    if limit not in limits:
        raise CudaError(
            cudaError.cudaErrorUnsupportedLimit, f"{cudaLimit(limit).name} does not exist here"
        )
    return limits


@cudart.export("cudaThreadGetLimit")
@cudart.export("cudaDeviceGetLimit")
def device_get_limit(value: Any, limit: int) -> None:
    null(pValue=value)
    value[0] = _limit(limit)[limit]


@cudart.export("cudaThreadSetLimit")
@cudart.export("cudaDeviceSetLimit")
def device_set_limit(limit: int, value: int) -> None:
    limits = _limit(limit)
    most = context.current().device.number("persistingL2CacheMaxSize")
    if limit == cudaLimit.cudaLimitPersistingL2CacheSize and value > most:
        raise invalid_value(f"value is {value}; persistingL2CacheMaxSize is {most}")
    if limit == cudaLimit.cudaLimitDevRuntimeSyncDepth and value > context.DEEPEST_SYNC:
        raise invalid_value(f"value is {value}; kernels are {context.DEEPEST_SYNC} deep at most")
    limits[limit] = value


@cudart.export("cudaThreadGetCacheConfig")
@cudart.export("cudaDeviceGetCacheConfig")
def device_get_cache_config(config: Any) -> None:
    null(pCacheConfig=config)
    config[0] = context.current().cache_config


@cudart.export("cudaThreadSetCacheConfig")
@cudart.export("cudaDeviceSetCacheConfig")
def device_set_cache_config(config: int) -> None:
    if config not in cudaFuncCache._value2member_map_:
        raise invalid_value(f"cacheConfig is {config}; cudaFuncCache has 0 to {max(cudaFuncCache)}")
    context.current().cache_config = config


@cudart.export("cudaDeviceGetSharedMemConfig")
def device_get_shared_mem_config(config: Any) -> None:
    null(pConfig=config)
    config[0] = context.current().bank_config


@cudart.export("cudaDeviceSetSharedMemConfig")
def device_set_shared_mem_config(config: int) -> None:
    if config not in cudaSharedMemConfig._value2member_map_:
        raise invalid_value(f"config is {config}; cudaSharedMemConfig has 0 to 2")
    context.current().bank_config = config


@cudart.export("cudaDeviceGetStreamPriorityRange")
def stream_priority_range(least: Any, greatest: Any) -> None:
    if least:
        least[0] = device.LEAST_PRIORITY
    if greatest:
        greatest[0] = device.GREATEST_PRIORITY


def write_text(target: Any, size: int, text: bytes, argument: str) -> None:
    """Writes a C string. Raises CudaError (InvalidValue) when it does not fit."""
    null(**{argument: target})
    if size <= len(text):
        raise invalid_value(f"{argument} has {size} bytes; {len(text) + 1} are needed")
    ffi.memmove(target, text + b"\0", len(text) + 1)


@cudart.export("cudaDeviceGetPCIBusId")
def device_pci_bus_id(target: Any, size: int, ordinal: int) -> None:
    get_device(ordinal)
    write_text(target, size, device.PCI_BUS_ID.encode(), "pciBusId")


_PCI = re.compile(r"(?:([0-9a-fA-F]+):)?([0-9a-fA-F]+):([0-9a-fA-F]+)(?:\.([0-9a-fA-F]+))?")
"""[domain]:[bus]:[device].[function], all of them hexadecimal (cudaDeviceGetByPCIBusId)."""


def _names_the_device(text: str) -> bool:
    wanted, own = _PCI.fullmatch(text), _PCI.fullmatch(device.PCI_BUS_ID)
    if wanted is None or own is None:
        return False
    return [int(part or "0", 16) for part in wanted.groups()] == [
        int(part or "0", 16) for part in own.groups()
    ]


@cudart.export("cudaDeviceGetByPCIBusId")
def device_by_pci_bus_id(ordinal: Any, text: Any) -> None:
    null(device=ordinal, pciBusId=text)
    wanted = ffi.string(text, 64).decode(errors="replace")
    if not _names_the_device(wanted):
        raise invalid_value(f"pciBusId is {wanted!r}; the only device is {device.PCI_BUS_ID}")
    ordinal[0] = 0


@cudart.export("cudaDeviceCanAccessPeer")
def can_access_peer(answer: Any, ordinal: int, peer: int) -> None:
    null(canAccessPeer=answer)
    get_device(ordinal)
    get_device(peer)
    answer[0] = 0


@cudart.export("cudaDeviceGetP2PAttribute")
def get_p2p_attribute(value: Any, attribute: int, source: int, target: int) -> None:
    null(value=value)
    if attribute not in cudaDeviceP2PAttr._value2member_map_:
        raise invalid_value(f"attr is {attribute}; cudaDeviceP2PAttr has 1 to 4")
    get_device(source)
    get_device(target)
    raise CudaError(
        cudaError.cudaErrorInvalidDevice,
        f"srcDevice and dstDevice are both {source}; a device is no peer of itself",
    )


def _no_peer(peer: int) -> None:
    get_device(peer)
    raise CudaError(
        cudaError.cudaErrorInvalidDevice, f"device {peer} is the current one, no peer of itself"
    )


@cudart.export("cudaDeviceEnablePeerAccess")
def enable_peer_access(peer: int, flags: int) -> None:
    required_flags(flags, 0, "it is 0")
    _no_peer(peer)


@cudart.export("cudaDeviceDisablePeerAccess")
def disable_peer_access(peer: int) -> None:
    _no_peer(peer)


def nvscisync_attributes(attributes: Any, ordinal: int, flags: int) -> None:
    """Writes the GPU's part into an NvSciSync attribute list. Raises CudaError."""
    null(nvSciSyncAttrList=attributes)
    get_device(ordinal)
    if flags not in (1, 2, 3):
        raise invalid_value(
            f"flags is {flags:#x}; cudaNvSciSyncAttrSignal 1, cudaNvSciSyncAttrWait 2 or both"
        )
    perm = (sync.SIGNAL if flags & 1 else 0) | (sync.WAIT if flags & 2 else 0)
    key = int(NvSciSyncAttrKey.NvSciSyncAttrKey_RequiredPerm)
    try:
        found = nvsci_sync.lists.resolve(attributes, "nvSciSyncAttrList")
        found.set_attrs([(key, sync.SCHEMA.key(key).encode(perm))])
    except NvSciError as error:
        raise invalid_value(f"nvSciSyncAttrList: {error.explanation}") from None
    found.engines.add("GPU")


@cudart.export("cudaDeviceGetNvSciSyncAttributes")
def device_nvscisync_attributes(attributes: Any, ordinal: int, flags: int) -> None:
    nvscisync_attributes(attributes, ordinal, flags)


@cudart.export("cudaProfilerStart", ruined="ignore")
def profiler_start() -> None:
    return None


@cudart.export("cudaProfilerStop", ruined="ignore")
def profiler_stop() -> None:
    return None
