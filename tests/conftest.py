"""Shared by all tests."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import settings

# The same examples in every run, so that a change is what makes a test fail. To look for new ones:
# HYPOTHESIS_PROFILE=explore make test
settings.register_profile("repeatable", derandomize=True, deadline=None)
settings.register_profile("explore", max_examples=1000, deadline=None)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "repeatable"))

ROOT = Path(__file__).resolve().parent.parent
FIXTURES = Path(os.environ.get("CUDLA_SIM_FIXTURES", ROOT.parent / "shared" / "fixtures"))


@pytest.fixture(scope="session")
def fixtures() -> Path:
    """The folder with data that nobody of this project made; tests skip where it is absent."""
    if not FIXTURES.is_dir():
        pytest.skip(f"no fixtures at {FIXTURES} (CUDLA_SIM_FIXTURES names another folder)")
    return FIXTURES
