"""Many threads at once: results stay right, nothing is left behind."""

from __future__ import annotations

import ctypes
import threading
from pathlib import Path
from types import ModuleType

import numpy as np

from cudla_sim.testing import CApi
from cudla_sim.testing import prototypes as p
from tests.conftest import ROOT
from tests.cudla.driver import HYBRID, STANDALONE, Client, Sync, check, pointer

DIGITS = ROOT / "c_examples" / "cudla" / "data"


def picture(path: Path, size: int) -> np.ndarray:
    """A PGM of the samples in the network's input layout: atoms of 32 bytes a pixel."""
    grey = np.frombuffer(path.read_bytes()[-64:], np.uint8)
    tensor = np.zeros(size, np.uint8)
    tensor[: 64 * 32 : 32] = np.rint(grey / 16 * 127)
    return tensor


def test_threads_with_handles_of_their_own(sim: ModuleType, sim_api: CApi) -> None:
    """Four threads, both cores, both modes, all digits; each prediction as from a single thread."""
    image = (DIGITS / "digits_int8.nvdla").read_bytes()
    paths = sorted((DIGITS / "images").glob("*.pgm"))[::4]
    failures: list[BaseException] = []
    answers: dict[int, list[bytes]] = {}

    def work(number: int) -> None:
        try:
            client = Client(sim_api, HYBRID if number % 2 else STANDALONE, number // 2)
            check(client.load(image))
            (source,), (result,) = client.descriptors(2), client.descriptors(3)
            into, out = client.allocate(source.size), client.allocate(result.size)
            stream, done, fence = pointer(), None, p.NvSciSyncFence()
            if client.mode == HYBRID:
                check(sim_api.cudaStreamCreate(ctypes.byref(stream)))
                task = client.task([into], [out])
            else:
                done = Sync(client, dla_waits=False)
                task = client.task([into], [out], None, [(done, fence, 1)])
            found = []
            for path in paths:
                into.array[:] = picture(path, source.size)
                check(client.submit(task, stream=stream.value))
                if done is None:
                    check(sim_api.cudaStreamSynchronize(stream))
                else:
                    check(done.wait(fence))
                found.append(out.array.tobytes())
            answers[number] = found
            check(sim_api.cudlaDestroyDevice(client.device))
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=work, args=(n,)) for n in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert failures == []
    assert answers[0] == answers[1] == answers[2] == answers[3]
    labels = [int(path.name[0]) for path in paths]
    digits = [int(np.frombuffer(a, np.int8)[:10].argmax()) for a in answers[0]]
    assert np.mean(np.array(labels) == digits) >= 0.95
    assert sim.dla.devices == []


def test_threads_opening_and_closing(sim: ModuleType, sim_api: CApi) -> None:
    failures: list[int] = []

    def work(core: int) -> None:
        for _ in range(100):
            handle = pointer()
            status = sim_api.cudlaCreateDevice(core, ctypes.byref(handle), STANDALONE)
            if status or sim_api.cudlaDestroyDevice(handle):
                failures.append(status)

    threads = [threading.Thread(target=work, args=(n % 2,)) for n in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert failures == []
    assert sim.dla.devices == []


def test_one_handle_freed_by_many_threads(sim_api: CApi) -> None:
    handle = pointer()
    check(sim_api.cudlaCreateDevice(0, ctypes.byref(handle), STANDALONE))
    outcomes: list[int] = []
    threads = [
        threading.Thread(target=lambda: outcomes.append(sim_api.cudlaDestroyDevice(handle)))
        for _ in range(8)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert sorted(outcomes) == [0] + [8] * 7
