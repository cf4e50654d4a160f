"""The order of work: within a stream, between streams, around the legacy stream."""

from __future__ import annotations

import ctypes
import threading
from typing import Any

import pytest

from cudla_sim.cudart import context, streams

from .conftest import D2D, H2D, Cuda

NON_BLOCKING = 1
LEGACY, PER_THREAD = 1, 2


def note(stream: int | None, log: list[str], word: str) -> None:
    context.stream_of(stream or 0).enqueue(lambda: log.append(word))


def test_work_of_one_stream_runs_in_order(cuda: Cuda) -> None:
    stream, log = cuda.stream(), []
    for index in range(200):
        note(stream, log, str(index))
    cuda.ok.cudaStreamSynchronize(stream)
    assert log == [str(i) for i in range(200)]


def test_streams_do_not_wait_for_each_other(cuda: Cuda, gates: Any) -> None:
    held, free = cuda.stream(), cuda.stream()
    gates(held)
    log: list[str] = []
    note(free, log, "done")
    cuda.ok.cudaStreamSynchronize(free)
    assert log == ["done"]
    assert cuda.cudaStreamQuery(held) == 600


def test_the_legacy_stream_waits_for_blocking_streams(cuda: Cuda, gates: Any) -> None:
    blocking, legacy_log = cuda.stream(), []
    gate = gates(blocking)
    note(blocking, legacy_log, "blocking")
    note(None, legacy_log, "legacy")
    assert cuda.cudaStreamQuery(None) == 600
    gate.open()
    cuda.ok.cudaStreamSynchronize(None)
    assert legacy_log == ["blocking", "legacy"]


def test_blocking_streams_wait_for_the_legacy_stream(cuda: Cuda, gates: Any) -> None:
    blocking, log = cuda.stream(), []
    gate = gates(LEGACY)
    note(None, log, "legacy")
    note(blocking, log, "blocking")
    assert cuda.cudaStreamQuery(blocking) == 600
    gate.open()
    cuda.ok.cudaStreamSynchronize(blocking)
    assert log == ["legacy", "blocking"]


