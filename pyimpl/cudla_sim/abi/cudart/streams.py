"""Streams, host functions in them, and their capture."""

from __future__ import annotations

import time
from typing import Any

from ...constants.cudart import cudaError, cudaStreamCaptureStatus
from ...cudart import context
from ...cudart.errors import CudaError
from ...cudart.state import GRAPH
from ...cudart.streams import Stream, add_callback, launch_host_function
from ..embedding import ffi, pointer
from .family import cudart, null, number


def resolve(stream: Any) -> Stream:
    return context.current().streams.resolve(number(stream))


# --- functions of the program --------------------------------------------------------------------


@cudart.export("cudaLaunchHostFunc")
def launch_host_func(stream: Any, function: Any, user_data: Any) -> None:
    launch_host_function(resolve(stream), number(function), number(user_data))


@cudart.export("cudaStreamAddCallback")
def stream_add_callback(stream: Any, callback: Any, user_data: Any, flags: int) -> None:
    add_callback(resolve(stream), number(callback), number(user_data), flags)


# --- life and waiting ----------------------------------------------------------------------------


def _create(stream: Any, flags: int, priority: int) -> None:
    null(pStream=stream)
    stream[0] = pointer(context.current().streams.create(flags, priority).handle)


@cudart.export("cudaStreamCreate")
def stream_create(stream: Any) -> None:
    _create(stream, 0, 0)


@cudart.export("cudaStreamCreateWithFlags")
def stream_create_with_flags(stream: Any, flags: int) -> None:
    _create(stream, flags, 0)


@cudart.export("cudaStreamCreateWithPriority")
def stream_create_with_priority(stream: Any, flags: int, priority: int) -> None:
    _create(stream, flags, priority)


@cudart.export("cudaStreamDestroy", ruined="report")
def stream_destroy(stream: Any) -> None:
    context.current().streams.destroy(number(stream))


@cudart.export("cudaStreamSynchronize")
def stream_synchronize(stream: Any) -> None:
    resolve(stream).synchronize()


@cudart.export("cudaStreamQuery")
def stream_query(stream: Any) -> None:
    found = resolve(stream)
    if not found.idle:
        time.sleep(0)  # lets the workers have the interpreter
        raise CudaError(cudaError.cudaErrorNotReady, f"{found.name} is still busy")


@cudart.export("cudaStreamGetFlags")
def stream_get_flags(stream: Any, flags: Any) -> None:
    null(flags=flags)
    flags[0] = resolve(stream).flags


@cudart.export("cudaStreamGetPriority")
def stream_get_priority(stream: Any, priority: Any) -> None:
    null(priority=priority)
    priority[0] = resolve(stream).priority


# --- capture -------------------------------------------------------------------------------------


@cudart.export("cudaStreamBeginCapture")
def stream_begin_capture(stream: Any, mode: int) -> None:
    resolve(stream).begin_capture(mode)


@cudart.export("cudaStreamEndCapture")
def stream_end_capture(stream: Any, graph: Any) -> None:
    target = resolve(stream)
    null(pGraph=graph)
    graph[0] = ffi.NULL
    found = target.end_capture()
    found.handle = context.current().process.handles.add(GRAPH, found)
    graph[0] = pointer(found.handle)


@cudart.export("cudaStreamIsCapturing")
def stream_is_capturing(stream: Any, state: Any) -> None:
    null(pCaptureStatus=state)
    found = resolve(stream)
    current = context.current()
    if found is current.streams.legacy:
        current.streams.refuse_implicit_capture()
    none = cudaStreamCaptureStatus.cudaStreamCaptureStatusNone
    state[0] = none if found.capture is None else found.capture.state
