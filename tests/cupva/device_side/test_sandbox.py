"""What the process of a kernel cannot do to this machine, and what it still can."""

from __future__ import annotations

import ctypes
import errno
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from cudla_sim.cupva.workers.protocol import ALLOWED
from cudla_sim.cupva.workers.worker import LaunchRequest

from .bench import Bench
from .bench import modes as names
from .conftest import Image

M = names("sandbox.h")
REFUSED = (errno.EPERM, errno.EACCES)
FILES = ["WRITE_FILE", "APPEND_FILE", "REMOVE_FILE", "MAKE_FOLDER", "RENAME_FILE", "CUT_FILE"]


@pytest.fixture(scope="module")
def boxed(image: Image) -> Iterator[Bench]:
    bench = Bench(image("sandbox", "-pthread"))
    yield bench
    bench.close()


@pytest.fixture
def victim(tmp_path: Path) -> Path:
    path = tmp_path / "file"
    path.write_text("kept")
    path.chmod(0o640)
    return path


def tried(bench: Bench, mode: str, path: Path | str = "", allowed: int = 0) -> int:
    values = {"mode": M[mode], "host": os.getpid(), "path": str(path).encode() + b"\0"}
    parameters = [bench.parameter(name, value) for name, value in values.items()]
    result = bench.worker.launch(LaunchRequest(parameters, allowed=allowed), 10.0)
    assert result.status == "done", result.text
    return result.value


@pytest.mark.parametrize("mode", [*FILES, "CHANGE_MODE", "FORK_AND_WRITE"])
def test_files_of_the_host_stay_as_they_are(boxed: Bench, victim: Path, mode: str) -> None:
    assert tried(boxed, mode, victim) in REFUSED
    assert victim.read_text() == "kept"
    assert victim.stat().st_mode & 0o777 == 0o640
    assert [p.name for p in victim.parent.iterdir()] == ["file"]


@pytest.mark.parametrize("mode", ["OPEN_SOCKET", "OPEN_LOCAL_SOCKET", "LEAVE_GROUP"])
def test_no_network_and_no_way_out_of_the_group(boxed: Bench, mode: str) -> None:
    assert tried(boxed, mode) in REFUSED


def test_the_host_gets_no_signals(boxed: Bench) -> None:
    """Landlock scopes signals from its version 6 on."""
    libc = ctypes.CDLL(None)
    scoped = libc.syscall(444, None, 0, 1) >= 6
    assert (tried(boxed, "SIGNAL_HOST") == errno.EPERM) == scoped


def test_reading_and_threads_work(boxed: Bench, victim: Path) -> None:
    assert tried(boxed, "READ_FILE", victim) == 0
    assert tried(boxed, "THREAD") == 0


def test_printing_works(boxed: Bench, capfd: pytest.CaptureFixture[str]) -> None:
    """The worker prints to the standard output that the host had when it started."""
    boxed.worker._drop()
    assert tried(boxed, "SAY") == 0
    assert capfd.readouterr().out == "a kernel speaks\n"
    boxed.worker._drop()


@pytest.mark.parametrize("allowed", ["files", "all"])
def test_files_on_demand(image: Image, victim: Path, allowed: str) -> None:
    bench = Bench(image("sandbox", "-pthread"))
    try:
        assert tried(bench, "APPEND_FILE", victim, ALLOWED[allowed]) == 0
        assert victim.read_text() == "keptx"
        assert tried(bench, "CUT_FILE", victim) == 0, "what the first launch says counts"
        refused = tried(bench, "OPEN_SOCKET") in REFUSED
        assert refused == (allowed == "files")
    finally:
        bench.close()


def test_the_network_on_demand(image: Image, victim: Path) -> None:
    bench = Bench(image("sandbox", "-pthread"))
    try:
        assert tried(bench, "OPEN_SOCKET", allowed=ALLOWED["network"]) == 0
        assert tried(bench, "WRITE_FILE", victim) in REFUSED
    finally:
        bench.close()