def test_a_non_blocking_stream_does_not_wait_for_ever(
    cuda: Cuda, gates: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What the legacy stream has may wait for it: a kernel for a flag."""
    monkeypatch.setattr(streams, "PATIENCE_S", 0.05)
    free, log = cuda.stream(NON_BLOCKING), []
    gates(LEGACY)
    note(free, log, "free")
    cuda.ok.cudaStreamSynchronize(free)
    assert log == ["free"]
    monkeypatch.setattr(streams, "PATIENCE_S", 1e6)  # it has lost patience with what is there
    note(free, log, "again")
    cuda.ok.cudaStreamSynchronize(free)
    assert log == ["free", "again"]
    gates(free)
    assert cuda.cudaStreamQuery(free) == 600


def test_a_non_blocking_stream_follows_what_came_before(cuda: Cuda, gates: Any) -> None:
    free, log = cuda.stream(NON_BLOCKING), []
    gate = gates(LEGACY)
    note(None, log, "legacy")
    note(free, log, "free")
    gate.open()
    cuda.ok.cudaStreamSynchronize(free)
    assert log == ["legacy", "free"]


def test_the_legacy_stream_ignores_a_non_blocking_stream(cuda: Cuda, gates: Any) -> None:
    free = cuda.stream(NON_BLOCKING)
    gates(free)
    cuda.ok.cudaMemset(cuda.malloc(8), 1, 8)
    cuda.ok.cudaStreamSynchronize(None)


def test_a_copy_that_waits_keeps_the_order_of_the_legacy_stream(cuda: Cuda, gates: Any) -> None:
    stream, device = cuda.stream(), cuda.malloc(8)
    gate = gates(stream)
    cuda.ok.cudaMemsetAsync(device, 1, 8, stream)
    threading.Timer(0.05, gate.open).start()
    result = ctypes.create_string_buffer(8)
    cuda.ok.cudaMemcpy(result, device, 8, 2)
    assert result.raw == b"\x01" * 8


def test_null_and_the_legacy_handle_are_the_same_stream(cuda: Cuda) -> None:
    assert context.stream_of(0) is context.stream_of(LEGACY)
    for handle in (None, LEGACY, PER_THREAD):
        cuda.ok.cudaStreamSynchronize(handle)
        cuda.ok.cudaStreamQuery(handle)


def test_every_thread_has_its_own_per_thread_stream(cuda: Cuda) -> None:
    found = [context.stream_of(PER_THREAD)]
    thread = threading.Thread(target=lambda: found.append(context.stream_of(PER_THREAD)))
    thread.start()
    thread.join()
    assert found[0] is context.stream_of(PER_THREAD)
    assert found[0] is not found[1]
    assert found[0].blocking


def test_destroying_a_busy_stream_lets_its_work_finish(cuda: Cuda, gates: Any) -> None:
    stream, log = cuda.stream(NON_BLOCKING), []
    gate = gates(stream)
    note(stream, log, "late")
    cuda.ok.cudaStreamDestroy(stream)
    assert log == []
    gate.open()
    cuda.ok.cudaDeviceSynchronize()
    assert log == ["late"]


@pytest.mark.parametrize(
    "function",
    ["cudaStreamSynchronize", "cudaStreamQuery", "cudaStreamDestroy"],
)
def test_a_handle_that_is_none_is_refused(cuda: Cuda, function: str) -> None:
    stream = cuda.stream()
    cuda.ok.cudaStreamDestroy(stream)
    stale = cuda.fails("cudaErrorInvalidResourceHandle", function, stream)
    assert "freed by cudaStreamDestroy" in stale
    foreign = cuda.fails("cudaErrorInvalidResourceHandle", function, cuda.event())
    assert "is a cudaEvent_t" in foreign
    garbage = cuda.fails("cudaErrorInvalidResourceHandle", function, 0x7FFF12345678)
    assert "never issued" in garbage


def test_every_asynchronous_call_looks_at_its_stream(cuda: Cuda) -> None:
    device, bad = cuda.malloc(8), 0x50
    target = ctypes.c_void_p()
    for call in (
        ("cudaMemcpyAsync", device, device, 8, D2D, bad),
        ("cudaMemcpyAsync", device, device, 0, H2D, bad),
        ("cudaMemcpy2DAsync", device, 8, device, 8, 8, 1, D2D, bad),
        ("cudaMemsetAsync", device, 0, 8, bad),
        ("cudaMemset2DAsync", device, 8, 0, 8, 1, bad),
        ("cudaMallocAsync", ctypes.byref(target), 8, bad),
        ("cudaFreeAsync", device, bad),
        ("cudaEventRecord", cuda.event(), bad),
        ("cudaStreamWaitEvent", bad, cuda.event(), 0),
        ("cudaStreamBeginCapture", bad, 0),
    ):
        cuda.fails("cudaErrorInvalidResourceHandle", *call)


def test_flags_and_priority(cuda: Cuda) -> None:
    target, flags, priority = ctypes.c_void_p(), ctypes.c_uint(), ctypes.c_int()
    least, greatest = ctypes.c_int(), ctypes.c_int()
    cuda.ok.cudaDeviceGetStreamPriorityRange(ctypes.byref(least), ctypes.byref(greatest))
    assert greatest.value < least.value == 0
    for wanted, given in ((-3, -3), (-100, greatest.value), (7, 0)):
        cuda.ok.cudaStreamCreateWithPriority(ctypes.byref(target), NON_BLOCKING, wanted)
        cuda.ok.cudaStreamGetPriority(target, ctypes.byref(priority))
        assert priority.value == given
    cuda.ok.cudaStreamGetFlags(target, ctypes.byref(flags))
    assert flags.value == NON_BLOCKING
    cuda.fails("cudaErrorInvalidValue", "cudaStreamCreateWithFlags", ctypes.byref(target), 2)
    cuda.fails("cudaErrorInvalidValue", "cudaStreamCreate", None)


def test_the_built_in_streams_cannot_be_destroyed(cuda: Cuda) -> None:
    for handle in (None, LEGACY, PER_THREAD):
        cuda.fails("cudaErrorInvalidResourceHandle", "cudaStreamDestroy", handle)


def test_an_engine_keeps_stream_order_through_enqueue(cuda: Cuda, gates: Any) -> None:
    """What cudlaSubmitTask relies on."""
    from cudla_sim.core.queue import Queue

    stream, engine, log = cuda.stream(NON_BLOCKING), Queue("engine"), []
    gate = gates(stream)
    turn = context.stream_of(stream).enqueue()
    done = engine.submit(lambda: log.append("engine"), [turn])
    context.stream_of(stream).enqueue(None, [done])
    note(stream, log, "after")
    assert log == []
    gate.open()
    cuda.ok.cudaStreamSynchronize(stream)
    assert log == ["engine", "after"]
    engine.close()


def test_work_that_raises_ruins_the_context_but_not_the_worker(cuda: Cuda) -> None:
    stream = cuda.stream()
    context.stream_of(stream).enqueue(lambda: 1 / 0)
    text = cuda.fails("cudaErrorLaunchFailure", "cudaStreamSynchronize", stream)
    assert "ZeroDivisionError" in text
    cuda.ok.cudaDeviceReset()
    assert context.current().sticky is None


def test_many_threads_use_many_streams(cuda: Cuda) -> None:
    problems: list[str] = []

    def work(index: int) -> None:
        stream, device = cuda.stream(NON_BLOCKING), cuda.malloc(4096)
        source = (ctypes.c_uint8 * 4096)(*([index] * 4096))
        for _ in range(30):
            cuda.ok.cudaMemsetAsync(device, 255, 4096, stream)
            cuda.ok.cudaMemcpyAsync(device, source, 4096, H2D, stream)
            cuda.ok.cudaStreamSynchronize(stream)
            if cuda.bytes_at(device, 4096) != bytes([index]) * 4096:
                problems.append(f"thread {index}")
        cuda.ok.cudaStreamDestroy(stream)
        cuda.ok.cudaFree(device)

    threads = [threading.Thread(target=work, args=(i,)) for i in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not problems


def test_labelled_work_shows_on_the_track_of_its_stream(cuda: Cuda) -> None:
    from cudla_sim.core import process

    seen: list[Any] = []
    unsubscribe = process.current().events.subscribe(seen.append)
    stream, device = cuda.stream(), cuda.malloc(32)
    cuda.ok.cudaMemsetAsync(device, 1, 32, stream)
    cuda.ok.cudaMemcpyAsync(device, device + 16, 16, D2D, stream)
    cuda.ok.cudaStreamSynchronize(stream)
    unsubscribe()
    spans = [(e.track, e.name) for e in seen if e.kind == "stream"]
    assert spans == [("CUDA stream 1", "fill of 32 bytes"), ("CUDA stream 1", "copy of 16 bytes")]
