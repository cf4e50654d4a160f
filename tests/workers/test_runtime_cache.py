"""The cache of built runtimes: what lies in it is linked into programs."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

from cudla_sim.workers import runtime
from cudla_sim.workers.runtime import cached, distrusted


def build(folder: Path) -> None:
    (folder / "librt.a").write_text("ours")


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path / "cache" / "cudla-sim"


def test_folders_are_private_and_used_again(home: Path) -> None:
    first = cached("dpu", "key", "librt.a", build)
    assert first == home / "dpu" / "key"
    for folder in (home, home / "dpu", first):
        assert folder.stat().st_mode & 0o777 == 0o700
    (first / "librt.a").write_text("kept")
    assert (cached("dpu", "key", "librt.a", build) / "librt.a").read_text() == "kept"


@pytest.mark.parametrize("place", ["", "dpu"])
def test_what_others_can_write_is_not_used(
    home: Path, place: str, capfd: pytest.CaptureFixture[str]
) -> None:
    cached("dpu", "key", "librt.a", build)
    (home / "dpu" / "key" / "librt.a").write_text("planted")
    (home / place).chmod(0o777)
    found = cached("dpu", "key", "librt.a", build)
    assert (found / "librt.a").read_text() == "ours"
    (line,) = capfd.readouterr().err.splitlines()
    assert "can be written to by other users" in line
    assert "XDG_CACHE_HOME" in line


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give folders away")
def test_folders_of_another_user_are_not_used(
    home: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    planted = home / "dpu" / "key"
    planted.mkdir(parents=True)
    (planted / "librt.a").write_text("planted")
    for folder in (home, home / "dpu", planted):
        folder.chmod(0o755)
        os.chown(folder, 12345, 12345)
    found = cached("dpu", "key", "librt.a", build)
    assert (found / "librt.a").read_text() == "ours"
    assert "belongs to user 12345" in capfd.readouterr().err


def test_a_link_is_no_folder(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(tmp_path)
    assert distrusted(tmp_path / "link") == "is no folder"


def entries(home: Path) -> set[str]:
    return {path.name for path in (home / "dpu").iterdir()}


def aged(home: Path, name: str, hours: int) -> None:
    folder = home / "dpu" / name
    when = time.time() - 3600 * hours
    os.utime(folder, (when, when))


def test_what_was_not_used_for_longest_goes(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(runtime, "MOST_ENTRIES", 2)
    for number in range(4):
        cached("dpu", f"old{number}", "librt.a", build)
    for number in range(4):
        aged(home, f"old{number}", 9 - number)
    cached("dpu", "old0", "librt.a", build)  # is used again
    cached("dpu", "new", "librt.a", build)
    assert entries(home) == {"old0", "old3", "new"}


def test_large_entries_and_left_builds_go(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(runtime, "MOST_BYTES", 3 * len("ours"))
    for name in ("small", "large", f"{runtime.BUILDING}left"):
        cached("dpu", name, "librt.a", build)
    (home / "dpu" / "large" / "more").write_text("x" * 100)
    for name, hours in (("small", 2), ("large", 3), (f"{runtime.BUILDING}left", 2)):
        aged(home, name, hours)
    cached("dpu", "new", "librt.a", build)
    assert entries(home) == {"small", "new"}


def test_what_another_process_may_be_reading_stays(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(runtime, "MOST_ENTRIES", 0)
    for name in ("one", "two"):
        cached("dpu", name, "librt.a", build)
    assert entries(home) == {"one", "two"}
