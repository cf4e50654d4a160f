"""A dataflow as a picture."""

from __future__ import annotations

from typing import Any

from .dataflow.base import DataFlow, Tile
from .pointers import Locator


def draw(dataflow: DataFlow, locate: Locator, path: str) -> None:
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

    shown = [t for t in tiles if t.plane == 0]
    for tile in shown:
        if tile.padding.any:
            axes.add_patch(Rectangle(*_outer(tile), fc="tab:orange", alpha=0.3, lw=0))
    extent = getattr(dataflow, "extent", None)
    if extent:  # padding never lies inside the image
        axes.add_patch(Rectangle((0, 0), extent[0], extent[1], fc="white", ec="k", lw=2))
    for tile in shown:
        axes.add_patch(
            Rectangle((tile.x, tile.y), tile.width, tile.height, fc="tab:blue", alpha=0.15, ec="k")
        )
        if len(shown) <= 400:
            centre = (tile.x + tile.width / 2, tile.y + tile.height / 2)
            axes.text(*centre, str(tile.order), ha="center", va="center", fontsize=7)
    region = getattr(dataflow, "roi_rectangle", None)
    if region:
        x, y, width, height = region
        axes.add_patch(Rectangle((x, y), width, height, fill=False, ls="--", ec="tab:red", lw=2))
    axes.set_aspect("equal")
    axes.autoscale_view()
    axes.invert_yaxis()
    axes.set_xlabel("x, pixels")
    axes.set_ylabel("y, pixels")
    axes.set_title("tiles in order; orange: padding; dashed: region of interest")


def _outer(tile: Tile) -> tuple[tuple[int, int], int, int]:
    """Corner, width and height with the padding."""
    pad = tile.padding
    corner = (tile.x - pad.left, tile.y - pad.top)
    return corner, tile.width + pad.left + pad.right, tile.height + pad.top + pad.bottom


def _draw_vmem(axes: Any, tiles: list[Tile]) -> None:
    places = sorted({t.vmem for t in tiles})
    for place in places:
        orders = [t.order for t in tiles if t.vmem == place]
        first = ", ".join(str(o) for o in orders[:4]) + (" ..." if len(orders) > 4 else "")
        axes.barh(places.index(place), 1, fc="tab:green", alpha=0.4, ec="k")
        axes.text(0.5, places.index(place), f"{place:#x}: {first}", ha="center", va="center")
        if places.index(place) >= 15:
            break
    axes.invert_yaxis()
    axes.set_xticks([])
    axes.set_yticks([])
    axes.set_title("tile buffer in VMEM")
