"""A process of this machine's own."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

import cudla_sim
from cudla_sim.core.process import Process


@pytest.fixture
def process() -> Iterator[Process]:
    made = Process(cudla_sim.process.config)
    yield made
    made.close()
