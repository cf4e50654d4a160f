"""``cudla-sim dpu``: DPU programs as instructions."""

from __future__ import annotations

from pathlib import Path

import click

from ...core import untrusted
from ...core.text import tell
from ...upmem.isa import listing
from ..command import Group, option, path_argument


@click.group(cls=Group)
def app() -> None:
    """Instructions of UPMEM's DPU."""


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
    try:
        data = untrusted.read_bytes(file)
        code = listing.of_words(data) if raw else listing.of_elf(data)
        lines = list(listing.listing(code, function))
    except (OSError, ValueError) as error:
        raise _fail("disasm", file, error) from None
    print("\n".join(lines))
