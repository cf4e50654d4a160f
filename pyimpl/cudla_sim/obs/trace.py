"""A Chrome/Perfetto trace (JSON array format): a track per host thread and per engine."""

from __future__ import annotations

import json
import os
import threading
from collections.abc import Callable
from typing import IO, Any

from ..core import process
from ..core.events import Event


class _Writer:
    """Writes each event as it happens: a process that aborts still leaves a readable file.

    The array format may lack its closing bracket, so the file is valid at every moment.
    """

    def __init__(self, path: str) -> None:
        self._file: IO[str] = open(path, "w", encoding="utf-8")  # noqa: SIM115 (closed by close)
        self._file.write("[\n")
        self._tracks: dict[str, int] = {}
        self._lock = threading.Lock()
        self.unsubscribe: Callable[[], None] = lambda: None

    def __call__(self, event: Event) -> None:
        with self._lock:
            if self._file.closed:
                return
            self._put(
                {
                    "ph": "X",
                    "pid": os.getpid(),
                    "tid": self._track(event.track),
                    "cat": event.kind,
                    "name": event.name,
                    "ts": event.begin_ns / 1e3,
                    "dur": (event.end_ns - event.begin_ns) / 1e3,
                    "args": event.details,
                }
            )

    def _track(self, name: str) -> int:
        if name not in self._tracks:
            self._tracks[name] = len(self._tracks) + 1
            self._put(
                {
                    "ph": "M",
                    "pid": os.getpid(),
                    "tid": self._tracks[name],
                    "name": "thread_name",
                    "args": {"name": name},
                }
            )
        return self._tracks[name]

    def _put(self, record: dict[str, Any]) -> None:
        self._file.write(json.dumps(record, default=str) + ",\n")

    def close(self) -> None:
        self.unsubscribe()
        with self._lock:
            if not self._file.closed:
                self._file.write("{}]\n")
                self._file.close()


_writer: _Writer | None = None


def start(path: str) -> None:
    """Begins a new trace in ``path``; one that was running is ended. Raises OSError."""
    global _writer
    stop()
    writer = _Writer(path)
    writer.unsubscribe = process.current().events.subscribe(writer)
    _writer = writer


def stop() -> None:
    """Ends the trace; nothing happens when none is running."""
    global _writer
    if _writer is not None:
        _writer.close()
        _writer = None
