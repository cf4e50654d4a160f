"""How commands explain themselves: help, hints, completion, versions, manual pages, progress."""

from __future__ import annotations

import io
import os
import pty
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

import cudla_sim
from cudla_sim import flags
from cudla_sim.tools import manpages, progress
from cudla_sim.tools import root as commands
from cudla_sim.tools.command import Group
from cudla_sim.tools.text_table import Table
from tests.conftest import ROOT

DIGITS = ROOT / "c_examples" / "cudla" / "data" / "digits_int8.nvdla"


def call(*words: str, **environment: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "cudla_sim", *words]
    environment = {**os.environ, **environment}
    return subprocess.run(command, capture_output=True, text=True, env=environment, check=False)


def everything(
    command: click.Command = commands.app, path: tuple[str, ...] = ()
) -> Iterator[tuple[str, ...]]:
    """The words of each command that there is."""
    yield path
    if isinstance(command, Group):
        context = click.Context(command)
        for name in command.list_commands(context):
            found = command.get_command(context, name)
            assert found is not None
            yield from everything(found, (*path, name))


def test_version() -> None:
    assert call("--version").stdout == f"cudla-sim {cudla_sim.__version__}\n"


PASSED_ON = (("trtexec",), ("pva-cc",), ("nvcc",))
"""Their words are those of the vendor's commands, and so is their help."""


@pytest.mark.parametrize("words", [w for w in everything() if w not in PASSED_ON])
def test_each_command_has_help(words: tuple[str, ...]) -> None:
    long = CliRunner().invoke(commands.app, [*words, "--help"], prog_name="cudla-sim")
    short = CliRunner().invoke(commands.app, [*words, "-h"], prog_name="cudla-sim")
    assert long.exit_code == short.exit_code == 0
    assert long.output == short.output
    assert long.output.startswith(f"Usage: {' '.join(('cudla-sim', *words))}")


def test_help_is_grouped_and_names_all_words_of_build_systems() -> None:
    text = CliRunner().invoke(commands.app, ["--help"]).output
    places = [text.index(f"\n{name}\n") for name in ("Programs", "NVDLA", "UPMEM", "cuPVA")]
    assert places == sorted(places)
    assert all(f"  {option} " in text for option in (*flags.OPTIONS, "--no-cuda"))


def test_help_of_run_shows_where_the_program_stands() -> None:
    text = call("run", "--help").stdout
    assert "cudla-sim run [OPTIONS] -- PROGRAM [ARGS]..." in text.splitlines()[0]


def test_colours_are_for_terminals() -> None:
    for environment, expected in (({}, True), ({"NO_COLOR": "1"}, False)):
        master, slave = pty.openpty()
        command = [sys.executable, "-m", "cudla_sim", "run", "--help"]
        plain = {k: v for k, v in os.environ.items() if k != "NO_COLOR"}
        subprocess.run(command, stdout=slave, env={**plain, **environment}, check=True)
        os.close(slave)
        text = os.read(master, 65536)
        os.close(master)
        assert (b"\x1b[" in text) is expected


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["nvdal"], "did you mean nvdla?"),
        (["nvdla", "rnu"], "cudla-sim nvdla: there is no command 'rnu'; did you mean run?"),
        (["--lib"], "--libs"),
        (["--libs", "foo"], "takes no word 'foo'"),
        (["run", "--explian", "--", "true"], "--explain"),
        (["run", "--config", "nv_smal", "--", "true"], "did you mean nv_small?"),
        (["run", "--log", "apis", "--", "true"], "log is 'apis'"),
        (["run", "--fault", "dla/tsk", "--", "true"], "did you mean dla/task?"),
        (["run", "--config", "nv_full"], "name a program"),
        (["compile", "m.onnx", "-o", "x", "--precision", "int4"], "int8"),
        (["schema", "inspct"], "did you mean inspect?"),
        (["--completion", "tcsh"], "bash"),
    ],
)
def test_wrong_words_get_one_line_and_a_hint(words: list[str], said: str) -> None:
    result = call(*words)
    assert result.returncode == 2
    assert result.stdout == ""
    assert said in result.stderr
    assert result.stderr.startswith("cudla-sim")
    assert len(result.stderr.splitlines()) == 1


def test_run_checks_the_environment_before_it_starts() -> None:
    result = call("run", "--", "echo", "started", CUDLA_SIM_CLOCK="fast")
    assert (result.returncode, result.stdout) == (2, "")
    assert "CUDLA_SIM_CLOCK" in result.stderr


def test_words_behind_the_program_are_its_own() -> None:
    assert call("run", "echo", "--explain", "--no-such").stdout == "--explain --no-such\n"


def completions(line: str) -> set[str]:
    """What bash would be offered behind *line*."""
    words = line.split(" ")
    asked = {
        "_CUDLA_SIM_COMPLETE": "bash_complete",
        "COMP_WORDS": line,
        "COMP_CWORD": str(len(words) - 1),
    }
    result = call(**asked)
    return {line.partition(",")[2] for line in result.stdout.splitlines()}


