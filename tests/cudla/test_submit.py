"""Tasks: order, events, and every rule of cudlaSubmitTask."""

from __future__ import annotations

import ctypes
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from types import ModuleType

import numpy as np
import pytest

from cudla_sim.constants.cudla import cudlaStatus as S
from cudla_sim.nvdla import Loadable
from cudla_sim.nvdla.timing import runs
from cudla_sim.nvdla.timing.parameters import Surroundings
from cudla_sim.testing import prototypes as p

from .driver import HYBRID, Buffer, Client, Sync, check, pointer

NOOP, SKIP_LOCK, DIAGNOSTICS = 1, 2, 4
EOF, SOF = 1, 2


class Loaded:
    """A client with the digits network and its buffers."""

    def __init__(self, client: Client, digits: bytes) -> None:
        self.client = client
        check(client.load(digits), "load")
        self.inputs = [client.allocate(d.size) for d in client.descriptors(2)]
        self.outputs = [client.allocate(d.size) for d in client.descriptors(3)]

    def task(self, **events: object) -> p.cudlaTask_t:
        return self.client.task(self.inputs, self.outputs, **events)  # type: ignore[arg-type]

    def finish(self) -> None:
        """Waits for everything submitted."""
        client = self.client
        if client.mode == HYBRID:
            check(client.api.cudaDeviceSynchronize())
        else:
            done, fence = Sync(client, dla_waits=False), p.NvSciSyncFence()
            check(client.submit(self.task(signals=[(done, fence, EOF)]), flags=NOOP))
            check(done.wait(fence))


@pytest.fixture
def loaded(client: Callable[..., Client], digits: bytes) -> Loaded:
    return Loaded(client(), digits)


@pytest.fixture
def hybrid(client: Callable[..., Client], digits: bytes) -> Loaded:
    return Loaded(client(HYBRID), digits)


@pytest.fixture
def each(either: Client, digits: bytes) -> Loaded:
    return Loaded(either, digits)


# --- order and events ----------------------------------------------------------------------------


def test_submit_does_not_wait_for_its_pre_fence(loaded: Loaded) -> None:
    client = loaded.client
    start, done = Sync(client, dla_waits=True), Sync(client, dla_waits=False)
    before, after = start.generate(), p.NvSciSyncFence()
    loaded.outputs[0].array[:] = 0xEE
    check(client.submit(loaded.task(waits=[(before, EOF)], signals=[(done, after, EOF)])))
    assert done.wait(after, 20_000) == 0x200  # NvSciError_Timeout: nothing signaled it yet
    assert (loaded.outputs[0].array == 0xEE).all()
    start.signal()
    check(done.wait(after))
    assert (loaded.outputs[0].array != 0xEE).any()


def test_start_and_end_fences_of_one_task(loaded: Loaded) -> None:
    client = loaded.client
    start, done = Sync(client, dla_waits=True), Sync(client, dla_waits=False)
    deterministic = Sync(client, dla_waits=False, deterministic=True)
    before, begun, ended = start.generate(), p.NvSciSyncFence(), p.NvSciSyncFence()
    check(
        client.submit(
            loaded.task(
                waits=[(before, EOF)],
                signals=[(deterministic, begun, SOF), (done, ended, EOF)],
            ),
            flags=NOOP,
        )
    )
    assert deterministic.wait(begun, 10_000) != 0
    start.signal()
    check(deterministic.wait(begun))
    check(done.wait(ended))


def test_tasks_of_a_handle_run_in_order(loaded: Loaded, sim: ModuleType) -> None:
    """The first of two tasks waits; the second one has no events and still stays behind it."""
    client = loaded.client
    start, done = Sync(client, dla_waits=True), Sync(client, dla_waits=False)
    check(client.submit(loaded.task(waits=[(start.generate(), EOF)]), flags=NOOP))
    fence = p.NvSciSyncFence()
    check(client.submit(loaded.task(signals=[(done, fence, EOF)]), flags=NOOP))
    assert done.wait(fence, 20_000) != 0
    assert [t.state for t in sim.dla.devices[0].tasks] == ["queued", "queued"]
    start.signal()
    check(done.wait(fence))
    assert sim.dla.devices[0].tasks == []


