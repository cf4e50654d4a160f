"""``cudla-sim upmem time`` and ``report``: how long DPU programs and transfers would take on
hardware, and what for."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import click

from ... import flags, paths
from ...core import untrusted
from ...core.text import tell
from ..command import JSON, Group, option, path_option
from . import profile as upmem_profile
from . import times as upmem_time

_PROGRAM: dict[str, Any] = {
    "context_settings": {"allow_interspersed_args": False},
    "arguments": [("PROGRAM [ARGS]...", "The host program, behind --; or a file of times.")],
    "options_metavar": "[OPTIONS] --",
}
_COMMAND = click.argument("command", nargs=-1, type=click.UNPROCESSED, metavar="PROGRAM [ARGS]...")
_HOST = option(
    "--host",
    default="",
    metavar="NAME=NUMBER,...",
    group="Machine",
    help="Bandwidths (GB/s) and fixed costs: to_rank=6.68,launch_ms=0.16,...",
)


@click.group(cls=Group)
def app() -> None:
    """Programs for UPMEM's DPUs."""


@app.command("time", **_PROGRAM)
@_HOST
@option("--tasklets", is_flag=True, group="Output", help="A line for each tasklet.")
@JSON
@_COMMAND
def show_time(command: tuple[str, ...], host: str, tasklets: bool, as_json: bool) -> None:
    """Run a host program and say how long hardware would take: cudla-sim upmem time -- ./host args

    Its DPU programs must have been compiled with CUDLA_SIM_UPMEM_TIMING=model in the environment.
    A file that CUDLA_SIM_UPMEM_TIMES named is shown instead of running something.
    """
    status, found = _found("time", list(command), host, "model")
    if as_json:
        print(json.dumps(found, indent=1))
    else:
        print("\n".join(upmem_time.table(found, tasklets)))
    raise click.exceptions.Exit(status)


@app.command("report", **_PROGRAM)
@_HOST
@option(
    "--lines",
    type=click.IntRange(min=0),
    default=10,
    show_default=True,
    group="Output",
    help="Source lines of each launch.",
)
@option("--all", "every", is_flag=True, group="Output", help="Tasklets of all DPUs.")
@path_option("-o", "--output", metavar="FILE", group="Output", help="An HTML page, too.")
@JSON
@_COMMAND
def show_report(
    command: tuple[str, ...],
    host: str,
    lines: int,
    every: bool,
    output: Path | None,
    as_json: bool,
) -> None:
    """Run a host program and say what its DPUs spend time on: cudla-sim upmem report -- ./host args

    Per DPU and tasklet: instructions by class, DMA, waiting, pipeline use; the source lines that
    cost most; what would help. Its DPU programs must have been compiled with
    CUDLA_SIM_UPMEM_TIMING=profile in the environment. A file that CUDLA_SIM_UPMEM_TIMES named is
    shown instead of running something.
    """
    status, found = _found("report", list(command), host, "profile")
    upmem_profile.add_source(found)
    if output is not None:
        _page(found, command[0], output)
    if as_json:
        print(json.dumps(found, indent=1))
    else:
        print("\n".join(upmem_profile.table(found, lines, every)))
    raise click.exceptions.Exit(status)


def _page(found: dict[str, Any], program: str, output: Path) -> None:
    from .. import report

    with tempfile.TemporaryDirectory(prefix="cudla-sim-") as folder:
        file = Path(folder) / f"{Path(program).name}.json"
        file.write_text(json.dumps(found))
        try:
            report.write(file, output, title=Path(program).name)
        except report.ReportError as error:
            tell(f"cudla-sim upmem report: {error}")
            raise click.exceptions.Exit(1) from None


def _found(name: str, words: list[str], host: str, timing: str) -> tuple[int, dict[str, Any]]:
    """Exit status of the program and its times."""
    if not words:
        raise click.UsageError("name a program, as in -- ./host args")
    first = Path(words[0])
    if first.suffix == ".json" and first.is_file():
        return 0, _read(name, first)
    return _run(name, words, host, timing)


def _read(name: str, file: Path) -> dict[str, Any]:
    try:
        found = untrusted.read_json(file)
        if found["version"] != 1 or not isinstance(found["steps"], list):
            raise ValueError(f"version {found['version']}, known is 1 with its steps")
    except (OSError, ValueError, KeyError, TypeError) as error:
        tell(f"cudla-sim upmem {name}: {file}: {error}")
        raise click.exceptions.Exit(1) from None
    return dict(found)


def _run(name: str, command: list[str], host: str, timing: str) -> tuple[int, dict[str, Any]]:
    search = flags.environment(cuda=not paths.real_cuda_present())
    given = {name: search[name] for name in ("LD_LIBRARY_PATH", "PATH", "UPMEM_HOME")}
    environment = {**os.environ, **given, "CUDLA_SIM_UPMEM_TIMING": timing}
    environment.setdefault("CUDLA_SIM_PYTHON", sys.executable)
    if host:
        environment["CUDLA_SIM_UPMEM_HOST"] = host
    with tempfile.TemporaryDirectory(prefix="cudla-sim-") as folder:
        file = Path(folder) / "times.json"
        environment["CUDLA_SIM_UPMEM_TIMES"] = str(file)
        try:
            # its output is not ours: --json stays JSON
            done = subprocess.run(command, env=environment, stdout=sys.stderr, check=False)
        except OSError as error:
            tell(f"cudla-sim upmem {name}: {command[0]}: {error.strerror}")
            raise click.exceptions.Exit(127) from None
        if not file.exists():
            tell(f"cudla-sim upmem {name}: {command[0]} used no DPU")
            raise click.exceptions.Exit(done.returncode or 1)
        return done.returncode, _read(name, file)
