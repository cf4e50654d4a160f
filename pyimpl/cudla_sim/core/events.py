"""What happened, as append-only records that logs, traces and tests subscribe to."""

from __future__ import annotations

import threading
from collections.abc import Callable
from contextlib import suppress
from time import perf_counter_ns
from typing import Any, NamedTuple

from . import threads
from .text import tell


class Event(NamedTuple):
    """One thing that happened on one track (a host thread or an engine)."""

    kind: str  # "call", "layer", "task", "memory", ...
    name: str
    track: str
    begin_ns: int
    end_ns: int
    details: dict[str, Any]


Subscriber = Callable[[Event], None]


def warn(text: str) -> None:
    """A line on stderr, where there is one: a Python host may have closed or replaced it."""
    with suppress(Exception):
        tell(f"cudla-sim: {text}")


class EventHub:
    """Hands each event to every subscriber, in the thread where it happened.

    ``subscribers`` is replaced, never changed in place, so that emitting needs no lock.
    ``changed`` is called when somebody begins or ceases to watch.
    """

    def __init__(self, changed: Callable[[], None] = lambda: None) -> None:
        self._changed = changed
        self.subscribers: tuple[Subscriber, ...] = ()
        self.unlock()

    def unlock(self) -> None:
        """In a forked child another thread may have held the lock."""
        self._lock = threading.Lock()

    def subscribe(self, subscriber: Subscriber) -> Callable[[], None]:
        """Adds a subscriber; the returned function removes it again."""
        with self._lock:
            self.subscribers = (*self.subscribers, subscriber)
        self._changed()

        return lambda: self.unsubscribe(subscriber)

    def unsubscribe(self, subscriber: Subscriber) -> None:
        """Removes a subscriber; one that is not there is left alone."""
        with self._lock:
            self.subscribers = tuple(s for s in self.subscribers if s is not subscriber)
        self._changed()

    def emit(
        self, kind: str, name: str, begin_ns: int, details: dict[str, Any], track: str = ""
    ) -> None:
        """Emits an event that ends now; ``track`` defaults to the current thread's name."""
        if self.subscribers:
            where = track or threads.name()
            self.emit_span(kind, name, begin_ns, perf_counter_ns(), details, where)

    def emit_span(
        self,
        kind: str,
        name: str,
        begin_ns: int,
        end_ns: int,
        details: dict[str, Any],
        track: str,
    ) -> None:
        """Emits an event that is over already."""
        event = Event(kind, name, track, begin_ns, end_ns, details)
        for subscriber in self.subscribers:
            try:
                subscriber(event)
            except Exception as error:  # who only watches must not disturb the program
                self._give_up(subscriber, error)

    def _give_up(self, subscriber: Subscriber, error: Exception) -> None:
        """Says once what failed; the subscriber gets no more events."""
        with self._lock:
            known = subscriber in self.subscribers
        if known:
            self.unsubscribe(subscriber)
            name = getattr(subscriber, "name", getattr(subscriber, "__name__", "an observer"))
            warn(f"{name} stops: {error}")
