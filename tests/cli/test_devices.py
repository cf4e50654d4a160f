"""`cudla-sim devices`, `version` and `help`."""

from __future__ import annotations

import subprocess
import sys

import pytest

from cudla_sim import __version__, paths
from cudla_sim.tools import progress
from cudla_sim.tools.root import run_command
from tests.cli.test_schemas import printed, valid


def test_devices_and_who_uses_them(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CUDLA_SIM_DLA_COUNT", "1")
    monkeypatch.setenv("CUDLA_SIM_UPMEM_RANKS", "3")
    code = f"import ctypes; ctypes.CDLL({str(paths.library())!r}); print(1, flush=True); input()"
    with subprocess.Popen(
        [sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as user:
        assert user.stdout is not None
        user.stdout.readline()
        found = printed("devices", "--json")
        user.communicate(b"\n")
    valid("devices", found)
    counts = {item["device"]: item["count"] for item in found["devices"]}
    assert (counts["dla"], counts["upmem ranks"]) == (1, 3)
    assert user.pid in {program["pid"] for program in found["programs"]}
    assert run_command(["devices"]) == 0


def test_version_and_help_are_what_the_options_say(capsys: pytest.CaptureFixture[str]) -> None:
    for words in (["version"], ["-V"], ["--version"]):
        assert run_command(words) == 0
        assert capsys.readouterr().out == f"cudla-sim {__version__}\n"
    for words in ([], ["nvdla"], ["nvdla", "run"], ["nvcc"]):
        assert run_command([*words, "--help"]) == 0
        expected = capsys.readouterr().out
        assert run_command(["help", *words]) == 0
        assert capsys.readouterr().out == expected
    assert run_command(["help", "nothing"]) == 2
    assert "there is no command 'nothing'" in capsys.readouterr().err


def test_progress_is_lines_where_there_is_no_terminal(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(progress, "LOG_EVERY", 0.001)
    told = ""
    with progress.Progress("computing", 4).shown() as shown:
        shown.at(3)
        while "3/4" not in told:
            told += capsys.readouterr().err
    line = next(line for line in told.splitlines() if "3/4" in line)
    assert line.startswith("cudla-sim: [##################------] 3/4")
    assert line.endswith("computing")
    assert "\x1b" not in told
