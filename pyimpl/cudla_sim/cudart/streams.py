"""Streams: in-order queues, and the rules by which they wait for each other.

CUDA Runtime API, "Stream synchronization behavior": work in the legacy stream (handle 0 or 1) waits
for all earlier work of blocking streams, and later work of those waits for it. Streams made with
cudaStreamNonBlocking take no part in this. Handle 2 is the calling thread's own blocking stream.

A GPU begins launches in the order in which they come, and programs rely on it where nothing else
orders them: a kernel in the legacy stream, then one in a non-blocking stream that reads its
results. So work of such a stream follows what the legacy stream had before, but waits no longer
than ``PATIENCE_S`` for it: a kernel that spins until the other stream writes a flag goes on.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Sequence
from time import perf_counter_ns

from ..constants.cudart import cudaError as Status
from ..constants.cudart import cudaStreamNonBlocking
from ..core import threads
from ..core.fence import Fence, Timeline
from ..core.handles import BadHandle
from ..core.queue import Job, Queue, Work
from ..core.shortage import shortage
from .capture import Capture
from .device import GREATEST_PRIORITY, LEAST_PRIORITY
from .errors import CudaError, invalid_handle, invalid_value
from .graph import Graph
from .state import STREAM, State

LEGACY, PER_THREAD = 1, 2  # the handles cudaStreamLegacy and cudaStreamPerThread

PATIENCE_S = 5.0

_REACHED = Fence(Timeline("reached"), 0)


class Stream:
    """An in-order queue. ``enqueue`` is the seam for other engines that keep stream order."""

    def __init__(self, streams: Streams, name: str, flags: int = 0, priority: int = 0) -> None:
        self.streams = streams
        self.context = streams.context
        self.name = name
        self.flags = flags
        self.blocking = not flags & cudaStreamNonBlocking
        """Whether it synchronises with the legacy stream."""
        self.priority = priority
        self.handle = 0
        self.of: int | None = None
        """The program's own context that it goes with, 0 the primary one; None: a default one."""
        self.capture: Capture | None = None
        self.closed = False
        self.queue = Queue(name, self._failed)

    @property
    def capturing(self) -> bool:
        return self.capture is not None

    def enqueue(
        self,
        work: Work | None = None,
        waits: Sequence[Fence] = (),
        *,
        always: bool = False,
        trivial: bool = False,
        label: str = "",
    ) -> Fence:
        """Appends work that starts when all before it and ``waits`` are done. Never blocks.

        The fence is reached when it ended. ``None`` only waits. While the stream captures, the
        work is recorded instead. Work is skipped once the context is ruined, unless ``always``.
        ``trivial`` is as in ``Queue.submit``. ``label`` names the work in traces; without one it
        does not show. Raises CudaError (StreamCaptureImplicit) when it would depend on a capturing
        stream.
        """
        with self.context.lock:
            if self.capture is not None:
                recorded = None if work is None else self._shown(work, label)
                self.capture.add(self, recorded, tuple(waits))
                return _REACHED
            needed = self.dependencies()
            if waits:
                needed += [f for f in waits if not f.reached]
            before = self.streams.before(self)
            if before is not None and work is not None:
                work, trivial = self._after(before, work), False
            return self.queue.submit(self._guarded(work, always, label), needed, trivial=trivial)

    def _after(self, before: Fence, work: Work) -> Work:
        def after() -> None:
            self.streams.follow(before)
            work()

        return after

    def dependencies(self) -> list[Fence]:
        """Work of other streams that work appended now has to wait for."""
        streams = self.streams
        if self is streams.legacy:
            streams.refuse_implicit_capture()
            others = [s.queue for s in streams.all() if s.blocking and s is not self]
            return [queue.last for queue in others if not queue.idle]
        legacy = streams.legacy.queue
        return [legacy.last] if self.blocking and not legacy.idle else []

    def run(self, work: Work, label: str = "") -> None:
        """Does work in order and waits for it; in this thread when nothing is before it."""
        with self.context.lock:
            if self.capture is not None:
                raise self.capture.invalidate(
                    Status.cudaErrorStreamCaptureUnsupported,
                    f"{self.name} captures; a call that waits is not permitted in it",
                )
            idle = self.queue.idle and not self.dependencies()
            idle = idle and self.streams.before(self) is None
            done = None if idle else self.enqueue(work, label=label)
        if done is None:
            self._shown(work, label)()
        else:
            done.wait()

    def synchronize(self) -> None:
        """Waits for everything enqueued so far. Raises what ruined the context."""
        self._refuse_capture("waiting for it")
        for fence in self.dependencies():
            fence.wait()
        if not self.queue.idle:
            self.queue.last.wait()
        self.context.check()

    @property
    def idle(self) -> bool:
        """Raises CudaError (StreamCaptureUnsupported) while it captures."""
        self._refuse_capture("asking for its progress")
        return self.queue.idle and not self.dependencies()

    def close(self) -> None:
        """Its worker ends after the work it has."""
        self.closed = True
        self.queue.close()

    def begin_capture(self, mode: int) -> None:
        """cudaStreamBeginCapture. Raises CudaError (StreamCaptureUnsupported, IllegalState)."""
        if self is self.streams.legacy:
            raise CudaError(
                Status.cudaErrorStreamCaptureUnsupported, "the legacy stream cannot be captured"
            )
        with self.context.lock:
            self.context.captures.begin(self, mode)

    def end_capture(self) -> Graph:
        """cudaStreamEndCapture; raises what ``Captures.end`` does."""
        return self.context.captures.end(self)

    def _refuse_capture(self, what: str) -> None:
        if self.capture is not None:
            raise self.capture.invalidate(
                Status.cudaErrorStreamCaptureUnsupported,
                f"{self.name} captures; {what} is not permitted meanwhile",
            )

    def _shown(self, work: Work, label: str) -> Work:
        """The same work, as a span on this stream's track of a trace."""
        events = self.context.process.events
        if not label or not events.subscribers:
            return work

        def shown() -> None:
            begin = perf_counter_ns()
            work()
            events.emit_span("stream", label, begin, perf_counter_ns(), {}, self.name)

        return shown

    def _guarded(self, work: Work | None, always: bool, label: str) -> Work:
        context = self.context
        shown = self._shown(work, label) if work is not None and label else work

        def guarded() -> None:
            if shown is not None and (always or context.sticky is None):
                shown()

        return guarded

    def _failed(self, _: Job, error: BaseException) -> None:
        if isinstance(error, CudaError):
            self.context.ruin(error.status, f"{self.name}: {error.explanation}")
        else:
            text = shortage(error) or f"{type(error).__name__}: {error}"
            self.context.ruin(Status.cudaErrorLaunchFailure, f"{self.name}: {text}")


