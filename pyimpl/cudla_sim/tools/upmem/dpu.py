"""``cudla-sim dpu``: DPU programs as instructions."""

from __future__ import annotations

from pathlib import Path

import click

from ...constants.dpu_protocol import MAX_TASKLETS
from ...core import untrusted
from ...core.text import tell
from ...upmem.assembler.start import DEFAULT_STACK, Options
from ...upmem.toolchain.options import UsageError
from ..command import Group, Size, option, path_argument, path_option


@click.group(cls=Group)
def app() -> None:
    """Instructions of UPMEM's DPU."""


app.under(
    "Debugging",
    trace="cudla_sim.tools.upmem.debugging:trace",
    gdbserver="cudla_sim.tools.upmem.debugging:gdbserver",
    debug="cudla_sim.tools.upmem.native:debug",
)


def _fail(name: str, file: Path, error: Exception) -> click.exceptions.Exit:
    said = error.strerror if isinstance(error, OSError) else error
    tell(f"cudla-sim dpu {name}: {file}: {said}")
    return click.exceptions.Exit(1)


@app.command("disasm", arguments=[("FILE", "A DPU program in ELF, or with --raw plain words.")])
@option("--function", metavar="NAME", group="Output", help="Only this function.")
@option("--raw", is_flag=True, group="Input", help="The file is instructions of 8 bytes each.")
@path_argument("file")
def disasm(file: Path, function: str | None, raw: bool) -> None:
    """List the instructions of a DPU program as the vendor's disassembler does."""
    from ...upmem.isa import listing

    try:
        data = untrusted.read_bytes(file)
        code = listing.of_words(data) if raw else listing.of_elf(data)
        lines = list(listing.listing(code, function))
    except (OSError, ValueError) as error:
        raise _fail("disasm", file, error) from None
    print("\n".join(lines))


@app.command("as", arguments=[("FILE...", "Sources: .S files go through the C preprocessor.")])
@path_option(
    "-o",
    "--output",
    metavar="FILE",
    default="a.out",
    group="Output",
    help="The program; default: a.out.",
)
@option(
    "--tasklets",
    type=click.IntRange(1, MAX_TASKLETS),
    default=1,
    show_default=True,
    group="Program",
    help="NR_TASKLETS.",
)
@option(
    "--stack",
    type=Size(),
    default=str(DEFAULT_STACK),
    show_default=True,
    group="Program",
    help="Bytes of each tasklet's stack.",
)
@option(
    "--stdout-buffer",
    type=Size(),
    default="0",
    show_default=True,
    group="Program",
    help="Bytes of MRAM for what it prints.",
)
@option(
    "-D", "defines", metavar="NAME[=VALUE]", multiple=True, group="Preprocessor", help="A macro."
)
@option(
    "-I",
    "folders",
    metavar="FOLDER",
    multiple=True,
    group="Preprocessor",
    help="Where included files are.",
)
@click.argument("files", nargs=-1, required=True, metavar="FILE...")
def assemble(files: tuple[str, ...], output: Path, tasklets: int, stack: int, stdout_buffer: int,
             defines: tuple[str, ...], folders: tuple[str, ...]) -> None:  # fmt: skip
    """Assemble a DPU program: cudla-sim dpu as task.S -o task

    It begins at main, on every tasklet, or at __bootstrap where the sources have that.
    """
    from ...upmem.assembler.program import build
    from ...upmem.toolchain import dpu_assembly

    flags = [
        f"-DNR_TASKLETS={tasklets}",
        *(f"-D{d}" for d in defines),
        *(f"-I{f}" for f in folders),
    ]
    try:
        texts = [(dpu_assembly.preprocess(file, flags), file) for file in files]
        options = Options(tasklets, [stack] * tasklets, (stdout_buffer + 7) & ~7)
        output.write_bytes(build(texts, options))
    except OSError as error:
        raise _fail("as", Path(error.filename or output), error) from None
    except (UsageError, ValueError) as error:
        tell(f"cudla-sim dpu as: {error}")
        raise click.exceptions.Exit(1) from None
