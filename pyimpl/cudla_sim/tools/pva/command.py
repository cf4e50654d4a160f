"""``cudla-sim pva``: what the dataflows of a program do, as tables and pictures."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any, NoReturn

import click

from ... import flags, paths
from ...core.text import tell
from ...cupva import report
from ...cupva.described import Described
from ..command import Group, path_argument, path_option

_SOURCE: dict[str, Any] = {
    "context_settings": {"ignore_unknown_options": True},
    "arguments": [
        ("FILE", "A .json that CUDLA_SIM_DATAFLOWS wrote, or a program to run."),
        ("[ARGS]...", "The program's words; behind -- when they look like options of ours."),
    ],
}
_ARGUMENTS = click.argument("arguments", nargs=-1, type=click.UNPROCESSED, metavar="[ARGS]...")


@click.group(cls=Group)
def app() -> None:
    """Programs for NVIDIA's PVA."""


def _stop(command: str, text: str) -> NoReturn:
    tell(f"cudla-sim pva {command}: {text}")
    raise click.exceptions.Exit(1)


def _run(command: str, program: list[str]) -> dict[str, Described]:
    """The dataflows that a program compiles, by the names of their files."""
    search = flags.environment(cuda=not paths.real_cuda_present())
    with tempfile.TemporaryDirectory(prefix="cudla-sim-pva-") as folder:
        environment = {**os.environ, "LD_LIBRARY_PATH": search["LD_LIBRARY_PATH"]}
        environment["CUDLA_SIM_DATAFLOWS"] = folder
        environment.setdefault("CUDLA_SIM_PYTHON", sys.executable)
        try:
            done = subprocess.run(program, env=environment, stdout=2)  # ours has the tables
        except OSError as error:
            _stop(command, f"{program[0]}: {error.strerror}")
        files = sorted(Path(folder).glob("*.json"))
        found = {file.stem: Described.from_json(file.read_text()) for file in files}
    if not found:
        _stop(command, f"{program[0]} compiled no dataflows (exit status {done.returncode})")
    return found


def _dataflows(command: str, file: Path, arguments: list[str]) -> dict[str, Described]:
    try:
        if file.suffix != ".json":
            name = str(file) if os.sep in str(file) else f"./{file}"
            return _run(command, [name, *arguments])
        return {file.stem: Described.from_json(file.read_text())}
    except (OSError, UnicodeDecodeError) as error:
        _stop(command, f"{file}: {getattr(error, 'strerror', None) or error}")
    except ValueError as error:
        _stop(command, f"{file}: {error}; CUDLA_SIM_DATAFLOWS=folder ./program writes them")


@app.command("explain", **_SOURCE)
@path_argument("file")
@_ARGUMENTS
def explain(file: Path, arguments: tuple[str, ...]) -> None:
    """Print the tiles of dataflows: order, rectangle, padding, place in VMEM, trigger.

    cudla-sim pva explain flows/program1_RasterDataFlow0_input.json, or cudla-sim pva explain ./host
    """
    for name, described in _dataflows("explain", file, list(arguments)).items():
        print(f"{name}\n{report.table(described)}")


@app.command("plot", **_SOURCE)
@path_argument("file")
@_ARGUMENTS
@path_option(
    "-o",
    "--output",
    metavar="PATH",
    default=Path(),
    help="A file for one dataflow, a folder for several.",
)
def plot(file: Path, arguments: tuple[str, ...], output: Path) -> None:
    """Draw dataflows: memory, region, tiles in order, padding, and their places in VMEM to scale.

    Needs matplotlib: pip install 'cudla-sim[plot]'
    """
    try:
        from ...cupva.picture import draw_described
    except ImportError:
        _no_matplotlib()
    found = _dataflows("plot", file, list(arguments))
    into_folder = output.is_dir() or len(found) > 1
    for name, described in found.items():
        target = output / f"{name}.png" if into_folder else output
        try:
            target.parent.mkdir(parents=True, exist_ok=True)
            draw_described(described, str(target))
        except ImportError:
            _no_matplotlib()
        except (OSError, ValueError) as error:
            _stop("plot", f"{target}: {getattr(error, 'strerror', None) or error}")
        print(target)


def _no_matplotlib() -> NoReturn:
    _stop("plot", "pictures need matplotlib (pip install 'cudla-sim[plot]')")
