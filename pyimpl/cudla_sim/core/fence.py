"""A monotonic counter with waiters, and a value on it: every synchronisation object is this."""

from __future__ import annotations

import functools
import itertools
import threading
from bisect import bisect_right, insort
from collections.abc import Callable, Sequence
from operator import attrgetter
from time import perf_counter_ns
from typing import NamedTuple

_ids = itertools.count(1)


engine_clock_ns = perf_counter_ns
"""The clock that timestamps use: monotonic nanoseconds."""


Observer = Callable[[str, "Timeline", int, int, int], None]
"""Called with "signal" or "wait", the counter, the value, and begin and end in nanoseconds."""


class _Watched:
    """Who looks at the fences of the process: one observer, so that nobody costs nothing."""

    observer: Observer | None = None


def observe(observer: Observer | None) -> None:
    """``observer`` hears of each signal and each wait that ended, in its thread; None: nobody."""
    _Watched.observer = observer


class _Waiter(NamedTuple):
    value: int
    order: int
    wake: Callable[[], None]


_wanted = attrgetter("value")


class Timeline:
    """A counter that only grows. ``value`` may be read without a lock.

    Waiters are woken in the thread that advances the counter, after its lock is released.
    ``shown``: the program knows it as a sync object, so observers hear of it.
    """

    def __init__(self, name: str = "timeline", *, shown: bool = False) -> None:
        self.id = next(_ids)
        self.name = name
        self.shown = shown
        self.value = 0
        self._lock = threading.Lock()
        self._waiters: list[_Waiter] = []
        self._reserved = 0
        self._promises: dict[int, Callable[[], str]] = {}

    def __repr__(self) -> str:
        return f"<{self.name} #{self.id} at {self.value}>"

    def reserve(self) -> Fence:
        """A fence one past everything reserved so far: what the next ``signal`` will reach."""
        lock = self._lock
        lock.acquire()  # each submission comes here twice or more, and ``with`` costs twice this
        try:
            handed = self._reserved
            self._reserved = handed = (handed if handed > self.value else self.value) + 1
        finally:
            lock.release()
        return _fence((self, handed))

    def reserve_settled(self) -> Fence | None:
        """The same where everything reserved so far is reached; None elsewhere."""
        lock = self._lock
        lock.acquire()
        try:
            reached = self.value
            if self._reserved > reached:
                return None
            self._reserved = reached + 1
        finally:
            lock.release()
        return _fence((self, reached + 1))

    def promise(self, value: int, who: Callable[[], str]) -> None:
        """Notes who will reach ``value``; ``who`` tells what keeps it from doing so."""
        with self._lock:
            if self.value < value:
                self._promises[value] = who

    def pending(self, value: int) -> str:
        """What ``value`` waits for; "" when it is reached."""
        if self.value >= value:
            return ""
        who = self._promises.get(value)
        if who is not None:
            return who()
        return f"nobody has been given the work to signal it ({self!r}, value {value} is wanted)"

    @property
    def reserved(self) -> int:
        """The highest value handed out or reached."""
        return max(self._reserved, self.value)

    @property
    def settled(self) -> bool:
        """Whether everything handed out is reached."""
        return self.value >= self._reserved

    def advance(self, value: int | None = None) -> int:
        """Raises the counter to ``value`` (by one when None; never lowers it); the new value."""
        lock = self._lock
        lock.acquire()  # as in ``reserve``
        try:
            reached = self.value + 1 if value is None else value
            if reached > self.value:
                self.value = reached
            else:
                reached = self.value
            woken: Sequence[_Waiter] = ()
            if self._promises:
                for kept in [v for v in self._promises if v <= reached]:
                    del self._promises[kept]
            if self._waiters:
                count = bisect_right(self._waiters, reached, key=_wanted)
                woken, self._waiters = self._waiters[:count], self._waiters[count:]
        finally:
            lock.release()
        if self.shown and _Watched.observer is not None:
            now = perf_counter_ns()
            _Watched.observer("signal", self, reached, now, now)
        for waiter in woken:
            waiter.wake()
        return reached

    def when(self, value: int, wake: Callable[[], None]) -> bool:
        """Calls ``wake`` once when ``value`` is reached; False (and no call) when it already is."""
        with self._lock:
            if self.value >= value:
                return False
            insort(self._waiters, _Waiter(value, next(_ids), wake))
            return True

    def forget(self, wake: Callable[[], None]) -> None:
        """Removes a waiter that gave up."""
        with self._lock:
            self._waiters = [w for w in self._waiters if w.wake is not wake]

    def wait(self, value: int, timeout_s: float | None = None, since_ns: int | None = None) -> bool:
        """Blocks (without the interpreter lock) until ``value``; False after ``timeout_s``.

        ``since_ns``: when the caller began to wait, for observers (``engine_clock_ns``; now).
        """
        if not self.shown or _Watched.observer is None:
            return self.value >= value or self._wait(value, timeout_s)
        begin = perf_counter_ns() if since_ns is None else since_ns
        reached = self._wait(value, timeout_s)
        if reached and _Watched.observer is not None:
            _Watched.observer("wait", self, value, begin, perf_counter_ns())
        return reached

    def _wait(self, value: int, timeout_s: float | None) -> bool:
        if self.value >= value:
            return True
        if timeout_s is not None and timeout_s <= 0:
            return False
        gate = threading.Lock()
        gate.acquire()
        wake = gate.release
        if not self.when(value, wake):
            return True
        if gate.acquire(timeout=-1 if timeout_s is None else min(timeout_s, threading.TIMEOUT_MAX)):
            return True
        self.forget(wake)
        return self.value >= value


class Fence(NamedTuple):
    """Reached when ``timeline`` is at ``value`` or beyond. Keeps the timeline alive."""

    timeline: Timeline
    value: int

    @property
    def reached(self) -> bool:
        return self.timeline.value >= self.value

    def wait(self, timeout_s: float | None = None) -> bool:
        return self.timeline.wait(self.value, timeout_s)


_fence: Callable[[tuple[Timeline, int]], Fence] = functools.partial(tuple.__new__, Fence)
"""A third of the time of the call: what a named tuple's is, is a function of Python."""
