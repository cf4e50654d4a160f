"""The tiles of a grid in arrays, and what follows from them: descriptors, moves, tiles.

Where a tile lies is said once, here and in the dataflow that makes the arrays; a single tile is
cut out of them. The rules and their words are those of :class:`~cudla_sim.cupva.dma.Move` and
:meth:`Window.check`; over the arrays they are only asked, and a grid that breaks one is made tile
by tile, for the explanation.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import repeat
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
    Move,
    Padding,
    Side,
    descriptor_type,
    pack,
)
from ..errors import CupvaError, Error, error, invalid
from .base import PadMode, Tile

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray
else:
    np = lazy.module("numpy")

Integers: TypeAlias = "NDArray[np.int64]"


class Window(NamedTuple):
    """A rectangle of real pixels and what is made up around it."""

    x: int
    y: int
    width: int
    height: int
    left: int
    right: int
    top: int
    bottom: int

    def check(self, extent: tuple[int, int]) -> None:
        """Raises CupvaError(InvalidArgument): no pixel of an image of ``extent`` inside, or more
        padding than the engine does."""
        corner = f"the tile at ({self.x - self.left}, {self.y - self.top})"
        if self.width < 1 or self.height < 1:
            width = self.width + self.left + self.right
            height = self.height + self.top + self.bottom
            raise invalid(
                f"{corner} of {width} x {height} pixels does not touch the image of "
                f"{extent[0]} x {extent[1]}"
            )
        for name in ("left", "right", "top", "bottom"):
            count = getattr(self, name)
            if count > MAX_PAD:
                raise invalid(
                    f"{corner} needs {count} pixels of padding {name}; the engine pads "
                    f"0 to {MAX_PAD}"
                )

    def check_one_sided(self, name: str) -> None:
        """Raises CupvaError(InvalidArgument): it leaves the image on both sides of an axis."""
        for one, other, names in (
            (self.left, self.right, "left and right"), (self.top, self.bottom, "top and bottom"),
        ):  # fmt: skip
            if one and other:
                raise invalid(
                    f"{name}: the tile over ({self.x}, {self.y}) leaves the tensor at {names} "
                    f"({one} and {other} pixels with halo); it may leave one side of an axis"
                )


class Windows(NamedTuple):
    """The same of all tiles, shape (tiles,) int64, inside ``extent``."""

    x: Integers
    y: Integers
    width: Integers
    height: Integers
    left: Integers
    right: Integers
    top: Integers
    bottom: Integers
    extent: tuple[int, int]

    @property
    def legal(self) -> bool:
        """:meth:`Window.check` of each would pass."""
        pads = max(int(p.max()) for p in (self.left, self.right, self.top, self.bottom))
        return bool(self.width.min() >= 1 and self.height.min() >= 1 and pads <= MAX_PAD)

    @property
    def one_sided(self) -> bool:
        """:meth:`Window.check_one_sided` of each would pass."""
        both = (self.left > 0) & (self.right > 0) | (self.top > 0) & (self.bottom > 0)
        return not both.any()

    def one_by_one(self) -> Iterator[Window]:
        return map(Window, *(axis.tolist() for axis in self[:8]))


def read_windows(
    x: Integers, y: Integers, size: tuple[int, int], extent: tuple[int, int]
) -> Windows:
    """The parts of rectangles of ``size`` at (x, y) that lie inside [0, extent)."""
    left, top = np.maximum(0, -x), np.maximum(0, -y)
    right = np.maximum(0, x + size[0] - extent[0])
    bottom = np.maximum(0, y + size[1] - extent[1])
    inner = size[0] - left - right, size[1] - top - bottom
    return Windows(x + left, y + top, *inner, left, right, top, bottom, extent)


def write_windows(x: Integers, y: Integers, size: tuple[int, int], end: tuple[int, int]) -> Windows:
    """Rectangles clipped at ``end``; nothing is made up."""
    none = np.zeros_like(x)
    width, height = np.minimum(size[0], end[0] - x), np.minimum(size[1], end[1] - y)
    return Windows(x, y, width, height, none, none, none, none, end)


class Walk(NamedTuple):
    """One side of all tiles, as :class:`~cudla_sim.cupva.dma.Side` is of one. ``at``: byte offsets,
    shape (tiles,); pitch and stride in pixels."""

    space: int
    at: Integers
    limits: tuple[int, int]
    what: str
    pitch: int
    stride: int = 0
    """From one plane to the next."""
    ring: tuple[Integers, int] | None = None
    """(offsets from ``at``, length) of a circular buffer, in pixels."""

    def legal(self, width: Integers, height: Integers, planes: Integers, bpp: int) -> bool:
        if not 0 <= self.pitch <= MAX_PITCH or not -ADV_LIMIT <= self.stride < ADV_LIMIT:
            return False
        extent = (self.pitch * (height - 1) + width) * bpp
        if self.ring is not None:
            start, size = self.at + self.ring[0] * bpp, self.ring[1] * bpp
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
            start, length = self.ring
            target["ring"], target["ring_size"] = self.at + start * bpp, length * bpp

    def one_by_one(self, planes: Integers) -> Iterator[Side]:
        starts = repeat(None) if self.ring is None else self.ring[0].tolist()
        length = 0 if self.ring is None else self.ring[1]
        for at, start, count in zip(self.at.tolist(), starts, planes.tolist(), strict=False):
            ring = None if start is None else (start, length)
            dims = ((count, self.stride),)
            yield Side(self.space, at, self.limits, self.pitch, dims, ring, self.what)


class Grid(NamedTuple):
    """All tiles of a dataflow, in the order of transfer; one trigger moves one."""

    name: str
    """Of the dataflow, for messages."""
    windows: Windows
    vmem_size: tuple[int, int] | None
    """Of a tile that is read into VMEM; None writes the windows out of it."""
    plane: Integers
    planes: Integers
    bpp: int
    outside: Walk
    inside: Walk
    padding: tuple[PadMode, int]
    """Mode and value."""
    one_sided: bool = False
    """No tile may leave the image on both sides of an axis."""

    def descriptors(self) -> Descriptors:
        """Of all at once. Raises CupvaError(InvalidArgument)."""
        packed = self._all_at_once()
        return pack(self.moves()) if packed is None else packed

    def moves(self) -> list[Move]:
        """One by one. Raises CupvaError(InvalidArgument) that names the first tile that breaks a
        rule: its number and first pixel."""
        found = []
        sides = (side.one_by_one(self.planes) for side in (self.outside, self.inside))
        rows = zip(self._checked_windows(), self.planes.tolist(), *sides, strict=True)
        for number, (window, planes, outside, inside) in enumerate(rows):
            width, height = self.vmem_size or (window.width, window.height)
            source, target = (outside, inside) if self.vmem_size else (inside, outside)
            move = Move(
                width, height, self.bpp, source, target, self._padding(window), per_trigger=planes
            )
            try:
                move.check()
            except CupvaError as failure:
                text = f"tile {number} at ({window.x}, {window.y}): {failure.explanation}"
                raise error(Error(failure.status), text) from None
            found.append(move)
        return found

    def tiles(self) -> list[Tile]:
        """For a person. Raises CupvaError(InvalidArgument): a window that cannot be."""
        rows = zip(
            self._checked_windows(), self.plane.tolist(), self.inside.at.tolist(), strict=True
        )
        return [
            Tile(n, w.x, w.y, w.width, w.height, plane, self._padding(w), vmem, n)
            for n, (w, plane, vmem) in enumerate(rows)
        ]

    def _checked_windows(self) -> Iterator[Window]:
        """Raises CupvaError(InvalidArgument) when its turn comes."""
        if self._windows_legal:
            yield from self.windows.one_by_one()
            return
        for window in self.windows.one_by_one():
            window.check(self.windows.extent)
            if self.one_sided:
                window.check_one_sided(self.name)
            yield window

    @property
    def _windows_legal(self) -> bool:
        return self.windows.legal and (not self.one_sided or self.windows.one_sided)

    def _padding(self, window: Window) -> Padding:
        return Padding(*window[4:], *self.padding) if self.vmem_size else Padding()

    def _all_at_once(self) -> Descriptors | None:
        """None when a rule is broken."""
        windows, planes, bpp = self.windows, self.planes, self.bpp
        if self.vmem_size is None:
            tx, ty = windows.width, windows.height
        else:
            tx, ty = (np.full_like(windows.width, side) for side in self.vmem_size)
        legal = (
            self._windows_legal
            and max(int(tx.max()), int(ty.max())) <= MAX_TILE
            and int(planes.min()) >= 1
            and int(planes.max()) <= MAX_NITER
            and self.outside.legal(windows.width, windows.height, planes, bpp)
            and self.inside.legal(tx, ty, planes, bpp)
        )
        if not legal:
            return None
        kind = descriptor_type()
        packed = np.frombuffer(bytearray(len(tx) * kind.itemsize), kind)
        packed["tx"], packed["ty"], packed["bpp"] = tx, ty, bpp
        packed["left"], packed["right"] = windows.left, windows.right
        packed["top"], packed["bottom"] = windows.top, windows.bottom
        packed["pad_mode"], packed["pad_value"] = self.padding if self.vmem_size else (PAD_CONST, 0)
        sides = (self.outside, self.inside) if self.vmem_size else (self.inside, self.outside)
        for key, side in zip(("src", "dst"), sides, strict=True):
            side.put(packed[key], planes, bpp)
        packed["copy_at"] = -1
        packed["tiles"] = packed["per_trigger"] = planes
        return packed
