"""The descriptors of many tiles at once: what ``moves()`` gives one by one, in arrays.

The rules and their words are those of :class:`~cudla_sim.cupva.dma.Move`; here they are only
asked. A grid that breaks one gives None, and the tiles are then made one by one, for the
explanation.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from ... import lazy
from ..dma import (
    ADV_LIMIT,
    MAX_CIRCULAR,
    MAX_NITER,
    MAX_PAD,
    MAX_PITCH,
    MAX_TILE,
    PAD_CONST,
    Descriptors,
    descriptor_type,
)

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray
else:
    np = lazy.module("numpy")

Integers: TypeAlias = "NDArray[np.int64]"


class Windows(NamedTuple):
    """Rectangles of real pixels, shape (tiles,) int64, and what is made up around them."""

    x: Integers
    y: Integers
    width: Integers
    height: Integers
    left: Integers
    right: Integers
    top: Integers
    bottom: Integers

    @property
    def legal(self) -> bool:
        """Each has a pixel inside, and no more padding than the engine does."""
        pads = max(int(p.max()) for p in (self.left, self.right, self.top, self.bottom))
        return bool(self.width.min() >= 1 and self.height.min() >= 1 and pads <= MAX_PAD)

    @property
    def one_sided(self) -> bool:
        """None leaves the image on both sides of an axis."""
        both = (self.left > 0) & (self.right > 0) | (self.top > 0) & (self.bottom > 0)
        return not both.any()


def read_windows(
    x: Integers, y: Integers, size: tuple[int, int], extent: tuple[int, int]
) -> Windows:
    """The parts of rectangles of ``size`` at (x, y) that lie inside [0, extent)."""
    left, top = np.maximum(0, -x), np.maximum(0, -y)
    right = np.maximum(0, x + size[0] - extent[0])
    bottom = np.maximum(0, y + size[1] - extent[1])
    inner = size[0] - left - right, size[1] - top - bottom
    return Windows(x + left, y + top, *inner, left, right, top, bottom)


def write_windows(x: Integers, y: Integers, size: tuple[int, int], end: tuple[int, int]) -> Windows:
    """Rectangles clipped at ``end``; nothing is made up."""
    none = np.zeros_like(x)
    width, height = np.minimum(size[0], end[0] - x), np.minimum(size[1], end[1] - y)
    return Windows(x, y, width, height, none, none, none, none)


class Walk(NamedTuple):
    """One side of all tiles. ``at``: byte offsets, shape (tiles,); pitch and stride in pixels."""

    space: int
    at: Integers
    limits: tuple[int, int]
    pitch: int
    stride: int = 0
    """From one plane to the next."""
    ring: tuple[Integers, int] | None = None
    """Start (byte offsets) and bytes of a circular buffer."""

    def legal(self, width: Integers, height: Integers, planes: Integers, bpp: int) -> bool:
        if not 0 <= self.pitch <= MAX_PITCH or not -ADV_LIMIT <= self.stride < ADV_LIMIT:
            return False
        extent = (self.pitch * (height - 1) + width) * bpp
        if self.ring is not None:
            start, size = self.ring
            inside = start.min() >= self.limits[0] and start.max() + size <= self.limits[1]
            return bool(0 < size <= MAX_CIRCULAR and extent.max() <= size and inside)
        reach = (planes - 1) * self.stride * bpp
        first, last = self.at + np.minimum(0, reach), self.at + np.maximum(0, reach) + extent
        return bool(first.min() >= self.limits[0] and last.max() <= self.limits[1])

    def put(self, target: Descriptors, planes: Integers, bpp: int) -> None:
        target["space"], target["at"], target["pitch"] = self.space, self.at, self.pitch * bpp
        target["n"][:] = 1
        target["n"][:, 0] = planes
        target["adv"][:, 0] = self.stride * bpp
        if self.ring is not None:
            target["ring"], target["ring_size"] = self.ring


def pack_tiles(
    windows: Windows,
    vmem_size: tuple[int, int] | None,
    planes: Integers,
    bpp: int,
    outside: Walk,
    inside: Walk,
    padding: tuple[int, int],
) -> Descriptors | None:
    """A descriptor for each tile, which one trigger moves; None when a rule is broken.

    ``vmem_size``: of a tile that is read into VMEM; None writes the windows out of it.
    ``planes``: shape (tiles,); ``padding``: mode and value.
    """
    reads = vmem_size is not None
    if vmem_size is None:
        tx, ty = windows.width, windows.height
    else:
        tx, ty = (np.full_like(windows.width, side) for side in vmem_size)
    legal = (
        windows.legal
        and max(int(tx.max()), int(ty.max())) <= MAX_TILE
        and int(planes.min()) >= 1
        and int(planes.max()) <= MAX_NITER
        and outside.legal(windows.width, windows.height, planes, bpp)
        and inside.legal(tx, ty, planes, bpp)
    )
    if not legal:
        return None
    kind = descriptor_type()
    packed = np.frombuffer(bytearray(len(tx) * kind.itemsize), kind)
    packed["tx"], packed["ty"], packed["bpp"] = tx, ty, bpp
    packed["left"], packed["right"] = windows.left, windows.right
    packed["top"], packed["bottom"] = windows.top, windows.bottom
    packed["pad_mode"], packed["pad_value"] = padding if reads else (PAD_CONST, 0)
    source, target = (outside, inside) if reads else (inside, outside)
    source.put(packed["src"], planes, bpp)
    target.put(packed["dst"], planes, bpp)
    packed["copy_at"] = -1
    packed["tiles"] = packed["per_trigger"] = planes
    return packed
