"""Something of a program that its graphs keep alive, and that ends when nobody refers to it.

CUDA Programming Guide, "CUDA User Objects". Graphs, their executables and each launch of these
refer to the objects that they need.
"""

from __future__ import annotations

import threading
from collections.abc import Callable

from .errors import invalid_value


class UserObject:
    """``end`` is called once, by whoever takes the last reference away."""

    def __init__(self, references: int, end: Callable[[], None]) -> None:
        self.references = references
        self.handle = 0
        self._end = end
        self._lock = threading.Lock()

    def retain(self, count: int) -> None:
        with self._lock:
            self.references += count

    def release(self, count: int) -> None:
        """Raises CudaError (InvalidValue) for more references than there are."""
        with self._lock:
            if count > self.references:
                raise invalid_value(f"count is {count}; there are {self.references} references")
            self.references -= count
            over = self.references == 0
        if over:
            self._end()
