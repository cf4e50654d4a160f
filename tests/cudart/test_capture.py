"""Stream capture: what it records, what it forbids, how it ends."""

from __future__ import annotations

import ctypes
import threading
from typing import Any

from cudla_sim.cudart import context

from .conftest import D2D, Cuda

GLOBAL, THREAD_LOCAL, RELAXED = 0, 1, 2
NONE, ACTIVE, INVALIDATED = 0, 1, 2


def begin(cuda: Cuda, mode: int = GLOBAL, flags: int = 1) -> int:
    stream = cuda.stream(flags)
    cuda.ok.cudaStreamBeginCapture(stream, mode)
    return stream


def end(cuda: Cuda, stream: int) -> int:
    graph = ctypes.c_void_p(1)
    cuda.ok.cudaStreamEndCapture(stream, ctypes.byref(graph))
    return graph.value or 0


def state(cuda: Cuda, stream: int) -> int:
    answer = ctypes.c_int(9)
    cuda.ok.cudaStreamIsCapturing(stream, ctypes.byref(answer))
    return answer.value


def give_up(cuda: Cuda, stream: int) -> None:
    graph = ctypes.c_void_p(1)
    cuda.fails(
        "cudaErrorStreamCaptureInvalidated", "cudaStreamEndCapture", stream, ctypes.byref(graph)
    )
    assert graph.value is None
    assert state(cuda, stream) == NONE


def test_captured_work_runs_when_the_graph_is_launched(cuda: Cuda) -> None:
    device = cuda.malloc(16)
    stream = begin(cuda)
    assert context.stream_of(stream).capturing
    assert state(cuda, stream) == ACTIVE
    cuda.ok.cudaMemsetAsync(device, 3, 8, stream)
    cuda.ok.cudaMemcpyAsync(device + 8, device, 8, D2D, stream)
    graph = end(cuda, stream)
    assert state(cuda, stream) == NONE
    cuda.ok.cudaStreamSynchronize(stream)
    assert cuda.bytes_at(device, 16) == bytes(16)
    executable = ctypes.c_void_p()
    cuda.ok.cudaGraphInstantiate(ctypes.byref(executable), graph, 0)
    cuda.ok.cudaGraphDestroy(graph)
    for value in (3, 3):
        cuda.ok.cudaMemset(device, 0, 16)
        cuda.ok.cudaGraphLaunch(executable, stream)
        cuda.ok.cudaStreamSynchronize(stream)
        assert cuda.bytes_at(device, 16) == bytes([value]) * 16
    cuda.ok.cudaGraphExecDestroy(executable)
    cuda.fails("cudaErrorInvalidValue", "cudaGraphLaunch", executable, stream)
    cuda.fails("cudaErrorInvalidValue", "cudaGraphDestroy", graph)


def test_the_legacy_stream_cannot_be_captured(cuda: Cuda) -> None:
    cuda.fails("cudaErrorStreamCaptureUnsupported", "cudaStreamBeginCapture", None, GLOBAL)
    cuda.fails("cudaErrorInvalidValue", "cudaStreamBeginCapture", cuda.stream(), 3)


def test_begin_twice_and_end_without_begin(cuda: Cuda) -> None:
    stream, graph = begin(cuda), ctypes.c_void_p()
    cuda.fails("cudaErrorIllegalState", "cudaStreamBeginCapture", stream, GLOBAL)
    end(cuda, stream)
    cuda.fails("cudaErrorIllegalState", "cudaStreamEndCapture", stream, ctypes.byref(graph))
    cuda.fails("cudaErrorInvalidValue", "cudaStreamEndCapture", stream, None)


def test_waiting_for_a_capturing_stream_invalidates_it(cuda: Cuda) -> None:
    device = cuda.malloc(8)
    for call in ("cudaStreamSynchronize", "cudaStreamQuery"):
        stream = begin(cuda)
        cuda.fails("cudaErrorStreamCaptureUnsupported", call, stream)
        assert state(cuda, stream) == INVALIDATED
        cuda.fails("cudaErrorStreamCaptureInvalidated", "cudaMemsetAsync", device, 0, 8, stream)
        give_up(cuda, stream)


def test_unsafe_calls_invalidate_a_global_capture(cuda: Cuda) -> None:
    target, device, event = ctypes.c_void_p(), cuda.malloc(8), cuda.event()
    for call in (
        ("cudaMalloc", ctypes.byref(target), 8),
        ("cudaFree", device),
        ("cudaMemcpy", device, device, 8, D2D),
        ("cudaDeviceSynchronize",),
        ("cudaEventQuery", event),
    ):
        stream = begin(cuda)
        cuda.fails("cudaErrorStreamCaptureUnsupported", *call)
        give_up(cuda, stream)
    cuda.ok.cudaFree(device)


