"""The DMA engine that every dataflow is compiled for.

A *descriptor* moves tiles of ``tx`` x ``ty`` pixels. Source and destination are walked by three
counters each, dimension 1 innermost; tile ``k`` of the source sequence goes to place ``k`` of the
destination sequence. Padding replaces pixels at the edges of the destination tile: the source tile
is smaller by as much, and its address is that of the first real pixel. Circular buffers wrap every
byte address.

The descriptors of a dataflow form a list that the VPU works off with triggers: one trigger moves
``per_trigger`` tiles of the current descriptor, and goes on into the next one where the descriptor
is ``chained``. ``shim/vpu_run/dma.c`` executes them.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cache
from typing import TYPE_CHECKING, TypeAlias

from .. import lazy
from ..constants.pva_protocol import DRAM as DRAM
from ..constants.pva_protocol import L2 as L2
from ..constants.pva_protocol import PAD_BPE as PAD_BPE
from ..constants.pva_protocol import PAD_CONST as PAD_CONST
from ..constants.pva_protocol import PAD_NONE as PAD_NONE
from ..constants.pva_protocol import VMEM as VMEM
from ..constants.pva_protocol import pva_descriptor
from .errors import Error, invalid

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray
else:
    np = lazy.module("numpy")

SPACES = ("DRAM", "VMEM", "L2SRAM")

# Limits of the hardware (open kernel driver): bits of the descriptor's fields.
MAX_TILE = 65535
MAX_PITCH = 65535
MAX_NITER = 256
MAX_PAD = 255
ADV_LIMIT = 1 << 23
MAX_CIRCULAR = 1 << 17
REPLICATION_ALIGN = 64

Descriptors: TypeAlias = "NDArray[np.void]"


@cache
def descriptor_type() -> np.dtype[np.void]:
    """Of one descriptor. Positions, pitches, advances and ring sizes in bytes; ``copy_at`` is -1
    without replication."""
    return np.dtype(pva_descriptor)  # type: ignore[return-value]  # numpy: of objects


@dataclass
class Padding:
    """Pixels that the engine makes up on each side of a tile."""

    left: int = 0
    right: int = 0
    top: int = 0
    bottom: int = 0
    mode: int = PAD_CONST
    value: int = 0

    @property
    def any(self) -> bool:
        return bool(self.left or self.right or self.top or self.bottom)


@dataclass
class Side:
    """One side of a transfer, in pixels. ``at`` is the byte offset in its space of the first
    pixel, ``limits`` the [first, end) bytes of the buffer it lies in."""

    space: int
    at: int
    limits: tuple[int, int]
    pitch: int = 0
    dims: tuple[tuple[int, int], ...] = ()
    ring: tuple[int, int] | None = None
    """(offset from ``at``, length) of a circular buffer, in pixels."""
    what: str = "buffer"

    @property
    def tiles(self) -> int:
        total = 1
        for niter, _ in self.dims:
            total *= niter
        return total

    def padded_dims(self) -> list[tuple[int, int]]:
        return [*self.dims, *[(1, 0)] * (3 - len(self.dims))]


@dataclass
class Move:
    """One descriptor before it is packed: pixels, not bytes."""

    tx: int
    ty: int
    bpp: int
    src: Side
    dst: Side
    pad: Padding = field(default_factory=Padding)
    copy_at: int = -1
    per_trigger: int = 0
    chained: bool = False

    @property
    def dummy(self) -> bool:
        """No data, but triggers and syncs all the same."""
        return self.tx == 0

    def check(self) -> None:
        """Raises CupvaError(InvalidArgument) for what the engine cannot do, naming the rule."""
        if not 0 <= self.tx <= MAX_TILE or not 0 <= self.ty <= MAX_TILE:
            raise invalid(f"tile {self.tx} x {self.ty}; each side is 0 to {MAX_TILE} pixels")
        if self.src.tiles != self.dst.tiles:
            raise invalid(
                f"the source has {self.src.tiles} tiles {_factors(self.src)} and the destination "
                f"{self.dst.tiles} {_factors(self.dst)}; both walks must have the same number"
            )
        if self.dummy:
            return
        self._check_padding()
        read = (self.tx - self.pad.left - self.pad.right, self.ty - self.pad.top - self.pad.bottom)
        for side, (width, height), name in (
            (self.src, read, "source"),
            (self.dst, (self.tx, self.ty), "destination"),
        ):
            _check_side(side, width, height, self.bpp, name)
        if self.copy_at >= 0:
            self._check_replication()

    def _check_padding(self) -> None:
        pad = self.pad
        if not pad.any:
            return
        if self.dst.space != VMEM:
            raise invalid("padding needs a destination in VMEM")
        if self.bpp not in (1, 2, 4):
            raise invalid(f"padding needs pixels of 1, 2 or 4 bytes, not {self.bpp}")
        for name, count in (
            ("left", pad.left), ("right", pad.right), ("top", pad.top), ("bottom", pad.bottom),
        ):  # fmt: skip
            if not 0 <= count <= MAX_PAD:
                raise invalid(f"{count} pixels of padding {name}; the engine does 0 to {MAX_PAD}")
        if pad.left + pad.right >= self.tx or pad.top + pad.bottom >= self.ty:
            raise invalid(
                f"padding of {pad.left + pad.right} x {pad.top + pad.bottom} pixels in a tile of "
                f"{self.tx} x {self.ty}; at least one real pixel must be left on each axis"
            )

    def _check_replication(self) -> None:
        if self.dst.space != VMEM:
            raise invalid("a second destination needs the first one in VMEM")
        if self.bpp not in (1, 2):
            raise invalid(f"replication needs pixels of 1 or 2 bytes, not {self.bpp}")
        if self.copy_at % REPLICATION_ALIGN:
            raise invalid(
                f"the second destination is at VMEM offset {self.copy_at:#x}; it must be aligned "
                f"to {REPLICATION_ALIGN} bytes"
            )


def _factors(side: Side) -> str:
    return "(" + " x ".join(str(n) for n, _ in side.padded_dims()) + ")"


def _check_side(side: Side, width: int, height: int, bpp: int, name: str) -> None:
    if not 0 <= side.pitch <= MAX_PITCH:
        raise invalid(f"{name} line pitch {side.pitch}; it is 0 to {MAX_PITCH} pixels")
    for number, (niter, adv) in enumerate(side.dims, 1):
        if not 1 <= niter <= MAX_NITER:
            raise invalid(f"{name} dimension {number} iterates {niter} times; 1 to {MAX_NITER}")
        if not -ADV_LIMIT <= adv < ADV_LIMIT:
            raise invalid(f"{name} dimension {number} advances {adv} pixels; 24 bits signed")
    if side.ring is not None:
        _check_ring(side, width, height, bpp, name)
        return
    low = sum(min(0, (n - 1) * adv) for n, adv in side.dims)
    high = sum(max(0, (n - 1) * adv) for n, adv in side.dims) + side.pitch * (height - 1) + width
    first, end = side.at + low * bpp, side.at + high * bpp
    if first < side.limits[0] or end > side.limits[1]:
        raise invalid(
            f"the {name} touches bytes {first - side.limits[0]} to {end - side.limits[0]} of a "
            f"{side.what} of {side.limits[1] - side.limits[0]} bytes in {SPACES[side.space]}"
        )


def _check_ring(side: Side, width: int, height: int, bpp: int, name: str) -> None:
    assert side.ring is not None
    start, length = side.ring
    size = length * bpp
    if not 0 < size <= MAX_CIRCULAR:
        raise invalid(f"{name} circular buffer of {size} bytes; it is 1 to {MAX_CIRCULAR}")
    if (side.pitch * (height - 1) + width) * bpp > size:
        raise invalid(
            f"a tile of {width} x {height} pixels with line pitch {side.pitch} does not fit the "
            f"{name} circular buffer of {length} pixels"
        )
    base = side.at + start * bpp
    if base < side.limits[0] or base + size > side.limits[1]:
        raise invalid(
            f"the {name} circular buffer, bytes {base - side.limits[0]} to "
            f"{base + size - side.limits[0]}, leaves its {side.what} of "
            f"{side.limits[1] - side.limits[0]} bytes in {SPACES[side.space]}"
        )


def pack(moves: list[Move]) -> Descriptors:
    """The moves as the engine's descriptors."""
    kind = descriptor_type()
    packed = np.frombuffer(bytearray(len(moves) * kind.itemsize), kind)
    for row, move in zip(packed, moves, strict=True):
        row["tx"], row["ty"], row["bpp"] = move.tx, move.ty, move.bpp
        pad = move.pad
        row["left"], row["right"], row["top"], row["bottom"] = (
            pad.left, pad.right, pad.top, pad.bottom,
        )  # fmt: skip
        row["pad_mode"], row["pad_value"] = pad.mode, pad.value
        for key, side in (("src", move.src), ("dst", move.dst)):
            target = row[key]
            target["space"], target["at"] = side.space, side.at
            target["pitch"] = side.pitch * move.bpp
            dims = side.padded_dims()
            target["n"] = [n for n, _ in dims]
            target["adv"] = [adv * move.bpp for _, adv in dims]
            if side.ring is not None:
                target["ring"] = side.at + side.ring[0] * move.bpp
                target["ring_size"] = side.ring[1] * move.bpp
        row["copy_at"] = move.copy_at
        row["tiles"] = move.src.tiles
        row["per_trigger"] = move.per_trigger or move.src.tiles
        row["chained"] = move.chained
    return packed


__all__ = ["Descriptors", "Error", "Move", "Padding", "Side", "descriptor_type", "pack"]
