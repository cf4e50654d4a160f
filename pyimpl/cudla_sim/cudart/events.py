"""Events: marks in streams. CUDA Runtime API, "Event Management"."""

from __future__ import annotations

from time import perf_counter_ns

from ..constants.cudart import cudaError as Status
from ..constants.cudart import cudaEventBlockingSync, cudaEventDisableTiming
from ..core.fence import Fence
from ..core.handles import BadHandle
from .capture import Capture
from .errors import CudaError, invalid_handle, invalid_value
from .state import EVENT, State
from .streams import Stream

_FLAGS = cudaEventBlockingSync | cudaEventDisableTiming


class Mark:
    """One record of an event: where in a stream, and when it was reached."""

    __slots__ = ("at_ns", "fence")

    def __init__(self) -> None:
        self.at_ns = 0
        self.fence: Fence | None = None

    def reach(self) -> None:
        self.at_ns = perf_counter_ns()


class Event:
    """An event with its latest record. Never recorded counts as reached."""

    def __init__(self, context: State, flags: int) -> None:
        if flags & ~_FLAGS:
            raise invalid_value(
                f"flags is {flags:#x}; valid flags: cudaEventBlockingSync (1), "
                "cudaEventDisableTiming (2)"
            )
        self.context = context
        self.flags = flags
        self.of = context.thread.own_context  # the program's own context that it goes with
        self.mark: Mark | None = None
        self.captured: tuple[Capture, Stream] | None = None
        self.handle = context.process.handles.add(EVENT, self)

    def record(self, stream: Stream) -> None:
        """Marks the end of what ``stream`` has now. Raises CudaError (InvalidResourceHandle)."""
        if stream.of is not None and stream.of != self.of:
            raise invalid_handle("event and stream were made in different contexts")
        with self.context.lock:
            if stream.capture is not None:
                stream.capture.require_valid()
                self.captured = stream.capture, stream
                return
            mark = Mark()
            mark.fence = stream.enqueue(mark.reach, trivial=True)
            self.mark, self.captured = mark, None

    def hold(self, stream: Stream) -> None:
        """Makes later work of ``stream`` wait for the latest record (cudaStreamWaitEvent)."""
        with self.context.lock:
            if self.captured is not None:
                self._hold_captured(stream, *self.captured)
            elif stream.capture is not None:
                raise stream.capture.invalidate(
                    Status.cudaErrorStreamCaptureIsolation,
                    f"{stream.name} captures, but the event was recorded outside of the capture",
                )
            elif self.mark is not None and self.mark.fence is not None:
                stream.enqueue(None, (self.mark.fence,))

    def _hold_captured(self, stream: Stream, capture: Capture, source: Stream) -> None:
        if stream.capture is None:
            if stream is stream.streams.legacy:
                raise capture.invalidate(
                    Status.cudaErrorStreamCaptureImplicit,
                    "the legacy stream cannot wait for an event of a capture",
                )
            capture.fork(stream)
        elif stream.capture is capture:
            capture.join(source)
        else:
            raise stream.capture.invalidate(
                Status.cudaErrorStreamCaptureMerge,
                f"{stream.name} captures; the event belongs to another capture",
            )

    @property
    def reached(self) -> bool:
        """Raises CudaError (CapturedEvent)."""
        self._refuse_captured()
        return self.mark is None or self.mark.fence is None or self.mark.fence.reached

    def synchronize(self) -> None:
        """Waits for the latest record. Raises CudaError (CapturedEvent, what ruined the rest)."""
        self._refuse_captured()
        if self.mark is not None and self.mark.fence is not None:
            self.mark.fence.wait()
        self.context.check()

    def _refuse_captured(self) -> None:
        if self.captured is not None:
            raise CudaError(
                Status.cudaErrorCapturedEvent, "the event was last recorded in a capturing stream"
            )

    def _require_timed(self, argument: str) -> Mark:
        self._refuse_captured()
        if self.flags & cudaEventDisableTiming:
            raise invalid_handle(f"{argument} was created with cudaEventDisableTiming")
        if self.mark is None:
            raise invalid_handle(f"{argument} was never recorded")
        return self.mark

    def elapsed_ms(self, end: Event) -> float:
        """Milliseconds from this event's record to ``end``'s.

        Raises CudaError: InvalidResourceHandle without timing or record, NotReady.
        """
        first, last = self._require_timed("start"), end._require_timed("end")
        for mark, argument in ((first, "start"), (last, "end")):
            if mark.fence is not None and not mark.fence.reached:
                raise CudaError(Status.cudaErrorNotReady, f"{argument} is not reached yet")
        return (last.at_ns - first.at_ns) / 1e6


def resolve(context: State, handle: int, argument: str = "event") -> Event:
    """Raises CudaError (InvalidResourceHandle)."""
    try:
        found: Event = context.process.handles.get(handle, EVENT)
    except BadHandle as error:
        raise invalid_handle(f"{argument} {error}") from None
    return found


def destroy(context: State, handle: int) -> None:
    """The record it may still have stays in its stream."""
    try:
        context.process.handles.remove(handle, EVENT, "cudaEventDestroy")
    except BadHandle as error:
        raise invalid_handle(f"event {error}") from None
