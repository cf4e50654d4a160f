"""A queue of PVA work that lies in a CUDA stream."""

from __future__ import annotations

from ..core.fence import Fence
from ..core.queue import Work
from ..cudart.streams import Stream as CudaStream


class CarriedQueue:
    """What a PVA stream submits starts after all that was enqueued in ``cuda`` before it, and what
    is enqueued there later waits for it. The CUDA stream is the program's: ``close`` leaves it."""

    def __init__(self, cuda: CudaStream) -> None:
        self._cuda = cuda
        self._last: Fence | None = None

    def begin(self) -> None:
        """Makes sure that ``submit`` cannot fail. Raises MemoryError without a thread."""
        self._cuda.queue.begin()

    def pass_by(self) -> Fence | None:
        """Nothing passes the work of the CUDA stream by."""
        return None

    def passed(self, done: Fence) -> None:
        """Nothing has."""

    def submit(self, work: Work) -> Fence:
        self._last = self._cuda.enqueue(work, always=True, label="PVA")
        return self._last

    def drain(self) -> None:
        """Waits for the PVA's work in the stream."""
        if self._last is not None:
            self._last.wait()

    def close(self) -> None:
        """The CUDA stream goes on without us."""
