"""`cudla-sim cache`: what is kept between runs."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from cudla_sim.tools.root import run_command
from cudla_sim.workers.runtime import cached
from tests.cli.test_schemas import valid


def build(folder: Path) -> None:
    (folder / "made").write_text("12345")


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A cache with two entries of five bytes."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    for kind in ("dpu", "calibration"):
        cached(kind, "key", "made", build)
    return tmp_path / "cudla-sim"


def shown(capsys: pytest.CaptureFixture[str], *words: str) -> dict[str, dict[str, object]]:
    assert run_command(["cache", "--json", *words]) == 0
    found = json.loads(capsys.readouterr().out)
    valid("cache", found)
    kinds: dict[str, dict[str, object]] = found["kinds"]
    return kinds


def test_what_is_there_is_counted(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    found = shown(capsys)
    counts = {kind: (known["entries"], known["bytes"]) for kind, known in found.items()}
    assert counts == {
        "dpu": (1, 5),
        "vpu": (0, 0),
        "cuda": (0, 0),
        "calibration": (1, 5),
    }
    assert run_command(["cache"]) == 0
    assert capsys.readouterr().out.startswith(f"{home}\n")


def test_one_kind_is_removed_and_then_all(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run_command(["cache", "--clear", "--kind", "calibration"]) == 0
    assert not list((home / "calibration").iterdir())
    assert len(list((home / "dpu").iterdir())) == 1
    assert run_command(["cache", "--clear"]) == 0
    assert capsys.readouterr().out.splitlines() == [f"entries removed from {home}: 1"] * 2
    assert shown(capsys)["dpu"]["entries"] == 0


def test_a_cache_that_is_not_there_is_empty(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "none"))
    assert shown(capsys)["vpu"]["entries"] == 0
    assert not (tmp_path / "none").exists()