@pytest.mark.slow
def test_shells_complete_words() -> None:
    assert completions("cudla-sim nvdla r") == {"run", "replay"}
    assert "--calib-method" in completions("cudla-sim compile --cal")
    assert completions("cudla-sim run --config nv_l") == {"nv_large"}
    assert "--cflags" in completions("cudla-sim --c")
    for shell in ("bash", "zsh", "fish"):
        text = call("--completion", shell).stdout
        assert f"_CUDLA_SIM_COMPLETE={shell}_complete" in text


def test_bash_takes_the_completion(tmp_path: Path) -> None:
    script = tmp_path / "completion"
    script.write_text(call("--completion", "bash").stdout)
    line = f"source {script} && complete -p cudla-sim"
    done = subprocess.run(["bash", "-c", line], capture_output=True, text=True, check=True)
    assert "-F _cudla_sim_completion cudla-sim" in done.stdout


def test_manual_pages_are_those_of_the_commands() -> None:
    """Each build writes them."""
    fresh = manpages.pages(commands.app)
    assert {file.name for file in (ROOT / "docs" / "man").iterdir()} == fresh.keys()
    assert len(fresh) == len(list(everything()))
    assert r"\-\-dump\-layers" in fresh["cudla-sim-nvdla-run.1"]


def test_command_declarations_import_with_click_alone(tmp_path: Path) -> None:
    """Builds make the manual pages in an environment without numpy and without our libraries."""
    packages = tmp_path / "packages"
    packages.mkdir()
    (packages / "click").symlink_to(Path(click.__file__).parent)
    environment = {**os.environ, "PYTHONPATH": f"{ROOT / 'pyimpl'}{os.pathsep}{packages}"}
    pages = tmp_path / "pages"
    command = [sys.executable, "-S", "-m", "cudla_sim.tools.manpages", str(pages)]
    subprocess.run(command, env=environment, cwd=tmp_path, check=True)
    assert {file.name: file.read_text() for file in pages.iterdir()} == manpages.pages(commands.app)


def test_nvdla_run_says_that_zeros_are_fed() -> None:
    result = call("nvdla", "run", str(DIGITS))
    assert result.returncode == 0
    assert "input 0 'image' is fed zeros" in result.stderr


def test_tables_are_whole_in_a_pipe_and_folded_on_a_terminal() -> None:
    table = Table(("name", "size"), right=frozenset({1}), colors={"bad": "red"})
    table.add("a folder/with/a/long/name", "7")
    table.add("bad", "1234")
    assert table.lines() == [
        "name                       size",
        "a folder/with/a/long/name     7",
        "bad                        1234",
    ]
    folded = table.lines(width=20)
    assert max(map(len, folded)) <= 20
    assert (
        "".join(line[:14].strip() for line in folded[1:3]).replace(" ", "")
        == "afolder/with/a/long/name"
    )
    assert "\x1b[31mbad\x1b[0m" in table.lines(color=True)[2]
    with pytest.raises(ValueError, match="1 cells under 2 headings"):
        table.add("x")


def test_a_table_goes_to_a_file_without_colours() -> None:
    table = Table(("x",), colors={"bad": "red"})
    table.add("bad")
    file = io.StringIO()
    table.show(file)
    assert file.getvalue() == "x\nbad\n"


def test_progress_has_a_bar_when_the_end_is_known(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(time, "monotonic", lambda: 10.0)
    known = progress.Progress("files", total=4)
    known.at(1, "files a")
    monkeypatch.setattr(time, "monotonic", lambda: 13.0)
    assert known.line() == "[######------------------] 1/4  3 s  files a"
    assert len(known.line(20)) == 20
    open_end = progress.Progress("compiling")
    open_end.at(2, "calibrating: samples")
    assert open_end.line() == "calibrating: samples 2  0 s"


def test_progress_appears_on_a_terminal_and_goes_away(monkeypatch: pytest.MonkeyPatch) -> None:
    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

        def flush(self) -> None:
            drawn.set()

    drawn = threading.Event()
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    monkeypatch.setattr(progress, "DELAY", 0.0)
    with progress.Progress("working").shown():
        assert drawn.wait(30)
    assert "working" in terminal.getvalue()
    assert terminal.getvalue().endswith("\r\x1b[K")


def test_what_is_said_meanwhile_stands_on_a_line_of_its_own(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

        def flush(self) -> None:
            drawn.set()

    drawn = threading.Event()
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    monkeypatch.setattr(progress, "DELAY", 0.0)
    with progress.Progress("working").shown() as shown:
        assert drawn.wait(30)
        shown.beside(lambda text: print(text, file=sys.stderr))("a note")
    assert "\r\x1b[Ka note\n" in terminal.getvalue()


def test_progress_is_silent_in_a_pipe(monkeypatch: pytest.MonkeyPatch) -> None:
    file = io.StringIO()
    monkeypatch.setattr(sys, "stderr", file)
    assert list(progress.each([1, 2, 3], "counting")) == [1, 2, 3]
    assert file.getvalue() == ""
