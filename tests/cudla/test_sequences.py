"""Random sequences of calls against a small model of what each should answer."""

from __future__ import annotations

import ctypes

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

import cudla_sim
from cudla_sim.constants.cudla import cudlaStatus as S
from cudla_sim.testing import load
from cudla_sim.testing import prototypes as p
from tests.cudla.conftest import DIGITS
from tests.cudla.driver import STANDALONE, Buffer, Client, Sync, check

IMAGE = DIGITS.read_bytes()
NOOP = 1


class Handle:
    """One device handle and what the model knows of it."""

    def __init__(self) -> None:
        self.client = Client(load(), STANDALONE)
        self.loaded = False
        self.buffers: list[Buffer] = []
        self.gate = Sync(self.client, dla_waits=True)
        self.done = Sync(self.client, dla_waits=False)
        self.blocked = 0  # submitted tasks behind a fence that was not signaled yet
        self.last: p.NvSciSyncFence | None = None
        self.open = True


class Sequences(RuleBasedStateMachine):
    """Up to three standalone handles. Every answer is predicted; no call may hang or crash."""

    def __init__(self) -> None:
        super().__init__()
        self.handles: list[Handle] = []

    @initialize()
    def start(self) -> None:
        cudla_sim.reset()
        self.handles = [Handle()]

    def pick(self, number: int) -> Handle:
        return self.handles[number % len(self.handles)]

    @rule()
    def create(self) -> None:
        if len(self.handles) < 3:
            self.handles.append(Handle())

    @rule(number=st.integers(0, 9))
    def load_module(self, number: int) -> None:
        h = self.pick(number)
        status = h.client.load(IMAGE) if not (h.open and h.loaded) else self.second_module(h)
        if not h.open:
            assert status == S.cudlaErrorInvalidDevice
        elif h.loaded:
            assert status == S.cudlaErrorUnsupportedOperation
        else:
            check(status)
            h.loaded = True

    def second_module(self, h: Handle) -> int:
        out = ctypes.c_void_p()
        status: int = h.client.api.cudlaModuleLoadFromMemory(
            h.client.device, IMAGE, len(IMAGE), ctypes.byref(out), 0
        )
        return status

    @rule(number=st.integers(0, 9))
    def unload_module(self, number: int) -> None:
        h = self.pick(number)
        status = h.client.api.cudlaModuleUnload(h.client.module, 0)
        if not h.open or not h.loaded:
            assert status == S.cudlaErrorInvalidModule
        elif h.blocked:
            assert status == S.cudlaErrorUmd
        else:
            check(status)
            h.loaded = False

    @rule(number=st.integers(0, 9))
    def add_buffers(self, number: int) -> None:
        h = self.pick(number)
        if h.open and len(h.buffers) < 4:
            h.buffers.append(h.client.allocate(4096))

    @rule(number=st.integers(0, 9), which=st.integers(0, 9))
    def unregister(self, number: int, which: int) -> None:
        h = self.pick(number)
        if not h.buffers:
            return
        buffer = h.buffers[which % len(h.buffers)]
        status = h.client.api.cudlaMemUnregister(h.client.device, buffer.device_pointer)
        if not h.open:
            assert status == S.cudlaErrorInvalidDevice
        elif h.blocked and buffer in h.buffers[:2]:
            assert status == S.cudlaErrorUmd
        else:
            check(status)
            h.buffers.remove(buffer)

    @rule(number=st.integers(0, 9), wait=st.booleans(), noop=st.booleans())
    def submit(self, number: int, wait: bool, noop: bool) -> None:
        h = self.pick(number)
        if len(h.buffers) < 2 or not (h.open and h.loaded):
            return
        fence = p.NvSciSyncFence()
        waits = [(h.gate.generate(), 1)] if wait else None
        task = h.client.task(h.buffers[:1], h.buffers[1:2], waits, [(h.done, fence, 1)])
        check(h.client.submit(task, flags=NOOP if noop else 0), "submit")
        if wait or h.blocked:
            h.blocked += 1
            assert h.done.wait(fence, 0) == 0x200
        else:
            check(h.done.wait(fence))
        h.last = fence

    @rule(number=st.integers(0, 9))
    def open_gate(self, number: int) -> None:
        """Signals more than enough for every fence that was generated."""
        h = self.pick(number)
        while h.blocked and h.last is not None and h.done.wait(h.last, 0) != 0:
            h.gate.signal()
            h.done.wait(h.last, 2000)
        h.blocked = 0

    @rule(number=st.integers(0, 9))
    def destroy(self, number: int) -> None:
        h = self.pick(number)
        status = h.client.api.cudlaDestroyDevice(h.client.device)
        if not h.open:
            assert status == S.cudlaErrorInvalidDevice
        elif h.blocked:
            assert status == S.cudlaErrorUmd
        else:
            check(status)
            h.open = False
            h.loaded = False

    @invariant()
    def python_sees_the_same(self) -> None:
        if not self.handles:
            return
        assert len(cudla_sim.dla.devices) == sum(h.open for h in self.handles)
        modules = sum(len(d.modules) for d in cudla_sim.dla.devices)
        assert modules == sum(h.loaded for h in self.handles)
        waiting = sum(len(d.tasks) for d in cudla_sim.dla.devices)
        assert waiting == sum(h.blocked for h in self.handles)

    def teardown(self) -> None:
        for number in range(len(self.handles)):
            self.open_gate(number)
        cudla_sim.reset()


Sequences.TestCase.settings = settings(
    max_examples=40,
    stateful_step_count=30,
    deadline=None,
    suppress_health_check=list(HealthCheck),
)
TestSequences = Sequences.TestCase
