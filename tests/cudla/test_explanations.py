"""What an explanation says where the first thing that is wrong is not what the user must mend."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from types import ModuleType

import numpy as np

from cudla_sim.constants.cudla import cudlaStatus as S
from cudla_sim.testing import prototypes as p

from .driver import HYBRID, Client, Sync, check, pointer


def explanation(sim: ModuleType) -> str:
    return str(sim.last_explanation())


def register(client: Client, address: int, size: int) -> int:
    out = pointer()
    status: int = client.api.cudlaMemRegister(client.device, address, size, ctypes.byref(out), 0)
    return status


def test_memory_of_malloc_is_no_cuda_memory_whatever_its_alignment(
    sim: ModuleType, client: Callable[..., Client]
) -> None:
    made = client(HYBRID)
    memory = np.zeros(4096, np.uint8)
    odd = memory.ctypes.data + (8 if memory.ctypes.data % 32 == 0 else 0)
    assert register(made, odd, 64) == S.cudlaErrorInvalidAddress
    assert "no CUDA memory" in explanation(sim)
    assert "aligned" not in explanation(sim)


def test_cuda_memory_that_is_not_aligned_says_so(
    sim: ModuleType, client: Callable[..., Client]
) -> None:
    made, where = client(HYBRID), pointer()
    check(made.api.cudaMalloc(ctypes.byref(where), 4096))
    assert where.value
    assert register(made, where.value + 8, 64) == S.cudlaErrorInvalidAddress
    assert "not aligned to 32" in explanation(sim)


def test_a_pointer_of_another_handle_is_recognised(
    sim: ModuleType, client: Callable[..., Client], digits: bytes
) -> None:
    one, other = client(HYBRID), client(HYBRID)
    assert other.load(digits) == 0
    size = other.descriptors(2)[0].size
    buffer = one.allocate(4096)
    task = other.task([buffer], [buffer])
    assert size <= 4096
    assert other.submit(task) == S.cudlaErrorInvalidAddress
    assert "of another device handle" in explanation(sim)


def test_far_ranges_are_not_offered(sim: ModuleType, client: Callable[..., Client]) -> None:
    made = client(HYBRID)
    made.allocate(4096)
    assert register(made, 0x1000, 64) == S.cudlaErrorInvalidAddress
    assert "bytes below" not in explanation(sim)


def test_swapped_tensors_are_recognised(
    sim: ModuleType, client: Callable[..., Client], digits: bytes
) -> None:
    made = client(HYBRID)
    assert made.load(digits) == 0
    sizes = [made.descriptors(kind)[0].size for kind in (2, 3)]
    source, result = (made.allocate(size) for size in sizes)
    assert sizes[0] != sizes[1]
    task = made.task([result], [source])
    assert made.submit(task) == S.cudlaErrorInvalidAddress
    text = explanation(sim)
    assert ("it would fit outputTensor[0]" in text) or ("it would fit inputTensor[0]" in text)


def test_a_wait_that_times_out_names_the_task_and_what_it_waits_for(
    sim: ModuleType, client: Callable[..., Client], digits: bytes
) -> None:
    made = client()
    assert made.load(digits) == 0
    waits, signals = Sync(made, dla_waits=True), Sync(made, dla_waits=False)
    before = waits.generate()
    fence = p.NvSciSyncFence()
    source = made.allocate(made.descriptors(2)[0].size)
    result = made.allocate(made.descriptors(3)[0].size)
    task = made.task(
        [source],
        [result],
        waits=[(before, 1)],
        signals=[(signals, fence, 1)],
    )
    assert made.submit(task) == 0
    assert signals.wait(fence, 20_000) != 0
    text = explanation(sim)
    assert "a task on DLA0 is queued; it waits for waitEvents.preFences[0] itself" in text
    assert "NvSciSyncObjSignal" in text
    waits.signal()
    assert signals.wait(fence) == 0


def test_a_ruined_context_refuses_until_it_is_reset(
    sim: ModuleType, client: Callable[..., Client], digits: bytes
) -> None:
    made = client(HYBRID)
    assert made.load(digits) == 0
    source = made.allocate(made.descriptors(2)[0].size)
    result = made.allocate(made.descriptors(3)[0].size)
    task = made.task([source], [result])
    sim.inject_fault("dla/task@1")
    assert made.submit(task) == 0
    assert made.api.cudaDeviceSynchronize() != 0
    sim.inject_fault("")
    assert made.api.cudlaGetLastError(made.device) == S.cudlaErrorDlaErrDataMismatch
    assert made.submit(task) == S.cudlaErrorCuda
    assert "cudaDeviceReset" in explanation(sim)


def test_many_registrations_do_not_get_slower(client: Callable[..., Client]) -> None:
    """Counted, not timed: the number of ranges that are looked at for one more."""
    made, where = client(HYBRID), pointer()
    check(made.api.cudaMalloc(ctypes.byref(where), 64 * 3000))
    assert where.value
    for index in range(3000):
        assert register(made, where.value + 64 * index, 64) == 0
    assert register(made, where.value + 64, 64) == S.cudlaErrorMemoryRegistered
