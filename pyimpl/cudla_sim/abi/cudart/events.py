"""Events."""

from __future__ import annotations

import time
from typing import Any

from ...constants.cudart import cudaError
from ...constants.cudart import cudaGraphNodeType as NodeType
from ...cudart import context, events, shared_events
from ...cudart.errors import CudaError
from ...cudart.events import Event
from ...cudart.graph import Node
from ...cudart.streams import Stream
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
    event[0] = pointer(shared_events.create(context.current(), flags).handle)


@cudart.export("cudaEventDestroy", ruined="report")
def event_destroy(event: Any) -> None:
    events.destroy(context.current(), number(event))


@cudart.export("cudaEventRecord")
def event_record(event: Any, stream: Any) -> None:
    resolve(event).record(resolve_stream(stream))


def _captured(stream: Stream, event: Event, kind: int) -> bool:
    """An event outside of a capture becomes a node of it; False where nothing captures."""
    capture = stream.capture
    if capture is None:
        return False
    capture.require_valid()
    node = Node(None, kind, [])
    node.given = event
    recording = kind == NodeType.cudaGraphNodeTypeEventRecord
    node.marks = event.record if recording else event.hold
    capture.insert(stream, node)
    return True


@cudart.export("cudaEventRecordWithFlags")
def event_record_with_flags(event: Any, stream: Any, flags: int) -> None:
    required_flags(flags, 1, "Default 0 and External 1 exist")
    found, target = resolve(event), resolve_stream(stream)
    if not flags or not _captured(target, found, NodeType.cudaGraphNodeTypeEventRecord):
        found.record(target)


@cudart.export("cudaStreamWaitEvent")
def stream_wait_event(stream: Any, event: Any, flags: int) -> None:
    required_flags(flags, 1, "Default 0 and External 1 exist")
    target = resolve_stream(stream)
    found = resolve(event)
    if not flags or not _captured(target, found, NodeType.cudaGraphNodeTypeWaitEvent):
        found.hold(target)


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
