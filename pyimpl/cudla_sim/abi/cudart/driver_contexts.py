"""Contexts: the primary one, those that a program creates, and which one is current in a thread.

CUDA Driver API, "Context Management": what was made while a context is current belongs to it, and
is freed with it. All contexts share the device's memory and its default streams here.
"""

from __future__ import annotations

from typing import Any

from ...constants.cudart import CUmoduleLoadingMode_enum
from ...constants.cudart import cudaError_enum as Result
from ...cudart import context
from ...cudart.errors import CudaError
from ...cudart.state import ARRAY, EVENT, STREAM
from ..embedding import address, lib, pointer
from . import device as runtime
from . import streams
from .device import get_device
from .driver import (
    CONTEXT,
    DriverContext,
    context_of,
    current_handle,
    driver,
    make_current,
    null,
    primary_context,
    require_context_of,
    require_current,
)

_API_VERSION = 3020
"""Of contexts that cuCtxCreate_v2 made (CUDA Driver API, cuCtxGetApiVersion)."""


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


@driver.export("cuCtxGetFlags")
def ctx_get_flags(flags: Any) -> None:
    null(flags=flags)
    flags[0] = require_current().flags


# --- contexts of the program ---------------------------------------------------------------------


class CreatedContext(DriverContext):
    """A context of cuCtxCreate."""

    created = True

    def __init__(self, owner: context.Context, flags: int) -> None:
        super().__init__(owner)
        self._flags = flags
        self.retained = 1

    @property
    def flags(self) -> int:
        return self._flags

    @flags.setter
    def flags(self, value: int) -> None:
        self._flags = value

    def destroy(self, how: str) -> None:
        """Waits for its work, then frees what belongs to it."""
        current, handles = self.owner, self.owner.process.handles
        current.captures.forbid(how)
        current.streams.drain()
        lib.sim_cuda_context_ends(pointer(self.handle))
        for stream in self._own(STREAM):
            current.streams.destroy(stream.handle)
        for kind in (EVENT, ARRAY):
            for target in self._own(kind):
                handles.remove(target.handle, kind, how)
        current.memory.free_of(self.handle, how)
        handles.remove(self.handle, CONTEXT, how)

    def _own(self, kind: str) -> list[Any]:
        return [one for one in self.owner.process.handles.live(kind) if one.of == self.handle]


def _create(target: Any, flags: int, ordinal: int) -> None:
    null(pctx=target)
    get_device(ordinal)
    made = CreatedContext(context.current(), runtime.checked_flags(flags))
    target[0] = pointer(made.handle)
    _push(made.handle)


def _push(handle: int) -> None:
    thread = context.current().thread
    thread.driver_stack = (*thread.driver_stack, current_handle())
    make_current(handle)


def _pop() -> None:
    thread = context.current().thread
    below = thread.driver_stack
    make_current(below[-1] if below else 0)
    thread.driver_stack = below[:-1]


@driver.export("cuCtxCreate_v2")
def ctx_create(target: Any, flags: int, ordinal: int) -> None:
    _create(target, flags, ordinal)


@driver.export("cuCtxCreate_v4")
def ctx_create_v4(target: Any, params: Any, flags: int, ordinal: int) -> None:
    if params and params.numExecAffinityParams:
        raise CudaError(
            Result.CUDA_ERROR_UNSUPPORTED_EXEC_AFFINITY,
            f"ctxCreateParams.numExecAffinityParams is {params.numExecAffinityParams}; must be 0",
        )
    _create(target, flags, ordinal)


@driver.export("cuCtxDestroy_v2")
def ctx_destroy(wanted: Any) -> None:
    found: DriverContext = driver.resolve(wanted, CONTEXT, "ctx")
    if not isinstance(found, CreatedContext):
        raise CudaError(
            Result.CUDA_ERROR_INVALID_CONTEXT,
            f"ctx ({address(wanted):#x}) was not created with cuCtxCreate; release the primary "
            "context with cuDevicePrimaryCtxRelease",
        )
    found.destroy("cuCtxDestroy")
    if context.current().thread.driver_context == found.handle:
        _pop()


@driver.export("cuCtxPushCurrent_v2")
def ctx_push_current(wanted: Any) -> None:
    _push(driver.resolve(wanted, CONTEXT, "ctx").handle)


@driver.export("cuCtxPopCurrent_v2")
def ctx_pop_current(target: Any) -> None:
    handle = current_handle()
    if handle == 0:
        require_current()
    if target:
        target[0] = pointer(handle)
    _pop()


@driver.export("cuStreamGetCtx")
def stream_get_ctx(stream: Any, target: Any) -> None:
    null(pctx=target)
    require_context_of(stream)
    target[0] = pointer(context_of(streams.resolve(stream)))


@driver.export("cuModuleGetLoadingMode")
def module_get_loading_mode(mode: Any) -> None:
    null(mode=mode)
    mode[0] = CUmoduleLoadingMode_enum.CU_MODULE_EAGER_LOADING
