"""Stream capture: work is recorded into a graph instead of being done.

CUDA Programming Guide, "Creating a Graph Using Stream Capture", and CUDA Runtime API, "Stream
Management": a call that capture does not permit invalidates it; it still has to be ended.
"""

from __future__ import annotations

import threading
from typing import Protocol

from ..constants.cudart import cudaError as Status
from ..constants.cudart import cudaStreamCaptureMode as Mode
from ..constants.cudart import cudaStreamCaptureStatus as State
from ..core.fence import Fence
from ..core.queue import Work
from .errors import CudaError, invalid_value
from .graph import Graph


class Member(Protocol):
    """A stream, as captures see it."""

    @property
    def name(self) -> str: ...

    capture: Capture | None


class Capture:
    """One capture: its first stream, and the streams that joined it through events."""

    def __init__(self, origin: Member, mode: int) -> None:
        self.origin = origin
        self.mode = mode
        self.thread = threading.get_ident()
        self.graph = Graph()
        self.forked: dict[Member, int] = {origin: 0}
        """Streams of the capture, with the amount of recorded work at the latest of each."""
        self.joined: dict[Member, int] = {}
        """The same at its latest join."""
        self.invalid = ""

    @property
    def state(self) -> int:
        """A cudaStreamCaptureStatus."""
        return (
            State.cudaStreamCaptureStatusInvalidated
            if self.invalid
            else State.cudaStreamCaptureStatusActive
        )

    def add(self, stream: Member, work: Work | None, waits: tuple[Fence, ...]) -> None:
        """Records work. Raises CudaError when the capture is or becomes invalid."""
        self.require_valid()
        if waits:
            raise self.invalidate(
                Status.cudaErrorStreamCaptureUnsupported,
                f"{stream.name} captures; waiting for another engine cannot be captured",
            )
        if work is not None:
            self.graph.work.append(work)
        self.forked[stream] = len(self.graph.work)

    def require_valid(self) -> None:
        if self.invalid:
            raise CudaError(
                Status.cudaErrorStreamCaptureInvalidated,
                f"the capture failed earlier ({self.invalid}); end it with cudaStreamEndCapture",
            )

    def invalidate(self, status: int, explanation: str) -> CudaError:
        """Marks the capture as failed; the error to raise."""
        self.invalid = self.invalid or explanation
        return CudaError(status, explanation)

    def fork(self, stream: Member) -> None:
        """``stream`` joins because it waits for an event of the capture."""
        self.require_valid()
        self.forked[stream] = len(self.graph.work)
        stream.capture = self

    def join(self, source: Member) -> None:
        """Another stream of the capture waits for an event of ``source``."""
        self.require_valid()
        self.joined[source] = self.forked.get(source, 0)

    def forget(self, stream: Member) -> None:
        """Removes a stream that was joined back and is destroyed."""
        self.forked.pop(stream, None)
        self.joined.pop(stream, None)
        stream.capture = None

    @property
    def unjoined(self) -> list[Member]:
        return [
            s
            for s, latest in self.forked.items()
            if s is not self.origin and self.joined.get(s, -1) < latest
        ]


class Captures:
    """All captures of a context."""

    def __init__(self, lock: threading.RLock) -> None:
        self._lock = lock
        self._all: list[Capture] = []

    def clear(self) -> None:
        self._all.clear()

    def begin(self, stream: Member, mode: int) -> None:
        """Raises CudaError (IllegalState, InvalidValue)."""
        if mode not in Mode._value2member_map_:
            raise invalid_value(
                f"mode is {mode}; valid values: Global (0), ThreadLocal (1), Relaxed (2)"
            )
        with self._lock:
            if stream.capture is not None:
                raise CudaError(Status.cudaErrorIllegalState, f"{stream.name} captures already")
            stream.capture = Capture(stream, mode)
            self._all.append(stream.capture)

    def end(self, stream: Member) -> Graph:
        """What was recorded; the streams of the capture work normally again.

        Raises CudaError: IllegalState, StreamCaptureUnmatched, StreamCaptureWrongThread (these
        leave the capture as it is), StreamCaptureInvalidated, StreamCaptureUnjoined.
        """
        with self._lock:
            capture = stream.capture
            if capture is None:
                raise CudaError(Status.cudaErrorIllegalState, f"{stream.name} does not capture")
            if capture.origin is not stream:
                raise CudaError(
                    Status.cudaErrorStreamCaptureUnmatched,
                    f"the capture began in {capture.origin.name}; {stream.name} only joined it",
                )
            relaxed = capture.mode == Mode.cudaStreamCaptureModeRelaxed
            if not relaxed and capture.thread != threading.get_ident():
                raise CudaError(
                    Status.cudaErrorStreamCaptureWrongThread,
                    "another thread began this capture; only a relaxed one may end elsewhere",
                )
            self._release(capture)
            capture.require_valid()
            if capture.unjoined:
                names = ", ".join(s.name for s in capture.unjoined)
                raise CudaError(
                    Status.cudaErrorStreamCaptureUnjoined,
                    f"{names} joined the capture and was not joined back through an event",
                )
        return capture.graph

    def _release(self, capture: Capture) -> None:
        for member in capture.forked:
            member.capture = None
        self._all.remove(capture)

    def abandon(self, stream: Member) -> None:
        """A stream is destroyed: its capture ends, or fails when it only joined."""
        capture = stream.capture
        if capture is None:
            return
        if capture.origin is stream:
            self._release(capture)
        elif stream in capture.unjoined:
            capture.invalidate(
                Status.cudaErrorStreamCaptureInvalidated, f"{stream.name} was destroyed"
            )
        else:  # what it did is waited for
            capture.forget(stream)

    def forbid(self, what: str) -> None:
        """Refuses a call that is unsafe while a stream captures, and invalidates the capture.

        A global capture forbids it in every thread, a thread-local one in its own. Raises CudaError
        (StreamCaptureUnsupported).
        """
        if not self._all:
            return
        with self._lock:
            for capture in self._all:
                own = capture.thread == threading.get_ident()
                everywhere = capture.mode == Mode.cudaStreamCaptureModeGlobal
                local = capture.mode == Mode.cudaStreamCaptureModeThreadLocal and own
                if local or everywhere:
                    raise capture.invalidate(
                        Status.cudaErrorStreamCaptureUnsupported,
                        f"{what} is not permitted while {capture.origin.name} captures",
                    )
