"""What a dataflow does, as a table of tiles."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from ..core.text import tell
from .dataflow.base import DataFlow, Tile
from .described import Described
from .pointers import Locator

if TYPE_CHECKING:
    from .program import Program

_COLUMNS = ("tile", "trigger", "x", "y", "width", "height", "plane", "pad l,r,t,b", "VMEM")


def tiles(dataflow: DataFlow, locate: Locator) -> list[Tile]:
    """The tiles in the order of transfer. Raises CupvaError as compileDataFlows() does."""
    return dataflow.tiles(locate)


def text(dataflow: DataFlow, locate: Locator) -> str:
    """A line a tile: what is read or written, what is made up around it, its place in VMEM."""
    return table(Described.of(dataflow, locate))


def table(described: Described) -> str:
    """The same for a dataflow that was described before."""
    rows = [_row(tile) for tile in described.tiles]
    widths = [max(len(r[i]) for r in (_COLUMNS, *rows)) for i in range(len(_COLUMNS))]
    lines = [f"{described.title}: {len(rows)} tiles"]
    lines += [described.geometry] if described.geometry else []
    lines += [
        "  ".join(c.rjust(w) for c, w in zip(r, widths, strict=True)) for r in (_COLUMNS, *rows)
    ]
    return "\n".join(lines) + "\n"


def _row(tile: Tile) -> tuple[str, ...]:
    pad = tile.padding
    made_up = f"{pad.left},{pad.right},{pad.top},{pad.bottom}" if pad.any else "-"
    numbers = (tile.order, tile.trigger, tile.x, tile.y, tile.width, tile.height, tile.plane)
    return (*(str(n) for n in numbers), made_up, f"{tile.vmem:#x}")


def save(program: Program, folder: str, locate: Locator) -> None:
    """Writes a table for each dataflow head of a program into ``folder``, the same as JSON (for
    ``cudla-sim pva``), and a picture where matplotlib is installed. Raises OSError."""
    path = Path(folder)
    path.mkdir(parents=True, exist_ok=True)
    for head in program.heads:
        handler = head.dataflow.handler_symbol
        name = f"program{program.number}_{head.dataflow.name.replace(' ', '')}"
        if handler is not None:
            name += f"_{handler.symbol}"
        described = Described.of(head.dataflow, locate)
        (path / f"{name}.txt").write_text(table(described))
        (path / f"{name}.json").write_text(described.to_json())
        try:
            from .picture import draw_described

            draw_described(described, str(path / f"{name}.png"))
        except ImportError:
            _say_that_pictures_need_matplotlib(folder)


@cache
def _say_that_pictures_need_matplotlib(folder: str) -> None:
    tell(
        f"cudla-sim: {folder} gets tables only; pictures need matplotlib "
        "(pip install 'cudla-sim[plot]')"
    )
