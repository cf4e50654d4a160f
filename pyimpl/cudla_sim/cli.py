"""The ``cudla-sim`` command."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Annotated

from . import flags, paths


def main() -> int:
    """``cudla-sim --cflags`` and siblings answer at once; everything else is a sub-command."""
    words = sys.argv[1:]
    options = [w for w in words if w in flags.OPTIONS]
    if options and all(w in flags.OPTIONS or w == "--no-cuda" for w in words):
        cuda = "--no-cuda" not in words and not paths.real_cuda_present()
        try:
            print(*(flags.answer(option, cuda) for option in options))
        except OSError as error:
            print(f"cudla-sim: the links to the libraries cannot be made: {error}", file=sys.stderr)
            return 1
        return 0
    return _commands(words)


def _commands(words: list[str]) -> int:
    import typer

    app = typer.Typer(
        add_completion=False,
        no_args_is_help=True,
        help="Run unmodified accelerator programs on this machine. For build systems: "
        + "; ".join(f"{name} prints {what}" for name, what in flags.OPTIONS.items())
        + ". --no-cuda leaves our CUDA subset out.",
    )

    @app.callback()
    def callback() -> None:
        pass

    @app.command(context_settings={"allow_extra_args": True, "ignore_unknown_options": True})
    def run(
        context: typer.Context,
        config: Annotated[str, typer.Option(help="NVDLA configuration: nv_full, ...")] = "",
        explain: Annotated[bool, typer.Option(help="Say why calls fail.")] = False,
        log: Annotated[str, typer.Option(help="api, layers, or both with a comma.")] = "",
        trace: Annotated[str, typer.Option(help="Write a Chrome trace to this file.")] = "",
        fault: Annotated[str, typer.Option(help="Make a call or task fail on purpose.")] = "",
        no_cuda: Annotated[bool, typer.Option(help="Leave our CUDA subset out.")] = False,
    ) -> None:
        """Run a program with the simulated libraries: cudla-sim run -- ./prog args"""
        settings = {
            "CUDLA_SIM_CONFIG": config,
            "CUDLA_SIM_EXPLAIN": "1" if explain else "",
            "CUDLA_SIM_LOG": log,
            "CUDLA_SIM_TRACE": trace,
            "CUDLA_SIM_FAULT": fault,
        }
        raise typer.Exit(_run(context.args, settings, no_cuda))

    @app.command()
    def doctor() -> None:
        """Say what Python, libpython, library and links resolve to, and what is wrong."""
        from . import doctor as checks

        raise typer.Exit(checks.report())

    @app.command()
    def inspect(
        file: Annotated[Path, typer.Argument(help="An NVDLA loadable.")],
        json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
    ) -> None:
        """Print what a loadable holds: tensors, memory, tasks, layers, target configuration."""
        from .nvdla import command

        raise typer.Exit(command.inspect(file, as_json=json))

    result = app(words, standalone_mode=False)
    return int(result or 0)


def _run(command: list[str], settings: dict[str, str], no_cuda: bool) -> int:
    if not command:
        print("cudla-sim run: name a program, as in cudla-sim run -- ./prog args", file=sys.stderr)
        return 2
    paths.make_links()
    cuda = not no_cuda and not paths.real_cuda_present()
    search = flags.environment(cuda)["LD_LIBRARY_PATH"]
    environment = {**os.environ, "LD_LIBRARY_PATH": search}
    environment.update({name: value for name, value in settings.items() if value})
    environment.setdefault("CUDLA_SIM_PYTHON", sys.executable)
    try:
        os.execvpe(command[0], command, environment)
    except OSError as error:
        print(f"cudla-sim run: {command[0]}: {error.strerror}", file=sys.stderr)
        return 127
