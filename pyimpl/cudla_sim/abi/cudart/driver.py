"""The driver interface: starting it, asking about devices, the primary context."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial, wraps
from typing import Any

from ...constants import cudart_parameters
from ...constants.cudart import CUdriverProcAddress_flags_enum as ProcAddressFlags
from ...constants.cudart import CUdriverProcAddressQueryResult_enum as Found
from ...constants.cudart import cudaError_enum as Result
from ...core.handles import BadHandle
from ...cudart import context, device, messages
from ...cudart.errors import CudaError
from ..embedding import ffi, lib, pointer
from ..entry import Family, Handler
from .device import get_device, lasting, nvscisync_attributes

CONTEXT = "CUcontext"
PROC_ADDRESS_FLAGS = (
    ProcAddressFlags.CU_GET_PROC_ADDRESS_DEFAULT,
    ProcAddressFlags.CU_GET_PROC_ADDRESS_LEGACY_STREAM,
)
"""Per-thread default streams are not supported."""


class Driver(Family):
    """The driver: most functions refuse to work before cuInit."""

    def export(
        self,
        name: str,
        *,
        failure: Any = None,
        status: bool = True,
        always: bool = False,
        early: bool = False,
    ) -> Callable[[Handler], Handler]:
        """Attaches a handler; ``early`` ones work before cuInit, ``always`` ones even more so."""
        attach = super().export(name, failure=failure, status=status, always=always)
        if always:
            return attach

        def decorate(handler: Handler) -> Handler:
            @wraps(handler)
            def checked(*args: Any) -> Any:
                if not early and not context.current().driver_initialized:
                    raise CudaError(Result.CUDA_ERROR_NOT_INITIALIZED, "cuInit(0) comes first")
                return handler(*args)

            attach(checked)
            return handler

        return decorate


driver = Driver("cuda driver", Result, cudart_parameters, error=CudaError)

null = partial(driver.require, Result.CUDA_ERROR_INVALID_VALUE)


class DriverContext:
    """What can be current in a thread, with how often it was retained."""

    created = False
    """By the program: it has flags of its own, and what was made in it goes with it."""

    def __init__(self, owner: context.Context) -> None:
        self.owner = owner
        self.retained = 0
        self.handle = owner.process.handles.add(CONTEXT, self)

    @property
    def flags(self) -> int:
        """How its threads wait, and what they may do."""
        return self.owner.flags

    @flags.setter
    def flags(self, value: int) -> None:
        self.owner.flags = value


def primary_context() -> DriverContext:
    """The device's one, which the runtime's calls use, too."""
    owner = context.current()
    return owner.process.family("cuda primary context", lambda _: DriverContext(owner))


@driver.export("cuInit", early=True)
def init(flags: int) -> None:
    if flags:
        raise CudaError(Result.CUDA_ERROR_INVALID_VALUE, f"Flags is {flags:#x}; it is 0")
    owner = context.current()
    device.require(owner.devices, 0)
    owner.driver_initialized = True


@driver.export("cuDriverGetVersion", early=True)
def get_version(version: Any) -> None:
    null(driverVersion=version)
    version[0] = device.DRIVER_VERSION


class Absent(CudaError):
    """Runtimes and libraries ask for all that a driver may have, some hundreds of names."""

    told = False


def _not_found(symbol: Any, target: Any, flags: int) -> None:
    """The rest of cuGetProcAddress: its C body found no such function, or calls with mistakes."""
    null(pfn=target)
    target[0] = ffi.NULL
    if not symbol:
        raise CudaError(Result.CUDA_ERROR_INVALID_VALUE, "symbol is NULL; it is a function's name")
    if flags not in PROC_ADDRESS_FLAGS:
        raise CudaError(
            Result.CUDA_ERROR_INVALID_VALUE,
            f"flags is {flags:#x}; valid flags: CU_GET_PROC_ADDRESS_DEFAULT (0), "
            "CU_GET_PROC_ADDRESS_LEGACY_STREAM (1)",
        )
    name = ffi.string(symbol, 200).decode(errors="replace")
    raise Absent(
        Result.CUDA_ERROR_NOT_FOUND, f"the driver has no function {name!r} in that version"
    )


@driver.export("cuGetProcAddress", early=True)
def get_proc_address(symbol: Any, target: Any, _: int, flags: int) -> None:
    _not_found(symbol, target, flags)


@driver.export("cuGetProcAddress_v2", early=True)
def get_proc_address_v2(symbol: Any, target: Any, _: int, flags: int, state: Any) -> None:
    if state:
        state[0] = Found.CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND
    _not_found(symbol, target, flags)


def _describe(text: str | None, target: Any, error: int) -> None:
    null(pStr=target)
    if text is None:
        target[0] = ffi.NULL
        raise CudaError(Result.CUDA_ERROR_INVALID_VALUE, f"error is {error}, which is no CUresult")
    target[0] = lasting(text)


@driver.export("cuGetErrorName", always=True)
def get_error_name(error: int, target: Any) -> None:
    _describe(messages.driver_name(error), target, error)


@driver.export("cuGetErrorString", always=True)
def get_error_string(error: int, target: Any) -> None:
    _describe(messages.driver_text(error), target, error)


@driver.export("cuDeviceGetCount")
def device_get_count(count: Any) -> None:
    null(count=count)
    count[0] = len(context.current().devices)


@driver.export("cuDeviceGet")
def device_get(target: Any, ordinal: int) -> None:
    null(device=target)
    target[0] = get_device(ordinal).ordinal


@driver.export("cuDeviceGetName")
def device_get_name(name: Any, size: int, ordinal: int) -> None:
    null(name=name)
    text = get_device(ordinal).name
    if size <= 0:
        raise CudaError(Result.CUDA_ERROR_INVALID_VALUE, f"len is {size}; name needs some bytes")
    kept = text[: size - 1]
    ffi.memmove(name, kept + b"\0", len(kept) + 1)


def _uuid(target: Any, ordinal: int) -> None:
    null(uuid=target)
    ffi.memmove(target.bytes, get_device(ordinal).uuid, 16)


driver.export("cuDeviceGetUuid")(_uuid)
driver.export("cuDeviceGetUuid_v2")(_uuid)


@driver.export("cuDeviceGetAttribute")
def device_get_attribute(value: Any, attribute: int, ordinal: int) -> None:
    null(pi=value)
    value[0] = get_device(ordinal).attribute(attribute)


def _total_mem(size: Any, ordinal: int) -> None:
    null(bytes=size)
    size[0] = get_device(ordinal).total_bytes


driver.export("cuDeviceTotalMem_v2")(_total_mem)
driver.export("cuDeviceTotalMem")(_total_mem)


@driver.export("cuDeviceGetNvSciSyncAttributes")
def device_nvscisync_attributes(attributes: Any, ordinal: int, flags: int) -> None:
    nvscisync_attributes(attributes, ordinal, flags)


@driver.export("cuDevicePrimaryCtxRetain")
def primary_retain(target: Any, ordinal: int) -> None:
    null(pctx=target)
    get_device(ordinal)
    primary = primary_context()
    primary.retained += 1
    target[0] = pointer(primary.handle)


def primary_release(ordinal: int) -> None:
    get_device(ordinal)
    primary = primary_context()
    if primary.retained == 0:
        raise CudaError(Result.CUDA_ERROR_INVALID_CONTEXT, "the primary context is not retained")
    if primary.retained == 1:
        lib.sim_cuda_context_ends(pointer(primary.handle))
    primary.retained -= 1


driver.export("cuDevicePrimaryCtxRelease_v2")(primary_release)
driver.export("cuDevicePrimaryCtxRelease")(primary_release)


@driver.export("cuCtxGetCurrent")
def ctx_get_current(target: Any) -> None:
    null(pctx=target)
    target[0] = pointer(current_handle())


def current_handle() -> int:
    """Of the calling thread's context, 0 when there is none. CUDA Driver API, "Interactions with
    the CUDA Runtime": where none is, the runtime's calls make the primary one current."""
    thread = context.current().thread
    if not thread.driver_context and thread.uses_runtime:
        primary = primary_context()
        primary.retained += 1
        make_current(primary.handle)
        thread.uses_runtime = False  # once, until the runtime is called again
    return thread.driver_context


