"""The sub-commands of ``cudla-sim``."""

from __future__ import annotations

import os
import sys
from typing import Any

import click
from click.shell_completion import get_completion_class

from .. import flags, paths
from ..core.text import tell
from ..version import __version__
from .command import (
    JSON,
    Command,
    ConfigName,
    Group,
    PassThrough,
    complain,
    near,
    option,
)

COMPLETION = "_CUDLA_SIM_COMPLETE"
"""The variable with which the shells' functions ask for completions."""


class _Root(Group):
    """``cudla-sim``; words of build systems stand alone (``cli.main`` answers those at once)."""

    def resolve_command(self, ctx: click.Context, args: list[str]) -> Any:
        for name in flags.OPTIONS:
            if ctx.params.get(_variable(name)):
                raise click.UsageError(
                    f"{name} prints {flags.OPTIONS[name]} and takes no word {args[0]!r}; flags for "
                    'one library: eval "$(cudla-sim --env)"; pkg-config --cflags --libs NAME',
                    ctx,
                )
        return super().resolve_command(ctx, args)


def _variable(name: str) -> str:
    return name.removeprefix("--").replace("-", "_")


def _complete(ctx: click.Context, parameter: click.Parameter, shell: str) -> None:
    """Prints the function that completes words in *shell*."""
    if not shell or ctx.resilient_parsing:
        return
    found = get_completion_class(shell)
    if found is None:
        raise click.BadParameter(f"{shell!r}; there are bash, zsh and fish", ctx, parameter)
    print(found(app, {}, "cudla-sim", COMPLETION).source())
    ctx.exit()


@click.group(cls=_Root, invoke_without_command=True)
@click.version_option(
    __version__, "-V", "--version", prog_name="cudla-sim", message="%(prog)s %(version)s"
)
@option(
    "--completion",
    type=click.Choice(["bash", "zsh", "fish"]),
    callback=_complete,
    expose_value=False,
    is_eager=True,
    help='Print the shell\'s completion: eval "$(cudla-sim --completion bash)".',
)
@click.pass_context
def app(context: click.Context, /, **asked: bool) -> None:
    """Run unmodified cuDLA, NVDLA, UPMEM and cuPVA programs on this machine.

    Exit status: 0 done; 1 something failed, differs or was found; 2 wrong usage; 127 a program
    could not be started; 130 interrupted. A command that runs a program ends with its status.
    """
    if context.invoked_subcommand is None:
        raise click.UsageError("name a command", context)


for _name, _what in {**flags.OPTIONS, "--no-cuda": "the others without our CUDA subset"}.items():
    option(
        _name,
        is_flag=True,
        help=f"Print {_what}.".replace("Print the others", "The others"),
        group="For build systems",
    )(app)


@click.command(
    cls=Command,
    context_settings={"allow_interspersed_args": False},
    arguments=[("PROGRAM [ARGS]...", "The program and its arguments, behind --.")],
    options_metavar="[OPTIONS] --",
)
@option(
    "--config",
    type=ConfigName("auto"),
    default="",
    group="Machine",
    help="NVDLA configuration: nv_full, nv_small, ..., or auto.",
)
@option("--no-cuda", is_flag=True, group="Machine", help="Leave our CUDA out.")
@option(
    "--fault",
    default="",
    metavar="RULE",
    group="Machine",
    help="Make a call or task fail on purpose: point[@n][=STATUS], ...",
)
@option("--explain", is_flag=True, group="What is reported", help="Say why calls fail.")
@option(
    "--log",
    default="",
    metavar="WORDS",
    group="What is reported",
    help="api, layers, firmware, or several with a comma.",
)
@option(
    "--trace",
    default="",
    metavar="FILE",
    group="What is reported",
    help="Write a Chrome trace to this file.",
)
@click.argument("command", nargs=-1, type=click.UNPROCESSED, metavar="PROGRAM [ARGS]...")
def run(
    command: tuple[str, ...],
    config: str,
    no_cuda: bool,
    fault: str,
    explain: bool,
    log: str,
    trace: str,
) -> None:
    """Run a program with the simulated libraries: cudla-sim run -- ./prog args

    The settings are checked before the program starts; its exit status is the command's.
    """
    given = {
        "CUDLA_SIM_CONFIG": config,
        "CUDLA_SIM_EXPLAIN": "1" if explain else "",
        "CUDLA_SIM_LOG": log,
        "CUDLA_SIM_TRACE": trace,
        "CUDLA_SIM_FAULT": fault,
    }
    settings = {name: value for name, value in given.items() if value}
    if not command:
        raise click.UsageError("name a program, as in cudla-sim run -- ./prog args")
    _check_settings({**os.environ, **settings})
    search = flags.environment(cuda=not no_cuda and not paths.real_cuda_present())
    # hosts of DPU programs may call the DPU compiler, so it is on their PATH
    found = {name: search[name] for name in ("LD_LIBRARY_PATH", "PATH", "UPMEM_HOME")}
    environment = {**os.environ, **found, **settings}
    environment.setdefault("CUDLA_SIM_PYTHON", sys.executable)
    try:
        os.execvpe(command[0], list(command), environment)
    except OSError as error:
        tell(f"cudla-sim run: {command[0]}: {error.strerror}")
        raise click.exceptions.Exit(127) from None


