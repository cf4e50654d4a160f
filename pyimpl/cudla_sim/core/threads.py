"""Threads of our own, started so that want of memory is an error and never a thread that hangs.

``threading.Thread.start`` waits until the new thread says that it began, for ever when the thread
fails before it can. Here the one who starts it learns of both. The threads are daemons: a process
may end while they work.
"""

from __future__ import annotations

import _thread
import functools
import threading
import weakref
from collections.abc import Callable

_SMALL_BLOCKS = 16
"""Held by each thread, so that what the loader allocates for the thread does not begin a page: the
LeakSanitizer of gcc 12 would die of it (``shim/library/boot/leaks.c``)."""


class _Own(threading.local):
    name = ""


_own = _Own()


def name() -> str:
    """The calling thread's name: ours, or what ``threading`` calls a thread of the program."""
    return _own.name or threading.current_thread().name


class _Token:
    """Lies in the arguments of a thread that is about to begin."""

    __slots__ = ("__weakref__",)


class Started:
    """A thread that was started."""

    def __init__(self) -> None:
        self.began = False
        self.ident = 0
        """What ``threading.get_ident`` answers in it."""
        self._ended = threading.Lock()
        self._ended.acquire()

    @property
    def ended(self) -> bool:
        return not self._ended.locked()

    def join(self) -> None:
        """Waits for its end."""
        with self._ended:
            pass


def start(run: Callable[[], None], called: str) -> Started:
    """Starts a thread. Raises MemoryError when the system gives none, or none that can begin."""
    started = Started()
    settled = threading.Lock()
    settled.acquire()
    held = [_Token()]
    # The token goes when the thread began, and also when it could not: then with its arguments. No
    # Python code runs for that, so no memory is needed.
    # __exit__() takes the reference that it is called with, unlike release(); from 3.15 on it wants
    # three arguments.
    watch = weakref.ref(held[0], functools.partial(settled.__exit__, None, None))

    def begin(held: list[_Token]) -> None:
        try:
            started.ident = threading.get_ident()
            started.began = True
            held.clear()
            _own.name = called
            small = [bytearray(4) for _ in range(_SMALL_BLOCKS)]
            run()
            del small
        finally:
            started._ended.release()

    try:
        _thread.start_new_thread(begin, (held,))
    except RuntimeError as error:
        raise MemoryError(f"{called}: the system gives no thread ({error})") from None
    del held
    settled.acquire()
    del watch
    if not started.began:
        raise MemoryError(f"{called}: no memory for a thread")
    return started
