"""Contexts that a program makes for itself, and which of all is current in a thread.

CUDA Driver API, "Context Management": what was made while one is current is its own, and goes with
it. They share the device's memory and its default streams here.
"""

from __future__ import annotations

from typing import Any

from ...constants.cudart import CUexecAffinityType_enum as Affinity
from ...constants.cudart import cudaDeviceAttr as Device
from ...constants.cudart import cudaError_enum as Result
from ...cudart import context
from ...cudart.errors import CudaError
from ...cudart.state import ARRAY, EVENT, STREAM
from ..embedding import address, lib, pointer
from .device import checked_flags, get_device
from .driver import (
    CONTEXT,
    DriverContext,
    current_handle,
    driver,
    make_current,
    null,
    primary_release,
    require_current,
)
from .modules import MODULE, unload


class CreatedContext(DriverContext):
    """``retained`` counts cuCtxAttach; cuCtxDestroy does not ask how often."""

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
        """Waits for its work; then it goes with what is its own."""
        current, handles = self.owner, self.owner.process.handles
        current.captures.forbid(how)
        current.streams.drain()
        lib.sim_cuda_context_ends(pointer(self.handle))
        for stream in self._own(STREAM):
            current.streams.destroy(stream.handle)
        for module in self._own(MODULE):
            unload(module, how)
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
    made = CreatedContext(context.current(), checked_flags(flags))
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


@driver.export("cuCtxCreate_v3")
def ctx_create_v3(target: Any, params: Any, count: int, flags: int, ordinal: int) -> None:
    if count < 0 or (count and not params):
        raise CudaError(Result.CUDA_ERROR_INVALID_VALUE, f"paramsArray has {count} elements")
    _affinity(params, count)
    _create(target, flags, ordinal)


@driver.export("cuCtxCreate_v4")
def ctx_create_v4(target: Any, params: Any, flags: int, ordinal: int) -> None:
    if params and params.execAffinityParams and params.numExecAffinityParams > 0:
        _affinity(params.execAffinityParams, params.numExecAffinityParams)
    _create(target, flags, ordinal)


def _affinity(params: Any, count: int) -> None:
    """Some of the device's multiprocessors need a server of MPS. Raises CudaError."""
    for index in range(min(count, int(Affinity.CU_EXEC_AFFINITY_TYPE_MAX) + 1)):
        _require_kind(params[index].type)
    if count:
        raise CudaError(
            Result.CUDA_ERROR_UNSUPPORTED_EXEC_AFFINITY,
            "multiprocessors for a context need MPS, which is not simulated (cuGreenCtxCreate)",
        )


def _require_kind(kind: int) -> None:
    if kind != Affinity.CU_EXEC_AFFINITY_TYPE_SM_COUNT:
        raise CudaError(
            Result.CUDA_ERROR_INVALID_VALUE,
            f"the type is {kind}; CU_EXEC_AFFINITY_TYPE_SM_COUNT 0 is the only one",
        )


@driver.export("cuDeviceGetExecAffinitySupport")
def device_get_exec_affinity_support(answer: Any, kind: int, ordinal: int) -> None:
    null(pi=answer)
    _require_kind(kind)
    get_device(ordinal)
    answer[0] = 0


@driver.export("cuCtxGetExecAffinity")
def ctx_get_exec_affinity(target: Any, kind: int) -> None:
    null(pExecAffinity=target)
    _require_kind(kind)
    require_current()
    target.type = kind
    target.param.smCount.val = get_device(0).attribute(Device.cudaDevAttrMultiProcessorCount)


@driver.export("cuCtxDestroy_v2")
def ctx_destroy(wanted: Any) -> None:
    found: DriverContext = driver.resolve(wanted, CONTEXT, "ctx")
    if not isinstance(found, CreatedContext):
        raise CudaError(
            Result.CUDA_ERROR_INVALID_CONTEXT,
            f"ctx ({address(wanted):#x}) was not made by cuCtxCreate; the primary context goes by "
            "cuDevicePrimaryCtxRelease",
        )
    found.destroy("cuCtxDestroy")
    if context.current().thread.driver_context == found.handle:
        _pop()


@driver.export("cuCtxAttach")
def ctx_attach(target: Any, flags: int) -> None:
    null(pctx=target)
    if flags:
        raise CudaError(Result.CUDA_ERROR_INVALID_VALUE, f"flags is {flags:#x}; it is 0")
    found = require_current()
    found.retained += 1
    target[0] = pointer(found.handle)


@driver.export("cuCtxDetach")
def ctx_detach(wanted: Any) -> None:
    found = require_current()
    if wanted and address(wanted) != found.handle:
        driver.resolve(wanted, CONTEXT, "ctx")
        raise CudaError(Result.CUDA_ERROR_INVALID_CONTEXT, "ctx is not current in this thread")
    if not isinstance(found, CreatedContext):
        primary_release(0)
        return
    found.retained -= 1
    if found.retained == 0:
        found.destroy("cuCtxDetach")
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