def test_waits_belong_to_the_first_and_signals_to_the_last_task_of_a_list(loaded: Loaded) -> None:
    client = loaded.client
    start, done = Sync(client, dla_waits=True), Sync(client, dla_waits=False)
    before, fence = start.generate(), p.NvSciSyncFence()
    tasks = [
        loaded.task(waits=[(before, EOF)]),
        loaded.task(),
        loaded.task(signals=[(done, fence, EOF)]),
    ]
    check(client.submit(*tasks))
    assert done.wait(fence, 10_000) != 0
    start.signal()
    check(done.wait(fence))


def test_event_only_submission_applies_to_the_next_task(loaded: Loaded) -> None:
    client = loaded.client
    start, done = Sync(client, dla_waits=True), Sync(client, dla_waits=False)
    before, fence = start.generate(), p.NvSciSyncFence()
    only_events = client.task(None, None, [(before, EOF)], [(done, fence, EOF)])
    only_events.moduleHandle = 0
    check(client.submit(only_events))
    assert fence.payload[0] != 0, "the fence is filled before the call returns"
    loaded.outputs[0].array[:] = 0xEE
    check(client.submit(loaded.task()))
    assert done.wait(fence, 20_000) != 0
    start.signal()
    check(done.wait(fence))
    assert (loaded.outputs[0].array != 0xEE).any()


def test_the_last_event_only_submission_counts(loaded: Loaded) -> None:
    client = loaded.client
    never, done = Sync(client, dla_waits=True), Sync(client, dla_waits=False)
    first, second = p.NvSciSyncFence(), p.NvSciSyncFence()
    check(client.submit(client.task(None, None, [(never.generate(), EOF)], [(done, first, EOF)])))
    check(client.submit(client.task(None, None, None, [(done, second, EOF)])))
    check(client.submit(loaded.task()))
    check(done.wait(second))
    check(done.wait(first))


def test_stored_events_join_those_of_the_task(loaded: Loaded, sim: ModuleType) -> None:
    """Each list alone is legal; together they hold two sync points."""
    client = loaded.client
    one, two = Sync(client, dla_waits=False), Sync(client, dla_waits=False)
    first, second, third = (p.NvSciSyncFence() for _ in range(3))
    check(client.submit(client.task(None, None, None, [(one, first, EOF)])))
    joined = loaded.task(signals=[(two, second, EOF)])
    assert client.submit(joined, flags=NOOP) == S.cudlaErrorInvalidParam
    assert "2 sync points" in sim.last_explanation()
    check(client.submit(loaded.task(), flags=NOOP))
    check(one.wait(first))
    check(client.submit(loaded.task(signals=[(two, third, EOF)]), flags=NOOP))
    check(two.wait(third))


def test_deterministic_semaphore_without_a_fence(loaded: Loaded) -> None:
    """The program computes the fence itself: every signal raises the value by one."""
    client, api = loaded.client, loaded.client.api
    done = Sync(client, dla_waits=False, deterministic=True)
    for value in (1, 2, 3):
        check(client.submit(loaded.task(signals=[(done, None, EOF)]), flags=NOOP))
        fence = p.NvSciSyncFence()
        check(api.NvSciSyncFenceUpdateFence(done.obj, 0, value, ctypes.byref(fence)))
        check(done.wait(fence))
    future = p.NvSciSyncFence()
    check(api.NvSciSyncFenceUpdateFence(done.obj, 0, 4, ctypes.byref(future)))
    assert done.wait(future, 1000) != 0


def test_fence_outlives_object_and_device(loaded: Loaded) -> None:
    client, api = loaded.client, loaded.client.api
    done, fence = Sync(client, dla_waits=False), p.NvSciSyncFence()
    check(client.submit(loaded.task(signals=[(done, fence, EOF)]), flags=NOOP))
    check(done.wait(fence))
    check(api.cudlaDestroyDevice(client.device))
    api.NvSciSyncObjFree(done.obj)
    check(done.wait(fence))
    copy = p.NvSciSyncFence()
    check(api.NvSciSyncFenceDup(ctypes.byref(fence), ctypes.byref(copy)))
    api.NvSciSyncFenceClear(ctypes.byref(fence))
    assert list(fence.payload) == [0] * 6
    check(done.wait(copy))


