"""Fixtures of the host API's tests."""

from __future__ import annotations

import pytest

from cudla_sim.capi import CApi

from .hosting import Host
from .kernels import Kernel, kernel_program


@pytest.fixture
def host(sim_api: CApi) -> Host:
    """The C functions, called in this process (a clean one)."""
    return Host(sim_api)


@pytest.fixture(scope="session")
def kernel() -> Kernel:
    """Compiles DPU programs."""
    return kernel_program
