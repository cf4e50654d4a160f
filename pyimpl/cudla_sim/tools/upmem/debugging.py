"""``cudla-sim dpu trace`` and ``gdbserver``: looking into a DPU program while it runs."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import click

from ...constants.dpu_protocol import MAX_TASKLETS
from ...core import untrusted
from ...core.errors import ApiError
from ...core.text import tell
from ...upmem.debug.gdb import TRIPLE
from ..command import Command, option, path_argument

if TYPE_CHECKING:
    from ...upmem.debug.state import State

PROGRAM = (
    "PROGRAM",
    "A program of UPMEM's compiler, of `cudla-sim dpu as`, or of dpu-clang on .S.",
)
INPUTS = option(
    "--input",
    "inputs",
    metavar="SYMBOL=FILE",
    multiple=True,
    group="Program",
    help="First bytes of a variable of the program, as its host would write them.",
)


@contextmanager
def prepared(command: str, program: Path, inputs: tuple[str, ...]) -> Iterator[State]:
    """A loaded DPU; what is wrong with it is one line, and exit status 1."""
    from ...upmem.debug.single import loaded

    named: dict[str, Path] = {}
    for given in inputs:
        name, equals, file = given.partition("=")
        if not equals or not name or not file:
            raise click.UsageError(f"--input {given}: give SYMBOL=FILE")
        named[name] = Path(file)
    try:
        with loaded(program, named) as state:
            yield state
    except BrokenPipeError:  # nobody reads any more
        raise
    except (OSError, ValueError, ApiError) as error:
        said = error.explanation if isinstance(error, ApiError) else str(error)
        if isinstance(error, OSError):
            said = f"{error.filename}: {error.strerror}"
        tell(f"cudla-sim dpu {command}: {said}")
        raise click.exceptions.Exit(1) from None


@click.command(cls=Command, arguments=[PROGRAM])
@option(
    "--tasklet",
    "tasklets",
    type=click.IntRange(0, MAX_TASKLETS - 1),
    multiple=True,
    group="Output",
    help="Only this tasklet; several may be named.",
)
@option("--function", metavar="NAME", group="Output", help="Only instructions of this function.")
@option(
    "--limit", type=click.IntRange(min=1), metavar="N", group="Output",
    help="Stop after so many lines.",
)  # fmt: skip
@INPUTS
@path_argument("program")
def trace(
    program: Path,
    tasklets: tuple[int, ...],
    function: str | None,
    limit: int | None,
    inputs: tuple[str, ...],
) -> None:
    """Run a DPU program and print each instruction: cycle, tasklet, address, function and offset in
    instructions, text, and the register it wrote."""
    from ...upmem.debug import control
    from ...upmem.debug.trace import Text as TraceText
    from ...upmem.debug.trace import Trace
    from ...upmem.isa import listing

    with prepared("trace", program, inputs) as state:
        code = listing.of_elf(untrusted.read_bytes(program))
        made = Trace(state, limit=limit)
        if tasklets:
            made.tasklets = sum(1 << n for n in set(tasklets))
        if function is not None:
            if function not in code.functions:
                raise ValueError(f"{program} has no function {function!r}")
            made.indexes = code.functions[function]
        text = TraceText(code)
        for piece in made.pieces():
            if len(piece):
                sys.stdout.write("\n".join(text.lines(piece)) + "\n")
        if control.is_fault(made.ended_by) and made.ended_by is not None:
            tell(f"cudla-sim dpu trace: {program} is in fault: {made.ended_by.text}")
            raise click.exceptions.Exit(1)


@click.command(cls=Command, arguments=[PROGRAM])
@option(
    "--port",
    type=click.IntRange(0, 65535),
    default=0,
    metavar="N",
    group="Connection",
    help="TCP port of this machine; default: one that is free, which it prints.",
)
@option(
    "--triple",
    metavar="NAME",
    default=TRIPLE,
    show_default=True,
    group="Connection",
    help="The processor that lldb is told; UPMEM's own takes dpu-upmem-dpurte.",
)
@INPUTS
@path_argument("program")
def gdbserver(program: Path, port: int, triple: str, inputs: tuple[str, ...]) -> None:
    """Run a DPU program under a debugger that speaks gdb's remote protocol. It waits for the
    debugger before the first instruction. Tasklet n is thread n + 1."""
    from ...upmem.debug.gdb import server

    with prepared("gdbserver", program, inputs) as state:

        def ready(number: int) -> None:
            tell(f"cudla-sim dpu gdbserver: {program} waits for a debugger at localhost:{number}")

        ended_by = server.serve(state, port, ready, triple)
        if state.program.log_buffer is not None:
            sys.stdout.write(state.dpu.log)
        if ended_by is not None:
            tell(f"cudla-sim dpu gdbserver: {program} did not end well: {ended_by.text}")
            raise click.exceptions.Exit(1)
