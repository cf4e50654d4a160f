"""The actor: on a worker of the cluster, the memory of some ranks and what runs their programs.

It knows slots of its own, from 0. Its methods are coroutines that do their work in threads, so that
copies and launches of different ranks go on side by side and a launch can be cancelled.
"""

from __future__ import annotations

import contextlib
import os
import socket
from collections import OrderedDict
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from ...native import load
from ...native.dpu_memory import Place, Slots
from ..errors import DpuError
from ..memory import STRIDE, MachineMemory
from ..workers.checks import Checks
from ..workers.outcome import Launch
from ..workers.pool import WorkerError, WorkerPool
from .small import Writes

T = TypeVar("T")
Bytes = NDArray[np.uint8]

_IMAGES = 16
"""Programs that are remembered."""


class Refused(Exception):
    """What the machine cannot do; the text says why."""


class UnknownImage(Exception):
    """The program must be sent."""


class RankHost:
    """``slots`` DPUs; ``workers``: processes that run a program, None: one a core; ``limit_s``:
    seconds that a launch may take, 0: any time.

    ``token`` names this object: a caller that expects another one talks to what came after it was
    lost, whose memories are empty.
    """

    def __init__(
        self, slots: int, threads: int, workers: int | None, limit_s: float, token: str
    ) -> None:
        self._token = token
        self._copies = load().dpus
        try:
            self._memory = MachineMemory(slots)
            self._memory.reserve(slots)
        except DpuError as problem:
            raise Refused(problem.explanation) from None
        self._pool = WorkerPool(self._memory.fd, STRIDE, workers, limit_s=limit_s)
        self._threads = ThreadPoolExecutor(threads, "ranks")
        self._images: OrderedDict[bytes, bytes] = OrderedDict()

    async def hello(self) -> tuple[str, str, int]:
        """Token, name of the machine, process id."""
        return self._token, socket.gethostname(), os.getpid()

    async def _do(self, token: str, before: Sequence[Writes], work: Callable[[], T]) -> T:
        """``before``: small writes that come first."""
        from tornado.ioloop import IOLoop  # distributed brings it

        if token != self._token:
            raise Refused("the ranks that were here are lost")

        def all_of_it() -> T:
            for writes in before:
                self._write_all(writes)
            return work()

        return await IOLoop.current().run_in_executor(self._threads, all_of_it)

    def _write_all(self, writes: Writes) -> None:
        first, begin = 0, 0
        for offset, size, count, length in writes.table.tolist():
            slots, data = writes.slots[first : first + count], writes.data[begin : begin + length]
            self._transfer(Place(self._memory.base, offset, size, to_dpu=True), slots, data)
            first, begin = first + count, begin + length

    async def write(
        self,
        token: str,
        before: Sequence[Writes],
        offset: int,
        size: int,
        slots: Slots,
        data: Bytes,
    ) -> None:
        """``data``: ``size`` bytes for each slot, one after the other, or the same for all."""

        def work() -> None:
            self._transfer(Place(self._memory.base, offset, size, to_dpu=True), slots, data)

        await self._do(token, before, work)

    async def read(
        self, token: str, before: Sequence[Writes], offset: int, size: int, slots: Slots
    ) -> Bytes:
        """``size`` bytes of each slot, one after the other."""

        def work() -> Bytes:
            data = np.empty(size * len(slots), np.uint8)
            self._transfer(Place(self._memory.base, offset, size, to_dpu=False), slots, data)
            return data

        return await self._do(token, before, work)

    def _transfer(self, place: Place, slots: Slots, data: Bytes) -> None:
        data = np.ascontiguousarray(data)
        step = place.size if len(data) > place.size or len(slots) == 1 else 0
        hosts = data.ctypes.data + step * np.arange(len(slots), dtype=np.uint64)
        if self._copies.transfer(place, np.array(slots, np.uint32), hosts) >= 0:
            raise Refused("the system gives no memory for the copy")

    async def launch(
        self,
        token: str,
        before: Sequence[Writes],
        path: str,
        digest: bytes,
        image: bytes | None,
        slots: Sequence[int],
        checks: Checks,
        timed: bool,
    ) -> Launch:
        """As ``WorkerPool.launch``. Raises UnknownImage when only the digest is given of a program
        that is not known here."""
        if image is not None:
            self._images[digest] = image
            while len(self._images) > _IMAGES:
                self._images.popitem(last=False)
        elif digest not in self._images:
            raise UnknownImage(path)
        self._images.move_to_end(digest)
        contents = self._images[digest]

        def work() -> Launch:
            try:
                return self._pool.launch(path, contents, slots, checks, timed)
            except WorkerError as problem:
                raise Refused(f"no worker process: {problem}") from None

        return await self._do(token, before, work)

    async def cancel(self, token: str, slots: Sequence[int]) -> None:
        """As ``WorkerPool.cancel``."""
        if token == self._token:
            self._pool.cancel(slots)

    async def clear(self, token: str, first: int, count: int) -> None:
        """The memory of slots reads as zero when this has ended."""

        def work() -> None:
            self._memory.cleared(self._memory.clear(self._copies, first, count))

        await self._do(token, (), work)

    async def close(self) -> None:
        """Ends the programs and gives the memory back. Harmless when repeated."""
        self._close()

    def _close(self) -> None:
        self._pool.close()
        self._threads.shutdown(wait=False, cancel_futures=True)
        self._memory.close()

    def __del__(self) -> None:
        # The program that asked for the ranks is gone, or has freed them.
        with contextlib.suppress(Exception):
            self._close()