def test_timestamps_rise_and_live_in_512_slots(loaded: Loaded) -> None:
    client, api = loaded.client, loaded.client.api
    done = Sync(client, dla_waits=False, timestamps=True)
    fences = []
    for _ in range(513):
        fences.append(p.NvSciSyncFence())
        check(client.submit(loaded.task(signals=[(done, fences[-1], EOF)]), flags=NOOP))
    check(done.wait(fences[-1]))

    def stamp(fence: p.NvSciSyncFence) -> int:
        microseconds = ctypes.c_uint64()
        check(api.NvSciSyncFenceGetTimestamp(ctypes.byref(fence), ctypes.byref(microseconds)))
        return microseconds.value

    times = [stamp(f) for f in fences]
    assert times[1:] == sorted(times[1:])
    assert times[0] == times[512], "the 513th fence shares the slot of the first"


def test_timestamps_in_hardware_time_are_as_far_apart_as_the_model_says(
    sim: ModuleType, client: Callable[..., Client], digits: bytes
) -> None:
    sim.configure(time="hardware", clock=20)
    loaded = Loaded(client(), digits)
    api = loaded.client.api
    begin = Sync(loaded.client, deterministic=True, dla_waits=False, timestamps=True)
    end = Sync(loaded.client, dla_waits=False, timestamps=True)
    cycles = runs.loadable(Loadable.parse(digits), "", "nv_full", Surroundings(clock_mhz=20)).cycles
    stamps = []
    for _ in range(3):
        fences = p.NvSciSyncFence(), p.NvSciSyncFence()
        signals = [(begin, fences[0], SOF), (end, fences[1], EOF)]
        check(loaded.client.submit(loaded.task(signals=signals)))
        check(end.wait(fences[1]))
        for fence in fences:
            microseconds = ctypes.c_uint64()
            check(api.NvSciSyncFenceGetTimestamp(ctypes.byref(fence), ctypes.byref(microseconds)))
            stamps.append(microseconds.value)
    assert stamps[0] > 0
    expected = [n * cycles / 20 for n in (0, 1, 1, 2, 2, 3)]
    assert [t - stamps[0] for t in stamps] == pytest.approx(expected, abs=1.5)


def test_noop_computes_nothing(each: Loaded) -> None:
    each.outputs[0].array[:] = 0xEE
    check(each.client.submit(each.task(), flags=NOOP | SKIP_LOCK))
    each.finish()
    assert (each.outputs[0].array == 0xEE).all()


def test_handles_of_one_core_do_not_wait_for_each_other(
    client: Callable[..., Client], digits: bytes
) -> None:
    """Each handle has its own queue: one that waits for a fence holds nobody else up."""
    stuck, free = Loaded(client(), digits), Loaded(client(), digits)
    start = Sync(stuck.client, dla_waits=True)
    check(stuck.client.submit(stuck.task(waits=[(start.generate(), EOF)])))
    check(free.client.submit(free.task()))
    free.finish()
    start.signal()
    stuck.finish()
    assert (stuck.outputs[0].array == free.outputs[0].array).all()


def test_stream_order_around_a_task(hybrid: Loaded) -> None:
    """copy in, task, copy out, all asynchronous on one stream, again and again."""
    client, api = hybrid.client, hybrid.client.api
    stream = pointer()
    check(api.cudaStreamCreate(ctypes.byref(stream)))
    random = np.random.default_rng(3)
    size_in, size_out = hybrid.inputs[0].array.size, hybrid.outputs[0].array.size
    images = random.integers(0, 127, (5, size_in), np.uint8)
    results = np.zeros((5, size_out), np.uint8)
    for image, result in zip(images, results, strict=True):
        where_in, where_out = hybrid.inputs[0].address, hybrid.outputs[0].address
        check(api.cudaMemcpyAsync(where_in, image.ctypes.data, size_in, 1, stream))
        check(client.submit(hybrid.task(), stream=stream))
        check(api.cudaMemcpyAsync(result.ctypes.data, where_out, size_out, 2, stream))
    check(api.cudaStreamSynchronize(stream))
    for image, result in zip(images, results, strict=True):
        hybrid.inputs[0].array[:] = image
        check(client.submit(hybrid.task()))
        check(api.cudaDeviceSynchronize())
        assert (result == hybrid.outputs[0].array).all()


# --- rules ---------------------------------------------------------------------------------------


def test_stream_and_mode_go_together(loaded: Loaded, hybrid: Loaded) -> None:
    assert loaded.client.submit(loaded.task(), stream=0x10) == S.cudlaErrorInvalidParam
    assert hybrid.client.submit(hybrid.task(), stream=0x10) == S.cudlaErrorCuda


