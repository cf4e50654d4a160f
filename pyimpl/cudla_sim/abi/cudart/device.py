"""Versions, errors and devices."""

from __future__ import annotations

from typing import Any

from ...constants.cudart import (
    cudaDeviceMask,
    cudaError,
    cudaLimit,
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


@cudart.export("cudaDeviceGetAttribute", ruined="ignore")
def device_get_attribute(value: Any, attribute: int, ordinal: int) -> None:
    null(value=value)
    value[0] = get_device(ordinal).attribute(attribute)


@cudart.export("cudaSetDevice")
def set_device(ordinal: int) -> None:
    context.current().thread.device = get_device(ordinal).ordinal


@cudart.export("cudaGetDevice")
def get_current_device(ordinal: Any) -> None:
    null(device=ordinal)
    ordinal[0] = context.current().thread.device


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


@cudart.export("cudaDeviceSynchronize")
def device_synchronize() -> None:
    current = context.current()
    current.captures.forbid("waiting for the device")
    current.synchronize()


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


@cudart.export("cudaDeviceGetLimit")
def device_get_limit(value: Any, limit: int) -> None:
    null(pValue=value)
    value[0] = _limit(limit)[limit]


@cudart.export("cudaDeviceSetLimit")
def device_set_limit(limit: int, value: int) -> None:
    limits = _limit(limit)
    most = context.current().device.number("persistingL2CacheMaxSize")
    if limit == cudaLimit.cudaLimitPersistingL2CacheSize and value > most:
        raise invalid_value(f"value is {value}; persistingL2CacheMaxSize is {most}")
    limits[limit] = value


@cudart.export("cudaDeviceGetStreamPriorityRange")
def stream_priority_range(least: Any, greatest: Any) -> None:
    if least:
        least[0] = device.LEAST_PRIORITY
    if greatest:
        greatest[0] = device.GREATEST_PRIORITY


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
