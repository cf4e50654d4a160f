"""What the ranks of one simulated machine share: settings, memory, workers, hardware time."""

from __future__ import annotations

import itertools
import threading
from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import NamedTuple

from ..core.errors import ConfigError
from ..core.events import warn
from ..core.process import Process
from ..native.compiled import Words
from ..workers.settings import Settings as WorkerSettings
from .memory import DPUS_PER_RANK, MachineMemory
from .settings import Settings, parse_gdb
from .store import LocalStore, Store
from .timing.host import Host
from .timing.ledger import Ledger
from .turns import Turns
from .workers.checks import Checks


class LaunchRecord(NamedTuple):
    """One program that ran on some DPUs at the same time."""

    program: str
    dpus: int
    seconds: float
    """From giving it to the workers to the last DPU's end, in this machine's time."""
    faults: int
    cycles: int | None = None
    """Hardware time of the slowest DPU, in cycles; None when it was not asked for, or the program
    does not count."""


class System:
    """``machine.Machine`` without the ranks themselves, which need it."""

    def __init__(self, process: Process) -> None:
        settings = process.config.of(Settings)
        self.count = settings.upmem_ranks
        try:
            self.checks = Checks.parse(settings.upmem_checks)
        except ValueError as cause:
            raise ConfigError(f"upmem_checks: {cause}") from None
        self.workers = settings.upmem_workers or None
        self.settings = settings
        self.process = process
        self.launches: deque[LaunchRecord] = deque(maxlen=1000)
        """The last launches, newest last."""
        self.timing = settings.upmem_timing
        """``model``, ``profile``, ``off``, or empty: as the process says."""
        try:
            self.hardware = Ledger(Host.parse(settings.upmem_host))
        except ValueError as cause:
            raise ConfigError(f"upmem_host: {cause}") from None
        self.handles = process.handles
        self.native = process.native
        self.held: dict[int, Sequence[object]] = {}
        """Ranks whose queues wait for a function of the program, by the token of its call."""
        self._tokens = itertools.count(1)
        self.turns = Turns()
        self.order = threading.Lock()
        """Held while work is queued on several ranks, see ``rank.submit_all``."""
        self.loads = Words("uint64_t", 1)
        """Grows whenever a DPU gets another program. The C side reads it."""
        self._gdb = parse_gdb(settings.upmem_gdb)
        self._making = threading.Lock()
        self._store: Store | None = None
        if settings.upmem_times:
            process.reports.append(self._write_times)

    def gdb_port(self, dpu: str) -> int | None:
        """Where a debugger is to be waited for, when it shall see a launch on this DPU: one has."""
        with self._making:
            if self._gdb is None or self._gdb[1] not in ("", dpu):
                return None
            port, self._gdb = self._gdb[0], None
            return port

    @property
    def timed(self) -> bool:
        """Whether launches are in hardware time and ``hardware`` notes what happens."""
        return self.timing in ("model", "profile") if self.timing else self.process.timed

    def _write_times(self) -> None:
        path = self.settings.upmem_times
        try:
            self.hardware.write(path)
        except OSError as cause:
            warn(f"no times in {path}: {cause.strerror}")

    @property
    def held_by_caller(self) -> Sequence[object]:
        """Ranks that wait for the function which the calling thread runs."""
        return self.held.get(self.native.calls.dpu_token(), ())

    @contextmanager
    def holding(self, ranks: Sequence[object]) -> Iterator[int]:
        """A token for a call of a function of the program, meanwhile these ranks wait for it."""
        token = next(self._tokens)
        self.held[token] = ranks
        try:
            yield token
        finally:
            del self.held[token]

    @property
    def store(self) -> Store:
        """The memories and what runs programs in them; made with the first set.

        Raises DpuError(DPU_ERR_ALLOCATION).
        """
        with self._making:
            if self._store is None:
                cluster = self.settings.upmem_cluster
                if cluster:
                    from .cluster.store import ClusterStore  # Dask: only for programs that ask

                    self._store = ClusterStore(
                        cluster,
                        self.count,
                        DPUS_PER_RANK,
                        self.workers,
                        self.native.dpus,
                        self.process.config.of(WorkerSettings).worker_timeout,
                    )
                else:
                    self._store = LocalStore(
                        self.count,
                        DPUS_PER_RANK,
                        self.workers,
                        self.native.dpus,
                        self.settings.upmem_allow,
                        self.process.config.of(WorkerSettings).worker_timeout,
                        self.settings.upmem_debugger,
                    )
            return self._store

    @property
    def memory(self) -> MachineMemory:
        """The memories, where they are on this machine."""
        store = self.store
        assert isinstance(store, LocalStore), "the DPUs are on other machines"
        return store.memory

    def usable(self, rank: int) -> bool:
        """Whether nothing that is known of keeps a rank from being used."""
        return self._store is None or self._store.usable(rank)

    def close_store(self) -> None:
        """Ends the workers and gives the memories back."""
        with self._making:
            store, self._store = self._store, None
        if store is not None:
            store.close()
