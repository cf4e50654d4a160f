"""Streams, host functions in them, and their capture."""

from __future__ import annotations

import time
from typing import Any

from ...constants.cudart import cudaError, cudaStreamCaptureMode, cudaStreamCaptureStatus
from ...cudart import context
from ...cudart.errors import CudaError, invalid_value
from ...cudart.streams import Stream, add_callback, launch_host_function
from ..embedding import ffi, pointer
from .family import cudart, null, number, required_flags
from .graph_handles import full_edges, graph_handle, graph_of, node_handle, nodes_of


def resolve(stream: Any) -> Stream:
    return context.current().streams.resolve(number(stream))


# --- functions of the program --------------------------------------------------------------------


@cudart.export("cudaLaunchHostFunc")
def launch_host_func(stream: Any, function: Any, user_data: Any) -> None:
    launch_host_function(resolve(stream), number(function), number(user_data))


@cudart.export("cudaLaunchHostFunc_v2")
def launch_host_func_v2(stream: Any, function: Any, user_data: Any, mode: int) -> None:
    if mode > 1:
        raise invalid_value(f"syncMode is {mode}; 0 blocks, 1 spins")
    launch_host_func(stream, function, user_data)


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


@cudart.export("cudaStreamGetId")
def stream_get_id(stream: Any, identity: Any) -> None:
    null(streamId=identity)
    identity[0] = resolve(stream).id


@cudart.export("cudaStreamGetDevice")
def stream_get_device(stream: Any, ordinal: Any) -> None:
    null(device=ordinal)
    resolve(stream)
    ordinal[0] = 0


# --- capture -------------------------------------------------------------------------------------


@cudart.export("cudaStreamBeginCapture")
def stream_begin_capture(stream: Any, mode: int) -> None:
    resolve(stream).begin_capture(mode)


@cudart.export("cudaStreamBeginCaptureToGraph")
def stream_begin_capture_to_graph(
    stream: Any, graph: Any, after: Any, data: Any, count: int, mode: int
) -> None:
    found = graph_of(graph)
    behind = nodes_of(found, after, count, "dependencies")
    full_edges(data, count)
    resolve(stream).begin_capture(mode, found, behind)


@cudart.export("cudaStreamEndCapture")
def stream_end_capture(stream: Any, graph: Any) -> None:
    target = resolve(stream)
    if target.capture is None or not target.capture.given:
        null(pGraph=graph)
    if graph:
        graph[0] = ffi.NULL
    found = target.end_capture()
    if graph:
        graph[0] = graph_handle(found)


def _capture_state(stream: Any) -> tuple[int, int]:
    """cudaStreamCaptureStatus and the capture's number."""
    found = resolve(stream)
    current = context.current()
    if found is current.streams.legacy:
        current.streams.refuse_implicit_capture()
    if found.capture is None:
        return cudaStreamCaptureStatus.cudaStreamCaptureStatusNone, 0
    return found.capture.state, found.capture.id


@cudart.export("cudaStreamIsCapturing")
def stream_is_capturing(stream: Any, state: Any) -> None:
    null(pCaptureStatus=state)
    state[0], _ = _capture_state(stream)


@cudart.export("cudaStreamGetCaptureInfo_v2")
def stream_get_capture_info_v2(
    stream: Any, state: Any, identity: Any, graph: Any, dependencies: Any, count: Any
) -> None:
    null(captureStatus_out=state)
    state[0], capture_id = _capture_state(stream)
    if identity:
        identity[0] = capture_id
    target = resolve(stream)
    capture = target.capture
    if state[0] != cudaStreamCaptureStatus.cudaStreamCaptureStatusActive:
        capture = None
    if graph:
        graph[0] = ffi.NULL if capture is None else graph_handle(capture.graph)
    tails = [] if capture is None else capture.tails[target]
    if dependencies:
        dependencies[0] = ffi.NULL
        if capture is not None:
            handles = [node_handle(node) for node in tails]
            capture.shown = ffi.new("cudaGraphNode_t[]", handles or 1)
            dependencies[0] = capture.shown
    if count:
        count[0] = len(tails)


@cudart.export("cudaStreamGetCaptureInfo_v3")
def stream_get_capture_info_v3(
    stream: Any, state: Any, identity: Any, graph: Any, dependencies: Any, data: Any, count: Any
) -> None:
    null(captureStatus_out=state)
    stream_get_capture_info_v2(stream, state, identity, graph, dependencies, count)
    if data:
        data[0] = ffi.NULL  # full dependencies


@cudart.export("cudaStreamUpdateCaptureDependencies")
def stream_update_capture_dependencies(stream: Any, nodes: Any, count: int, flags: int) -> None:
    target = resolve(stream)
    required_flags(flags, 1, "cudaStreamAddCaptureDependencies 0 and Set... 1 exist")
    capture = target.capture
    if capture is None:
        raise CudaError(cudaError.cudaErrorIllegalState, f"{target.name} does not capture")
    capture.require_valid()
    given = nodes_of(capture.graph, nodes, count, "dependencies")
    kept = [] if flags else capture.tails[target]
    capture.tails[target] = [*kept, *(node for node in given if node not in kept)]


@cudart.export("cudaStreamUpdateCaptureDependencies_v2")
def stream_update_capture_dependencies_v2(
    stream: Any, nodes: Any, data: Any, count: int, flags: int
) -> None:
    if nodes:
        full_edges(data, count)
    stream_update_capture_dependencies(stream, nodes, count, flags)


@cudart.export("cudaStreamGetCaptureInfo")
def stream_get_capture_info(stream: Any, state: Any, identity: Any) -> None:
    null(captureStatus_out=state)
    state[0], capture_id = _capture_state(stream)
    if identity:
        identity[0] = capture_id


@cudart.export("cudaThreadExchangeStreamCaptureMode")
def thread_exchange_stream_capture_mode(mode: Any) -> None:
    null(mode=mode)
    if mode[0] not in cudaStreamCaptureMode._value2member_map_:
        raise invalid_value(f"*mode is {mode[0]}; Global 0, ThreadLocal 1 or Relaxed 2")
    thread = context.current().thread
    thread.capture_mode, mode[0] = int(mode[0]), thread.capture_mode