def _check_settings(environment: dict[str, str]) -> None:
    """Says now what the program would meet at its first call."""
    from ..core.config import from_environment
    from ..core.errors import ConfigError
    from ..core.faults import Faults

    try:
        Faults(from_environment(environment).fault)
    except ConfigError as error:
        raise click.UsageError(str(error)) from None


@click.command(cls=Command)
@JSON
def doctor(as_json: bool) -> None:
    """Say what Python, libpython, library and links resolve to, and what is wrong."""
    from . import doctor as checks

    raise click.exceptions.Exit(checks.report(as_json))


@click.command("pva-cc", cls=PassThrough, add_help_option=False)
@click.pass_context
def pva_cc(context: click.Context) -> None:
    """Compile a VPU kernel: cudla-sim pva-cc kernel.c -o kernel.o (--help lists the options)"""
    from ..cupva.toolchain import cli

    raise click.exceptions.Exit(cli.main(context.args))


@click.command("nvcc", cls=PassThrough, add_help_option=False)
@click.pass_context
def nvcc(context: click.Context) -> None:
    """Compile CUDA C++, kernels for the CPU: cudla-sim nvcc app.cu -o app (--help)"""
    from ..cuda_kernels import driver

    raise click.exceptions.Exit(driver.main(context.args))


@click.command("trtexec", cls=PassThrough, add_help_option=False)
@click.pass_context
def trtexec(context: click.Context) -> None:
    """Compile an ONNX model with the words of TensorRT's trtexec."""
    from .onnx import trtexec as tool

    raise click.exceptions.Exit(tool.main(context.args))


@click.command(cls=Command, arguments=[("[NAME]", "One of the schemas; without it: their names.")])
@click.argument("name", required=False)
def schema(name: str | None) -> None:
    """Print the JSON schema of what a command prints with --json."""
    from . import schemas

    names = schemas.names()
    if name is None:
        print("\n".join(names))
    elif name in names:
        print(schemas.text(name), end="")
    else:
        known = ", ".join(names)
        raise click.UsageError(f"there is no schema {name!r}{near(name, names)}: {known}")


@click.command("version", cls=Command)
def version() -> None:
    """Print the version, as -V does."""
    print(f"cudla-sim {__version__}")


@click.command("help", cls=Command, arguments=[("[COMMAND]...", "As it is called: nvdla run.")])
@click.argument("words", nargs=-1, metavar="[COMMAND]...")
@click.pass_context
def show_help(context: click.Context, words: tuple[str, ...]) -> None:
    """Say how a command is used: cudla-sim help nvdla run is cudla-sim nvdla run --help."""
    root = context.find_root()
    app.main(
        [*words, "--help"],
        prog_name=root.info_name,
        complete_var=COMPLETION,
        standalone_mode=False,
    )


app.under("Programs", run)
app.under("Programs", report="cudla_sim.tools.report.command:report")
app.under("Programs", doctor)
app.under("NVDLA", nvdla="cudla_sim.tools.nvdla.command:app")
app.under("NVDLA", inspect="cudla_sim.tools.nvdla.inspect:inspect")
app.under("NVDLA", compile="cudla_sim.tools.onnx.compile:compile_model")
app.under("NVDLA", trtexec)
app.under("Jetson and DRIVE", dla="cudla_sim.tools.dla.command:app")
app.under("UPMEM", upmem="cudla_sim.tools.upmem.command:app")
app.under("UPMEM", dpu="cudla_sim.tools.upmem.dpu:app")
app.under("CUDA", nvcc)
app.under("cuPVA", pva_cc)
app.under("cuPVA", pva="cudla_sim.tools.pva.command:app")
app.under("About", show_help)
app.under("About", version)
app.under("About", devices="cudla_sim.tools.devices:show_devices")
app.under("About", schema)
app.under("About", cache="cudla_sim.tools.cache:show_cache")


def run_command(words: list[str]) -> int:
    """Runs a sub-command; its exit status. Raises BrokenPipeError."""
    output = sys.stdout
    try:
        result = app.main(
            words, prog_name="cudla-sim", complete_var=COMPLETION, standalone_mode=False
        )
    except click.Abort:
        return 130
    except SystemExit:
        if sys.stdout is output:
            raise
        raise BrokenPipeError from None  # click has put a silent one in the place of a broken pipe
    except click.ClickException as error:
        return complain(error)
    return int(result or 0)
