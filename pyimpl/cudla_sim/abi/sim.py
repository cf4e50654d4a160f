"""``cudla_sim.h``: what the simulator adds to the vendors' APIs."""

from __future__ import annotations

from typing import Any

from ..constants import sim_parameters
from ..constants.sim import simStatus
from ..core import explain, process
from ..core.errors import ApiError, ConfigError
from .embedding import ffi
from .entry import Family

_INVALID = simStatus.simErrorInvalidParam

sim = Family("sim", simStatus, sim_parameters)


@sim.export("simExplain", status=False, failure=0, always=True)
def explain_last(buffer: Any, size: int) -> int:
    text = explain.last().encode()
    if buffer and size > 0:
        kept = text[: size - 1]
        ffi.memmove(buffer, kept + b"\0", len(kept) + 1)
    return len(text)


@sim.export("simWarmup")
def warmup() -> None:
    process.current()


@sim.export("simReset")
def reset() -> None:
    process.replace()


@sim.export("simInjectFault")
def inject_fault(rule: Any) -> None:
    text = ffi.string(rule).decode(errors="replace") if rule else ""
    try:
        process.current().faults.set(text)
    except ConfigError as error:
        raise ApiError(_INVALID, str(error)) from None


@sim.export("simTraceStart")
def trace_start(path: Any) -> None:
    if not path:
        raise ApiError(_INVALID, "path is NULL; it names the file to write")
    name = ffi.string(path).decode(errors="surrogateescape")
    from ..obs import trace  # json and more, for programs that trace

    try:
        trace.start(name)
    except OSError as error:
        raise ApiError(_INVALID, f"path {name!r} cannot be written: {error.strerror}") from None


@sim.export("simTraceStop")
def trace_stop() -> None:
    from ..obs import trace

    trace.stop()
