"""What a dataflow does, without the program that it belongs to: for tables, pictures and files."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from ..core import untrusted
from .dataflow.base import DataFlow, Tile
from .dma import VMEM, Padding
from .pointers import Locator

if TYPE_CHECKING:
    from typing_extensions import Self

FORMAT = "cudla-sim dataflow 1"


@dataclass(frozen=True)
class Described:
    """``geometry``: what the tiles are made of, in words. ``extent``: width and height of the
    memory, ``region``: x, y, width, height, both in pixels and empty when its kind has none.
    ``place_bytes``: VMEM of the largest tile."""

    name: str
    title: str
    geometry: str
    extent: tuple[int, ...]
    region: tuple[int, ...]
    place_bytes: int
    tiles: tuple[Tile, ...]

    @classmethod
    def of(cls, dataflow: DataFlow, locate: Locator) -> Self:
        """Raises CupvaError as compileDataFlows() does."""
        return cls(
            dataflow.name,
            dataflow.title,
            _geometry(dataflow),
            tuple((getattr(dataflow, "extent", None) or ())[:2]),
            tuple(getattr(dataflow, "roi_rectangle", None) or ()),
            _place_bytes(dataflow, locate),
            tuple(dataflow.tiles(locate)),
        )

    def to_json(self) -> str:
        values = {name: value for name, value in vars(self).items() if name != "tiles"}
        tiles = [t._asdict() | {"padding": asdict(t.padding)} for t in self.tiles]
        return json.dumps({"format": FORMAT, **values, "tiles": tiles}, default=int) + "\n"

    @classmethod
    def from_json(cls, text: str) -> Self:
        """Raises ValueError for what ``to_json`` did not write."""
        try:
            found = untrusted.parse_json(text)
            if not isinstance(found, dict) or found.get("format") != FORMAT:
                raise ValueError("no description of a dataflow")
            tiles = tuple(_tile(row) for row in found["tiles"])
            return cls(
                str(found["name"]), str(found["title"]), str(found["geometry"]),
                tuple(map(int, found["extent"])), tuple(map(int, found["region"])),
                int(found["place_bytes"]), tiles,
            )  # fmt: skip
        except (KeyError, TypeError, AttributeError, OverflowError) as cause:
            raise ValueError(f"a damaged description of a dataflow ({cause})") from None


def _tile(row: dict[str, Any]) -> Tile:
    numbers = {name: int(row[name]) for name in Tile._fields if name != "padding"}
    padding = Padding(**{name: int(value) for name, value in row["padding"].items()})
    return Tile(**numbers, padding=padding)


def _geometry(dataflow: DataFlow) -> str:
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
    return ", ".join(words)


def _place_bytes(dataflow: DataFlow, locate: Locator) -> int:
    """From the first to the last byte of a tile in VMEM, the largest one's."""
    sizes = [0]
    for packed in dataflow.descriptors(locate):
        inside = packed["dst"] if packed["dst"]["space"] == VMEM else packed["src"]
        line = int(packed["tx"] * packed["bpp"])
        sizes.append(int(inside["pitch"] * max(0, packed["ty"] - 1)) + line)
    return max(sizes)
