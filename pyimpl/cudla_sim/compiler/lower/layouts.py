"""Which channels of a cube a value's channels are, before any cube exists.

Concatenations join cubes at atom borders and leave holes, slices take parts of them, flattening
reads a cube in another order; nothing is copied for any of it. Channels are written whole atoms
at a time. Source: nvdla hardware manual "In-memory data formats".
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from .cubes import Positions


@dataclass(frozen=True, slots=True)
class Layout:
    """Channels of the cube (with holes), and where the value's channels are among them."""

    channels: int
    positions: Positions = field(compare=False)

    def same(self, other: Layout) -> bool:
        """True if both cubes are laid out alike."""
        return np.array_equal(self.positions, other.positions)

    @property
    def dense(self) -> bool:
        """True if there are no holes."""
        return np.array_equal(self.positions, np.arange(self.channels))


def dense(channels: int) -> Layout:
    """Channel i is channel i."""
    return Layout(channels, np.arange(channels))


def joined(parts: list[Layout], atom: int) -> tuple[Layout, list[int]]:
    """Layout of a concatenation, and the first channel of each part in it."""
    starts, positions, at = [], [], 0
    for part in parts:
        at = -(-at // atom) * atom
        starts.append(at)
        positions.append(part.positions + at)
        at += part.channels
    return Layout(at, np.concatenate(positions)), starts


def part(whole: Layout, first: int, count: int, atom: int) -> tuple[Layout, int]:
    """Layout of some channels, and the cube channel (an atom border) where it starts."""
    taken = whole.positions[first : first + count]
    base = int(taken.min()) // atom * atom
    return Layout(int(taken.max()) + 1 - base, taken - base), base


def flattened(source: Layout, height: int, width: int, atom: int) -> Layout:
    """A cube read as 1 x 1: its atoms one after the other are the channels."""
    surface, inside = np.divmod(source.positions, atom)
    pixels = np.arange(height * width)
    index = (surface[:, None] * height * width + pixels[None, :]) * atom + inside[:, None]
    surfaces = -(-source.channels // atom)
    return Layout(surfaces * height * width * atom, index.reshape(-1))
