"""Events."""

from __future__ import annotations

import time
from typing import Any

from ...constants.cudart import cudaError
from ...cudart import context, events
from ...cudart.errors import CudaError
from ...cudart.events import Event
from ..embedding import pointer
from .family import cudart, null, number, required_flags
from .streams import resolve as resolve_stream


def resolve(event: Any, argument: str = "event") -> Event:
    return events.resolve(context.current(), number(event), argument)


@cudart.export("cudaEventCreate")
def event_create(event: Any) -> None:
    null(event=event)
    event[0] = pointer(Event(context.current(), 0).handle)


@cudart.export("cudaEventCreateWithFlags")
def event_create_with_flags(event: Any, flags: int) -> None:
    null(event=event)
    event[0] = pointer(Event(context.current(), flags).handle)


@cudart.export("cudaEventDestroy", ruined="report")
def event_destroy(event: Any) -> None:
    events.destroy(context.current(), number(event))


@cudart.export("cudaEventRecord")
def event_record(event: Any, stream: Any) -> None:
    resolve(event).record(resolve_stream(stream))


@cudart.export("cudaEventRecordWithFlags")
def event_record_with_flags(event: Any, stream: Any, flags: int) -> None:
    required_flags(flags, 0, "must be cudaEventRecordDefault (0)")
    resolve(event).record(resolve_stream(stream))


@cudart.export("cudaStreamWaitEvent")
def stream_wait_event(stream: Any, event: Any, flags: int) -> None:
    required_flags(flags, 0, "must be cudaEventWaitDefault (0)")
    target = resolve_stream(stream)
    resolve(event).hold(target)


@cudart.export("cudaEventQuery")
def event_query(event: Any) -> None:
    found = resolve(event)
    context.current().captures.forbid("asking for an event")
    if not found.reached:
        time.sleep(0)  # lets the workers have the interpreter
        raise CudaError(cudaError.cudaErrorNotReady, "the event is not reached yet")


@cudart.export("cudaEventSynchronize")
def event_synchronize(event: Any) -> None:
    found = resolve(event)
    context.current().captures.forbid("waiting for an event")
    found.synchronize()


def elapsed(milliseconds: Any, start: Any, end: Any) -> None:
    null(ms=milliseconds)
    milliseconds[0] = resolve(start, "start").elapsed_ms(resolve(end, "end"))


cudart.export("cudaEventElapsedTime")(elapsed)
cudart.export("cudaEventElapsedTime_v2")(elapsed)
