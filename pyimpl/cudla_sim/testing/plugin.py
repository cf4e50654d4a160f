"""The pytest fixtures ``sim``, ``sim_api``, ``sim_cc`` and ``sim_fault``."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from types import ModuleType

import pytest

from ..capi import CApi, load
from .compile import Compiler


@pytest.fixture
def sim() -> Iterator[ModuleType]:
    """The package, with a clean simulated process for this test. Who watched before it watches
    after it, and nobody else."""
    import cudla_sim

    cudla_sim.reset()
    events = cudla_sim.process.events
    watching = events.subscribers
    yield cudla_sim
    for subscriber in set(events.subscribers) - set(watching):
        events.unsubscribe(subscriber)
    cudla_sim.reset()


@pytest.fixture
def sim_api(sim: ModuleType) -> CApi:
    """The C functions, called in this process (a clean one)."""
    return load()


@pytest.fixture(scope="session")
def sim_cc(tmp_path_factory: pytest.TempPathFactory) -> Compiler:
    """Compiles and runs C and C++ programs against the library."""
    return Compiler(tmp_path_factory.mktemp("programs"))


@pytest.fixture
def sim_fault(sim: ModuleType) -> Callable[[str], None]:
    """``sim_fault("cudlaSubmitTask@3=cudlaErrorUmd")`` makes a later call fail."""
    inject: Callable[[str], None] = sim.inject_fault
    return inject
