"""Fixtures of the host API's tests."""

from __future__ import annotations

import pytest

from cudla_sim.capi import CApi

from .hosting import Host
from .kernels import Kernel, builder


@pytest.fixture
def host(sim_api: CApi) -> Host:
    """The C functions, called in this process (a clean one)."""
    return Host(sim_api)


@pytest.fixture(scope="session")
def kernel(tmp_path_factory: pytest.TempPathFactory) -> Kernel:
    """Compiles DPU programs."""
    return builder(tmp_path_factory.mktemp("kernels"))
