"""State-changing calls on one handle from eight threads: as if made one after the other.

The cuDLA reference says that its calls take a lock. The interpreter switches threads as often as
it can here, so that windows between a check and its effect are hit.
"""

from __future__ import annotations

import ctypes
import sys
from collections import Counter
from collections.abc import Callable, Iterator

import pytest

from cudla_sim.constants import cudla as c
from cudla_sim.constants.cudla import cudlaStatus as S
from cudla_sim.testing import prototypes as p
from tests.stress.threads import in_threads

from .driver import HYBRID, STANDALONE, Client, Sync, check, pointer

NOOP = 1
THREADS = 8
ROUNDS = 20


@pytest.fixture(autouse=True)
def _switch_threads_often() -> Iterator[None]:
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(before)


def statuses(call: Callable[[int], int]) -> Counter[int]:
    """How often each status came back from eight threads that call at once."""
    seen: list[int] = []
    in_threads(THREADS, lambda number: seen.append(call(number)))
    return Counter(seen)


def one_winner(loser: int) -> Counter[int]:
    return Counter({int(S.cudlaSuccess): 1, int(loser): THREADS - 1})


def test_module_load_from_eight_threads_has_one_winner(either: Client, digits: bytes) -> None:
    for _ in range(ROUNDS):
        handles = [pointer() for _ in range(THREADS)]
        answers = statuses(
            lambda n, handles=handles: either.api.cudlaModuleLoadFromMemory(
                either.device, digits, len(digits), ctypes.byref(handles[n]), 0
            )
        )
        assert answers == one_winner(S.cudlaErrorUnsupportedOperation)
        (loaded,) = [handle for handle in handles if handle.value]
        check(either.api.cudlaModuleUnload(loaded, 0))
    check(either.api.cudlaDestroyDevice(either.device))


def test_module_unload_from_eight_threads_has_one_winner(either: Client, digits: bytes) -> None:
    for _ in range(ROUNDS):
        check(either.load(digits))
        answers = statuses(lambda _: either.api.cudlaModuleUnload(either.module, 0))
        assert answers == one_winner(S.cudlaErrorInvalidModule)
    check(either.api.cudlaDestroyDevice(either.device))


def test_mem_register_from_eight_threads_has_one_winner(client: Callable[..., Client]) -> None:
    made = client(HYBRID)
    memory = pointer()
    check(made.api.cudaMalloc(ctypes.byref(memory), 4096))
    for _ in range(ROUNDS):
        registered = [pointer() for _ in range(THREADS)]
        answers = statuses(
            lambda n, registered=registered: made.api.cudlaMemRegister(
                made.device, memory, 4096, ctypes.byref(registered[n]), 0
            )
        )
        assert answers == one_winner(S.cudlaErrorMemoryRegistered)
        (engine,) = [each for each in registered if each.value]
        answers = statuses(lambda _, e=engine: made.api.cudlaMemUnregister(made.device, e))
        assert answers == one_winner(S.cudlaErrorInvalidAddress)
    check(made.api.cudlaDestroyDevice(made.device))


def test_import_of_one_buffer_from_eight_threads_has_one_winner(
    client: Callable[..., Client],
) -> None:
    made = client(STANDALONE)
    buffer = made.allocate(4096)
    check(made.api.cudlaMemUnregister(made.device, buffer.device_pointer))
    desc = p.cudlaExternalMemoryHandleDesc_t(buffer.handle, 4096)
    for _ in range(ROUNDS):
        imported = [pointer() for _ in range(THREADS)]
        answers = statuses(
            lambda n, imported=imported: made.api.cudlaImportExternalMemory(
                made.device, ctypes.byref(desc), ctypes.byref(imported[n]), 0
            )
        )
        assert answers == one_winner(S.cudlaErrorMemoryRegistered)
        (engine,) = [each for each in imported if each.value]
        check(made.api.cudlaMemUnregister(made.device, engine))
    check(made.api.cudlaDestroyDevice(made.device))


