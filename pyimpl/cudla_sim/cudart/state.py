"""What all CUDA objects of a process share: its failure, its lock, its captures, its threads."""

from __future__ import annotations

import threading
from typing import Any

from ..core.process import Process
from .capture import Captures
from .errors import CudaError

# Kinds of handles. What cudaDeviceReset makes stale; each target has its own value in ``handle``.
STREAM, EVENT, GRAPH, GRAPH_EXEC = "cudaStream_t", "cudaEvent_t", "cudaGraph_t", "cudaGraphExec_t"
EXTERNAL_MEMORY, EXTERNAL_SEMAPHORE = "cudaExternalMemory_t", "cudaExternalSemaphore_t"
ARRAY = "cudaArray_t"
HANDLE_KINDS = (STREAM, EVENT, GRAPH, GRAPH_EXEC, ARRAY, EXTERNAL_MEMORY, EXTERNAL_SEMAPHORE)


class ThreadState(threading.local):
    """What CUDA keeps per host thread."""

    last_error = 0
    device = 0
    driver_context = 0  # the handle that cuCtxSetCurrent made current
    own_context = 0  # the same where the program has made it: new objects are its own
    uses_runtime = False  # which makes the primary context current where there is none
    driver_stack: tuple[int, ...] = ()  # below it: cuCtxPushCurrent


class State:
    """The part of a context that its streams, events and memory know."""

    def __init__(self, process: Process) -> None:
        self.process = process
        self.calls = process.native.calls
        self.lock = threading.RLock()  # orders submissions that span several streams
        self.thread = ThreadState()
        self.captures = Captures(self.lock)
        self.sticky: CudaError | None = None
        self.textures: dict[int, Any] = {}
        """Texture objects by number, which is the address that kernels read."""

    def check(self) -> None:
        """Raises the failure that ruined this context, if one did."""
        if self.sticky is not None:
            raise CudaError(self.sticky.status, self.sticky.explanation)

    def ruin(self, status: int, explanation: str) -> None:
        """Asynchronous work failed: every later call answers ``status`` until a reset."""
        if self.sticky is None:
            self.sticky = CudaError(status, explanation)
