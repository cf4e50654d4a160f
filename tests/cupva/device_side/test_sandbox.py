"""What the process of a kernel cannot do to this machine, and what it still can."""

from __future__ import annotations

import ctypes
import errno
import os
import signal
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
REACHES = [
    "FORK", "LIMIT_HOST", "SLOW_HOST", "PIN_HOST", "SHARED_MEMORY", "QUEUE", "NAMESPACE",
    "MOUNT_API", "TERMINAL", "OWNER_OF_SIGNALS", "DUMP", "EXECUTE",
]  # fmt: skip
FILES = ["WRITE_FILE", "APPEND_FILE", "REMOVE_FILE", "MAKE_FOLDER", "RENAME_FILE", "CUT_FILE"]


@pytest.fixture(scope="module")
def boxed(image: Image) -> Iterator[Bench]:
    bench = Bench(image("sandbox", "-pthread"))
    yield bench
    bench.close()


@pytest.fixture
def victim(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)  # where the constructors of kernels that may write do so
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
    assert tried(boxed, "SIGNAL_HOST") in REFUSED


@pytest.mark.parametrize("mode", REACHES)
def test_nothing_reaches_the_host_or_the_machine(boxed: Bench, mode: str) -> None:
    assert tried(boxed, mode) in REFUSED


def test_files_of_the_user_cannot_be_read(boxed: Bench, victim: Path) -> None:
    """Landlock knows paths, from its first version on; a filter of calls does not."""
    if ctypes.CDLL(None).syscall(444, None, 0, 1) < 1:
        pytest.skip("this system has no Landlock")
    assert tried(boxed, "READ_FILE", victim) == errno.EACCES
    assert tried(boxed, "READ_FILE", f"/proc/{os.getpid()}/environ") == errno.EACCES
    assert tried(boxed, "READ_FILE", "/usr/bin/env") == 0


def test_threads_work(boxed: Bench) -> None:
    assert tried(boxed, "THREAD") == 0


def test_memory_has_a_limit(boxed: Bench) -> None:
    assert tried(boxed, "MUCH_MEMORY") == errno.ENOMEM
    boxed.worker._drop()


def test_shared_memory_keeps_its_size(
    image: Image, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A kernel that cuts it off would end the host by SIGBUS."""
    monkeypatch.chdir(tmp_path)
    for allowed in (0, ALLOWED["files"]):
        bench = Bench(image("sandbox", "-pthread"))
        assert tried(bench, "CUT_SHARED", allowed=allowed) == errno.EPERM
        assert tried(bench, "THREAD", allowed=allowed) == 0
        bench.close()


def test_constructors_are_confined(
    image: Image, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    bench = Bench(image("sandbox", "-pthread"))
    assert tried(bench, "THREAD") == 0
    bench.close()
    assert list(tmp_path.iterdir()) == []
    bench = Bench(image("sandbox", "-pthread"))
    assert tried(bench, "THREAD", allowed=ALLOWED["all"]) == 0
    bench.close()
    assert (tmp_path / "a-constructor-was-here").read_text() == "both"


def test_a_kernel_that_died_leaves_no_rights_to_the_next(boxed: Bench, victim: Path) -> None:
    """What is allowed is an argument of the process, nothing that lies in its memory."""
    for _ in range(3):
        assert tried(boxed, "WRITE_FILE", victim) in REFUSED
        os.kill(boxed.worker.pid, signal.SIGKILL)
        with pytest.raises(AssertionError, match="killed"):
            tried(boxed, "WRITE_FILE", victim)
    assert victim.read_text() == "kept"


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
        assert tried(bench, "READ_FILE", victim, ALLOWED[allowed]) == 0
        refused = tried(bench, "OPEN_SOCKET", allowed=ALLOWED[allowed]) in REFUSED
        assert tried(bench, "CUT_FILE", victim) in REFUSED, "another launch, other rights"
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


def test_the_host_survives_whatever_is_in_shared_memory(image: Image) -> None:
    bench = Bench(image("scribble"))
    other = Bench(image("sandbox", "-pthread"))
    for seed in range(150):
        span, amount = (64, 4096, 65536, 1 << 20)[seed % 4], (1, 20, 500)[seed % 3]
        result = bench.launch(deadline_s=2.0, seed=seed, amount=amount, span=span)
        assert result.status in ("done", "fault", "timeout", "died", "unfinished", "dma_timeout")
    assert tried(other, "THREAD") == 0
    bench.close()
    other.close()
