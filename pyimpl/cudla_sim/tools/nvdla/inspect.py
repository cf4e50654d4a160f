"""``cudla-sim inspect`` and ``cudla-sim nvdla layout``: what a loadable holds, and where."""

from __future__ import annotations

import json
from pathlib import Path

import click

from ...core.text import tell
from ...nvdla import layout_picture
from ...nvdla.errors import NvdlaError
from ...nvdla.inspect import describe, render
from ...nvdla.loadable import Loadable
from ..command import JSON, Command, option, path_argument, path_option
from . import layer_graph as graph
from .inputs import fail


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


@click.command("layout", cls=Command, arguments=[("LOADABLE", "An NVDLA loadable.")])
@path_argument("loadable")
@option(
    "--element", multiple=True, metavar="N,C,H,W", help="Where this element of each tensor lies."
)
def show_layout(loadable: Path, element: tuple[str, ...]) -> None:
    """Draw where the elements of a loadable's inputs and outputs lie in memory."""
    try:
        network = Loadable.parse(loadable.read_bytes())
        for kind, tensors in (("input", network.inputs), ("output", network.outputs)):
            for number, tensor in enumerate(tensors):
                print(f"{kind} {number} {layout_picture.picture(tensor)}")
                for word in element:
                    n, c, h, w = (int(i) for i in word.split(","))
                    print(layout_picture.where(tensor, n, c, h, w))
                print()
    except OSError as error:
        raise fail("layout", f"{error.filename}: {error.strerror}") from None
    except (NvdlaError, ValueError) as error:
        raise fail("layout", error) from None
