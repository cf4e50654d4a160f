"""A cluster of worker processes on this machine, and the C functions over it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest

import cudla_sim
from cudla_sim.capi import CApi
from tests.upmem.host.hosting import Host
from tests.upmem.host.kernels import Kernel, kernel_program

Clusters = Callable[[int], Any]


@pytest.fixture(scope="package")
def clusters() -> Iterator[Clusters]:
    """``clusters(n)``: one of n worker processes that nobody harms, made once. Not for longer:
    idle workers take a share of a core."""
    from distributed import LocalCluster

    made: dict[int, Any] = {}

    def get(count: int) -> Any:
        if count not in made:
            made[count] = LocalCluster(
                n_workers=count, threads_per_worker=1, processes=True, dashboard_address=":0"
            )
        return made[count]

    yield get
    for cluster in made.values():
        cluster.close()


@pytest.fixture
def host(sim_api: CApi, clusters: Clusters) -> Iterator[Host]:
    """The C functions in this process, the ranks on two workers."""
    cudla_sim.configure(upmem_cluster=clusters(2).scheduler_address, upmem_ranks=6, upmem_workers=1)
    yield Host(sim_api)
    cudla_sim.reset()


@pytest.fixture(scope="session")
def kernel() -> Kernel:
    """Compiles DPU programs."""
    return kernel_program
