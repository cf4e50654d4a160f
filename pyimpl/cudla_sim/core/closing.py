"""The end of the process: what must not be under way when its libraries clean up behind themselves.

At exit, after the last handler of the program, each shared library frees what it holds. An engine
that is inside such a library at that moment works on memory that is gone: BLAS frees the buffers of
a matrix product. So engines enter foreign libraries through ``outside``, and the end of the process
first closes that door and then waits until nobody is behind it.
"""

from __future__ import annotations

import atexit
import threading
from time import monotonic, sleep

from . import forks

PATIENCE_S = 30.0
"""How long the end waits for a call that is under way; the longest one takes about a second."""


class Outside:
    """A context in which a thread may use a library that cleans up at exit.

    Entering costs two operations on a set; the interpreter lock makes each of them atomic.
    """

    def __init__(self) -> None:
        self._inside: set[int] = set()
        self._closed = False
        forks.in_child(self._begin_child)

    def __enter__(self) -> None:
        thread = threading.get_ident()
        self._inside.add(thread)
        if self._closed:  # asked after entering: either this thread sees it, or close() sees us
            self._inside.discard(thread)
            _stop_here()

    def __exit__(self, *_: object) -> None:
        self._inside.discard(threading.get_ident())

    def close(self, patience_s: float = PATIENCE_S) -> bool:
        """Lets nobody in any more and waits for those who are; False when one did not come back.

        Threads that come to the door from now on stop there for ever: the process is ending.
        """
        self._closed = True
        until = monotonic() + patience_s
        own = threading.get_ident()
        while any(thread != own for thread in tuple(self._inside)):
            if monotonic() > until:
                return False
            sleep(0.0005)
        return True

    def _begin_child(self) -> None:
        self._inside.clear()


def _stop_here() -> None:
    door = threading.Lock()
    door.acquire()
    door.acquire()


outside = Outside()


def close() -> None:
    """Called last: by shim/library/boot/boot.c in a C program, by Python's own end elsewhere."""
    outside.close()


atexit.register(close)
