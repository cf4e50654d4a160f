"""Calls of the CUDA C functions, in the words of the tests."""

from __future__ import annotations

import ctypes
import threading
from collections.abc import Iterator
from types import ModuleType
from typing import Any

import pytest

from cudla_sim.constants.cudart import cudaError

H2H, H2D, D2H, D2D, DEFAULT = range(5)


class Cuda:
    """``cuda.cudaMalloc(...)`` answers the status; ``cuda.ok.cudaMalloc(...)`` insists on 0."""

    def __init__(self, api: Any, sim: ModuleType) -> None:
        self._api = api
        self.sim = sim
        self.ok = _Insisting(self)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._api, name)

    def malloc(self, size: int) -> int:
        target = ctypes.c_void_p()
        self.ok.cudaMalloc(ctypes.byref(target), size)
        return target.value or 0

    def pinned(self, size: int) -> int:
        target = ctypes.c_void_p()
        self.ok.cudaMallocHost(ctypes.byref(target), size)
        return target.value or 0

    def managed(self, size: int) -> int:
        target = ctypes.c_void_p()
        self.ok.cudaMallocManaged(ctypes.byref(target), size, 1)
        return target.value or 0

    def stream(self, flags: int = 0) -> int:
        target = ctypes.c_void_p()
        self.ok.cudaStreamCreateWithFlags(ctypes.byref(target), flags)
        return target.value or 0

    def event(self, flags: int = 0) -> int:
        target = ctypes.c_void_p()
        self.ok.cudaEventCreateWithFlags(ctypes.byref(target), flags)
        return target.value or 0

    def elapsed_ms(self, start: int, end: int) -> float:
        target = ctypes.c_float()
        self.ok.cudaEventElapsedTime(ctypes.byref(target), start, end)
        return target.value

    def fails(self, status: str, function: str, *arguments: Any) -> str:
        """Insists on a failure; its explanation."""
        found = getattr(self._api, function)(*arguments)
        assert cudaError(found).name == status, self.sim.last_explanation()
        text: str = self.sim.last_explanation()
        assert text.startswith(f"{function}: ")
        return text

    def bytes_at(self, address: int, size: int) -> bytes:
        return ctypes.string_at(address, size)


class _Insisting:
    def __init__(self, cuda: Cuda) -> None:
        self._cuda = cuda

    def __getattr__(self, name: str) -> Any:
        function = getattr(self._cuda, name)

        def call(*arguments: Any) -> None:
            status = function(*arguments)
            assert status == 0, f"{name}: {status}: {self._cuda.sim.last_explanation()}"

        return call


class Gate:
    """Holds a stream until it is opened, so that a test decides what is still pending."""

    def __init__(self, stream: int) -> None:
        from cudla_sim.cudart import context

        self._opened = threading.Event()
        context.stream_of(stream).enqueue(lambda: self._wait())

    def _wait(self) -> None:
        assert self._opened.wait(20), "the test never opened the gate"

    def open(self) -> None:
        self._opened.set()


@pytest.fixture
def cuda(sim_api: Any, sim: ModuleType) -> Cuda:
    return Cuda(sim_api, sim)


@pytest.fixture
def gates() -> Iterator[Any]:
    """``gates(stream)`` makes a Gate; all are open when the test ends."""
    made: list[Gate] = []

    def make(stream: int) -> Gate:
        made.append(Gate(stream))
        return made[-1]

    yield make
    for gate in made:
        gate.open()