def test_events_are_not_for_hybrid_handles(loaded: Loaded, hybrid: Loaded) -> None:
    done = Sync(loaded.client, dla_waits=False)
    fence = p.NvSciSyncFence()
    for events in ({"waits": []}, {"signals": [(done, fence, EOF)]}):
        status = hybrid.client.submit(hybrid.task(**events))
        assert status == S.cudlaErrorUnsupportedOperation


def test_null_tensors(each: Loaded, sim: ModuleType) -> None:
    client = each.client
    unsupported = S.cudlaErrorUnsupportedOperation
    assert client.submit(client.task(each.inputs, None)) == unsupported
    assert client.submit(client.task(None, each.outputs)) == unsupported
    if client.mode == HYBRID:
        assert client.submit(client.task(None, None)) == unsupported
    else:
        assert client.submit(client.task(None, None), client.task(None, None)) == unsupported
        assert "numTasks is 2" in sim.last_explanation()


@pytest.mark.parametrize("count", [0, 1 << 31, 0xFFFFFFFF])
def test_number_of_tasks(each: Loaded, count: int) -> None:
    client, task = each.client, each.task()
    submit = client.api.cudlaSubmitTask
    assert submit(client.device, ctypes.byref(task), count, None, 0) == S.cudlaErrorInvalidParam
    assert submit(client.device, None, 1, None, 0) == S.cudlaErrorInvalidParam


@pytest.mark.parametrize("flags", [8, 0x10, 0xFFFFFFF8])
def test_unknown_flags(each: Loaded, flags: int) -> None:
    assert each.client.submit(each.task(), flags=flags) == S.cudlaErrorInvalidParam


def test_tensor_counts(each: Loaded) -> None:
    client = each.client
    more_in = client.task([*each.inputs, *each.inputs], each.outputs)
    more_out = client.task(each.inputs, each.outputs * 3)
    none = client.task([], each.outputs)
    for wrong in (more_in, more_out, none):
        assert client.submit(wrong) == S.cudlaErrorInvalidParam


def test_unregistered_and_too_small_tensors(each: Loaded, sim: ModuleType) -> None:
    client = each.client
    small = client.allocate(8)
    assert client.submit(client.task([small], each.outputs)) == S.cudlaErrorInvalidAddress
    assert "needs" in sim.last_explanation()
    cpu = Buffer(
        each.inputs[0].array, 0, ctypes.c_void_p(each.inputs[0].address), ctypes.c_void_p()
    )
    assert client.submit(client.task([cpu], each.outputs)) == S.cudlaErrorInvalidAddress
    assert hex(each.inputs[0].device_pointer.value or 0) in sim.last_explanation()
    gone = client.allocate(each.inputs[0].array.size)
    check(client.api.cudlaMemUnregister(client.device, gone.device_pointer))
    assert client.submit(client.task([gone], each.outputs)) == S.cudlaErrorInvalidAddress
    check(client.submit(each.task()))
    each.finish()


def test_freed_cuda_memory_is_noticed(hybrid: Loaded, sim: ModuleType) -> None:
    client = hybrid.client
    check(client.submit(hybrid.task()))
    hybrid.finish()
    check(client.api.cudaFree(hybrid.inputs[0].address))
    assert client.submit(hybrid.task()) == S.cudlaErrorInvalidAddress
    assert "freed after it was registered" in sim.last_explanation()


def test_read_only_memory_is_no_output(loaded: Loaded) -> None:
    client = loaded.client
    read_only = client.allocate(loaded.outputs[0].array.size, flags=1)
    status = client.submit(client.task(loaded.inputs, [read_only]))
    assert status == S.cudlaErrorInvalidAddress
    read_only = client.allocate(loaded.inputs[0].array.size, flags=1)
    check(client.submit(client.task([read_only], loaded.outputs)))
    loaded.finish()


def test_module_must_be_this_handles(
    each: Loaded, client: Callable[..., Client], digits: bytes
) -> None:
    other = client(each.client.mode, 1)
    check(other.load(digits))
    task = each.task()
    for handle in (other.module.value, each.client.device.value, 0x1234, 0):
        task.moduleHandle = handle
        assert each.client.submit(task) == S.cudlaErrorInvalidModule


