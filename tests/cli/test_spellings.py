"""Options that have another name now: the old one works, with a note."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from cudla_sim.tools.root import run_command
from tests.conftest import ROOT

DIGITS = ROOT / "c_examples" / "cudla" / "data" / "digits_int8.nvdla"


@pytest.fixture
def samples(tmp_path: Path) -> Path:
    file = tmp_path / "x.npy"
    np.save(file, np.zeros((2, 1, 1, 8, 8), np.int8))
    return file


@pytest.mark.parametrize("joined", [False, True])
def test_old_spellings_of_evaluate(
    samples: Path, joined: bool, capsys: pytest.CaptureFixture[str]
) -> None:
    out = samples.with_name("r.npz")
    given = {"--inputs": str(samples), "--out": str(out)}
    words = [f"{n}={v}" for n, v in given.items()]
    if not joined:
        words = [word for item in given.items() for word in item]
    assert run_command(["nvdla", "evaluate", str(DIGITS), "--workers", "1", *words]) == 0
    assert out.exists()
    told = "cudla-sim nvdla evaluate: {} is {} now; the next version ends it"
    notes = [told.format("--inputs", "--samples"), told.format("--out", "--output")]
    assert capsys.readouterr().err.splitlines() == notes


def test_the_old_meaning_of_output(samples: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["nvdla", "evaluate", str(DIGITS), "--workers", "1", "--samples", str(samples)]
    assert run_command([*words, "--output", "nothing"]) == 1
    note, error = capsys.readouterr().err.splitlines()
    assert "as the name of the scores it is --scores now" in note
    assert "there is no output 'nothing'" in error


def test_new_spellings_have_no_note(samples: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["nvdla", "evaluate", str(DIGITS), "--workers", "1", "--samples", str(samples)]
    assert run_command(words) == 0
    assert capsys.readouterr().err == ""
