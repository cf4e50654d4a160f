"""What compilers are asked once."""

from __future__ import annotations

from pathlib import Path

import pytest

from cudla_sim.cuda_kernels.accepted import accepted
from cudla_sim.workers.answers import answer

COMPILER = """#!/bin/sh
echo "$*" >> "$0.asked"
case "$*" in *-fnew*) exit {new} ;; *-fodd*) exit {odd} ;; *) exit {any} ;; esac
"""


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path / "cache"


def compiler(folder: Path, *, new: int = 0, odd: int = 0, works: int = 0) -> Path:
    made = folder / "cxx"
    made.write_text(COMPILER.format(new=new, odd=odd, any=works))
    made.chmod(0o755)
    return made


def asked(made: Path) -> int:
    told = made.with_name("cxx.asked")
    return len(told.read_text().splitlines()) if told.exists() else 0


@pytest.mark.usefixtures("cache")
def test_options_are_asked_about_once(tmp_path: Path) -> None:
    made = compiler(tmp_path, odd=1)
    for _ in range(3):
        assert accepted(str(made), ("-fnew", "-fold")) == ["-fnew", "-fold"]
    assert asked(made) == 1
    for _ in range(3):
        assert accepted(str(made), ("-fold", "-fodd")) == ["-fold"]
    assert asked(made) == 1 + 3  # both, then each


@pytest.mark.usefixtures("cache")
def test_a_compiler_that_is_another_one_now_is_asked_again(tmp_path: Path) -> None:
    assert accepted(str(compiler(tmp_path, new=1)), ("-fnew",)) == []
    assert accepted(str(compiler(tmp_path, new=0, odd=11)), ("-fnew",)) == ["-fnew"]


@pytest.mark.usefixtures("cache")
def test_one_that_compiles_nothing_today_is_asked_tomorrow(tmp_path: Path) -> None:
    made = compiler(tmp_path, new=1, works=1)
    assert accepted(str(made), ("-fnew",)) == []
    before = asked(made)
    assert accepted(str(made), ("-fnew",)) == []
    assert asked(made) > before


@pytest.mark.usefixtures("cache")
def test_no_compiler() -> None:
    assert accepted("/no/such/g++", ("-fnew",)) == []


def test_without_a_cache(cache: Path, tmp_path: Path) -> None:
    cache.write_text("a file where the folder would be")
    made = compiler(tmp_path)
    said: list[str] = []

    def ask() -> str:
        said.append("machine")
        return said[-1]

    assert [answer("cuda", str(made), "which", ask) for _ in range(2)] == ["machine", "machine"]
    assert len(said) == 2
