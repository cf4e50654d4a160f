"""Where a value lies in memory: buffers, and feature cubes in them.

Source: nvdla hardware manual "In-memory data formats".
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cudla_sim.nvdla import layout
from cudla_sim.nvdla.descriptors import DataCube, MemoryType
from cudla_sim.nvdla.facts.configs import HardwareConfig
from cudla_sim.nvdla.facts.precisions import element_size

from ..graph import Value

Positions = NDArray[np.int64]
"""For each channel of a value, which channel of the cube it is; other channels are holes."""


@dataclass(eq=False, slots=True)
class Buffer:
    """A piece of memory that is planned as a whole; *entry* is its place in the address list.
    *second*: it is in the second memory."""

    name: str
    size: int
    entry: int = -1
    offset: int = 0
    second: bool = False


@dataclass(frozen=True, slots=True)
class Cube:
    """A feature cube: *channels* counts holes, too; *scale* is the real value of one step, *zero*
    the integer that means 0.

    The first channel lies at *offset* bytes in the buffer; strides are in bytes.
    """

    buffer: Buffer
    config: HardwareConfig
    precision: int
    channels: int
    height: int
    width: int
    line: int
    surface: int
    positions: Positions = field(compare=False)
    offset: int = 0
    scale: float = 1.0
    zero: int = 0

    @property
    def per_atom(self) -> int:
        """Channels in one memory atom."""
        return self.config.channels_per_atom(self.precision)

    @property
    def surfaces(self) -> int:
        """Surfaces that the cube takes."""
        return -(-self.channels // self.per_atom)

    @property
    def dense(self) -> bool:
        """True if channel i is channel i."""
        return len(self.positions) == self.channels and bool(
            (self.positions == np.arange(self.channels)).all()
        )

    @property
    def loose(self) -> bool:
        """True for one pixel whose surfaces are apart: SDP takes those of 1 x 1 cubes as packed.

        Source: nvdla/hw ``vmod/nvdla/sdp`` (MRDMA_ig, RDMA_ig, WDMA_cmd).
        """
        return (
            (self.height, self.width) == (1, 1)
            and self.surfaces > 1
            and self.surface != self.config.memory_atom
        )

    def as_lines(self) -> Cube:
        """One pixel with its surfaces as lines of one surface, which SDP takes as they lie."""
        return replace(
            self,
            channels=self.per_atom,
            height=self.surfaces,
            line=self.surface,
            surface=self.surface * self.surfaces,
            positions=np.arange(self.per_atom),
        )

    def box(self, y: int, height: int, x: int, width: int) -> Cube:
        """Return the lines y.. and pixels x.. of all channels."""
        offset = self.offset + y * self.line + x * self.config.memory_atom
        return replace(self, offset=offset, height=height, width=width)

    def channel_range(self, first: int, last: int) -> tuple[Cube, int]:
        """Return the surfaces that hold the cube's channels first..last, and what to subtract."""
        start = first // self.per_atom
        base = start * self.per_atom
        cube = replace(
            self,
            offset=self.offset + start * self.surface,
            channels=last + 1 - base,
            positions=self.positions[:0],
        )
        return cube, base

    def whole(self) -> Cube:
        """Return the cube with its holes as channels of their own (for copies of everything)."""
        return replace(self, positions=np.arange(self.channels))

    def kernels(self) -> NDArray[np.int64]:
        """Which channel of the value each channel of the cube is; -1 for holes."""
        found = np.full(self.channels, -1, np.int64)
        found[self.positions] = np.arange(len(self.positions))
        return found

    def spread(self, values: NDArray[Any], fill: float = 0) -> NDArray[Any]:
        """Place values of channels (last axis) at their positions."""
        result = np.full((*values.shape[:-1], self.channels), fill, values.dtype)
        result[..., self.positions] = values
        return result

    def describe(self) -> DataCube:
        """Return the descriptor; address and offset are filled in when memory is planned."""
        return DataCube(
            type=MemoryType.MC,
            width=self.width,
            height=self.height,
            channel=self.channels,
            line_stride=self.line,
            surf_stride=self.surface,
            size=self.surface * self.surfaces,
        )


@dataclass(frozen=True, slots=True)
class Values:
    """How a pass finds the cubes and scales of values."""

    cube: Callable[[Value], Cube]
    scale: Callable[[Value], float]


def packed(
    buffer: Buffer,
    config: HardwareConfig,
    precision: int,
    shape: tuple[int, int, int],
    positions: Positions | None = None,
    scale: float = 1.0,
) -> Cube:
    """Return a cube (channels, height, width) without gaps between lines and surfaces."""
    line, surface, _ = strides(config, precision, shape)
    taken = np.arange(shape[0]) if positions is None else positions
    return Cube(buffer, config, precision, *shape, line, surface, taken, 0, scale)


def strides(
    config: HardwareConfig, precision: int, shape: tuple[int, int, int]
) -> tuple[int, int, int]:
    """Bytes of a line, a surface and all of a packed cube (channels, height, width)."""
    return layout.feature_strides((1, *shape), element_size(precision), config.memory_atom)


def cube_bytes(config: HardwareConfig, precision: int, shape: tuple[int, int, int]) -> int:
    """Bytes of a packed cube."""
    return strides(config, precision, shape)[2]
