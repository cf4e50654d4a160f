"""The graph of layers as pages draw it: a box a layer, which dagre places in the browser."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from .colours import COLOURS

_LONGEST = 44
"""Letters of a line in a box; the whole is in the attributes."""


@dataclass
class Layer:
    """A layer. *group* gives its colour and a line of the legend, *share* (0 ... 1, of what takes
    longest) the colour by time, None where it takes none. *keys* are those of the rows and bars
    that mean the same; *attributes* are shown when it is chosen."""

    name: str
    title: str
    lines: Sequence[str] = ()
    group: str = ""
    share: float | None = None
    keys: Sequence[str] = ()
    attributes: Sequence[tuple[str, str]] = ()


class Edge(NamedTuple):
    """Data of a layer that another one reads; *text*: its shape."""

    source: str
    target: str
    text: str


@dataclass
class LayerGraph:
    """*by*: what groups say, as the reader chooses it: "bound by". *groups*: in the order of their
    colours."""

    layers: list[Layer]
    edges: list[Edge]
    by: str
    groups: Sequence[str] = field(default_factory=list)

    def data(self) -> dict[str, Any]:
        """What graph.js takes."""
        groups = dict.fromkeys([*self.groups, *(layer.group for layer in self.layers)])
        known = {layer.name for layer in self.layers}
        return {
            "by": self.by,
            "timed": any(layer.share is not None for layer in self.layers),
            "groups": {g: COLOURS[i % len(COLOURS)] for i, g in enumerate(groups)},
            "boxes": [
                {
                    "name": layer.name,
                    "title": _short(layer.title),
                    "lines": [_short(line) for line in layer.lines if line],
                    "group": layer.group,
                    "share": layer.share,
                    "key": " ".join(layer.keys) or layer.name,
                    "attributes": [list(pair) for pair in layer.attributes],
                }
                for layer in self.layers
            ],
            "edges": [list(e) for e in self.edges if {e.source, e.target} <= known],
        }


def _short(text: str) -> str:
    return text if len(text) <= _LONGEST else text[: _LONGEST - 1] + "…"
