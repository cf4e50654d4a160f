"""``cudla-sim inspect`` and ``cudla-sim nvdla layout``: what a loadable holds, and where."""

from __future__ import annotations

import json
import textwrap
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ...core.text import because, printable, tell
from ...nvdla.errors import NvdlaError
from ...nvdla.loadable import Loadable
from ..command import JSON, Command, option, path_argument, path_option
from . import layer_graph as graph
from .inputs import fail

if TYPE_CHECKING:
    from ...nvdla.parts.package import Package

Element = tuple[int, int, int, int]


@click.command(cls=Command, arguments=[("FILE", "An NVDLA loadable, or a network in parts.")])
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
    from ...nvdla.inspect import describe, render
    from .parts import package_of

    try:
        data = file.read_bytes()
        package = package_of(data)
        if package is not None:
            _inspect_parts(package, as_json, picture)
            return
        description = describe(Loadable.parse(data))
        layers = graph.build(description)
        if picture is not None:
            graph.draw(layers, picture)
    except graph.GraphError as error:
        tell(f"cudla-sim inspect: {error}")
        raise click.exceptions.Exit(1) from None
    except OSError as error:
        tell(f"cudla-sim inspect: {because(error, file)}")
        raise click.exceptions.Exit(1) from None
    except NvdlaError as error:
        tell(f"cudla-sim inspect: {file}: {error}")
        raise click.exceptions.Exit(1) from None
    if as_json:
        print(json.dumps({"schema_version": 1, **description}, indent=2))
    else:
        print(render(description))
        print(graph.text(layers))


def _inspect_parts(package: Package, as_json: bool, picture: Path | None) -> None:
    """Raises NvdlaError, GraphError."""
    from ...nvdla.inspect import describe, render
    from ...nvdla.parts.summary import part_line, summary
    from .parts import as_json as parts_json
    from .parts import loadables, surroundings

    found = {number: describe(loadable) for number, loadable, _ in loadables(package, "")}
    layers = {number: graph.build(description) for number, description in found.items()}
    if picture is not None:
        for number, drawn in layers.items():
            graph.draw(drawn, picture.with_stem(f"{picture.stem}_part{number}"))
    if as_json:
        more = parts_json(package, surroundings())
        for item in more["parts"]:
            if item["part"] in found:
                item["loadable"] = found[item["part"]]
        ports = {
            "inputs": [_port(package, name) for name in package.inputs],
            "outputs": [_port(package, name) for name in package.outputs],
        }
        described = {"schema_version": 1, "config": package.config, **ports, **more}
        print(json.dumps(described, indent=2))
        return
    print(f"a network in {len(package.parts)} parts for {printable(package.config)}")
    for number in range(len(package.parts)):
        print(part_line(package, number))
        if number in found:
            print(textwrap.indent(render(found[number]), "  "))
            print(textwrap.indent(graph.text(layers[number]), "  "))
    print(summary(package, surroundings()))


def _port(package: Package, name: str) -> dict[str, Any]:
    """An input or output of the network; older packages do not say everything."""
    tensor = package.tensors.get(name)
    if tensor is None:
        return {"name": name, "shape": list(package.inputs.get(name, ())) or None, "dtype": None}
    return {
        "name": name,
        "shape": list(tensor.shape),
        "dtype": tensor.dtype,
        "varies": tensor.varies,
    }


class _Element(click.ParamType):  # type: ignore[type-arg,unused-ignore]
    """Four numbers with commas."""

    name = "N,C,H,W"

    def get_metavar(self, param: click.Parameter, ctx: Any = None) -> str:
        return self.name

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> Element:
        words = str(value).split(",")
        if len(words) != 4 or not all(word.strip().isdecimal() for word in words):
            raise click.BadParameter(f"{value!r} is no {self.name}; 0,3,1,2 is", ctx, param)
        n, c, h, w = map(int, words)
        return n, c, h, w


@click.command(
    "layout", cls=Command, arguments=[("LOADABLE", "An NVDLA loadable, or a network in parts.")]
)
@path_argument("loadable")
@option(
    "--element",
    multiple=True,
    type=_Element(),
    help="Where this element of each tensor lies.",
)
@JSON
def show_layout(loadable: Path, element: tuple[Element, ...], as_json: bool) -> None:
    """Draw where the elements of a loadable's inputs and outputs lie in memory."""
    from ...nvdla.parts.summary import part_line
    from .parts import loadables, package_of

    try:
        data = loadable.read_bytes()
        package = package_of(data)
        if as_json:
            networks = (
                [(None, Loadable.parse(data))]
                if package is None
                else [(number, network) for number, network, _ in loadables(package, "")]
            )
            print(json.dumps(layouts(networks, element), indent=1))
            return
        if package is None:
            _layout(Loadable.parse(data), element)
            return
        for number, network, _ in loadables(package, ""):
            print(part_line(package, number))
            _layout(network, element)
    except OSError as error:
        raise fail("layout", because(error)) from None
    except (NvdlaError, ValueError) as error:
        raise fail("layout", error) from None


def layouts(
    networks: Sequence[tuple[int | None, Loadable]], elements: Sequence[Element]
) -> dict[str, Any]:
    """What ``layout --json`` prints; the number is a part's. Raises NvdlaError."""
    from ...nvdla import layout

    tensors = [
        {
            **({} if part is None else {"part": part}),
            "kind": kind,
            "index": index,
            "name": tensor.name,
            "shape": [tensor.n, tensor.c, tensor.h, tensor.w],
            "dtype": layout.tensor_dtype(tensor).name,
            "size": tensor.size,
            "atom": layout.tensor_atom(tensor) or None,
            "line_stride": tensor.strides[1],
            "surface_stride": tensor.strides[2],
            "elements": [
                {"element": list(place), "offset": layout.element_offset(tensor, *place)}
                for place in elements
            ],
        }
        for part, network in networks
        for kind, found in (("input", network.inputs), ("output", network.outputs))
        for index, tensor in enumerate(found)
    ]
    return {"schema_version": 1, "tensors": tensors}


def _layout(network: Loadable, element: tuple[Element, ...]) -> None:
    """Raises NvdlaError, ValueError."""
    from ...nvdla import layout_picture

    for kind, tensors in (("input", network.inputs), ("output", network.outputs)):
        for number, tensor in enumerate(tensors):
            print(f"{kind} {number} {layout_picture.picture(tensor)}")
            for place in element:
                print(layout_picture.where(tensor, *place))
            print()