class _OfThread:
    """Lies among a thread's own values and goes with the thread, which ends its stream.

    That happens wherever the interpreter cleans up, perhaps below a lock: the stream is only put
    on a list here, and closed by whoever looks at the streams next.
    """

    def __init__(self, stream: Stream, ended: deque[Stream]) -> None:
        self.stream = stream
        self._ended = ended

    def __del__(self) -> None:
        self._ended.append(self.stream)


class Streams:
    """All streams of a context."""

    def __init__(self, context: State) -> None:
        self.context = context
        self.legacy = Stream(self, "the legacy stream")
        self._created: list[Stream] = []
        self._own = threading.local()
        self._ended: deque[Stream] = deque()  # per-thread streams of threads that ended
        self._retired: list[Stream] = []  # may still have work, but no handle
        self._stuck = -1  # progress of the legacy stream when somebody lost patience

    def create(self, flags: int, priority: int = 0) -> Stream:
        """A new stream with its handle. Raises CudaError (InvalidValue) for unknown flags."""
        if flags & ~cudaStreamNonBlocking:
            raise invalid_value(f"flags is {flags:#x}; cudaStreamDefault 0 or NonBlocking 1")
        name = f"CUDA stream {len(self._created) + 1}"
        stream = Stream(self, name, flags, self.bounded(priority))
        stream.of = self.context.thread.own_context
        stream.handle = self.context.process.handles.add(STREAM, stream)
        with self.context.lock:
            self._created.append(stream)
        return stream

    def bounded(self, priority: int) -> int:
        """The nearest that a stream has."""
        return max(GREATEST_PRIORITY, min(LEAST_PRIORITY, priority))

    def per_thread(self) -> Stream:
        """The calling thread's own default stream."""
        found: _OfThread | None = getattr(self._own, "stream", None)
        if found is None:
            name = f"per-thread stream of {threads.name()}"
            found = _OfThread(Stream(self, name), self._ended)
            self._own.stream = found
            self._retire(found.stream)  # nobody creates or destroys it
        return found.stream

    def _retire(self, stream: Stream) -> None:
        with self.context.lock:
            self._close_ended()
            self._retired = [s for s in self._retired if not (s.closed and s.queue.idle)]
            self._retired.append(stream)

    def _close_ended(self) -> None:
        while self._ended:
            self._ended.popleft().close()

    def resolve(self, handle: int) -> Stream:
        """The stream behind a handle. Raises CudaError (InvalidResourceHandle)."""
        if handle in (0, LEGACY):
            return self.legacy
        if handle == PER_THREAD:
            return self.per_thread()
        try:
            found: Stream = self.context.process.handles.get(handle, STREAM)
        except BadHandle as error:
            raise invalid_handle(f"stream {error}") from None
        return found

    def destroy(self, handle: int) -> None:
        """Ends a stream after the work it has. Raises CudaError (InvalidResourceHandle)."""
        if handle in (0, LEGACY, PER_THREAD):
            raise invalid_handle(
                f"stream ({handle:#x}) is built in; only created ones are destroyed"
            )
        stream = self.resolve(handle)
        try:
            self.context.process.handles.remove(handle, STREAM, "cudaStreamDestroy")
        except BadHandle as error:  # another thread was faster
            raise invalid_handle(f"stream {error}") from None
        with self.context.lock:
            self.context.captures.abandon(stream)
            self._created.remove(stream)
            self._retire(stream)
        stream.close()

    def all(self) -> list[Stream]:
        """Every stream that may have work, destroyed ones too."""
        self._close_ended()
        return [self.legacy, *self._created, *self._retired]

    def before(self, stream: Stream) -> Fence | None:
        """What the legacy stream has that a non-blocking one has not been told to wait for."""
        queue = self.legacy.queue
        if stream.blocking or queue.idle or queue.progress.value == self._stuck:
            return None
        return queue.last

    def follow(self, fence: Fence) -> None:
        """Waits as long as a GPU would have been busy with it, roughly."""
        if fence.timeline.value != self._stuck and not fence.wait(PATIENCE_S):
            self._stuck = fence.timeline.value

    def refuse_implicit_capture(self) -> None:
        """The legacy stream may not wait for a blocking stream that captures."""
        for stream in list(self._created):
            if stream.capture is not None and stream.blocking:
                raise stream.capture.invalidate(
                    Status.cudaErrorStreamCaptureImplicit,
                    f"the legacy stream would have to wait for {stream.name}, which captures",
                )

    def drain(self) -> None:
        """Waits for all work of all streams."""
        for stream in self.all():
            stream.queue.drain()

    def close(self) -> None:
        """Lets every worker end."""
        for stream in self.all():
            stream.close()


def launch_host_function(stream: Stream, function: int, user_data: int) -> None:
    """cudaLaunchHostFunc: not called once the context is ruined."""
    if not function:
        raise invalid_value("fn is NULL; it is the function to call")
    calls = stream.context.calls
    stream.enqueue(lambda: calls.host_function(function, user_data), label="host function")


def add_callback(stream: Stream, function: int, user_data: int, flags: int) -> None:
    """cudaStreamAddCallback: called with the context's status, ruined or not."""
    if not function:
        raise invalid_value("callback is NULL; it is the function to call")
    if flags:
        raise invalid_value(f"flags is {flags:#x}; it is 0")
    if stream.capture is not None:
        raise stream.capture.invalidate(
            Status.cudaErrorStreamCaptureUnsupported,
            f"{stream.name} captures; a callback cannot be captured",
        )
    context = stream.context

    def call() -> None:
        error: CudaError | None = context.sticky
        status = error.status if error is not None else 0
        context.calls.stream_callback(function, stream.handle, status, user_data)

    stream.enqueue(call, always=True, label="callback")
