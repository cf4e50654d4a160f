"""Functions of the program that run in stream order.

CUDA Runtime API, cudaLaunchHostFunc and cudaStreamAddCallback. A function of the program is never
called below a Python frame of ours: the ABI layer installs how it is run (``install``).
"""

from __future__ import annotations

from collections.abc import Callable

from ..constants.cudart import cudaError as Status
from .errors import CudaError, invalid_value, not_supported
from .streams import Stream

HostFunction = Callable[[int, int], None]  # (function, user data)
StreamCallback = Callable[[int, int, int, int], None]  # (function, stream, status, user data)


class Runner:
    """How functions of the program are called; set once by the ABI layer."""

    host_function: HostFunction | None = None
    stream_callback: StreamCallback | None = None


def install(host_function: HostFunction, stream_callback: StreamCallback) -> None:
    Runner.host_function = staticmethod(host_function)
    Runner.stream_callback = staticmethod(stream_callback)


def launch(stream: Stream, function: int, user_data: int) -> None:
    """cudaLaunchHostFunc: not called once the context is ruined."""
    if not function:
        raise invalid_value("fn is NULL; it is the function to call")
    run = Runner.host_function
    if run is None:
        raise not_supported("there is no C caller in this process")
    stream.enqueue(lambda: run(function, user_data), label="host function")


def add_callback(stream: Stream, function: int, user_data: int, flags: int) -> None:
    """cudaStreamAddCallback: called with the context's status, ruined or not."""
    if not function:
        raise invalid_value("callback is NULL; it is the function to call")
    if flags:
        raise invalid_value(f"flags is {flags:#x}; it is 0")
    if stream.capture is not None:
        raise stream.capture.invalidate(
            Status.cudaErrorStreamCaptureUnsupported,
            f"{stream.name} captures; a callback cannot be captured",
        )
    run = Runner.stream_callback
    if run is None:
        raise not_supported("there is no C caller in this process")
    context = stream.context

    def call() -> None:
        error: CudaError | None = context.sticky
        run(function, stream.handle, error.status if error is not None else 0, user_data)

    stream.enqueue(call, always=True, label="callback")