def test_a_relaxed_capture_forbids_little(cuda: Cuda) -> None:
    stream = begin(cuda, RELAXED)
    cuda.ok.cudaFree(cuda.malloc(8))
    end(cuda, stream)


def test_a_thread_local_capture_forbids_nothing_to_others(cuda: Cuda) -> None:
    stream, found = begin(cuda, THREAD_LOCAL), []
    thread = threading.Thread(target=lambda: found.append(cuda.malloc(8)))
    thread.start()
    thread.join()
    assert found[0]
    end(cuda, stream)


def test_the_legacy_stream_may_not_depend_on_a_capture(cuda: Cuda) -> None:
    device, stream = cuda.malloc(8), begin(cuda, RELAXED, flags=0)
    cuda.fails("cudaErrorStreamCaptureImplicit", "cudaMemset", device, 0, 8)
    give_up(cuda, stream)


def test_another_thread_may_not_end_a_capture(cuda: Cuda) -> None:
    stream, problems = begin(cuda), []

    def other() -> None:
        try:
            graph = ctypes.c_void_p()
            cuda.fails(
                "cudaErrorStreamCaptureWrongThread",
                "cudaStreamEndCapture",
                stream,
                ctypes.byref(graph),
            )
        except AssertionError as error:
            problems.append(error)

    thread = threading.Thread(target=other)
    thread.start()
    thread.join()
    assert not problems
    end(cuda, stream)


def test_events_carry_a_capture_to_another_stream_and_back(cuda: Cuda) -> None:
    device, first, second = cuda.malloc(16), begin(cuda), cuda.stream(1)
    fork, join = cuda.event(), cuda.event()
    cuda.ok.cudaEventRecord(fork, first)
    cuda.ok.cudaStreamWaitEvent(second, fork, 0)
    assert state(cuda, second) == ACTIVE
    cuda.ok.cudaMemsetAsync(device, 1, 8, second)
    cuda.ok.cudaEventRecord(join, second)
    cuda.ok.cudaStreamWaitEvent(first, join, 0)
    cuda.ok.cudaMemsetAsync(device + 8, 2, 8, first)
    graph, executable = end(cuda, first), ctypes.c_void_p()
    assert state(cuda, second) == NONE
    cuda.ok.cudaGraphInstantiate(ctypes.byref(executable), graph, 0)
    cuda.ok.cudaGraphLaunch(executable, second)
    cuda.ok.cudaStreamSynchronize(second)
    assert cuda.bytes_at(device, 16) == b"\x01" * 8 + b"\x02" * 8


def test_a_stream_that_is_not_joined_back_is_an_error(cuda: Cuda) -> None:
    first, second, fork, graph = begin(cuda), cuda.stream(1), cuda.event(), ctypes.c_void_p()
    cuda.ok.cudaEventRecord(fork, first)
    cuda.ok.cudaStreamWaitEvent(second, fork, 0)
    cuda.fails(
        "cudaErrorStreamCaptureUnmatched", "cudaStreamEndCapture", second, ctypes.byref(graph)
    )
    cuda.fails("cudaErrorStreamCaptureUnjoined", "cudaStreamEndCapture", first, ctypes.byref(graph))
    assert state(cuda, first) == state(cuda, second) == NONE


def test_captures_do_not_mix(cuda: Cuda) -> None:
    first, second = begin(cuda, RELAXED), begin(cuda, RELAXED)
    inside, outside = cuda.event(), cuda.event()
    cuda.ok.cudaEventRecord(inside, first)
    cuda.ok.cudaEventRecord(outside, cuda.stream(1))
    cuda.fails("cudaErrorStreamCaptureMerge", "cudaStreamWaitEvent", second, inside, 0)
    cuda.fails("cudaErrorCapturedEvent", "cudaEventQuery", inside)
    cuda.fails("cudaErrorStreamCaptureIsolation", "cudaStreamWaitEvent", first, outside, 0)
    give_up(cuda, first)
    give_up(cuda, second)


def test_destroying_a_capturing_stream_leaves_no_trace(cuda: Cuda) -> None:
    stream = begin(cuda)
    cuda.ok.cudaStreamDestroy(stream)
    cuda.malloc(8)
    cuda.ok.cudaDeviceSynchronize()


def test_a_pageable_copy_can_be_captured(cuda: Cuda) -> None:
    device = cuda.malloc(8)
    source: Any = ctypes.create_string_buffer(b"captured", 8)
    stream = begin(cuda)
    cuda.ok.cudaMemcpyAsync(device, source, 8, 1, stream)
    graph, executable = end(cuda, stream), ctypes.c_void_p()
    cuda.ok.cudaGraphInstantiate(ctypes.byref(executable), graph, 0)
    cuda.ok.cudaGraphLaunch(executable, None)
    cuda.ok.cudaStreamSynchronize(None)
    assert cuda.bytes_at(device, 8) == b"captured"
