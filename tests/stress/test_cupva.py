"""cuPVA from many threads: submissions to shared and own streams, memory that comes and goes."""

from __future__ import annotations

import ctypes
from types import ModuleType
from typing import Any

import numpy as np

from cudla_sim.testing import CApi
from cudla_sim.testing import prototypes as p
from tests.cudla.driver import check, pointer
from tests.stress.threads import in_threads

SIZE = 1 << 12
IN_ORDER, OUT_OF_ORDER = 1, 2


class Pva:
    """What the tests call, with results instead of places for them."""

    def __init__(self, api: CApi) -> None:
        self.api = api

    def stream(self) -> ctypes.c_void_p:
        made = pointer()
        check(self.api.CupvaStreamCreate(ctypes.byref(made), 1, 3))
        return made

    def memory(self) -> tuple[int, np.ndarray]:
        device, host = pointer(), pointer()
        check(self.api.CupvaMemAlloc(ctypes.byref(device), SIZE, 3, 1))
        check(self.api.CupvaMemGetHostPointer(ctypes.byref(host), device))
        array = np.ctypeslib.as_array((ctypes.c_uint8 * SIZE).from_address(host.value))
        return device.value, array

    def copy(self, target: int, source: int) -> Any:
        command = p.cupvaCmd_t()
        params = p.cupvaCmdMemcpyBufferParams_t(ptrSrc=source, ptrDst=target)
        check(self.api.CupvaCmdMemcpyCreate(ctypes.byref(command), ctypes.byref(params), SIZE))
        return command

    def request(self, fence: Any) -> Any:
        command = p.cupvaCmd_t()
        check(self.api.CupvaCmdRequestFencesInit(ctypes.byref(command), ctypes.byref(fence), 1))
        return command

    def submit(self, stream: Any, commands: list[Any], order: int) -> list[int]:
        """The status of each command, when all have ended."""
        array = (ctypes.c_void_p * len(commands))(*(ctypes.addressof(c) for c in commands))
        status = (ctypes.c_void_p * len(commands))()
        api = self.api
        check(api.CupvaStreamSubmit(stream, array, status, len(commands), order, -1, -1))
        check(api.CupvaStreamSynchronize(stream))
        found = ctypes.c_int()
        codes = []
        for one in status:
            check(api.CupvaCheckCommandStatus(one, ctypes.byref(found)))
            codes.append(found.value)
        return codes


def test_copies_of_many_threads(sim_api: CApi, sim: ModuleType) -> None:
    """On one shared stream and on own ones; memory is allocated and freed all the time."""
    pva = Pva(sim_api)
    shared = pva.stream()

    def work(number: int) -> None:
        own = pva.stream()
        for turn in range(40):
            (source, sent), (target, got) = pva.memory(), pva.memory()
            sent[:] = (number * 43 + turn) % 251
            command = pva.copy(target, source)
            order = OUT_OF_ORDER if turn % 2 else IN_ORDER
            assert pva.submit(own if turn % 3 else shared, [command], order) == [0]
            assert np.array_equal(sent, got)
            check(sim_api.CupvaCmdDestroy(ctypes.byref(command)))
            check(sim_api.CupvaMemFree(source))
            check(sim_api.CupvaMemFree(target))
        check(sim_api.CupvaStreamDestroy(own))

    in_threads(6, work)
    check(sim_api.CupvaStreamDestroy(shared))
    assert sim.process.handles.live("command") == []


def test_fences_of_one_sync_object_on_many_streams(sim_api: CApi) -> None:
    pva, sync = Pva(sim_api), pointer()
    check(sim_api.CupvaSyncObjCreate(ctypes.byref(sync), False, 3, 1))

    def work(_: int) -> None:
        stream, fence, reached = pva.stream(), p.cupvaFence_t(), ctypes.c_bool()
        for _ in range(60):
            check(sim_api.CupvaFenceInit(ctypes.byref(fence), sync))
            assert pva.submit(stream, [pva.request(fence)], IN_ORDER) == [0]
            check(sim_api.CupvaFenceWait(ctypes.byref(fence), -1, ctypes.byref(reached)))
            assert reached.value
        check(sim_api.CupvaStreamDestroy(stream))

    in_threads(6, work)
    check(sim_api.CupvaSyncObjDestroy(sync))


def test_one_stream_destroyed_by_many(sim_api: CApi) -> None:
    stream = Pva(sim_api).stream()
    outcomes: list[int] = []
    in_threads(8, lambda _: outcomes.append(sim_api.CupvaStreamDestroy(stream)))
    assert sorted(outcomes) == [0] + [5] * 7


def test_programs_made_and_destroyed_by_many(sim_api: CApi, sim: ModuleType) -> None:
    def work(_: int) -> None:
        for _ in range(60):
            program, flow = p.cupvaCmd_t(), pointer()
            check(sim_api.CupvaCmdProgramCreate(ctypes.byref(program), None))
            add = sim_api.CupvaCmdProgramAddDataFlowHead
            check(add(ctypes.byref(program), ctypes.byref(flow), 1, 0, 1.0))
            check(sim_api.CupvaCmdDestroy(ctypes.byref(program)))
            assert sim_api.CupvaDataFlowGetId(flow, ctypes.byref(ctypes.c_int32())) == 5

    in_threads(6, work)
    assert sim.cupva.programs == []
