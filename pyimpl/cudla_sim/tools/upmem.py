"""``cudla-sim upmem time``: how long DPU programs and transfers would take on hardware."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Annotated, Any

import typer

from .. import flags, paths
from . import upmem_time

app = typer.Typer(no_args_is_help=True, help="Programs for UPMEM's DPUs.")


@app.callback()
def _callback() -> None:
    """Makes typer keep the name of the one command."""


@app.command(
    name="time", context_settings={"allow_extra_args": True, "ignore_unknown_options": True}
)
def show_time(
    context: typer.Context,
    host: Annotated[
        str, typer.Option(help="Bandwidths (GB/s) and fixed costs: to_rank=6.68,launch_ms=0.16,...")
    ] = "",
    tasklets: Annotated[bool, typer.Option("--tasklets", help="A line for each tasklet.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Run a host program and say how long hardware would take: cudla-sim upmem time -- ./host args

    Its DPU programs must have been compiled with CUDLA_SIM_UPMEM_TIMING=model in the environment.
    A file that CUDLA_SIM_UPMEM_TIMES named is shown instead of running something.
    """
    if not context.args:
        print("cudla-sim upmem time: name a program, as in -- ./host args", file=sys.stderr)
        raise typer.Exit(2)
    first = Path(context.args[0])
    status = 0
    if first.suffix == ".json" and first.is_file():
        found = _read(first)
    else:
        status, found = _run(context.args, host)
    if as_json:
        print(json.dumps(found, indent=1))
    else:
        print("\n".join(upmem_time.table(found, tasklets)))
    raise typer.Exit(status)


def _read(file: Path) -> dict[str, Any]:
    try:
        found = json.loads(file.read_text())
        if found["version"] != 1:
            raise ValueError(f"version {found['version']}")
    except (OSError, ValueError, KeyError, TypeError) as error:
        print(f"cudla-sim upmem time: {file}: {error}", file=sys.stderr)
        raise typer.Exit(1) from None
    return dict(found)


def _run(command: list[str], host: str) -> tuple[int, dict[str, Any]]:
    search = flags.environment(cuda=not paths.real_cuda_present())
    given = {name: search[name] for name in ("LD_LIBRARY_PATH", "PATH", "UPMEM_HOME")}
    environment = {**os.environ, **given, "CUDLA_SIM_UPMEM_TIMING": "model"}
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
            print(f"cudla-sim upmem time: {command[0]}: {error.strerror}", file=sys.stderr)
            raise typer.Exit(127) from None
        if not file.exists():
            print(f"cudla-sim upmem time: {command[0]} used no DPU", file=sys.stderr)
            raise typer.Exit(done.returncode or 1)
        return done.returncode, _read(file)
