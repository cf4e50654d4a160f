"""Figures that the project keeps of a machine, and what a later run says of them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from benchmarks.__main__ import Level
from benchmarks.kept import Older, file_of, keep, save
from benchmarks.report import Figure


def figure(what: str, value: float, better: str = "lower") -> Figure:
    return Figure(what, value, "us", better=better, benchmark=what.split()[0])


def test_a_run_of_some_replaces_their_figures_only(tmp_path: Path) -> None:
    file = tmp_path / "machine" / "avx2.json"
    keep([figure("one a", 1), figure("one b", 2), figure("two", 3)], {"one": 9, "two": 8}, file, "")
    keep([figure("one c", 4)], {"one": 7.04}, file, "busy")
    older = Older(file)
    assert {(f.what, f.value) for f in older.figures} == {("one c", 4), ("two", 3)}
    assert older.seconds == {"one": 7.0, "two": 8}
    assert json.loads(file.read_text())["note"] == "busy"


def test_worse_and_better_by_a_quarter(tmp_path: Path) -> None:
    file = tmp_path / "old.json"
    save([figure("time", 100), figure("rate", 100, "higher"), figure("gone", 1)], {}, file)
    older = Older(file)
    now = [figure("time", 130), figure("rate", 130, "higher"), figure("new", 1)]
    assert [f.what for f in older.worse(now)] == ["time"]
    lines = older.lines(now)
    assert lines[:2] == ["worse: time: 100 -> 130 us", "better: rate: 100 -> 130 us"]
    assert lines[2] == "not in the older file: new"
    assert len(older.lines([figure("time", 110), figure("rate", 90, "higher")])) == 0


def test_what_is_no_such_file_is_told(tmp_path: Path) -> None:
    file = tmp_path / "other.json"
    file.write_text('{"figures": [{"what": "x"}], "machine": {}}')
    with pytest.raises(ValueError, match=r"value.* is missing"):
        Older(file)


def test_nothing_begins_when_the_time_is_over(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CUDLA_SIM_ISA", "machine")
    run = Level("machine", None, end=0.0)
    run.measure(["cudla_calls"])
    assert run.figures == []
    assert run.failed == ["cudla_calls (machine, out of time)"]


def test_each_level_has_a_file_of_this_machine() -> None:
    one, other = file_of("avx2"), file_of("machine")
    assert one.parent == other.parent
    assert one.parent.parent.name == "results"
    assert (one.name, other.name) == ("avx2.json", "machine.json")
