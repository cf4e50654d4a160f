"""``cudla-sim report``."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

import click

from ... import flags, paths
from ...core.text import tell
from ...nvdla.errors import NvdlaError
from ...nvdla.timing.parameters import Surroundings
from ..command import Command, configuration, option, path_option
from ..timing_options import timed
from . import ReportError, compare, write


@click.command(
    cls=Command,
    arguments=[
        ("WHAT...", "A loadable or several, a trace, times, or a program and its words behind --.")
    ],
)
@click.argument("what", nargs=-1, type=click.UNPROCESSED)
@path_option(
    "-o",
    "--output",
    metavar="FILE",
    default=Path("report.html"),
    show_default=True,
    group="Output",
    help="The page.",
)
@option(
    "--input",
    multiple=True,
    metavar="N=FILE",
    group="Input",
    help="As of nvdla run: run the loadable, count saturation.",
)
@path_option(
    "--accuracy",
    metavar="FILE",
    group="Input",
    help="What compile --accuracy --report FILE wrote.",
)
@option("--name", default="", group="Input", help="Which register trace of several.")
@configuration("NVDLA configuration; default: the file's.")
@timed
def report(
    what: tuple[str, ...],
    output: Path,
    input: tuple[str, ...],
    accuracy: Path | None,
    name: str,
    config: str,
    around: Surroundings,
) -> None:
    """Write one HTML page about a loadable, a trace, or a program's run.

    cudla-sim report network.nvdla -o page.html; the same for register traces, for a trace that
    CUDLA_SIM_TRACE wrote, and for times of cudla-sim upmem time --json. With a program,
    cudla-sim report -o page.html -- ./prog args, the program is run and its trace is shown.
    The page needs no network. cudla-sim report a.nvdla b.nvdla compares loadables side by side.
    """
    words = list(what)
    if not words:
        raise click.UsageError("name a loadable, a trace, or a program after --")
    status = 0
    try:
        hardware = "" if config == "auto" else config
        source = Path(words[0])
        if len(words) > 1 and all(Path(word).suffix == ".nvdla" for word in words):
            if input or accuracy or name:
                raise click.UsageError("--input, --accuracy and --name are of one loadable")
            compare([Path(word) for word in words], output, hardware=hardware, around=around)
        elif len(words) > 1 or _is_program(source):
            status = _of_program(words, output, around)
        else:
            write(
                source,
                output,
                hardware=hardware,
                around=around,
                inputs=list(input),
                accuracy=accuracy,
                name=name,
            )
    except (ReportError, NvdlaError) as error:
        tell(f"cudla-sim report: {error}")
        raise click.exceptions.Exit(1) from None
    print(f"{output}: {output.stat().st_size / 1e6:.1f} MB")
    raise click.exceptions.Exit(status)


def _is_program(file: Path) -> bool:
    try:
        with file.open("rb") as opened:
            return opened.read(4)[:2] == b"#!" or (
                os.access(file, os.X_OK) and file.read_bytes()[:4] == b"\x7fELF"
            )
    except OSError:
        return False


def _of_program(command: list[str], output: Path, around: Surroundings) -> int:
    """Runs a program in hardware time and writes the page of its trace; its exit status."""
    search = flags.environment(cuda=not paths.real_cuda_present())
    given = {name: search[name] for name in ("LD_LIBRARY_PATH", "PATH", "UPMEM_HOME")}
    environment = {**os.environ, **given, **around.settings()}
    environment.setdefault("CUDLA_SIM_PYTHON", sys.executable)
    environment.setdefault("CUDLA_SIM_TIME", "hardware")
    with tempfile.TemporaryDirectory(prefix="cudla-sim-") as folder:
        file = Path(folder) / f"{Path(command[0]).name}.json"
        environment["CUDLA_SIM_TRACE"] = str(file)
        try:
            done = subprocess.run(command, env=environment, check=False)
        except OSError as error:
            raise ReportError(f"{command[0]}: {error.strerror}") from None
        if not file.exists():
            raise ReportError(f"{command[0]} called nothing that is simulated")
        write(file, output, title=Path(command[0]).name)
        return done.returncode
