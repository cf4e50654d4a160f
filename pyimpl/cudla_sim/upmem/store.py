"""Where the memories of the DPUs are, and where their programs run: here, or on other machines."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Protocol

from ..native.dpu_memory import Clearing, DpuCopies, Numbers, Place, SgResult, Slots
from .errors import Status, error
from .memory import STRIDE, MachineMemory
from .workers.checks import Checks

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from .workers.frame import How
    from .workers.outcome import Launch
    from .workers.pool import WorkerPool


class Store(Protocol):
    """Slots are numbered through the machine, 64 a rank. What it raises are DpuErrors."""

    base: int
    """Where slot 0 lies in this process, once ranks were prepared; 0 when it does not."""

    def transfer(self, place: Place, slots: Numbers, hosts: Numbers) -> int:
        """As ``DpuCopies.transfer``."""

    def scatter_gather(
        self,
        place: Place,
        slots: Slots,
        indexes: Slots,
        function: int,
        arguments: int,
        max_blocks: int,
        check_length: bool,
        most_compared: int = 0,
        overlap_fails: bool = False,
        token: int = 0,
    ) -> SgResult:
        """As ``DpuCopies.scatter_gather``."""

    def read(self, slot: int, offset: int, size: int) -> NDArray[np.uint8]:
        """Bytes of a slot (see ``memory``): a view where it lies here, else a read-only copy."""

    def launch(
        self, path: str, image: bytes, slots: Sequence[int], checks: Checks, timed: bool
    ) -> Launch:
        """Runs a program on DPUs, until all have ended."""

    def cancel(self, slots: Sequence[int]) -> None:
        """Stops the launches that have any of these slots."""

    def together(self, slots: Sequence[int]) -> bool:
        """Makes all DPUs of the launches that have any of these slots run at the same time. False
        when no launch has."""

    def prepare(self, ranks: Sequence[int]) -> None:
        """Before ranks are taken: makes sure of their memory, which reads as zero."""

    def clear(self, ranks: Sequence[int]) -> None:
        """Gives the memory of ranks back, or keeps it for the next set."""

    def usable(self, rank: int) -> bool:
        """False when the rank's memory is lost."""

    def close(self) -> None:
        """Ends the programs and gives everything back."""


class LocalStore:
    """On this machine: one file that worker processes map too."""

    def __init__(
        self,
        ranks: int,
        per_rank: int,
        workers: int | None,
        copies: DpuCopies,
        allowed: str,
        limit_s: float,
        debugger: str = "",
    ) -> None:
        self._debugger = debugger
        self.memory = MachineMemory(ranks * per_rank)
        self.base = 0
        self._per_rank = per_rank
        self._workers = workers
        self._allowed = allowed
        self._limit_s = limit_s
        self._copies = copies
        self._lock = threading.Lock()
        self._pool: WorkerPool | None = None
        self._clearing: dict[int, Clearing] = {}
        self._dirty: set[int] = set()
        """Freed ranks whose memory is kept as it was."""
        self.transfer: Callable[[Place, Numbers, Numbers], int] = copies.transfer
        self.scatter_gather = copies.scatter_gather

    def read(self, slot: int, offset: int, size: int) -> NDArray[np.uint8]:
        start = slot * STRIDE + offset
        return self.memory.bytes[start : start + size]

    @property
    def pool(self) -> WorkerPool:
        """The worker processes that run DPU programs; started with the first launch."""
        with self._lock:
            if self._pool is None:
                from ..workers.process import CONFINED, UNCONFINED
                from .workers.pool import WorkerPool  # subprocess: only for programs that launch

                rights = UNCONFINED if self._allowed == "all" else CONFINED
                self._pool = WorkerPool(
                    self.memory.fd, STRIDE, self._workers, rights, self._limit_s, self._debugger
                )
            return self._pool

    def launch(
        self,
        path: str,
        image: bytes,
        slots: Sequence[int],
        checks: Checks,
        timed: bool,
        how: How | None = None,
    ) -> Launch:
        """``how``: otherwise than by booting."""
        from .workers.frame import BOOT
        from .workers.pool import WorkerError

        try:
            return self.pool.launch(path, image, slots, checks, timed, how or BOOT)
        except WorkerError as cause:
            raise error(Status.DPU_ERR_SYSTEM, f"no worker process: {cause}") from None

    def cancel(self, slots: Sequence[int]) -> None:
        if self._pool is not None:
            self._pool.cancel(slots)

    def together(self, slots: Sequence[int]) -> bool:
        return self._pool is not None and self._pool.together(slots)

    def prepare(self, ranks: Sequence[int]) -> None:
        self.memory.reserve((max(ranks) + 1) * self._per_rank)
        self.base = self.memory.base
        for run in neighbours([rank for rank in ranks if rank in self._dirty]):
            first, count = run[0] * self._per_rank, len(run) * self._per_rank
            self.memory.zero(self._copies, first, count)
            self._dirty.difference_update(run)
        for rank in ranks:
            clearing = self._clearing.pop(rank, None)
            if clearing is not None:
                self.memory.cleared(clearing)

    def clear(self, ranks: Sequence[int]) -> None:
        if self.memory.kept:
            self._dirty.update(ranks)
            return
        for run in neighbours(ranks):
            first, count = run[0] * self._per_rank, len(run) * self._per_rank
            clearing = self.memory.clear(self._copies, first, count)
            self._clearing.update(dict.fromkeys(run, clearing))

    def usable(self, rank: int) -> bool:
        return True

    def close(self) -> None:
        with self._lock:
            pool, self._pool = self._pool, None
        if pool is not None:
            pool.close()
        self.memory.close()


def neighbours(numbers: Sequence[int]) -> list[list[int]]:
    """Numbers in runs without gaps."""
    runs: list[list[int]] = []
    for number in sorted(numbers):
        if runs and runs[-1][-1] == number - 1:
            runs[-1].append(number)
        else:
            runs.append([number])
    return runs
