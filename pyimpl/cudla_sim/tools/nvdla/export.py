"""``cudla-sim nvdla export``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from ...core.text import because
from ...nvdla.errors import NvdlaError
from ...nvdla.timing.parameters import Surroundings
from ..command import Command, Number, configuration, option, path_argument, path_option
from ..timing_options import timed
from .inputs import INPUT, configuration_for, fail, loadable_of, prepared, read_inputs, tell_zeros

if TYPE_CHECKING:
    from ...nvdla.pictures import Preparation


@click.command("export", cls=Command, arguments=[("LOADABLE", "An NVDLA loadable.")])
@path_argument("loadable")
@option(
    "--base",
    type=Number(),
    default="0x80000000",
    show_default=True,
    metavar="ADDRESS",
    group="Machine",
    help="Where memory begins; 32 bits, a multiple of 4096.",
)
@configuration()
@INPUT
@prepared
@path_option("-o", "--output", required=True, metavar="FOLDER", group="Output", help="Is made.")
@timed
def export(
    loadable: Path,
    base: int,
    config: str,
    input: tuple[str, ...],
    pictures: Preparation,
    output: Path,
    around: Surroundings,
) -> None:
    """Write a run down for a bench without us: registers, memory images, expected results.

    The folder gets a trace for the public trace players, a table with a player in C for bare metal,
    memory before and after as bytes and text, and a manifest.
    """
    from ...nvdla import images
    from ...nvdla.export import files, recording
    from ...nvdla.export.bench import Write

    try:
        data = loadable.read_bytes()
        network = loadable_of(loadable, data)
        chosen = configuration_for(network, config, "nvdla export", loadable.name)
        buffers = read_inputs(network, list(input), pictures)
        tell_zeros(network, buffers, "export")
        name = files.plain(loadable.stem)
        bench = recording.record(network, chosen, buffers, base, name=name, around=around)
        files.write(bench, output, data)
    except OSError as error:
        raise fail("export", because(error, output)) from None
    except (NvdlaError, images.InputError, ValueError) as error:
        raise fail("export", error) from None
    writes = sum(isinstance(step, Write) for step in bench.steps)
    print(
        f"{loadable.name} for {chosen}: {len(bench.operations)} operations, {writes} register"
        f" writes, memory {bench.base:#x}..{bench.end:#x}: {output}"
    )