def test_too_many_fences(loaded: Loaded) -> None:
    client = loaded.client
    start = Sync(client, dla_waits=True)
    fences = [(start.generate(), EOF) for _ in range(30)]
    assert client.submit(loaded.task(waits=fences)) == S.cudlaErrorInvalidParam
    check(client.submit(loaded.task(waits=fences[:29]), flags=NOOP))
    for _ in fences:
        start.signal()
    loaded.finish()


def test_two_sync_points(loaded: Loaded) -> None:
    client = loaded.client
    pair = [Sync(client, dla_waits=False) for _ in range(2)]
    signals = [(s, p.NvSciSyncFence(), EOF) for s in pair]
    assert client.submit(loaded.task(signals=signals)) == S.cudlaErrorInvalidParam
    many = [Sync(client, dla_waits=False, deterministic=True) for _ in range(5)]
    signals = [(s, p.NvSciSyncFence(), EOF) for s in (pair[0], *many)]
    check(client.submit(loaded.task(signals=signals), flags=NOOP))
    for sync, fence, _ in signals:
        check(sync.wait(fence))


def test_sync_point_needs_a_fence(loaded: Loaded) -> None:
    done = Sync(loaded.client, dla_waits=False)
    status = loaded.client.submit(loaded.task(signals=[(done, None, EOF)]))
    assert status == S.cudlaErrorInvalidParam


def test_fence_types(loaded: Loaded) -> None:
    client = loaded.client
    start, done = Sync(client, dla_waits=True), Sync(client, dla_waits=False)
    before, after = start.generate(), p.NvSciSyncFence()
    for kind in (0, SOF, 3):
        status = client.submit(loaded.task(waits=[(before, kind)]))
        assert status == S.cudlaErrorUnsupportedOperation
    for kind in (0, 3):
        status = client.submit(loaded.task(signals=[(done, after, kind)]))
        assert status == S.cudlaErrorUnsupportedOperation


@pytest.fixture
def claimed_core(sim: ModuleType) -> Iterator[Callable[[], None]]:
    """Holds DLA0, so that tasks start but their networks do not run; calling it releases it."""
    core = sim.dla.cores[0].nvdla
    core.begin()
    stack = ExitStack()
    stack.callback(core.end)
    yield stack.close
    stack.close()


def test_start_of_frame_signal_without_fence_comes_before_the_task(
    loaded: Loaded, claimed_core: Callable[[], None]
) -> None:
    """The fence type counts where a deterministic semaphore is signaled without a fence."""
    client, api = loaded.client, loaded.client.api
    begin = Sync(client, dla_waits=False, deterministic=True)
    done, ended = Sync(client, dla_waits=False), p.NvSciSyncFence()
    begun = p.NvSciSyncFence()
    check(api.NvSciSyncFenceUpdateFence(begin.obj, 0, 1, ctypes.byref(begun)))
    check(client.submit(loaded.task(signals=[(begin, None, SOF), (done, ended, EOF)])))
    check(begin.wait(begun))
    assert done.wait(ended, 0) != 0
    claimed_core()
    check(done.wait(ended))


def test_end_of_frame_signal_without_fence_comes_after_the_task(
    loaded: Loaded, claimed_core: Callable[[], None]
) -> None:
    client, api = loaded.client, loaded.client.api
    end = Sync(client, dla_waits=False, deterministic=True)
    ended = p.NvSciSyncFence()
    check(api.NvSciSyncFenceUpdateFence(end.obj, 0, 1, ctypes.byref(ended)))
    check(client.submit(loaded.task(signals=[(end, None, EOF)])))
    assert end.wait(ended, 0) != 0
    claimed_core()
    check(end.wait(ended))


@pytest.mark.parametrize("kind", [0, 3])
def test_signal_without_fence_of_illegal_type_is_unsupported(loaded: Loaded, kind: int) -> None:
    end = Sync(loaded.client, dla_waits=False, deterministic=True)
    status = loaded.client.submit(loaded.task(signals=[(end, None, kind)]))
    assert status == S.cudlaErrorUnsupportedOperation


def test_cpu_signaled_object_cannot_be_signaled_by_the_dla(loaded: Loaded) -> None:
    start = Sync(loaded.client, dla_waits=True)
    status = loaded.client.submit(loaded.task(signals=[(start, p.NvSciSyncFence(), EOF)]))
    assert status == S.cudlaErrorNvSci


