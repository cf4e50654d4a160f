"""Events: places in streams, and the time between them."""

from __future__ import annotations

import ctypes
import threading
import time
from typing import Any

from cudla_sim.cudart import context

from .conftest import Cuda

BLOCKING_SYNC, DISABLE_TIMING, INTERPROCESS = 1, 2, 4


def test_an_event_that_was_never_recorded_counts_as_reached(cuda: Cuda) -> None:
    event = cuda.event()
    cuda.ok.cudaEventQuery(event)
    cuda.ok.cudaEventSynchronize(event)
    cuda.ok.cudaStreamWaitEvent(cuda.stream(), event, 0)


def test_a_pending_event_is_not_ready(cuda: Cuda, gates: Any) -> None:
    stream, event = cuda.stream(1), cuda.event()
    gate = gates(stream)
    cuda.ok.cudaEventRecord(event, stream)
    assert "not reached" in cuda.fails("cudaErrorNotReady", "cudaEventQuery", event)
    gate.open()
    cuda.ok.cudaEventSynchronize(event)
    cuda.ok.cudaEventQuery(event)


def test_elapsed_time_is_that_of_the_work_between(cuda: Cuda) -> None:
    stream = cuda.stream()
    start, middle, end = cuda.event(), cuda.event(), cuda.event()
    cuda.ok.cudaEventRecord(start, stream)
    context.stream_of(stream).enqueue(lambda: time.sleep(0.03))
    cuda.ok.cudaEventRecord(middle, stream)
    cuda.ok.cudaEventRecord(end, stream)
    cuda.ok.cudaEventSynchronize(end)
    assert 29 < cuda.elapsed_ms(start, middle) < 2000
    assert cuda.elapsed_ms(start, end) >= cuda.elapsed_ms(start, middle)
    assert cuda.elapsed_ms(start, start) == 0
    assert cuda.elapsed_ms(end, start) == -cuda.elapsed_ms(start, end)


def test_times_of_later_records_never_go_back(cuda: Cuda) -> None:
    stream = cuda.stream()
    events = [cuda.event() for _ in range(50)]
    for event in events:
        cuda.ok.cudaEventRecord(event, stream)
    cuda.ok.cudaStreamSynchronize(stream)
    times = [cuda.elapsed_ms(events[0], e) for e in events]
    assert times == sorted(times)


def test_what_has_no_time_is_refused(cuda: Cuda, gates: Any) -> None:
    timed, silent, fresh = cuda.event(), cuda.event(DISABLE_TIMING), cuda.event()
    stream = cuda.stream(1)
    for event in (timed, silent):
        cuda.ok.cudaEventRecord(event, stream)
    cuda.ok.cudaStreamSynchronize(stream)
    answer = ctypes.c_float()
    call = "cudaEventElapsedTime", ctypes.byref(answer)
    bad = "cudaErrorInvalidResourceHandle"
    assert "DisableTiming" in cuda.fails(bad, *call, timed, silent)
    assert "never recorded" in cuda.fails(bad, *call, fresh, timed)
    assert "end" in cuda.fails(bad, *call, timed, 0x77)
    cuda.fails("cudaErrorInvalidValue", "cudaEventElapsedTime", None, timed, timed)
    gates(stream)
    cuda.ok.cudaEventRecord(fresh, stream)
    cuda.fails("cudaErrorNotReady", *call, timed, fresh)


def test_a_stream_waits_for_an_event_of_another(cuda: Cuda, gates: Any) -> None:
    first, second, event = cuda.stream(1), cuda.stream(1), cuda.event()
    log: list[str] = []
    gate = gates(first)
    context.stream_of(first).enqueue(lambda: log.append("first"))
    cuda.ok.cudaEventRecord(event, first)
    cuda.ok.cudaStreamWaitEvent(second, event, 0)
    context.stream_of(second).enqueue(lambda: log.append("second"))
    assert cuda.cudaStreamQuery(second) == 600
    gate.open()
    cuda.ok.cudaStreamSynchronize(second)
    assert log == ["first", "second"]


def test_a_wait_is_for_the_record_at_that_time(cuda: Cuda, gates: Any) -> None:
    first, second, event = cuda.stream(1), cuda.stream(1), cuda.event()
    cuda.ok.cudaEventRecord(event, first)
    cuda.ok.cudaStreamWaitEvent(second, event, 0)
    gates(first)
    cuda.ok.cudaEventRecord(event, first)
    cuda.ok.cudaStreamSynchronize(second)
    cuda.fails("cudaErrorNotReady", "cudaEventQuery", event)


def test_destroying_an_event_does_not_break_those_who_wait(cuda: Cuda, gates: Any) -> None:
    first, second, event = cuda.stream(1), cuda.stream(1), cuda.event()
    gate = gates(first)
    cuda.ok.cudaEventRecord(event, first)
    cuda.ok.cudaStreamWaitEvent(second, event, 0)
    cuda.ok.cudaEventDestroy(event)
    gate.open()
    cuda.ok.cudaStreamSynchronize(second)
    assert "freed by cudaEventDestroy" in cuda.fails(
        "cudaErrorInvalidResourceHandle", "cudaEventRecord", event, first
    )
    cuda.fails("cudaErrorInvalidResourceHandle", "cudaEventDestroy", event)


def test_flags(cuda: Cuda) -> None:
    target = ctypes.c_void_p()
    for flags in (BLOCKING_SYNC, DISABLE_TIMING):
        cuda.ok.cudaEventCreateWithFlags(ctypes.byref(target), flags)
    for flags in (8, 4):
        cuda.fails("cudaErrorInvalidValue", "cudaEventCreateWithFlags", ctypes.byref(target), flags)
    cuda.ok.cudaEventRecordWithFlags(target, None, 0)
    cuda.fails("cudaErrorInvalidValue", "cudaEventRecordWithFlags", target, None, 2)
    cuda.fails("cudaErrorInvalidValue", "cudaStreamWaitEvent", None, target, 2)


def test_waiting_lets_other_threads_work(cuda: Cuda, gates: Any) -> None:
    stream, event = cuda.stream(1), cuda.event()
    gate = gates(stream)
    cuda.ok.cudaEventRecord(event, stream)
    done = threading.Event()

    def wait() -> None:
        cuda.ok.cudaEventSynchronize(event)
        done.set()

    threading.Thread(target=wait).start()
    assert not done.wait(0.02)
    gate.open()
    assert done.wait(10)
