"""The folder of recorded NVDLA data."""

from __future__ import annotations

from pathlib import Path

import pytest
from golden_nvdla import fixtures


@pytest.fixture(scope="session")
def data() -> Path:
    """The NVDLA fixtures folder; skips where it is missing."""
    folder = fixtures()
    if folder is None:
        pytest.skip("no NVDLA fixtures: set CUDLA_SIM_FIXTURES to their folder")
    return folder
