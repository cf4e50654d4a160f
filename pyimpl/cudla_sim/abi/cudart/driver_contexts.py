"""What the context is set to by the driver's names: the runtime's settings of its device."""

from __future__ import annotations

from typing import Any

from ...constants.cudart import cudaDeviceAttr as Attribute
from ...cudart import context
from ..embedding import lib, pointer
from . import device as runtime
from . import launch_attributes
from .device import get_device
from .driver import (
    CONTEXT,
    DriverContext,
    driver,
    null,
    primary_context,
    require_current,
)

_API_VERSION = 3020
"""Of contexts that cuCtxCreate_v2 made (CUDA Driver API, cuCtxGetApiVersion)."""


@driver.export("cuDeviceGetByPCIBusId")
def device_by_pci_bus_id(target: Any, text: Any) -> None:
    null(dev=target, pciBusId=text)
    runtime.device_by_pci_bus_id(target, text)


@driver.export("cuDeviceGetProperties")
def device_get_properties(prop: Any, ordinal: int) -> None:
    null(prop=prop)
    found = get_device(ordinal)
    value = found.attribute
    prop.maxThreadsPerBlock = value(Attribute.cudaDevAttrMaxThreadsPerBlock)
    for axis, name in enumerate("XYZ"):
        prop.maxThreadsDim[axis] = value(Attribute[f"cudaDevAttrMaxBlockDim{name}"])
        prop.maxGridSize[axis] = value(Attribute[f"cudaDevAttrMaxGridDim{name}"])
    prop.sharedMemPerBlock = value(Attribute.cudaDevAttrMaxSharedMemoryPerBlock)
    prop.totalConstantMemory = value(Attribute.cudaDevAttrTotalConstantMemory)
    prop.SIMDWidth = value(Attribute.cudaDevAttrWarpSize)
    prop.memPitch = value(Attribute.cudaDevAttrMaxPitch)
    prop.regsPerBlock = value(Attribute.cudaDevAttrMaxRegistersPerBlock)
    prop.clockRate = value(Attribute.cudaDevAttrClockRate)
    prop.textureAlign = value(Attribute.cudaDevAttrTextureAlignment)


@driver.export("cuDeviceGetP2PAttribute")
def device_get_p2p_attribute(value: Any, attribute: int, source: int, target: int) -> None:
    runtime.get_p2p_attribute(value, attribute, source, target)


# --- the primary context -------------------------------------------------------------------------


@driver.export("cuDevicePrimaryCtxGetState")
def primary_get_state(ordinal: int, flags: Any, active: Any) -> None:
    null(flags=flags, active=active)
    get_device(ordinal)
    flags[0] = context.current().flags
    active[0] = int(primary_context().retained > 0)


@driver.export("cuDevicePrimaryCtxSetFlags_v2")
def primary_set_flags(ordinal: int, flags: int) -> None:
    get_device(ordinal)
    runtime.set_device_flags(flags)


@driver.export("cuDevicePrimaryCtxReset_v2")
def primary_reset(ordinal: int) -> None:
    get_device(ordinal)
    lib.sim_cuda_context_ends(pointer(primary_context().handle))
    runtime.device_reset()


# --- any context ---------------------------------------------------------------------------------


def _context(wanted: Any) -> DriverContext:
    """NULL is the current one."""
    if not wanted:
        return require_current()
    found: DriverContext = driver.resolve(wanted, CONTEXT, "ctx")
    return found


@driver.export("cuCtxGetApiVersion")
def ctx_get_api_version(wanted: Any, version: Any) -> None:
    null(version=version)
    _context(wanted)
    version[0] = _API_VERSION


@driver.export("cuCtxGetId")
def ctx_get_id(wanted: Any, identity: Any) -> None:
    null(ctxId=identity)
    identity[0] = _context(wanted).handle


@driver.export("cuCtxGetFlags")
def ctx_get_flags(flags: Any) -> None:
    null(flags=flags)
    flags[0] = require_current().flags


@driver.export("cuCtxSetFlags")
def ctx_set_flags(flags: int) -> None:
    require_current().flags = runtime.checked_flags(flags)


@driver.export("cuCtxGetLimit")
def ctx_get_limit(value: Any, limit: int) -> None:
    null(pvalue=value)
    require_current()
    runtime.device_get_limit(value, limit)


@driver.export("cuCtxSetLimit")
def ctx_set_limit(limit: int, value: int) -> None:
    require_current()
    runtime.device_set_limit(limit, value)


@driver.export("cuCtxGetCacheConfig")
def ctx_get_cache_config(config: Any) -> None:
    null(pconfig=config)
    require_current()
    runtime.device_get_cache_config(config)


@driver.export("cuCtxSetCacheConfig")
def ctx_set_cache_config(config: int) -> None:
    require_current()
    runtime.device_set_cache_config(config)


@driver.export("cuCtxGetSharedMemConfig")
def ctx_get_shared_mem_config(config: Any) -> None:
    null(pConfig=config)
    require_current()
    runtime.device_get_shared_mem_config(config)


@driver.export("cuCtxSetSharedMemConfig")
def ctx_set_shared_mem_config(config: int) -> None:
    require_current()
    runtime.device_set_shared_mem_config(config)


@driver.export("cuCtxGetStreamPriorityRange")
def ctx_get_stream_priority_range(least: Any, greatest: Any) -> None:
    require_current()
    runtime.stream_priority_range(least, greatest)


@driver.export("cuCtxResetPersistingL2Cache")
def ctx_reset_persisting_l2_cache() -> None:
    require_current()
    launch_attributes.reset_persisting_l2_cache()


@driver.export("cuProfilerInitialize")
def profiler_initialize(config: Any, output: Any, _: int) -> None:
    null(configFile=config, outputFile=output)


@driver.export("cuProfilerStart")
def profiler_start() -> None:
    require_current()


@driver.export("cuProfilerStop")
def profiler_stop() -> None:
    require_current()
