"""Small networks and address spaces for the NVDLA tests."""

from __future__ import annotations

import numpy as np
import pytest

from cudla_sim.core.memory import AddressSpace
from cudla_sim.nvdla.build import Network


@pytest.fixture
def space() -> AddressSpace:
    """An empty address space."""
    return AddressSpace()


@pytest.fixture(scope="session")
def small_loadable() -> bytes:
    """A convolution, a pool, a full connection and softmax for nv_small, int8."""
    rng = np.random.default_rng(3)
    net = Network(("data", (1, 3, 8, 8)), "int8", "nv_small")
    net.conv2d(rng.normal(size=(10, 3, 3, 3)), rng.normal(size=10), padding=1, relu=True)
    net.max_pool(2)
    net.fully_connected(rng.normal(size=(5, 160)))
    net.softmax()
    return net.build(calibration=rng.normal(size=(4, 3, 8, 8)))
