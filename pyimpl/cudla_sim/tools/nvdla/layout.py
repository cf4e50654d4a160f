"""``cudla-sim nvdla layout``: where elements lie in memory."""

from __future__ import annotations

from pathlib import Path

import click

from ...nvdla import layout_picture
from ...nvdla.errors import NvdlaError
from ...nvdla.loadable import Loadable
from ..command import Command, option, path_argument
from .inputs import fail


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