def test_garbage_fences_and_semaphores(loaded: Loaded) -> None:
    client = loaded.client
    garbage = p.NvSciSyncFence((ctypes.c_uint64 * 6)(*range(7, 13)))
    assert client.submit(loaded.task(waits=[(garbage, EOF)])) == S.cudlaErrorNvSci
    done = Sync(client, dla_waits=False)
    check(client.api.cudlaMemUnregister(client.device, done.device_pointer))
    status = client.submit(loaded.task(signals=[(done, p.NvSciSyncFence(), EOF)]))
    assert status == S.cudlaErrorInvalidAddress
    start = Sync(client, dla_waits=True)
    fence = start.generate()
    check(client.api.cudlaMemUnregister(client.device, start.device_pointer))
    assert client.submit(loaded.task(waits=[(fence, EOF)])) == S.cudlaErrorInvalidAddress


def test_failed_submission_leaves_nothing_behind(loaded: Loaded, sim: ModuleType) -> None:
    """The second of two tasks is wrong: the first one must not run either."""
    client = loaded.client
    loaded.outputs[0].array[:] = 0xEE
    wrong = loaded.task()
    wrong.moduleHandle = 0
    assert client.submit(loaded.task(), wrong) == S.cudlaErrorInvalidModule
    assert sim.dla.devices[0].tasks == []
    loaded.finish()
    assert (loaded.outputs[0].array == 0xEE).all()
    check(client.api.cudlaMemUnregister(client.device, loaded.inputs[0].device_pointer))


def test_capturing_stream(hybrid: Loaded) -> None:
    client, api = hybrid.client, hybrid.client.api
    stream, graph = pointer(), pointer()
    check(api.cudaStreamCreate(ctypes.byref(stream)))
    check(api.cudaStreamBeginCapture(stream, 0))
    status = client.submit(hybrid.task(), stream=stream)
    assert status == S.cudlaErrorUnsupportedOperation
    api.cudaStreamEndCapture(stream, ctypes.byref(graph))
    check(client.submit(hybrid.task(), stream=stream))
    check(api.cudaStreamSynchronize(stream))


# --- while a task is on its way ------------------------------------------------------------------


def test_nothing_a_task_needs_can_be_taken_away(loaded: Loaded, sim: ModuleType) -> None:
    client, api = loaded.client, loaded.client.api
    start, done = Sync(client, dla_waits=True), Sync(client, dla_waits=False)
    fence = p.NvSciSyncFence()
    task = loaded.task(waits=[(start.generate(), EOF)], signals=[(done, fence, EOF)])
    check(client.submit(task))
    for devptr in (loaded.inputs[0].device_pointer, done.device_pointer):
        assert api.cudlaMemUnregister(client.device, devptr) == S.cudlaErrorUmd
    assert "wait for" in sim.last_explanation()
    assert api.cudlaModuleUnload(client.module, 0) == S.cudlaErrorUmd
    assert api.cudlaDestroyDevice(client.device) == S.cudlaErrorUmd
    start.signal()
    check(done.wait(fence))
    for devptr in (loaded.inputs[0].device_pointer, done.device_pointer):
        check(api.cudlaMemUnregister(client.device, devptr))
    check(api.cudlaModuleUnload(client.module, 0))
    check(api.cudlaDestroyDevice(client.device))


# --- failures of tasks ---------------------------------------------------------------------------


def test_failed_task_is_reported_by_get_last_error(
    loaded: Loaded, sim_fault: Callable[[str], None], sim: ModuleType
) -> None:
    client, api = loaded.client, loaded.client.api
    done, fence = Sync(client, dla_waits=False), p.NvSciSyncFence()
    sim_fault("dla/task@1=cudlaErrorDlaErrInvalidPreAction")
    check(client.submit(loaded.task(signals=[(done, fence, EOF)])))
    check(done.wait(fence), "the fence of a failed task is signaled all the same")
    assert api.cudlaGetLastError(client.device) == S.cudlaErrorDlaErrInvalidPreAction
    status = p.NvSciSyncTaskStatus()
    check(api.NvSciSyncFenceGetTaskStatus(ctypes.byref(fence), ctypes.byref(status)))
    assert status.status == 1


