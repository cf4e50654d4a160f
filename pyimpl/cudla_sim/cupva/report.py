"""What a dataflow does, as a table of tiles."""

from __future__ import annotations

import sys
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from .dataflow.base import DataFlow, Tile
from .pointers import Locator

if TYPE_CHECKING:
    from .program import Program

_COLUMNS = ("tile", "trigger", "x", "y", "width", "height", "plane", "pad l,r,t,b", "VMEM")


def tiles(dataflow: DataFlow, locate: Locator) -> list[Tile]:
    """The tiles in the order of transfer. Raises CupvaError as compileDataFlows() does."""
    return dataflow.tiles(locate)


def text(dataflow: DataFlow, locate: Locator) -> str:
    """A line a tile: what is read or written, what is made up around it, its place in VMEM."""
    rows = [_row(tile) for tile in dataflow.tiles(locate)]
    widths = [max(len(r[i]) for r in (_COLUMNS, *rows)) for i in range(len(_COLUMNS))]
    lines = [f"{dataflow.title}: {len(rows)} tiles", *_geometry(dataflow)]
    lines += [
        "  ".join(c.rjust(w) for c, w in zip(r, widths, strict=True)) for r in (_COLUMNS, *rows)
    ]
    return "\n".join(lines) + "\n"


def _geometry(dataflow: DataFlow) -> list[str]:
    """What the tiles are made of, in pixels."""
    words = []
    for name, what in (
        ("extent", "memory"), ("pitch", "line pitch"), ("row_stride", "row stride"),
        ("roi_rectangle", "region"), ("tile_size", "tile"), ("halo_size", "halo"),
        ("pixel_bytes", "bytes a pixel"),
    ):  # fmt: skip
        value = getattr(dataflow, name, None)
        if isinstance(value, tuple):
            value = " x ".join(str(v) for v in value) if name != "roi_rectangle" else str(value)
        if value is not None:
            words.append(f"{what} {value}")
    return [", ".join(words)] if words else []


def _row(tile: Tile) -> tuple[str, ...]:
    pad = tile.padding
    made_up = f"{pad.left},{pad.right},{pad.top},{pad.bottom}" if pad.any else "-"
    numbers = (tile.order, tile.trigger, tile.x, tile.y, tile.width, tile.height, tile.plane)
    return (*(str(n) for n in numbers), made_up, f"{tile.vmem:#x}")


def save(program: Program, folder: str, locate: Locator) -> None:
    """Writes a table for each dataflow head of a program into ``folder``, and a picture where
    matplotlib is installed. Raises OSError."""
    path = Path(folder)
    path.mkdir(parents=True, exist_ok=True)
    for head in program.heads:
        handler = head.dataflow.handler_symbol
        name = f"program{program.number}_{head.dataflow.name.replace(' ', '')}"
        if handler is not None:
            name += f"_{handler.symbol}"
        (path / f"{name}.txt").write_text(text(head.dataflow, locate))
        try:
            from .picture import draw

            draw(head.dataflow, locate, str(path / f"{name}.png"))
        except ImportError:
            _say_that_pictures_need_matplotlib(folder)


@cache
def _say_that_pictures_need_matplotlib(folder: str) -> None:
    sys.stderr.write(
        f"cudla-sim: {folder} gets tables only; pictures need matplotlib "
        "(pip install 'cudla-sim[plot]')\n"
    )
