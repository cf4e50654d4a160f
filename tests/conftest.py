"""Shared by all tests."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
FIXTURES = Path(os.environ.get("CUDLA_SIM_FIXTURES", ROOT.parent / "shared" / "fixtures"))


@pytest.fixture(scope="session")
def fixtures() -> Path:
    """The folder with data that nobody of this project made; tests skip where it is absent."""
    if not FIXTURES.is_dir():
        pytest.skip(f"no fixtures at {FIXTURES} (CUDLA_SIM_FIXTURES names another folder)")
    return FIXTURES
