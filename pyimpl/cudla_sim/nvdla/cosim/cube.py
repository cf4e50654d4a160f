"""Where in a cube a byte lies.

Source: nvdla hardware manual, "In-memory data formats" (feature format).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .. import target
from ..descriptors import Operation, Surface
from ..facts.configs import HardwareConfig
from ..hw.memory import DTYPES
from ..kmd.list_port import Entry


@dataclass(frozen=True, slots=True)
class Cube:
    """A feature cube in memory: *address* of its first byte, strides and atom in bytes."""

    address: int
    channels: int
    height: int
    width: int
    line_stride: int
    surface_stride: int
    atom: int
    dtype: np.dtype[np.generic]

    @property
    def shape(self) -> str:
        """``CxHxW dtype``."""
        return f"{self.channels}x{self.height}x{self.width} {self.dtype}"

    def coordinate(self, address: int) -> tuple[int, int, int] | None:
        """(channel, y, x) of the element that has a byte at *address*; None for a byte between
        lines or surfaces, or in the padding of the last surface."""
        surface, rest = divmod(address - self.address, self.surface_stride or 1 << 62)
        y, rest = divmod(rest, self.line_stride or 1 << 62)
        x, rest = divmod(rest, self.atom)
        channel = surface * (self.atom // self.dtype.itemsize) + rest // self.dtype.itemsize
        inside = surface >= 0 and channel < self.channels and y < self.height and x < self.width
        return (channel, y, x) if inside else None


def written(
    config: HardwareConfig, operation: Operation, surface: Surface, entries: list[Entry]
) -> Cube | None:
    """The cube that an operation writes to memory; None where it is no feature cube."""
    found = target.written(operation, surface)
    if found is None or not 0 <= found[0].address < len(entries):
        return None
    cube, precision = found
    entry = entries[cube.address]
    return Cube(
        entry.base + entry.offset + (cube.offset or 0),
        cube.channel,
        cube.height,
        cube.width,
        cube.line_stride,
        cube.surf_stride,
        config.memory_atom,
        DTYPES[precision] if precision < len(DTYPES) else DTYPES[0],
    )
