"""Contexts, hardware, versions, the last error."""

from __future__ import annotations

import threading
from typing import Any

from ...core import explain, process
from ...core.process import Process
from ...cupva.machine import (
    DRIVER_VERSION,
    ENGINES,
    GENERATION,
    RUNTIME_VERSION,
    VPUS_PER_ENGINE,
)
from ..embedding import ffi
from .family import Error, cupva, error, handle, invalid, object_of, result

_KIND = "context"
_MAX_CONTEXTS = 4
_COMMAND_UNKNOWN = 0xFFFF_FFFF


class Context:
    """What a thread's objects belong to."""


class _State:
    def __init__(self, _: Process) -> None:
        self.default: int | None = None
        self.local = threading.local()
        self.live = 0

    def make(self) -> int:
        """A handle. Raises CupvaError(CUPVA_DRIVER_API_ERROR) when there are too many."""
        if self.live >= _MAX_CONTEXTS:
            raise error(
                Error.CUPVA_DRIVER_API_ERROR,
                f"{self.live} contexts live, the default one included; at most {_MAX_CONTEXTS}",
            )
        self.live += 1
        return handle(_KIND, Context())

    def current(self) -> int:
        found: int | None = getattr(self.local, "handle", None)
        if found is None:
            if self.default is None:
                self.default = self.make()
            found = self.default
        return found


def _state() -> _State:
    return process.current().family("cupva.contexts", _State)


@cupva.export("CupvaContextGetCurrent")
def get_current(context: Any) -> None:
    result(context, "context")
    context[0] = ffi.cast("cupvaContext_t", _state().current())


@cupva.export("CupvaContextSetCurrent")
def set_current(context: Any) -> None:
    if context:
        object_of(context, _KIND, "context")
        _state().local.handle = int(ffi.cast("uintptr_t", context))
    else:
        _state().local.handle = None


@cupva.export("CupvaContextCreate")
def create(context: Any, mask: int) -> None:
    result(context, "context")
    if not mask:
        raise invalid("engineMask is 0; it names at least one engine")
    made = _state().make()
    _state().local.handle = made
    context[0] = ffi.cast("cupvaContext_t", made)


@cupva.export("CupvaContextDestroy")
def destroy(context: Any) -> None:
    object_of(context, _KIND, "context")
    number = int(ffi.cast("uintptr_t", context))
    process.current().handles.remove(number, _KIND, "CupvaContextDestroy")
    state = _state()
    state.live -= 1
    if getattr(state.local, "handle", None) == number:
        state.local.handle = None
    if state.default == number:
        state.default = None


@cupva.export("CupvaGetStatus")
def get_status(status: Any) -> None:
    """Every error is reported by the command or call that it belongs to, none is kept."""
    result(status, "status")
    status.err, status.stream, status.submissionsSinceError = 0, 0, 0
    status.command = _COMMAND_UNKNOWN
    status.streamName = ffi.NULL


@cupva.export("CupvaGetHardwareInfo")
def get_hardware_info(info: Any) -> None:
    result(info, "info")
    info.pvaEngineCount, info.pvaVPUCount, info.pvaGen = ENGINES, VPUS_PER_ENGINE, GENERATION


@cupva.export("CupvaGetDriverVersion")
def get_driver_version(version: Any) -> None:
    result(version, "version")
    version[0] = DRIVER_VERSION


@cupva.export("CupvaGetRuntimeVersion")
def get_runtime_version(version: Any) -> None:
    result(version, "version")
    version[0] = RUNTIME_VERSION


_texts = threading.local()


@cupva.export("CupvaGetLastError")
def get_last_error(message: Any) -> int:
    """The status of the last failure of this thread, and its explanation."""
    result(message, "message")
    _texts.last = ffi.new("char[]", explain.last().encode(errors="replace"))
    message[0] = _texts.last
    return explain.last_status(cupva.name)
