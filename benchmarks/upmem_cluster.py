"""When a cluster of machines pays for DPUs: the real client side over simulated machines and links.

The code that splits, sends and collects (``upmem/cluster/store.py``) runs as it is. The machines
behind it are simulated: a message takes the link's latency and its turn on the one link of the
program's machine, a launch the core-seconds of its DPUs divided by the machine's cores. Time passes
in reality, so what our own code costs counts.
"""

from __future__ import annotations

import sys
import threading
import time
from typing import Any

import numpy as np

from cudla_sim.native import load
from cudla_sim.native.dpu_memory import Place
from cudla_sim.upmem.cluster.small import Collected, Window
from cudla_sim.upmem.cluster.store import ClusterStore
from cudla_sim.upmem.workers.checks import Checks
from cudla_sim.upmem.workers.outcome import Launch

from .report import Figure

LINKS = {  # bytes a second, seconds
    "1 Gbit/s, 200 us": (0.118e9, 200e-6),
    "10 Gbit/s, 50 us": (1.18e9, 50e-6),
    "100 Gbit/s, 20 us": (11.8e9, 20e-6),
}
WORK = (1, 10, 100, 1000)
"""Core-seconds of the kernels for each GB that is copied."""
MACHINES = (1, 2, 4, 8, 16, 32)
CORES = 16
DPUS, BYTES = 2048, 16 << 10  # of each DPU, to it and from it
MESSAGE = 1e-3
"""Seconds of CPU that Dask takes here for a message; measured with a worker on this machine."""


class Link:
    """The network card of the program's machine, in both directions together."""

    def __init__(self, bandwidth: float, latency: float) -> None:
        self.bandwidth, self.latency = bandwidth, latency
        self._free = 0.0
        self._lock = threading.Lock()

    def arrival(self, size: int) -> float:
        with self._lock:
            self._free = max(self._free, time.perf_counter()) + size / self.bandwidth + MESSAGE
            return self._free + self.latency


class Answer:
    def __init__(self, at: float, value: Any) -> None:
        self._at, self._value = at, value

    def result(self) -> Any:
        time.sleep(max(self._at - time.perf_counter(), 0))
        return self._value


class Simulated:
    """In place of ``cluster.machine.RemoteMachine``."""

    lost = ""

    def __init__(self, link: Link, core_seconds_a_dpu: float) -> None:
        self._link, self._cost = link, core_seconds_a_dpu
        self.images: set[bytes] = set()

    def call(self, method: str, *arguments: Any) -> Answer:
        if method == "write":
            *_, data = arguments
            return Answer(self._link.arrival(data.nbytes), None)
        if method == "read":
            *_, size, slots = arguments
            data = np.zeros(size * len(slots), np.uint8)
            return Answer(self._link.arrival(data.nbytes) + self._link.latency, data)
        *_, slots, _, _ = arguments
        begin = self._link.arrival(4 * len(slots))
        return Answer(begin + len(slots) * self._cost / CORES + self._link.latency, Launch([], 0.0))


def seconds(machines: int, link: Link, core_seconds: float) -> float:
    """One round: bytes to all DPUs, a launch, bytes back."""
    store = ClusterStore.__new__(ClusterStore)
    store._per_rank, store._copies, store._count = 64, load().dpus, DPUS
    store._window, store._collected = Window(), [Collected() for _ in range(DPUS // 64)]
    store.machines = [Simulated(link, core_seconds / DPUS) for _ in range(machines)]  # type: ignore[misc]
    data = np.zeros((DPUS, BYTES), np.uint8)
    hosts = data.ctypes.data + BYTES * np.arange(DPUS, dtype=np.uint64)
    slots = np.arange(DPUS, dtype=np.uint32)
    begin = time.perf_counter()
    store.transfer(Place(0, 0, BYTES, to_dpu=True), slots, hosts)
    store.launch("program", b"image", slots.tolist(), Checks(), timed=False)
    store.transfer(Place(0, 0, BYTES, to_dpu=False), slots, hosts)
    return time.perf_counter() - begin


def alone(core_seconds: float) -> float:
    """The same on the program's machine, without a cluster: memcpy of 8 GB/s, all cores."""
    return 2 * DPUS * BYTES / 8e9 + core_seconds / CORES


def figures() -> list[Figure]:
    made = []
    size = 2 * DPUS * BYTES
    for name, (bandwidth, latency) in LINKS.items():
        for work in WORK:
            core_seconds = work * size / 1e9
            base = alone(core_seconds)
            for machines in MACHINES:
                spent = seconds(machines, Link(bandwidth, latency), core_seconds)
                what = f"{name}; {work} core-s/GB; {machines} machines"
                made.append(Figure(what, base / spent, "x one machine", better="higher"))
    _table(made)
    return made


def _table(made: list[Figure]) -> None:
    print("speed-up over one machine without a cluster, by machines", file=sys.stderr)
    for first in range(0, len(made), len(MACHINES)):
        row = made[first : first + len(MACHINES)]
        name, work, _ = row[0].what.split("; ")
        values = " | ".join(f"{f.value:.2f}" for f in row)
        print(f"| {name} | {work} | {values} |", file=sys.stderr)
