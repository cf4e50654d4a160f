"""Functions of the program that run in stream order.

CUDA Runtime API, cudaLaunchHostFunc and cudaStreamAddCallback. A function of the program is never
called below a Python frame of ours (``native.calls``).
"""

from __future__ import annotations

from ..constants.cudart import cudaError as Status
from .errors import CudaError, invalid_value
from .streams import Stream


def launch(stream: Stream, function: int, user_data: int) -> None:
    """cudaLaunchHostFunc: not called once the context is ruined."""
    if not function:
        raise invalid_value("fn is NULL; it is the function to call")
    calls = stream.context.calls
    stream.enqueue(lambda: calls.host_function(function, user_data), label="host function")


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
    context = stream.context

    def call() -> None:
        error: CudaError | None = context.sticky
        status = error.status if error is not None else 0
        context.calls.stream_callback(function, stream.handle, status, user_data)

    stream.enqueue(call, always=True, label="callback")
