"""What all CUDA objects of a process share: its failure, its lock, its captures, its threads."""

from __future__ import annotations

import threading

from ..core.process import Process
from .capture import Captures
from .errors import CudaError

# Kinds of handles. What cudaDeviceReset makes stale; each target has its own value in ``handle``.
STREAM, EVENT, GRAPH, GRAPH_EXEC = "cudaStream_t", "cudaEvent_t", "cudaGraph_t", "cudaGraphExec_t"
EXTERNAL_MEMORY, EXTERNAL_SEMAPHORE = "cudaExternalMemory_t", "cudaExternalSemaphore_t"
HANDLE_KINDS = (STREAM, EVENT, GRAPH, GRAPH_EXEC, EXTERNAL_MEMORY, EXTERNAL_SEMAPHORE)


class ThreadState(threading.local):
    """What CUDA keeps per host thread."""

    last_error = 0
    device = 0
    capture_mode = 0  # cudaStreamCaptureModeGlobal
    driver_context = 0  # the handle that cuCtxSetCurrent made current


class State:
    """The part of a context that its streams, events and memory know."""

    def __init__(self, process: Process) -> None:
        self.process = process
        self.calls = process.native.calls
        self.lock = threading.RLock()  # orders submissions that span several streams
        self.thread = ThreadState()
        self.captures = Captures(self.lock, lambda: self.thread.capture_mode)
        self.sticky: CudaError | None = None

    def check(self) -> None:
        """Raises the failure that ruined this context, if one did."""
        if self.sticky is not None:
            raise CudaError(self.sticky.status, self.sticky.explanation)

    def ruin(self, status: int, explanation: str) -> None:
        """Asynchronous work failed: every later call answers ``status`` until a reset."""
        if self.sticky is None:
            self.sticky = CudaError(status, explanation)
