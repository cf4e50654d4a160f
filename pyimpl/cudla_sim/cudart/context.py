"""The primary context: what this process has on the GPU, and how its failures are remembered.

CUDA Runtime API, "Error Handling": every thread has a last error; the failure of asynchronous
work that leaves the context unusable is returned by every later call until the device is reset.
"""

from __future__ import annotations

from ..constants.cudart import cudaError as Status
from ..constants.cudart import cudaLimit as Limit
from ..core import process as core_process
from ..core.process import Process
from . import device
from .device import Device
from .memory import Memory
from .state import HANDLE_KINDS, State
from .streams import Stream, Streams

_LIMITS = {
    Limit.cudaLimitStackSize: 1024,
    Limit.cudaLimitPrintfFifoSize: 1 << 20,
    Limit.cudaLimitMallocHeapSize: 8 << 20,
    Limit.cudaLimitMaxL2FetchGranularity: 64,
    Limit.cudaLimitPersistingL2CacheSize: 0,
}


class Context(State):
    """All CUDA objects of one process. There is at most one device, so there is one context."""

    def __init__(self, process: Process) -> None:
        super().__init__(process)
        self.devices = device.devices(process.config)
        self.flags = 0
        self.driver_initialized = False
        self._begin()
        process.closers.append(self.close)

    def _begin(self) -> None:
        self.limits: dict[int, int] = {int(k): v for k, v in _LIMITS.items()}
        self.memory = Memory(self.process.memory, self._total(), lambda: self.thread.own_context)
        self.streams = Streams(self)

    def _total(self) -> int:
        return self.devices[0].total_bytes if self.devices else 0

    @property
    def device(self) -> Device:
        """The calling thread's device. Raises CudaError (NoDevice)."""
        return device.require(self.devices, self.thread.device)

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
        self.captures.clear()
        self.textures.clear()
        self.sticky = None
        self.flags = 0
        self._begin()

    def close(self) -> None:
        """The process ends: workers stop after what they have; nothing is waited for."""
        self.streams.close()


def current() -> Context:
    """The context of the simulated process; made on first use."""
    process = core_process._Current.process or core_process.current()
    return process.families.get("cudart") or process.family("cudart", Context)


def current_device() -> Device:
    """The GPU of the calling thread. Raises CudaError (NoDevice) when there is none.

    ``current_device().integrated`` is what cuDLA's hybrid mode asks for.
    """
    return current().device


def stream_of(handle: int) -> Stream:
    """The stream behind a ``cudaStream_t`` of the current context, for other interfaces.

    0 and 1 are the legacy stream, 2 the calling thread's. Raises CudaError
    (InvalidResourceHandle) for a handle that is stale, foreign or garbage.
    """
    return current().streams.resolve(handle)


def report_external_fault(stream: Stream | None, explanation: str) -> None:
    """An engine that worked in stream order (a DLA) failed.

    From now on every call answers cudaErrorExternalDevice, until cudaDeviceReset.
    """
    where = f" (in {stream.name})" if stream is not None else ""
    ruined = stream.context if stream is not None else current()
    ruined.ruin(Status.cudaErrorExternalDevice, f"an external engine failed{where}: {explanation}")
