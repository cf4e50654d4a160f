"""The CUDA runtime from many threads: streams, events, memory and callbacks at once."""

from __future__ import annotations

import ctypes
from types import ModuleType

import numpy as np

from cudla_sim.testing import CApi
from tests.cudla.driver import check, pointer
from tests.stress.threads import in_threads

SIZE = 1 << 12
HOST_TO_DEVICE, DEVICE_TO_HOST, DEVICE_TO_DEVICE = 1, 2, 3


def test_streams_with_memory_of_their_own(sim_api: CApi, sim: ModuleType) -> None:
    """Each thread sends numbers through a chain of copies; every result is its own."""
    api = sim_api

    def work(number: int) -> None:
        for turn in range(40):
            stream, first, second = pointer(), pointer(), pointer()
            check(api.cudaStreamCreateWithFlags(ctypes.byref(stream), turn % 2))
            check(api.cudaMalloc(ctypes.byref(first), SIZE))
            check(api.cudaMalloc(ctypes.byref(second), SIZE))
            sent = np.full(SIZE, (number * 41 + turn) % 251, np.uint8)
            got = np.zeros(SIZE, np.uint8)
            there, back = sent.ctypes.data, got.ctypes.data
            check(api.cudaMemcpyAsync(first, there, SIZE, HOST_TO_DEVICE, stream))
            check(api.cudaMemcpyAsync(second, first, SIZE, DEVICE_TO_DEVICE, stream))
            check(api.cudaMemcpyAsync(back, second, SIZE, DEVICE_TO_HOST, stream))
            check(api.cudaStreamSynchronize(stream))
            assert np.array_equal(sent, got)
            check(api.cudaFree(first))
            check(api.cudaFree(second))
            check(api.cudaStreamDestroy(stream))

    in_threads(6, work)
    assert sim.process.handles.live("cudaStream_t") == []


def test_a_chain_of_events_through_all_threads(sim_api: CApi) -> None:
    """Stream n waits for stream n - 1; what the last one copies is what the first one wrote."""
    api, count = sim_api, 6
    streams = [pointer() for _ in range(count)]
    events = [pointer() for _ in range(count)]
    memory = pointer()
    check(api.cudaMalloc(ctypes.byref(memory), 4 * count))
    for stream, event in zip(streams, events, strict=True):
        check(api.cudaStreamCreateWithFlags(ctypes.byref(stream), 1))
        check(api.cudaEventCreate(ctypes.byref(event)))
    for turn in range(30):
        for index, (stream, event) in enumerate(zip(streams, events, strict=True)):
            if index:
                check(api.cudaStreamWaitEvent(stream, events[index - 1], 0))
            place = memory.value + 4 * index
            if index == 0:
                check(api.cudaMemsetAsync(place, turn, 4, stream))
            else:
                check(api.cudaMemcpyAsync(place, place - 4, 4, DEVICE_TO_DEVICE, stream))
            check(api.cudaEventRecord(event, stream))
        in_threads(count, lambda n: check(api.cudaEventSynchronize(events[n])))
        found = (ctypes.c_uint8 * (4 * count))()
        check(api.cudaMemcpy(found, memory, 4 * count, DEVICE_TO_HOST))
        assert bytes(found) == bytes([turn]) * (4 * count)
    for stream, event in zip(streams, events, strict=True):
        check(api.cudaStreamDestroy(stream))
        check(api.cudaEventDestroy(event))
    check(api.cudaFree(memory))


def test_the_legacy_stream_between_many(sim_api: CApi) -> None:
    """Blocking streams and the legacy stream wait for each other from all sides, without end."""
    api, memory = sim_api, pointer()
    check(api.cudaMalloc(ctypes.byref(memory), SIZE))

    def work(number: int) -> None:
        stream = pointer()
        check(api.cudaStreamCreate(ctypes.byref(stream)))
        for turn in range(60):
            target = None if (turn + number) % 3 == 0 else stream
            check(api.cudaMemsetAsync(memory, number, 64, target))
            if turn % 10 == 9:
                check(api.cudaStreamSynchronize(target))
        check(api.cudaStreamDestroy(stream))

    in_threads(6, work)
    check(api.cudaDeviceSynchronize())
    check(api.cudaFree(memory))


def test_one_stream_destroyed_by_many(sim_api: CApi) -> None:
    stream = pointer()
    check(sim_api.cudaStreamCreate(ctypes.byref(stream)))
    outcomes: list[int] = []
    in_threads(8, lambda _: outcomes.append(sim_api.cudaStreamDestroy(stream)))
    assert sorted(outcomes) == [0] + [400] * 7
