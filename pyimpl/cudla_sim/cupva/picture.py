"""A dataflow as a picture."""

from __future__ import annotations

from typing import Any

from .dataflow.base import DataFlow, Tile
from .described import Described
from .pointers import Locator

MAX_PLACES = 16
"""Places in VMEM that are drawn."""


def draw(dataflow: DataFlow, locate: Locator, path: str) -> None:
    """Draws source, region of interest, tiles in order, halo and padding, and the VMEM buffer.

    Needs matplotlib (``pip install 'cudla-sim[plot]'``); raises ImportError without it.
    """
    draw_described(Described.of(dataflow, locate), path)


def draw_described(described: Described, path: str) -> None:
    """The same for a dataflow that was described before. Raises ImportError, OSError, ValueError
    for a kind of file that matplotlib does not write."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(11, 7), layout="constrained")
    FigureCanvasAgg(figure)
    image, vmem = figure.subplots(1, 2, width_ratios=(3, 1))
    _draw_image(image, described)
    _draw_vmem(vmem, list(described.tiles), described.place_bytes)
    figure.suptitle(f"{described.name}: {len(described.tiles)} tiles")
    figure.savefig(path)


def _draw_image(axes: Any, described: Described) -> None:
    from matplotlib.patches import Rectangle

    shown = [t for t in described.tiles if t.plane == 0]
    for tile in shown:
        if tile.padding.any:
            axes.add_patch(Rectangle(*_outer(tile), fc="tab:orange", alpha=0.3, lw=0))
    extent = described.extent
    if extent:  # padding never lies inside the image
        axes.add_patch(Rectangle((0, 0), extent[0], extent[1], fc="white", ec="k", lw=2))
    for tile in shown:
        axes.add_patch(
            Rectangle((tile.x, tile.y), tile.width, tile.height, fc="tab:blue", alpha=0.15, ec="k")
        )
        if len(shown) <= 400:
            centre = (tile.x + tile.width / 2, tile.y + tile.height / 2)
            axes.text(*centre, str(tile.order), ha="center", va="center", fontsize=7)
    if described.region:
        x, y, width, height = described.region
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


def _draw_vmem(axes: Any, tiles: list[Tile], size: int) -> None:
    """The first places that tiles have, to scale; ``size`` bytes each."""
    from matplotlib.patches import Rectangle

    orders: dict[int, list[int]] = {}
    for tile in tiles:
        orders.setdefault(tile.vmem, []).append(tile.order)
    places = sorted(orders)[:MAX_PLACES]
    for place in places:
        first = ", ".join(str(o) for o in orders[place][:4])
        first += " ..." if len(orders[place]) > 4 else ""
        axes.add_patch(Rectangle((0, place), 1, size, fc="tab:green", alpha=0.4, ec="k"))
        axes.text(0.5, place + size / 2, f"{place:#x}: {first}", ha="center", va="center")
    if places:
        axes.set_ylim(places[-1] + size, places[0])
    axes.set_xlim(0, 1)
    axes.set_xticks([])
    axes.set_ylabel("byte offset in VMEM")
    axes.set_title(f"{len(orders)} places of {size} bytes")
