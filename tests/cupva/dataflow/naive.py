"""What the cuPVA documents say a dataflow does, pixel by pixel, without the engine's code.

Pixels are Python integers; images and VMEM are lists of them. Slow on purpose.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

Dims = Sequence[tuple[int, int]]
CONST, BPE = 1, 2


def walk(dims: Dims) -> list[int]:
    """Offsets of the tiles in order: dimension 1 fastest."""
    (n1, a1), (n2, a2), (n3, a3) = [*dims, *[(1, 0)] * (3 - len(dims))]
    found = []
    for i3 in range(n3):
        for i2 in range(n2):
            for i1 in range(n1):
                found.append(i1 * a1 + i2 * a2 + i3 * a3)
    return found


@dataclass
class Ring:
    """A circular buffer: ``base`` and ``size`` in pixels; ``None`` size: none."""

    base: int = 0
    size: int | None = None

    def place(self, address: int) -> int:
        if self.size is None:
            return address
        return (address - self.base) % self.size + self.base


@dataclass
class Static:
    """A StaticDataFlow; pads as counts of left, right, top, bottom."""

    tile: tuple[int, int]
    src_at: int = 0
    src_pitch: int = 0
    src_dims: Dims = ()
    src_ring: Ring = field(default_factory=Ring)
    dst_at: int = 0
    dst_pitch: int = 0
    dst_dims: Dims = ()
    dst_ring: Ring = field(default_factory=Ring)
    pads: tuple[int, int, int, int] = (0, 0, 0, 0)
    mode: int = CONST
    value: int = 0

    def run(self, source: Sequence[int], target: list[int]) -> None:
        width, height = self.tile
        left, right, top, bottom = self.pads
        pairs = zip(walk(self.src_dims), walk(self.dst_dims), strict=True)
        for src_offset, dst_offset in pairs:
            for y in range(height):
                for x in range(width):
                    real_x, real_y = x - left, y - top
                    inside = (
                        0 <= real_x < width - left - right and 0 <= real_y < height - top - bottom
                    )
                    if inside or self.mode == BPE:
                        near_x = min(max(real_x, 0), width - left - right - 1)
                        near_y = min(max(real_y, 0), height - top - bottom - 1)
                        address = self.src_at + src_offset + near_y * self.src_pitch + near_x
                        pixel = source[self.src_ring.place(address)]
                    else:
                        pixel = self.value
                    place = self.dst_at + dst_offset + y * self.dst_pitch + x
                    target[self.dst_ring.place(place)] = pixel


def padded(image: Sequence[Sequence[int]], x: int, y: int, mode: int, value: int) -> int:
    """A pixel of an image that goes on beyond its edges."""
    height, width = len(image), len(image[0])
    if 0 <= x < width and 0 <= y < height:
        return image[y][x]
    if mode == BPE:
        return image[min(max(y, 0), height - 1)][min(max(x, 0), width - 1)]
    return value


def raster_order(columns: int, rows: int, scan: int) -> list[tuple[int, int]]:
    """(column, row) of the tiles; scan bits: 1 right to left, 2 bottom to top, 4 columns first."""
    xs = list(range(columns))
    ys = list(range(rows))
    if scan & 1:
        xs.reverse()
    if scan & 2:
        ys.reverse()
    if scan & 4:
        return [(x, y) for x in xs for y in ys]
    return [(x, y) for y in ys for x in xs]


def raster_tiles(
    image: Sequence[Sequence[int]],
    roi: tuple[int, int, int, int],
    tile: tuple[int, int],
    halo: tuple[int, int],
    mode: int = CONST,
    value: int = 0,
    scan: int = 0,
) -> list[list[list[int]]]:
    """Every tile as VMEM has it after its transfer."""
    x0, y0, width, height = roi
    (tw, th), (hx, hy) = tile, halo
    columns, rows = -(-width // tw), -(-height // th)
    found = []
    for column, row in raster_order(columns, rows, scan):
        found.append(
            [
                [
                    padded(image, x0 + column * tw + x, y0 + row * th + y, mode, value)
                    for x in range(-hx, tw + hx)
                ]
                for y in range(-hy, th + hy)
            ]
        )
    return found


def raster_write(
    image: list[list[int]],
    roi: tuple[int, int, int, int],
    tile: tuple[int, int],
    tiles: Sequence[Sequence[Sequence[int]]],
    scan: int = 0,
) -> None:
    """Writes tiles; pixels outside the region are left out."""
    x0, y0, width, height = roi
    tw, th = tile
    order = raster_order(-(-width // tw), -(-height // th), scan)
    for (column, row), content in zip(order, tiles, strict=True):
        for y in range(th):
            for x in range(tw):
                at_x, at_y = column * tw + x, row * th + y
                if at_x < width and at_y < height:
                    image[y0 + at_y][x0 + at_x] = content[y][x]


def tensor_transfers(
    tensor: Sequence[Sequence[Sequence[int]]],
    roi: tuple[int, int, int, int],
    tile: tuple[int, int, int],
    halo: tuple[int, int],
    mode: int = CONST,
    value: int = 0,
) -> list[list[list[list[int]]]]:
    """Planes that each transfer writes: depth first, then width, then height. The last transfer in
    depth has fewer planes when the depth is no multiple of the tile's."""
    x0, y0, width, height = roi
    tw, th, td = tile
    depth = len(tensor)
    found = []
    for row in range(-(-height // th)):
        for column in range(-(-width // tw)):
            for layer in range(-(-depth // td)):
                planes = []
                for z in range(layer * td, min(layer * td + td, depth)):
                    box = (x0 + column * tw, y0 + row * th, tw, th)
                    planes.append(raster_tiles(tensor[z], box, (tw, th), halo, mode, value)[0])
                found.append(planes)
    return found
