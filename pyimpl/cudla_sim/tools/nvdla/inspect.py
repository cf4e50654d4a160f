"""``cudla-sim inspect``: what a loadable holds."""

from __future__ import annotations

import json
from pathlib import Path

import click

from ...core.text import tell
from ...nvdla.errors import NvdlaError
from ...nvdla.inspect import describe, render
from ...nvdla.loadable import Loadable
from ..command import JSON, Command, path_argument, path_option
from . import layer_graph as graph


@click.command(cls=Command, arguments=[("FILE", "An NVDLA loadable.")])
@path_argument("file")
@JSON
@path_option(
    "--graph",
    "picture",
    metavar="FILE",
    group="Output",
    help="Draw the layer graph: .dot, .png, .svg, ...",
)
def inspect(file: Path, as_json: bool, picture: Path | None) -> None:
    """Print what a loadable holds: tensors, memory, tasks, layers, target configuration, graph."""
    try:
        description = describe(Loadable.parse(file.read_bytes()))
        layers = graph.build(description)
        if picture is not None:
            graph.draw(layers, picture)
    except graph.GraphError as error:
        tell(f"cudla-sim inspect: {error}")
        raise click.exceptions.Exit(1) from None
    except OSError as error:
        tell(f"cudla-sim inspect: {file}: {error.strerror}")
        raise click.exceptions.Exit(1) from None
    except NvdlaError as error:
        tell(f"cudla-sim inspect: {file}: {error}")
        raise click.exceptions.Exit(1) from None
    if as_json:
        print(json.dumps({"schema_version": 1, **description}, indent=2))
    else:
        print(render(description))
        print(graph.text(layers))
