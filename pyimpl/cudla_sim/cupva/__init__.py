"""NVIDIA PVA: what C and C++ programs set up, seen from Python.

The objects are those the C library works with, in the same process::

    from cudla_sim import cupva
    program = cupva.programs[0]
    flow = program.dataflows[0]
    for tile in cupva.explain(flow):      # order, rectangle, padding, VMEM offset, trigger
        print(tile)
    cupva.plot(flow, "flow.png")          # pip install 'cudla-sim[plot]'
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .dataflow.base import DataFlow, Tile
    from .program import Program

    programs: list[Program]
    """The command programs, oldest first."""

__all__ = ["explain", "plot", "programs"]


def explain(dataflow: DataFlow) -> list[Tile]:
    """The tiles in the order of transfer: rectangle in the source (pixels), padding on each side,
    VMEM offset (bytes), trigger number. Raises CupvaError for what compileDataFlows() refuses.
    """
    from .machine import pva
    from .report import tiles

    return tiles(dataflow, pva().memory.locate)


def plot(dataflow: DataFlow, path: str) -> None:
    """Draws source, region of interest, tiles in order, halo and padding, and the tile buffer.

    Raises ImportError without matplotlib, CupvaError as ``explain``.
    """
    from .machine import pva
    from .picture import draw

    draw(dataflow, pva().memory.locate, path)


def __getattr__(name: str) -> Any:
    """Live view of the current process: ``programs``, oldest first."""
    if name == "programs":
        from .machine import pva

        return pva().programs
    raise AttributeError(f"module 'cudla_sim.cupva' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
