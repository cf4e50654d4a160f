"""Clients and a small real network for the cuDLA tests."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from cudla_sim.testing import CApi
from tests.conftest import ROOT

from .driver import HYBRID, STANDALONE, Client

DIGITS = ROOT / "c_examples" / "cudla" / "data" / "digits_int8.nvdla"


@pytest.fixture(scope="session")
def digits() -> bytes:
    """The samples' int8 network for nv_full: input 1x8x8, output 10 classes."""
    return DIGITS.read_bytes()


@pytest.fixture
def client(sim_api: CApi) -> Callable[..., Client]:
    """``client()`` opens a standalone handle, ``client(HYBRID)`` a hybrid one."""

    def make(mode: int = STANDALONE, core: int = 0) -> Client:
        return Client(sim_api, mode, core)

    return make


@pytest.fixture(params=[STANDALONE, HYBRID], ids=["standalone", "hybrid"])
def either(request: pytest.FixtureRequest, sim_api: CApi) -> Client:
    """A handle of each mode in turn."""
    return Client(sim_api, request.param)
