"""The sub-commands of ``cudla-sim``."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Annotated

import typer

from . import flags, paths
from .tools import nvdla, pva, upmem
from .tools.compile import compile_model
from .tools.report.command import report

app = typer.Typer(
    add_completion=False,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    help="Run unmodified accelerator programs on this machine. For build systems: "
    + "; ".join(f"{name} prints {what}" for name, what in flags.OPTIONS.items())
    + ". --no-cuda leaves our CUDA subset out.",
)


app.add_typer(nvdla.app, name="nvdla")
app.add_typer(upmem.app, name="upmem")
app.add_typer(pva.app, name="pva")
app.command("compile")(compile_model)
app.command("report", context_settings={"allow_extra_args": True, "ignore_unknown_options": False})(
    report
)


@app.callback()
def _callback() -> None:
    """Makes typer keep the name of a sub-command even when there is only one."""


@app.command(context_settings={"allow_extra_args": True, "ignore_unknown_options": True})
def run(
    context: typer.Context,
    config: Annotated[str, typer.Option(help="NVDLA configuration: nv_full, nv_small, ...")] = "",
    explain: Annotated[bool, typer.Option("--explain", help="Say why calls fail.")] = False,
    log: Annotated[str, typer.Option(help="api, layers, or both with a comma.")] = "",
    trace: Annotated[str, typer.Option(help="Write a Chrome trace to this file.")] = "",
    fault: Annotated[str, typer.Option(help="Make a call or task fail on purpose.")] = "",
    no_cuda: Annotated[bool, typer.Option("--no-cuda", help="Leave our CUDA out.")] = False,
) -> None:
    """Run a program with the simulated libraries: cudla-sim run -- ./prog args"""
    settings = {
        "CUDLA_SIM_CONFIG": config,
        "CUDLA_SIM_EXPLAIN": "1" if explain else "",
        "CUDLA_SIM_LOG": log,
        "CUDLA_SIM_TRACE": trace,
        "CUDLA_SIM_FAULT": fault,
    }
    command = context.args
    if not command:
        print("cudla-sim run: name a program, as in cudla-sim run -- ./prog args", file=sys.stderr)
        raise typer.Exit(2)
    search = flags.environment(cuda=not no_cuda and not paths.real_cuda_present())
    # hosts of DPU programs may call the DPU compiler, so it is on their PATH
    given = {name: search[name] for name in ("LD_LIBRARY_PATH", "PATH", "UPMEM_HOME")}
    environment = {**os.environ, **given}
    environment.update({name: value for name, value in settings.items() if value})
    environment.setdefault("CUDLA_SIM_PYTHON", sys.executable)
    try:
        os.execvpe(command[0], command, environment)
    except OSError as error:
        print(f"cudla-sim run: {command[0]}: {error.strerror}", file=sys.stderr)
        raise typer.Exit(127) from None


@app.command()
def doctor() -> None:
    """Say what Python, libpython, library and links resolve to, and what is wrong."""
    from . import doctor as checks

    raise typer.Exit(checks.report())


@app.command()
def inspect(
    file: Annotated[Path, typer.Argument(help="An NVDLA loadable.")],
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
    picture: Annotated[
        Path | None, typer.Option("--graph", help="Draw the layer graph: .dot, .png, .svg, ...")
    ] = None,
) -> None:
    """Print what a loadable holds: tensors, memory, tasks, layers, target configuration, graph."""
    import json

    from .nvdla.errors import NvdlaError
    from .nvdla.inspect import describe, render
    from .nvdla.loadable import Loadable
    from .tools import graph

    try:
        description = describe(Loadable.parse(file.read_bytes()))
        layers = graph.build(description)
        if picture is not None:
            graph.draw(layers, picture)
    except graph.GraphError as error:
        print(f"cudla-sim inspect: {error}", file=sys.stderr)
        raise typer.Exit(1) from None
    except OSError as error:
        print(f"cudla-sim inspect: {file}: {error.strerror}", file=sys.stderr)
        raise typer.Exit(1) from None
    except NvdlaError as error:
        print(f"cudla-sim inspect: {file}: {error}", file=sys.stderr)
        raise typer.Exit(1) from None
    print(json.dumps(description, indent=2) if as_json else render(description))
    if not as_json:
        print(graph.text(layers))


@app.command(
    "pva-cc",
    context_settings={
        "allow_extra_args": True,
        "ignore_unknown_options": True,
        "help_option_names": [],  # the compiler prints its own
    },
)
def pva_cc(context: typer.Context) -> None:
    """Compile a VPU kernel: cudla-sim pva-cc kernel.c -o kernel.o (--help lists the options)"""
    from .cupva.toolchain import cli

    raise typer.Exit(cli.main(context.args))


@app.command(
    "trtexec",
    context_settings={
        "allow_extra_args": True,
        "ignore_unknown_options": True,
        "help_option_names": [],  # trtexec prints its own
    },
)
def trtexec(context: typer.Context) -> None:
    """Compile an ONNX model with the words of TensorRT's trtexec."""
    from .tools import trtexec as tool

    raise typer.Exit(tool.main(context.args))


def run_command(words: list[str]) -> int:
    """Runs a sub-command; its exit status."""
    try:
        result = app(words, standalone_mode=False)
    except typer.Exit as leave:
        return int(leave.exit_code)
    except Exception as error:
        show = getattr(error, "show", None)  # click's own errors print themselves
        if show is None:
            raise
        show()
        return int(getattr(error, "exit_code", 2))
    return int(result or 0)
