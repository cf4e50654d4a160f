"""A process of this machine's own."""

from __future__ import annotations

import pytest

from cudla_sim.capi import CApi
from tests.upmem.host.hosting import Host
from tests.upmem.vendor.conftest import process  # noqa: F401


@pytest.fixture
def host(sim_api: CApi) -> Host:
    return Host(sim_api)
