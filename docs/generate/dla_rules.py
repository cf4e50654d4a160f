"""The rules of TensorRT for the DLA."""

from __future__ import annotations

from cudla_sim.boards.rules import document
from cudla_sim.boards.rules.rule import table


def page() -> str:
    """The page."""
    return document.page(table())
