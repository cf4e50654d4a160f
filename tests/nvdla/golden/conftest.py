"""The folder of recorded NVDLA data."""

from __future__ import annotations

from pathlib import Path

import pytest


@pytest.fixture(scope="session")
def data(fixtures: Path) -> Path:
    """The NVDLA part of the data of others."""
    return fixtures / "nvdla"
