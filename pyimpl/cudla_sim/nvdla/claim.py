"""Taking turns at a core."""

from __future__ import annotations

import os
import threading
from collections import deque
from os.path import exists


class Claim:
    """Exclusive use by threads of the host, in the order in which they come.

    A thread may never say that it is done: one that claims again what it holds has left its work
    by an exception or a longjmp, and so has one that no longer exists.
    """

    _LOOK_S = 0.5

    def __init__(self) -> None:
        self.owner: int | None = None
        self._waiting: deque[int] = deque()
        self._lock = threading.Lock()
        self._changed = threading.Condition(self._lock)

    def begin(self) -> bool:
        """Wait and take it; True if an earlier holder left it behind."""
        me = threading.get_native_id()
        with self._lock:
            if self.owner is None and not self._waiting:
                self.owner = me
                return False
            self._waiting.append(me)
            while not self._my_turn(me):
                self._changed.wait(timeout=self._LOOK_S)
            self._waiting.remove(me)
            left_behind = self.owner is not None
            self.owner = me
        return left_behind

    def _my_turn(self, me: int) -> bool:
        if self.owner == me:
            return True
        if self.owner is not None and _lives(self.owner):
            return False
        while self._waiting[0] != me and not _lives(self._waiting[0]):
            self._waiting.popleft()  # cancelled while it waited
        return self._waiting[0] == me

    def end(self) -> None:
        """Give it back."""
        with self._lock:
            self.owner = None
            if self._waiting:
                self._changed.notify_all()


def _lives(thread: int) -> bool:
    if exists(f"/proc/self/task/{thread}"):
        return True
    if exists("/proc/self/task"):
        return False
    try:
        os.sched_getscheduler(thread)  # without /proc; may also be a later process of that number
    except OSError:
        return False
    return True
