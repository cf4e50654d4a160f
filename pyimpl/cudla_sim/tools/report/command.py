"""``cudla-sim report``."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Annotated

import typer

from ... import flags, paths
from ...nvdla.errors import NvdlaError
from ...nvdla.hw.configs import config as hardware_config
from ...nvdla.timing.parameters import Surroundings
from . import ReportError, write
from .page import plotly_script


def report(
    context: typer.Context,
    output: Annotated[Path, typer.Option("--output", "-o", help="The page.")] = Path("report.html"),
    config: Annotated[str, typer.Option(help="NVDLA configuration; default: the file's.")] = "",
    input: Annotated[
        list[str] | None,
        typer.Option(help="N=FILE as of nvdla run: run the loadable, count saturation."),
    ] = None,
    accuracy: Annotated[
        Path | None, typer.Option(help="What compile --accuracy --report FILE wrote.")
    ] = None,
    name: Annotated[str, typer.Option(help="Which register trace of several.")] = "",
    latency: Annotated[int, typer.Option(help="Cycles of a memory access.", min=0)] = 32,
    bytes_per_cycle: Annotated[
        float, typer.Option(help="Memory bandwidth, reads and writes; 0: the port's.", min=0)
    ] = 0,
    clock: Annotated[float, typer.Option(help="MHz of NVDLA.", min=0.001)] = 1000,
) -> None:
    """Write one HTML page about a loadable, a trace, or a program's run.

    cudla-sim report network.nvdla -o page.html; the same for register traces, for a trace that
    CUDLA_SIM_TRACE wrote, and for times of cudla-sim upmem time --json. With a program,
    cudla-sim report -o page.html -- ./prog args, the program is run and its trace is shown.
    The page needs no network. Needs pip install 'cudla-sim[report]'.
    """
    words = list(context.args)
    if not words:
        print("cudla-sim report: name a loadable, a trace, or a program after --", file=sys.stderr)
        raise typer.Exit(2)
    status = 0
    try:
        plotly_script()  # before minutes of work
        hardware = hardware_config(config).name if config else ""
        around = Surroundings(latency=latency, bytes_per_cycle=bytes_per_cycle, clock_mhz=clock)
        source = Path(words[0])
        if len(words) > 1 or _is_program(source):
            status = _of_program(words, output, clock)
        else:
            write(
                source,
                output,
                hardware=hardware,
                around=around,
                inputs=input,
                accuracy=accuracy,
                name=name,
            )
    except (ReportError, NvdlaError) as error:
        print(f"cudla-sim report: {error}", file=sys.stderr)
        raise typer.Exit(1) from None
    print(f"{output}: {output.stat().st_size / 1e6:.1f} MB")
    raise typer.Exit(status)


def _is_program(file: Path) -> bool:
    try:
        with file.open("rb") as opened:
            return opened.read(4)[:2] == b"#!" or (
                os.access(file, os.X_OK) and file.read_bytes()[:4] == b"\x7fELF"
            )
    except OSError:
        return False


def _of_program(command: list[str], output: Path, clock: float) -> int:
    """Runs a program in hardware time and writes the page of its trace; its exit status."""
    search = flags.environment(cuda=not paths.real_cuda_present())
    given = {name: search[name] for name in ("LD_LIBRARY_PATH", "PATH", "UPMEM_HOME")}
    environment = {**os.environ, **given}
    environment.setdefault("CUDLA_SIM_PYTHON", sys.executable)
    environment.setdefault("CUDLA_SIM_TIME", "hardware")
    environment.setdefault("CUDLA_SIM_CLOCK", f"{clock:g}")
    with tempfile.TemporaryDirectory(prefix="cudla-sim-") as folder:
        file = Path(folder) / f"{Path(command[0]).name}.json"
        environment["CUDLA_SIM_TRACE"] = str(file)
        try:
            done = subprocess.run(command, env=environment, check=False)
        except OSError as error:
            raise ReportError(f"{command[0]}: {error.strerror}") from None
        if not file.exists():
            raise ReportError(f"{command[0]} called nothing that is simulated")
        write(file, output)
        return done.returncode
