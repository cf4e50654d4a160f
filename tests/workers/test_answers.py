"""What compilers are asked once."""

from __future__ import annotations

from pathlib import Path

import pytest

from cudla_sim.workers.answers import answer


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path / "cache"


def compiler(folder: Path, text: str = "") -> str:
    made = folder / "cxx"
    made.write_text(f"#!/bin/sh\n{text}\n")
    made.chmod(0o755)
    return str(made)


class Asked:
    """Answers in turn, and counts."""

    def __init__(self, *said: str | None) -> None:
        self.said = said
        self.count = 0

    def __call__(self) -> str | None:
        self.count += 1
        return self.said[min(self.count, len(self.said)) - 1]


@pytest.mark.usefixtures("cache")
def test_a_question_is_put_to_a_compiler_once(tmp_path: Path) -> None:
    made, ask = compiler(tmp_path), Asked("machine")
    assert [answer("cuda", made, "which", ask) for _ in range(3)] == ["machine"] * 3
    assert ask.count == 1
    assert answer("cuda", made, "another", ask) == "machine"
    assert ask.count == 2
    assert answer("cuda", compiler(tmp_path, "exit 1"), "which", ask) == "machine"
    assert ask.count == 3


@pytest.mark.usefixtures("cache")
def test_a_compiler_that_cannot_answer_is_asked_again(tmp_path: Path) -> None:
    made = compiler(tmp_path)
    assert answer("cuda", made, "which", Asked(None)) == ""
    assert answer("cuda", made, "which", Asked("machine")) == "machine"


def test_without_a_cache_each_question_is_put(cache: Path, tmp_path: Path) -> None:
    cache.write_text("a file where the folder would be")
    made, ask = compiler(tmp_path), Asked("machine")
    assert [answer("cuda", made, "which", ask) for _ in range(2)] == ["machine", "machine"]
    assert ask.count == 2
