"""A Chrome/Perfetto trace (JSON array format): a track per host thread and per engine."""

from __future__ import annotations

import json
import os
import threading
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

from ..core import fence, forks, hardware, process, threads
from ..core.events import Event, warn

FENCE = "fence"
"""Of events that are a signal or a wait; flow arrows go from one to the other."""

_HARDWARE = 1 << 23  # above every number of a process


_SHORTEST_NS = 1000
_KEPT_SIGNALS = 512


class Arrows:
    """Pairs waits with the signals that ended them, as flow events of the trace format.

    An arrow binds to the slice around its ends. Both ends are written when the wait is over, each
    pair with a number of its own: any number of waits may be for one signal.
    """

    def __init__(self) -> None:
        self._signals: dict[int, deque[tuple[int, float, int]]] = {}
        self._count = 0

    def of(self, event: Event, track: int) -> list[dict[str, Any]]:
        """The records that follow from an event of kind ``FENCE``."""
        sync, value = event.details["sync"], event.details["value"]
        known = self._signals.setdefault(sync, deque(maxlen=_KEPT_SIGNALS))
        if event.details["action"] == "signal":
            known.append((value, event.begin_ns / 1e3, track))
            return []
        signal = next((s for s in known if s[0] >= value), None)
        if signal is None:
            return []  # it came before the trace
        self._count += 1
        _, at, source = signal
        # the end of the wait, inside its slice: its last moment belongs to what follows
        end = (event.end_ns - _SHORTEST_NS / 2) / 1e3
        return [
            {"ph": "s", "id": self._count, "tid": source, "ts": at},
            {"ph": "f", "bp": "e", "id": self._count, "tid": track, "ts": max(at, end)},
        ]


class _Writer:
    """Writes each event as it happens: a process that aborts still leaves a readable file.

    The array format may lack its closing bracket, so the file is valid at every moment. Records
    are handed to the system whole, so nothing of the parent's waits in a buffer of a forked child.
    Raises OSError, from each method, when the file cannot be written.
    """

    name = "the trace"

    def __init__(self, path: str) -> None:
        self.path = path
        self._tracks: dict[str, int] = {}
        self._has_hardware = False
        self._arrows = Arrows()
        self._lock = threading.Lock()
        self._file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o666)
        self.unsubscribe: Callable[[], None] = lambda: None
        try:
            self._write("[\n")
        except OSError:
            os.close(self._file)
            raise

    def __call__(self, event: Event) -> None:
        with self._lock:
            if self._file < 0:
                return
            pid = os.getpid()
            details = event.details
            if event.kind == hardware.KIND:
                pid = self._hardware(pid)
                details = {k: v for k, v in details.items() if k != "step"}
            track = self._track(event.track, pid)
            self._put(
                {
                    "ph": "X",
                    "pid": pid,
                    "tid": track,
                    "cat": event.kind,
                    "name": event.name,
                    "ts": event.begin_ns / 1e3,
                    "dur": (event.end_ns - event.begin_ns) / 1e3,
                    "args": details,
                }
            )
            if event.kind == FENCE:
                for record in self._arrows.of(event, track):
                    self._put({"pid": pid, "cat": FENCE, "name": "fence", **record})

    def _hardware(self, pid: int) -> int:
        """The number under which hardware time stands beside the process, with clocks from 0."""
        number = pid + _HARDWARE
        if not self._has_hardware:
            self._has_hardware = True
            name = {"name": "hardware time"}
            self._put({"ph": "M", "pid": number, "name": "process_name", "args": name})
        return number

    def _track(self, name: str, pid: int) -> int:
        key = f"{pid} {name}"
        if key not in self._tracks:
            self._tracks[key] = len(self._tracks) + 1
            self._put(
                {
                    "ph": "M",
                    "pid": pid,
                    "tid": self._tracks[key],
                    "name": "thread_name",
                    "args": {"name": name},
                }
            )
        return self._tracks[key]

    def _put(self, record: dict[str, Any]) -> None:
        self._write(json.dumps(record, default=str) + ",\n")

    def _write(self, text: str) -> None:
        data = text.encode()
        while data:
            data = data[os.write(self._file, data) :]

    def close(self) -> None:
        """Ends the file; nothing happens the second time."""
        self.unsubscribe()
        with self._lock:
            if self._file >= 0:
                file, self._file = self._file, -1
                with suppress(OSError):  # said when the record before it failed
                    os.write(file, b"{}]\n")
                os.close(file)

    def leave_to_parent(self) -> None:
        """In a forked child: the file is the parent's, whatever its threads were doing with it."""
        self._lock = threading.Lock()
        self.unsubscribe()
        if self._file >= 0:
            os.close(self._file)
            self._file = -1


class _Trace:
    """The trace that is being written."""

    writer: _Writer | None = None


def start(path: str) -> None:
    """Begins a new trace in ``path``; one that was running is ended. Raises OSError."""
    stop()
    writer = _Writer(path)
    writer.unsubscribe = process.current().events.subscribe(writer)
    _Trace.writer = writer
    fence.observe(_fence)


def stop() -> None:
    """Ends the trace; nothing happens when none is running."""
    writer, _Trace.writer = _Trace.writer, None
    if writer is not None:
        fence.observe(None)
        writer.close()


def _fence(action: str, timeline: fence.Timeline, value: int, begin_ns: int, end_ns: int) -> None:
    """A signal or a wait becomes an event of its thread; a slice needs some length to be seen."""
    details = {"action": action, "sync": timeline.id, "value": value}
    name = f"{action} {timeline.name} #{timeline.id} {value}"
    process.current().events.emit_span(
        FENCE, name, begin_ns, max(end_ns, begin_ns + _SHORTEST_NS), details, threads.name()
    )


def path_of_child(path: str, pid: int) -> str:
    """``trace.json`` is ``trace.1234.json`` in the child with that number."""
    whole = Path(path)
    return str(whole.with_name(f"{whole.stem}.{pid}{whole.suffix}"))


@forks.in_child
def _begin_child() -> None:
    """A child has a file of its own, which begins with the child's first event."""
    parent, _Trace.writer = _Trace.writer, None
    if parent is None:
        return
    parent.leave_to_parent()

    def first(event: Event) -> None:
        unsubscribe()
        path = path_of_child(parent.path, os.getpid())
        try:
            start(path)
        except OSError as error:
            warn(f"no trace {path} of this child: {error.strerror}")
        if _Trace.writer is not None:
            _Trace.writer(event)

    unsubscribe = process.current().events.subscribe(first)