def make_current(handle: int) -> None:
    """In the calling thread; 0 is none."""
    current = context.current()
    current.thread.driver_context = handle
    current.thread.own_context = handle if handle and _is_created(handle) else 0
    lib.sim_cuda_make_current(pointer(handle))


def _is_created(handle: int) -> bool:
    try:
        found: DriverContext = context.current().process.handles.get(handle, CONTEXT)
    except BadHandle:
        return False
    return found.created


@driver.export("cuCtxSetCurrent")
def ctx_set_current(wanted: Any) -> None:
    context.current().thread.uses_runtime = False
    make_current(driver.resolve(wanted, CONTEXT, "ctx").handle if wanted else 0)


def require_current() -> DriverContext:
    handle = current_handle()
    if handle == 0:
        raise CudaError(
            Result.CUDA_ERROR_INVALID_CONTEXT,
            "no context is current in this thread (cuCtxSetCurrent)",
        )
    found: DriverContext = driver.resolve(
        handle, CONTEXT, "the current context", Result.CUDA_ERROR_CONTEXT_IS_DESTROYED
    )
    return found


_DEFAULT_STREAMS = (0, 1, 2)
"""NULL, CU_STREAM_LEGACY and CU_STREAM_PER_THREAD."""


def context_of(stream: Any) -> int:
    """The handle of a stream's context: a default one has that of who asks."""
    if stream.of is None:
        return current_handle() or primary_context().handle
    return int(stream.of) or primary_context().handle


def require_context_of(handle: Any) -> None:
    """A stream or an event brings its context along; a default stream is the current one's."""
    if int(ffi.cast("uintptr_t", handle)) in _DEFAULT_STREAMS:
        require_current()


@driver.export("cuCtxGetDevice")
def ctx_get_device(target: Any) -> None:
    null(device=target)
    require_current()
    target[0] = 0


@driver.export("cuCtxSynchronize")
def ctx_synchronize() -> None:
    require_current().owner.synchronize()
