"""TensorDataFlow: a CHW tensor in three-dimensional tiles, depth first.

Source of the rules: cuPVA API reference, class TensorDataFlow; choices where it is silent are in
docs/decisions.md.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ... import lazy
from ..dma import MAX_NITER, MAX_PITCH, Descriptors, Move
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
from .grid import Grid, Walk, read_windows, write_windows
from .raster import aligned

if TYPE_CHECKING:
    import numpy as np
else:
    np = lazy.module("numpy")

MAX_DEPTH = 255


class TensorDataFlow(DataFlow):
    """Tiles of a tensor into VMEM (src) or out of it (dst). Sizes in pixels."""

    kind = "TensorDataFlow"

    def __init__(self, name: str = "") -> None:
        super().__init__(name)
        self.pixel_bytes = 1
        self.pointer: Pointer | None = None
        self.source_set = self.target_set = False
        self.extent = (0, 0, 0)
        self.row_stride = 0
        self.depth_stride = 0
        self.buffer: Pointer | None = None
        self.buffer_bytes: int | None = None
        self.tile_size = (0, 0, 0)
        self.halo_size = (0, 0)
        self.pad_mode = PadMode.CONST
        self.pad_value = 0
        self.region: tuple[int, int, int, int] | None = None

    # --- setters ---

    def tensor(
        self,
        reads: bool,
        pointer: Pointer,
        extent: tuple[int, int, int],
        strides: tuple[int, int],
        bpp: int,
    ) -> None:
        """``src`` (reads) or ``dst``: extent (width, height, depth), strides (row, depth); a
        stride of 0 is that of a packed tensor."""
        if reads:
            self.source_set = True
        else:
            self.target_set = True
        self.pointer, self.extent, self.pixel_bytes = pointer, extent, bpp
        self.row_stride = strides[0] or extent[0]
        self.depth_stride = strides[1] or self.row_stride * extent[1]

    def tile_buffer(self, pointer: Pointer, size: int | None = None) -> None:
        self.buffer, self.buffer_bytes = pointer, size

    def tile(self, width: int, height: int, depth: int = 0) -> None:
        """Depth 0 is all of the tensor's."""
        self.tile_size = (width, height, depth)

    def halo(self, x: int, y: int, mode: int = PadMode.CONST, value: int = 0) -> None:
        """A halo of 0 chooses how tiles at the edge are filled."""
        if mode not in (PadMode.CONST, PadMode.BPE):
            raise invalid(f"{self.name}: padding mode {mode}; PAD_CONST (1) and PAD_BPE (2) exist")
        self.halo_size, self.pad_mode, self.pad_value = (x, y), PadMode(mode), value

    def roi(self, x: int, y: int, width: int, height: int) -> None:
        self.region = (x, y, width, height)

    # --- geometry ---

    @property
    def reads(self) -> bool:
        return self.source_set

    @property
    def offset_pointers(self) -> list[OffsetPointer]:
        return [p for p in (self.pointer, self.buffer) if isinstance(p, OffsetPointer)]

    @property
    def tile_depth(self) -> int:
        return self.tile_size[2] or self.extent[2]

    @property
    def roi_rectangle(self) -> tuple[int, int, int, int]:
        x, y, width, height = self.region or (0, 0, 0, 0)
        return x, y, width or self.extent[0], height or self.extent[1]

    @property
    def plane_size(self) -> tuple[int, int]:
        """Width and height of one plane of a tile in VMEM, halo included."""
        (width, height, _), (hx, hy) = self.tile_size, self.halo_size
        return width + 2 * hx, height + 2 * hy

    @property
    def grid(self) -> tuple[int, int, int]:
        """Tiles along width, height and depth."""
        _, _, width, height = self.roi_rectangle
        tw, th, _ = self.tile_size
        return -(-width // tw), -(-height // th), -(-self.extent[2] // self.tile_depth)

    @property
    def remainder(self) -> int:
        """Planes of the last tile in depth, 0 when it is full."""
        return self.extent[2] % self.tile_depth

    @property
    def single_bytes(self) -> int:
        width, height = self.plane_size
        return width * height * self.tile_depth * self.pixel_bytes

    @property
    def double_bytes(self) -> int:
        """TDF_DOUBLE: two planes rounded up together, times the depth."""
        width, height = self.plane_size
        return aligned(2 * width * height * self.pixel_bytes) * self.tile_depth

    # --- rules ---

    def check(self) -> None:
        """The documented constraints. Raises CupvaError(InvalidArgument)."""
        if self.source_set == self.target_set:
            both = "both" if self.source_set else "neither"
            raise invalid(
                f"{self.name}: {both} of src() and dst() called; exactly one chooses the way"
            )
        self._check_sizes()
        self._check_strides()
        if self.reads:
            self._check_read_roi()
        else:
            self._check_write()

    def _check_sizes(self) -> None:
        width, height, depth = self.extent
        tw, th, td = *self.tile_size[:2], self.tile_depth
        hx, hy = self.halo_size
        _, _, roi_width, roi_height = self.roi_rectangle
        if min(width, height, depth) < 1:
            raise invalid(f"{self.name}: a tensor of {width} x {height} x {depth}")
        if tw < 1 or th < 1 or self.tile_size[2] < 0:
            raise invalid(f"{self.name}: a tile of {self.tile_size}; tile() sets at least 1 x 1")
        if hx < 0 or hy < 0:
            raise invalid(f"{self.name}: a halo of {hx} x {hy}; it is 0 or more")
        for name, halo, tile, roi in (
            ("width", hx, tw, roi_width), ("height", hy, th, roi_height),
        ):  # fmt: skip
            if not halo < tile <= roi:
                raise invalid(
                    f"{self.name}: halo < tile <= roi does not hold in {name}: {halo}, {tile}, "
                    f"{roi}"
                )
        for name, tile, extent in (
            ("width", tw, width),
            ("height", th, height),
            ("depth", td, depth),
        ):
            if tile > extent:
                raise invalid(f"{self.name}: tile {name} {tile} is more than the tensor's {extent}")
        if td > MAX_DEPTH:
            raise invalid(f"{self.name}: tile depth {td}; it is less than {MAX_DEPTH + 1}")
        for name, count in zip(("width", "height", "depth"), self.grid, strict=True):
            if count > MAX_NITER:
                raise invalid(f"{self.name}: {count} tiles in {name}; at most {MAX_NITER}")
        if self.reads and self.pixel_bytes not in (1, 2, 4):
            raise invalid(f"{self.name}: pixels of {self.pixel_bytes} bytes; 1, 2 or 4")

    def _check_strides(self) -> None:
        width, height, depth = self.extent
        tw, th, td = *self.tile_size[:2], self.tile_depth
        row, plane = self.row_stride, self.depth_stride
        if not 1 <= row <= MAX_PITCH:
            raise invalid(f"{self.name}: rowStride {row}; it is 1 to {MAX_PITCH}")
        if width > min(tw * MAX_NITER, row):
            raise invalid(
                f"{self.name}: width {width} is more than min(tile width * {MAX_NITER}, rowStride) "
                f"= {min(tw * MAX_NITER, row)}"
            )
        if height > th * MAX_NITER:
            raise invalid(
                f"{self.name}: height {height} is more than tile height * {MAX_NITER} = "
                f"{th * MAX_NITER}"
            )
        # A packed tensor of 256 rows and more breaks the documented bound by itself; it is for
        # strides that a program gives.
        if depth > 1 and plane != row * height and not plane < row * MAX_NITER:
            raise invalid(
                f"{self.name}: depthStride {plane}; it is less than rowStride * {MAX_NITER} = "
                f"{row * MAX_NITER}"
            )
        if not depth < td * MAX_NITER:
            raise invalid(
                f"{self.name}: depth {depth}; it is less than tile depth * {MAX_NITER} = "
                f"{td * MAX_NITER}"
            )

    def _check_read_roi(self) -> None:
        x, y, width, height = self.roi_rectangle
        tw, th, _ = self.tile_size
        for name, start, size, tile, extent in (
            ("x", x, width, tw, self.extent[0]), ("y", y, height, th, self.extent[1]),
        ):  # fmt: skip
            if start + tile <= 0:
                raise invalid(
                    f"{self.name}: roi {name} {start} + tile {tile} = {start + tile}; it must be "
                    "more than 0, so that the first tile touches the tensor"
                )
            last = start + -(-size // tile) * tile - tile
            if last >= extent:
                raise invalid(
                    f"{self.name}: the last tile in {name} begins at {last}; it must touch the "
                    f"tensor, which ends at {extent}"
                )

    def _check_write(self) -> None:
        if any(self.halo_size):
            raise invalid(f"{self.name}: dst() with a halo; a halo is for reading into VMEM")
        x, y, width, height = self.roi_rectangle
        if x < 0 or y < 0 or x + width > self.extent[0] or y + height > self.extent[1]:
            raise invalid(
                f"{self.name}: roi ({x}, {y}, {width}, {height}) leaves the destination of "
                f"{self.extent[0]} x {self.extent[1]}"
            )

    # --- the tile buffer ---

    def places(self, locate: Locator) -> tuple[Location, Location, int]:
        """The tensor, the tile buffer, and the bytes that the buffer has."""
        tensor = outside_vmem(
            located(locate, self.pointer, f"{self.name}: the tensor"), f"{self.name}: the tensor"
        )
        buffer = inside_vmem(
            located(locate, self.buffer, f"{self.name}: tileBuffer"), f"{self.name}: tileBuffer"
        )
        room = buffer.limits[1] - buffer.at
        return tensor, buffer, room if self.buffer_bytes is None else min(room, self.buffer_bytes)

    def half(self, room: int) -> int:
        """Byte offset of the second tile, 0 when the buffer holds one."""
        single = self.single_bytes
        if room < single:
            raise invalid(
                f"{self.name}: tileBuffer has {room} bytes, a tile needs {single} (TDF_SINGLE), "
                f"two need {self.double_bytes} (TDF_DOUBLE)"
            )
        if room < self.double_bytes:
            return 0
        return aligned(single) if aligned(single) + single <= room else single

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
        tensor, buffer, room = self.places(locate)
        half, bpp = self.half(room), self.pixel_bytes
        across, down, deep = self.grid
        row, column, layer = (
            axis.reshape(-1) for axis in np.indices((down, across, deep), dtype=np.int64)
        )
        x0, y0, width, height = self.roi_rectangle
        x, y = x0 + column * self.tile_size[0], y0 + row * self.tile_size[1]
        if self.reads:
            corner = x - self.halo_size[0], y - self.halo_size[1]
            windows = read_windows(*corner, self.plane_size, self.extent[:2])
        else:
            windows = write_windows(x, y, self.tile_size[:2], (x0 + width, y0 + height))
        plane = layer * self.tile_depth
        start = plane * self.depth_stride + windows.y * self.row_stride + windows.x
        inner_width, inner_height = self.plane_size
        return Grid(
            self.name,
            windows,
            self.plane_size if self.reads else None,
            plane,
            np.minimum(self.tile_depth, self.extent[2] - plane),
            bpp,
            Walk(
                tensor.space,
                tensor.at + start * bpp,
                tensor.limits,
                tensor.what,
                self.row_stride,
                self.depth_stride,
            ),
            Walk(
                buffer.space,
                buffer.at + (np.arange(len(x)) & 1) * half,
                buffer.limits,
                buffer.what,
                inner_width,
                inner_width * inner_height,
            ),
            (self.pad_mode, self.pad_value),
            one_sided=True,
        )

    def device_info(self, locate: Locator) -> dict[str, int]:
        _, buffer, room = self.places(locate)
        half = self.half(room)
        width, height = self.plane_size
        across, down, deep = self.grid
        return {
            "line_pitch": width,
            "bpp_log2": self.pixel_bytes.bit_length() - 1,
            "bpp": self.pixel_bytes,
            "buffer": buffer.at,
            "tiles": across * down * deep,
            "layout": 2 if half else 1,
            "half": half,
            "planes": self.tile_depth,
            "plane_size": width * height,
            "niter_hw": across * down,
            "niter_c": deep,
            "remainder": self.remainder,
            "reads": int(self.reads),
        }
