"""RasterDataFlow: an image in tiles, with halo, region of interest and scan order.

Source of the rules: cuPVA API reference, class RasterDataFlow; choices where it is silent are in
docs/decisions.md.
"""

from __future__ import annotations

from enum import IntEnum
from typing import TYPE_CHECKING

from ... import lazy
from ..dma import MAX_PAD, MAX_PITCH, Descriptors, Move
from ..pointers import OffsetPointer
from .base import (
    DataFlow,
    Location,
    Locator,
    PadMode,
    Pointer,
    Tile,
    inside_vmem,
    invalid,
    located,
    outside_vmem,
)
from .grid import Grid, Integers, Walk, read_windows, write_windows

if TYPE_CHECKING:
    import numpy as np
else:
    np = lazy.module("numpy")

LINE = 64
"""Bytes that halves of a tile buffer are aligned to."""
CIRCULAR_EXTRA = 64
"""Bytes that a circular tile buffer has more than a double one."""

HORIZONTAL_REVERSED, VERTICAL_REVERSED, COLUMN_MAJOR = 1, 2, 4


class Layout(IntEnum):
    """How many tiles the tile buffer holds, and where the next one begins."""

    SINGLE = 1
    DOUBLE = 2
    CIRCULAR = 3


def aligned(size: int, unit: int = LINE) -> int:
    return -(-size // unit) * unit


class RasterDataFlow(DataFlow):
    """Tiles of a 2-D image into VMEM (src) or out of it (dst). Sizes in pixels."""

    kind = "RasterDataFlow"

    def __init__(self, name: str = "") -> None:
        super().__init__(name)
        self.pixel_bytes = 1
        self.pointer: Pointer | None = None
        self.reads: bool | None = None
        self.extent = (0, 0)
        self.pitch = 0
        self.buffer: Pointer | None = None
        self.buffer_bytes: int | None = None
        self.tile_size = (0, 0)
        self.halo_size = (0, 0)
        self.pad_mode = PadMode.CONST
        self.pad_value = 0
        self.region: tuple[int, int, int, int] | None = None
        self.scan = 0

    # --- setters ---

    def image(
        self, reads: bool, pointer: Pointer, width: int, height: int, pitch: int, bpp: int
    ) -> None:
        """``src`` (reads) or ``dst``; pitch 0 means the width."""
        if self.reads is not None and self.reads is not reads:
            raise invalid(f"{self.name}: src() and dst() were both called; one chooses the way")
        if width < 1 or height < 1:
            raise invalid(f"{self.name}: an image of {width} x {height} pixels")
        pitch = pitch or width
        if not width <= pitch <= MAX_PITCH:
            raise invalid(
                f"{self.name}: line pitch {pitch} of an image {width} wide; it is {width} to "
                f"{MAX_PITCH}"
            )
        self.reads, self.pointer, self.extent = reads, pointer, (width, height)
        self.pitch, self.pixel_bytes = pitch, bpp

    def tile_buffer(self, pointer: Pointer, size: int | None = None) -> None:
        self.buffer, self.buffer_bytes = pointer, size

    def tile(self, width: int, height: int = 1) -> None:
        if width < 1 or height < 1:
            raise invalid(f"{self.name}: tile of {width} x {height} pixels; both are at least 1")
        self.tile_size = (width, height)

    def halo(self, x: int, y: int, mode: int = PadMode.CONST, value: int = 0) -> None:
        if mode not in (PadMode.CONST, PadMode.BPE):
            raise invalid(f"{self.name}: padding mode {mode}; PAD_CONST (1) and PAD_BPE (2) exist")
        if not 0 <= x <= MAX_PAD or not 0 <= y <= MAX_PAD:
            raise invalid(f"{self.name}: halo of {x} x {y} pixels; it is 0 to {MAX_PAD}")
        self.halo_size, self.pad_mode, self.pad_value = (x, y), PadMode(mode), value

    def roi(self, x: int, y: int, width: int, height: int) -> None:
        self.region = (x, y, width, height)

    def scan_order(self, bits: int) -> None:
        if not 0 <= bits <= 7:
            raise invalid(f"{self.name}: scan order {bits:#x}; bits 1, 2 and 4 exist")
        self.scan = bits

    # --- geometry ---

    @property
    def offset_pointers(self) -> list[OffsetPointer]:
        return [p for p in (self.pointer, self.buffer) if isinstance(p, OffsetPointer)]

    @property
    def roi_rectangle(self) -> tuple[int, int, int, int]:
        """The region, a width or height of 0 meaning all of the image's."""
        x, y, width, height = self.region or (0, 0, 0, 0)
        return x, y, width or self.extent[0], height or self.extent[1]

    @property
    def vmem_size(self) -> tuple[int, int]:
        """Width and height of a tile in VMEM, halo included."""
        (width, height), (hx, hy) = self.tile_size, self.halo_size
        return (width + 2 * hx, height + 2 * hy) if self.reads else (width, height)

    @property
    def grid(self) -> tuple[int, int]:
        """Tiles in a row, and rows of tiles."""
        _, _, width, height = self.roi_rectangle
        return -(-width // self.tile_size[0]), -(-height // self.tile_size[1])

    def check(self) -> None:
        """The rules that need all setters. Raises CupvaError(InvalidArgument)."""
        if self.reads is None:
            raise invalid(f"{self.name}: neither src() nor dst() was called")
        if self.tile_size == (0, 0):
            raise invalid(f"{self.name}: tile() was not called")
        if not self.reads and any(self.halo_size):
            raise invalid(f"{self.name}: dst() with a halo; a halo is for reading into VMEM")
        x, y, width, height = self.roi_rectangle
        if width < 1 or height < 1:
            raise invalid(f"{self.name}: roi of {width} x {height} pixels")
        if not self.reads and (
            x < 0 or y < 0 or x + width > self.extent[0] or y + height > self.extent[1]
        ):
            raise invalid(
                f"{self.name}: roi ({x}, {y}, {width}, {height}) leaves the destination of "
                f"{self.extent[0]} x {self.extent[1]}"
            )
        if self.reads and self.pixel_bytes not in (1, 2, 4):
            raise invalid(f"{self.name}: pixels of {self.pixel_bytes} bytes; 1, 2 or 4")

    # --- the tile buffer ---

    def layout(self, room: int) -> Layout:
        """What fits ``room`` bytes. Raises CupvaError(InvalidArgument) when nothing does."""
        width, height = self.vmem_size
        single = width * height * self.pixel_bytes
        if room < single:
            raise invalid(
                f"{self.name}: the tile buffer has {room} bytes, one tile of {width} x {height} "
                f"pixels needs {single}; RDF_SINGLE, RDF_DOUBLE and RDF_CIRCULAR give sizes"
            )
        if any(self.halo_size) and room >= self.ring_bytes + CIRCULAR_EXTRA:
            return Layout.CIRCULAR
        return Layout.DOUBLE if room >= aligned(2 * single) else Layout.SINGLE

    @property
    def ring_pitch(self) -> int:
        return 2 * self.vmem_size[0]

    @property
    def ring_bytes(self) -> int:
        return aligned(self.ring_pitch * self.vmem_size[1] * self.pixel_bytes)

    def half(self, room: int) -> int:
        """Byte offset of the second tile of a double buffer."""
        width, height = self.vmem_size
        single = width * height * self.pixel_bytes
        return aligned(single) if aligned(single) + single <= room else single

    def places(self, locate: Locator) -> tuple[Location, Location, int]:
        """The image, the tile buffer, and the bytes that the buffer has."""
        image = outside_vmem(
            located(locate, self.pointer, f"{self.name}: the image"), f"{self.name}: the image"
        )
        buffer = inside_vmem(
            located(locate, self.buffer, f"{self.name}: tileBuffer"), f"{self.name}: tileBuffer"
        )
        room = buffer.limits[1] - buffer.at
        return image, buffer, room if self.buffer_bytes is None else min(room, self.buffer_bytes)

    # --- compilation ---

    def moves(self, locate: Locator) -> list[Move]:
        return self._transfer(locate).moves()

    def descriptors(self, locate: Locator) -> Descriptors:
        return self._transfer(locate).descriptors()

    def tiles(self, locate: Locator) -> list[Tile]:
        self.check()
        return self._all_tiles(locate).tiles()

    def _transfer(self, locate: Locator) -> Grid:
        self.check()
        self.require_handler()
        return self._all_tiles(locate)

    def _all_tiles(self, locate: Locator) -> Grid:
        image, buffer, room = self.places(locate)
        layout, bpp = self.layout(room), self.pixel_bytes
        column, row = self._grid_in_order()
        x0, y0, width, height = self.roi_rectangle
        x, y = x0 + column * self.tile_size[0], y0 + row * self.tile_size[1]
        if self.reads:
            corner = x - self.halo_size[0], y - self.halo_size[1]
            windows = read_windows(*corner, self.vmem_size, self.extent)
        else:
            windows = write_windows(x, y, self.tile_size, (x0 + width, y0 + height))
        number, ring = np.arange(len(x)), None
        pitch, offset = self.vmem_size[0], np.zeros_like(number)
        if layout is Layout.DOUBLE:
            offset = (number & 1) * self.half(room)
        elif layout is Layout.CIRCULAR:
            offset, pitch = number * pitch * bpp % self.ring_bytes, self.ring_pitch
            ring = (-offset // bpp, self.ring_bytes // bpp)
        start = image.at + (windows.y * self.pitch + windows.x) * bpp
        inside = buffer.at + offset
        return Grid(
            self.name,
            windows,
            self.vmem_size if self.reads else None,
            np.zeros_like(number),
            np.ones_like(number),
            bpp,
            Walk(image.space, start, image.limits, image.what, self.pitch),
            Walk(buffer.space, inside, buffer.limits, buffer.what, pitch, ring=ring),
            (self.pad_mode, self.pad_value),
        )

    def _grid_in_order(self) -> tuple[Integers, Integers]:
        """Columns and rows of all tiles in scan order, shape (tiles,)."""
        columns, rows = self.grid
        row, column = np.indices((rows, columns), dtype=np.int64)
        if self.scan & HORIZONTAL_REVERSED:
            column = column[:, ::-1]
        if self.scan & VERTICAL_REVERSED:
            row = row[::-1]
        if self.scan & COLUMN_MAJOR:
            column, row = column.T, row.T
        return column.reshape(-1), row.reshape(-1)

    def device_info(self, locate: Locator) -> dict[str, int]:
        _, buffer, room = self.places(locate)
        layout = self.layout(room)
        circular = layout is Layout.CIRCULAR
        columns, rows = self.grid
        return {
            "line_pitch": self.ring_pitch if circular else self.vmem_size[0],
            "bpp_log2": self.pixel_bytes.bit_length() - 1,
            "bpp": self.pixel_bytes,
            "buffer": buffer.at,
            "tiles": columns * rows,
            "layout": int(layout),
            "half": self.half(room) if layout is Layout.DOUBLE else 0,
            "advance": self.vmem_size[0] if circular else 0,
            "ring": self.ring_bytes // self.pixel_bytes if circular else 0,
            "reads": int(bool(self.reads)),
        }
