"""Shared by all tests."""

from __future__ import annotations

import gc
import os
import signal
from pathlib import Path

# Each worker of the tests has a core, and so have the programs that they start: threads of BLAS
# would only wait for each other. Before anything imports numpy.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

# Workers of Dask are forked from one process that has imported what they need: each takes a second
# to import it. Before anything imports dask.
os.environ.setdefault("DASK_DISTRIBUTED__WORKER__MULTIPROCESSING_METHOD", "forkserver")

import pytest
from hypothesis import settings

from tests.compiled import StoredCompiler

# The same examples in every run, so that a change is what makes a test fail. To look for new ones:
# HYPOTHESIS_PROFILE=explore make test
settings.register_profile("repeatable", derandomize=True, deadline=None, max_examples=40)
settings.register_profile("few", derandomize=True, deadline=None, max_examples=3)  # emulators
settings.register_profile("explore", max_examples=1000, deadline=None)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "repeatable"))

# Programs under test get the default signals, also below nohup and where a shell has started the
# tests in the background. (What Python handles itself is the default in the programs it starts.)
for _number in (signal.SIGHUP, signal.SIGQUIT, signal.SIGTERM):
    signal.signal(_number, signal.SIG_DFL)
signal.signal(signal.SIGINT, signal.default_int_handler)

ROOT = Path(__file__).resolve().parent.parent
FIXTURES = Path(os.environ.get("CUDLA_SIM_FIXTURES", ROOT.parent / "shared" / "fixtures"))


OUTSIDE = {"fixtures", "data"}
"""Fixtures that are folders of recorded data: nobody of this project made them, and they are no
part of it. Tests that need them are an extra; the project's own goldens are always there."""


@pytest.fixture(scope="session")
def fixtures() -> Path:
    """The folder with data that nobody of this project made."""
    assert FIXTURES.is_dir()
    return FIXTURES


@pytest.fixture(scope="session")
def sim_cc(tmp_path_factory: pytest.TempPathFactory) -> StoredCompiler:
    """The fixture of the package, with programs that all workers and runs share."""
    return StoredCompiler(tmp_path_factory.mktemp("programs"))


def pytest_report_header() -> str:
    """Says what the deselected tests are."""
    if FIXTURES.is_dir():
        return f"recorded data of others: {FIXTURES}"
    return (
        f"recorded data of others: none at {FIXTURES} (CUDLA_SIM_FIXTURES names another folder); "
        "the tests that compare with them are deselected"
    )


def pytest_collection() -> None:
    """All that is imported and collected stays: looking through it for garbage, now and later,
    takes a tenth of the tests' time."""
    gc.disable()


def pytest_collection_finish() -> None:
    gc.freeze()
    gc.enable()


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Deselects tests of data that are not here: nothing is wrong, so nothing is skipped."""
    if FIXTURES.is_dir():
        return
    out = [item for item in items if OUTSIDE & set(getattr(item, "fixturenames", ()))]
    config.hook.pytest_deselected(items=out)
    items[:] = [item for item in items if item not in set(out)]