def test_import_of_one_semaphore_from_eight_threads_has_one_winner(
    client: Callable[..., Client],
) -> None:
    made = client(STANDALONE)
    sync = Sync(made, dla_waits=False)
    check(made.api.cudlaMemUnregister(made.device, sync.device_pointer))
    desc = p.cudlaExternalSemaphoreHandleDesc_t(sync.obj)
    for _ in range(ROUNDS):
        imported = [pointer() for _ in range(THREADS)]
        answers = statuses(
            lambda n, imported=imported: made.api.cudlaImportExternalSemaphore(
                made.device, ctypes.byref(desc), ctypes.byref(imported[n]), 0
            )
        )
        assert answers == one_winner(S.cudlaErrorMemoryRegistered)
        (engine,) = [each for each in imported if each.value]
        check(made.api.cudlaMemUnregister(made.device, engine))
    check(made.api.cudlaDestroyDevice(made.device))


def test_create_device_from_eight_threads_has_sixteen_winners(
    client: Callable[..., Client],
) -> None:
    made = client(STANDALONE)
    handles = [pointer() for _ in range(THREADS * 4)]

    def create(number: int) -> None:
        for handle in handles[number * 4 : number * 4 + 4]:
            made.api.cudlaCreateDevice(0, ctypes.byref(handle), c.cudlaMode.CUDLA_STANDALONE)

    in_threads(THREADS, create)
    opened = [handle for handle in handles if handle.value]
    assert len(opened) == 15  # cuDLA reference: 16 handles a DLA, one of them is the client's
    for handle in opened:
        check(made.api.cudlaDestroyDevice(handle))


def test_destroy_device_from_eight_threads_has_one_winner(
    client: Callable[..., Client], digits: bytes
) -> None:
    for _ in range(ROUNDS):
        made = client(STANDALONE)
        check(made.load(digits))
        answers = statuses(lambda _, made=made: made.api.cudlaDestroyDevice(made.device))
        assert answers == one_winner(S.cudlaErrorInvalidDevice)


GONE = {
    S.cudlaErrorInvalidDevice,
    S.cudlaErrorInvalidModule,
    S.cudlaErrorInvalidParam,  # cudlaSetTaskTimeoutInMs of an invalid handle
    S.cudlaErrorUnsupportedOperation,  # a second module
    S.cudlaErrorInvalidAddress,
    S.cudlaErrorUmd,  # while a task has not ended
}
"""What calls may answer beside cudlaDestroyDevice of their handle."""


def destroy_beside_others(client: Client, digits: bytes) -> list[int]:
    """The statuses of one call in each of eight threads, one of which destroys the handle."""
    api, device = client.api, client.device
    check(client.load(digits))
    inputs = [client.allocate(d.size) for d in client.descriptors(2)]
    outputs = [client.allocate(d.size) for d in client.descriptors(3)]
    task, memory, engine, module = client.task(inputs, outputs), pointer(), pointer(), pointer()
    check(api.cudaMalloc(ctypes.byref(memory), 4096))
    register, load = api.cudlaMemRegister, api.cudlaModuleLoadFromMemory
    calls: list[Callable[[], int]] = [
        lambda: api.cudlaDestroyDevice(device),
        lambda: client.submit(task, flags=NOOP),
        lambda: client.submit(task, flags=NOOP),
        lambda: register(device, memory, 4096, ctypes.byref(engine), 0),
        lambda: api.cudlaMemUnregister(device, inputs[0].device_pointer),
        lambda: api.cudlaModuleUnload(client.module, 0),
        lambda: api.cudlaSetTaskTimeoutInMs(device, 1000),
        lambda: load(device, digits, len(digits), ctypes.byref(module), 0),
    ]
    seen: list[int] = []
    in_threads(THREADS, lambda number: seen.append(calls[number]()))
    check(api.cudaDeviceSynchronize())
    api.cudlaDestroyDevice(device)
    return seen


def test_calls_beside_destroy_succeed_or_find_the_handle_gone(
    client: Callable[..., Client], digits: bytes
) -> None:
    for _ in range(ROUNDS):
        seen = destroy_beside_others(client(HYBRID), digits)
        assert set(seen) <= GONE | {S.cudlaSuccess}, [S(status).name for status in seen]
