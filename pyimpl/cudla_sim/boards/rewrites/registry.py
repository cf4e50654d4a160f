"""The rewrites by the names that rules give them."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

from .edit import Edit

if TYPE_CHECKING:
    import onnx

Change = Callable[[Edit, "onnx.NodeProto"], str]
"""Changes the edit around a node, and says in words what it made; raises NotPossible."""


class Rewrite(NamedTuple):
    """What is done, and to nodes of which operators."""

    operators: tuple[str, ...]
    change: Change


ON_REQUEST = ("pad-channels",)
"""Rewrites that bring nothing to the DLA, and are made only where they are named."""
REWRITES: dict[str, Rewrite] = {}


def rewrites(name: str, *operators: str) -> Callable[[Change], Change]:
    def note(change: Change) -> Change:
        REWRITES[name] = Rewrite(operators, change)
        return change

    return note
