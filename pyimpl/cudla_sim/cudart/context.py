"""The primary context: what this process has on the GPU, and how its failures are remembered.

CUDA Runtime API, "Error Handling": every thread has a last error; the failure of asynchronous
work that leaves the context unusable is returned by every later call until the device is reset.
"""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

from ..constants.cudart import cudaError as Status
from ..constants.cudart import cudaLimit as Limit
from ..core import process as core_process
from ..core.process import Process
from . import device
from .device import Device
from .errors import CudaError
from .memory import Memory

if TYPE_CHECKING:
    from .streams import Stream

_LIMITS = {
    Limit.cudaLimitStackSize: 1024,
    Limit.cudaLimitPrintfFifoSize: 1 << 20,
    Limit.cudaLimitMallocHeapSize: 8 << 20,
    Limit.cudaLimitMaxL2FetchGranularity: 64,
    Limit.cudaLimitPersistingL2CacheSize: 0,
}


class ThreadState(threading.local):
    """What CUDA keeps per host thread."""

    last_error = 0
    device = 0
    capture_mode = 0  # cudaStreamCaptureModeGlobal
    driver_context = 0  # the handle that cuCtxSetCurrent made current


class Context:
    """All CUDA objects of one process. There is at most one device, so there is one context."""

    def __init__(self, process: Process) -> None:
        self.process = process
        self.calls = process.native.calls
        self.devices = device.devices(process.config)
        self.lock = threading.RLock()  # orders submissions that span several streams
        self.thread = ThreadState()
        self.flags = 0
        self.sticky: CudaError | None = None
        self.driver_initialized = False
        self._begin()
        process.closers.append(self.close)

    def _begin(self) -> None:
        from .streams import Streams  # streams need this module's Context

        self.limits: dict[int, int] = {int(k): v for k, v in _LIMITS.items()}
        self.memory = Memory(self.process.memory, self._total())
        self.streams = Streams(self)

    def _total(self) -> int:
        return self.devices[0].total_bytes if self.devices else 0

    @property
    def device(self) -> Device:
        """The calling thread's device. Raises CudaError (NoDevice)."""
        return device.require(self.devices, self.thread.device)

    def check(self) -> None:
        """Raises the failure that ruined this context, if one did."""
        if self.sticky is not None:
            raise CudaError(self.sticky.status, self.sticky.explanation)

    def ruin(self, status: int, explanation: str) -> None:
        """Asynchronous work failed: every later call answers ``status`` until a reset."""
        if self.sticky is None:
            self.sticky = CudaError(status, explanation)

    def synchronize(self) -> None:
        """Waits for all work of all streams. Raises what ruined the context."""
        self.streams.drain()
        self.check()

    def reset(self) -> None:
        """cudaDeviceReset: everything the process has on the device goes."""
        self.streams.drain()
        self.streams.close()
        for kind in HANDLE_KINDS:
            for target in self.process.handles.live(kind):
                self.process.handles.remove(target.handle, kind, "cudaDeviceReset")
        self.memory.free_all("cudaDeviceReset")
        self.sticky = None
        self.flags = 0
        self._begin()

    def close(self) -> None:
        """The process ends: workers stop after what they have; nothing is waited for."""
        self.streams.close()


# What cudaDeviceReset makes stale. Each target has its own value in ``handle``.
STREAM, EVENT, GRAPH, GRAPH_EXEC = "cudaStream_t", "cudaEvent_t", "cudaGraph_t", "cudaGraphExec_t"
EXTERNAL_MEMORY, EXTERNAL_SEMAPHORE = "cudaExternalMemory_t", "cudaExternalSemaphore_t"
HANDLE_KINDS = (STREAM, EVENT, GRAPH, GRAPH_EXEC, EXTERNAL_MEMORY, EXTERNAL_SEMAPHORE)


def current() -> Context:
    """The context of the simulated process; made on first use."""
    return core_process.current().family("cudart", Context)


def current_device() -> Device:
    """The GPU of the calling thread. Raises CudaError (NoDevice) when there is none.

    ``current_device().integrated`` is what cuDLA's hybrid mode asks for.
    """
    return current().device


def report_external_fault(stream: Stream | None, explanation: str) -> None:
    """An engine that worked in stream order (a DLA) failed.

    From now on every call answers cudaErrorExternalDevice, until cudaDeviceReset.
    """
    where = f" (in {stream.name})" if stream is not None else ""
    ruined = stream.context if stream is not None else current()
    ruined.ruin(Status.cudaErrorExternalDevice, f"an external engine failed{where}: {explanation}")