def test_get_last_error_after_noop_keeps_status_of_executed_task(
    each: Loaded, sim_fault: Callable[[str], None]
) -> None:
    """cuDLA reference: the status of the task that the DLA hardware executed most recently; a NOOP
    is skipped during execution."""
    client, api = each.client, each.client.api
    sim_fault("dla/task@1=cudlaErrorDlaErrInvalidPreAction")
    check(client.submit(each.task()))
    if client.mode == HYBRID:
        assert api.cudaStreamSynchronize(None) == 911  # cudaErrorExternalDevice
        assert api.cudlaGetLastError(client.device) == S.cudlaErrorDlaErrInvalidPreAction
        return  # the context takes no more work
    while api.cudlaGetLastError(client.device) == 0:
        time.sleep(0.001)
    each.finish()  # submits a NOOP
    assert api.cudlaGetLastError(client.device) == S.cudlaErrorDlaErrInvalidPreAction
    done, fence = Sync(client, dla_waits=False), p.NvSciSyncFence()
    check(client.submit(each.task(signals=[(done, fence, EOF)])))
    check(done.wait(fence))
    assert api.cudlaGetLastError(client.device) == 0


def test_later_calls_report_the_failure_once(
    loaded: Loaded, sim_fault: Callable[[str], None], sim: ModuleType
) -> None:
    client, api = loaded.client, loaded.client.api
    done, fence = Sync(client, dla_waits=False), p.NvSciSyncFence()
    sim_fault("dla/task@1")
    check(client.submit(loaded.task(signals=[(done, fence, EOF)])))
    check(done.wait(fence))
    mismatch = S.cudlaErrorDlaErrDataMismatch
    unregister = api.cudlaMemUnregister
    assert unregister(client.device, loaded.inputs[0].device_pointer) == mismatch
    assert "earlier task" in sim.last_explanation()
    check(unregister(client.device, loaded.inputs[0].device_pointer))


def test_failed_task_ruins_the_cuda_context(
    hybrid: Loaded, sim_fault: Callable[[str], None]
) -> None:
    client, api = hybrid.client, hybrid.client.api
    sim_fault("dla/task@1")
    check(client.submit(hybrid.task()))
    assert api.cudaStreamSynchronize(None) == 911  # cudaErrorExternalDevice
    assert api.cudlaGetLastError(client.device) == S.cudlaErrorDlaErrDataMismatch
    check(api.cudlaModuleUnload(client.module, 0))
    check(api.cudlaDestroyDevice(client.device))


def test_engine_timeout(loaded: Loaded, sim_fault: Callable[[str], None]) -> None:
    client = loaded.client
    done, fence = Sync(client, dla_waits=False), p.NvSciSyncFence()
    sim_fault("dla/timeout@1")
    check(client.submit(loaded.task(signals=[(done, fence, EOF)])))
    check(done.wait(fence))
    timeout = S.cudlaErrorDlaErrEngineTimeout
    assert client.api.cudlaGetLastError(client.device) == timeout


def test_fence_that_never_comes(loaded: Loaded, sim_fault: Callable[[str], None]) -> None:
    client = loaded.client
    done, fence = Sync(client, dla_waits=False), p.NvSciSyncFence()
    sim_fault("fence/never@1")
    check(client.submit(loaded.task(signals=[(done, fence, EOF)]), flags=NOOP))
    assert done.wait(fence, 5000) == 0x200


def test_injected_call_failure(loaded: Loaded, sim_fault: Callable[[str], None]) -> None:
    sim_fault("cudlaSubmitTask@2=cudlaErrorOs")
    check(loaded.client.submit(loaded.task(), flags=NOOP))
    assert loaded.client.submit(loaded.task(), flags=NOOP) == S.cudlaErrorOs
    loaded.finish()


def test_waiting_releases_the_interpreter(loaded: Loaded) -> None:
    """A Python thread signals while the main thread waits in C."""
    import threading

    client = loaded.client
    start, done = Sync(client, dla_waits=True), Sync(client, dla_waits=False)
    fence = p.NvSciSyncFence()
    check(
        client.submit(
            loaded.task(waits=[(start.generate(), EOF)], signals=[(done, fence, EOF)]), flags=NOOP
        )
    )
    helper = threading.Thread(target=lambda: (time.sleep(0.02), start.signal()))
    helper.start()
    check(done.wait(fence))
    helper.join()
