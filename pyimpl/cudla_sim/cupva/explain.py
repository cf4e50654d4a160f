"""What a dataflow does, as a table of tiles and as a picture."""

from __future__ import annotations

from typing import Any

from .dataflow.base import DataFlow, Tile
from .pointers import Locator

_COLUMNS = ("tile", "trigger", "x", "y", "width", "height", "plane", "pad l,r,t,b", "VMEM")


def explain(dataflow: DataFlow, locate: Locator) -> list[Tile]:
    """The tiles in the order of transfer. Raises CupvaError as compileDataFlows() does."""
    return dataflow.tiles(locate)


def text(dataflow: DataFlow, locate: Locator) -> str:
    """A line a tile: what is read or written, what is made up around it, its place in VMEM."""
    rows = [_row(tile) for tile in dataflow.tiles(locate)]
    widths = [max(len(r[i]) for r in (_COLUMNS, *rows)) for i in range(len(_COLUMNS))]
    lines = [f"{dataflow.name}: {len(rows)} tiles"]
    lines += [
        "  ".join(c.rjust(w) for c, w in zip(r, widths, strict=True)) for r in (_COLUMNS, *rows)
    ]
    return "\n".join(lines) + "\n"


def _row(tile: Tile) -> tuple[str, ...]:
    pad = tile.padding
    made_up = f"{pad.left},{pad.right},{pad.top},{pad.bottom}" if pad.any else "-"
    numbers = (tile.order, tile.trigger, tile.x, tile.y, tile.width, tile.height, tile.plane)
    return (*(str(n) for n in numbers), made_up, f"{tile.vmem:#x}")


def plot(dataflow: DataFlow, locate: Locator, path: str) -> None:
    """Draws source, region of interest, tiles in order, halo and padding, and the VMEM buffer.

    Needs matplotlib (``pip install 'cudla-sim[plot]'``); raises ImportError without it.
    """
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(11, 7), layout="constrained")
    FigureCanvasAgg(figure)
    image, vmem = figure.subplots(1, 2, width_ratios=(3, 1))
    tiles = dataflow.tiles(locate)
    _draw_image(image, dataflow, tiles)
    _draw_vmem(vmem, tiles)
    figure.suptitle(f"{dataflow.name}: {len(tiles)} tiles")
    figure.savefig(path)


def _draw_image(axes: Any, dataflow: DataFlow, tiles: list[Tile]) -> None:
    from matplotlib.patches import Rectangle

    extent = getattr(dataflow, "extent", None)
    if extent:
        axes.add_patch(Rectangle((0, 0), extent[0], extent[1], fill=False, lw=2, label="image"))
    region = getattr(dataflow, "roi_rectangle", None)
    if region:
        x, y, width, height = region
        axes.add_patch(
            Rectangle((x, y), width, height, fill=False, ls="--", ec="tab:red", label="ROI")
        )
    shown = [t for t in tiles if t.plane == 0]
    for tile in shown:
        pad = tile.padding
        outer = (tile.x - pad.left, tile.y - pad.top)
        size = (tile.width + pad.left + pad.right, tile.height + pad.top + pad.bottom)
        if pad.any:
            axes.add_patch(Rectangle(outer, *size, fc="tab:orange", alpha=0.25))
        axes.add_patch(
            Rectangle((tile.x, tile.y), tile.width, tile.height, fc="tab:blue", alpha=0.15, ec="k")
        )
        if len(shown) <= 400:
            centre = (tile.x + tile.width / 2, tile.y + tile.height / 2)
            axes.text(*centre, str(tile.order), ha="center", va="center", fontsize=7)
    axes.set_aspect("equal")
    axes.autoscale_view()
    axes.invert_yaxis()
    axes.set_xlabel("x, pixels")
    axes.set_ylabel("y, pixels")
    axes.set_title("tiles in order; orange: padding")


def _draw_vmem(axes: Any, tiles: list[Tile]) -> None:
    places = sorted({t.vmem for t in tiles})
    for place in places:
        orders = [t.order for t in tiles if t.vmem == place]
        first = ", ".join(str(o) for o in orders[:4]) + (" ..." if len(orders) > 4 else "")
        axes.barh(places.index(place), 1, fc="tab:green", alpha=0.4, ec="k")
        axes.text(0.5, places.index(place), f"{place:#x}: {first}", ha="center", va="center")
        if places.index(place) >= 15:
            break
    axes.set_xticks([])
    axes.set_yticks([])
    axes.set_title("tile buffer in VMEM")
