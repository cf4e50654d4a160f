"""GatherScatterDataFlow: tiles at positions that the VPU chooses."""

from __future__ import annotations

from ..dma import MAX_PITCH, Move, Padding, Side
from ..pointers import OffsetPointer
from .base import DataFlow, Locator, PadMode, Pointer, Tile, invalid, located, outside_vmem

MAX_TILES_PER_TRIGGER = 32


class GatherScatterDataFlow(DataFlow):
    """Reads (src) tiles from, or writes (dst) them to, positions given at run time.

    The image behind the pointer bounds what may be touched: reads outside it are padded, writes
    outside it are left out. The descriptors are made by the VPU program for each trigger.
    """

    kind = "GatherScatterDataFlow"

    def __init__(self, name: str = "") -> None:
        super().__init__(name)
        self.pixel_bytes = 1
        self.pointer: Pointer | None = None
        self.reads: bool | None = None
        self.per_trigger = 1
        self.external = (0, 0, 0)
        self.tile_size: tuple[int, int] | None = None
        self.pad_mode = PadMode.CONST
        self.pad_value = 0

    def bpp(self, size: int) -> None:
        if size not in (1, 2, 4):
            raise invalid(f"{self.name}: bpp is {size}; 1, 2 or 4")
        self.pixel_bytes = size

    def tile(self, width: int, height: int) -> None:
        if width < 1 or height < 1:
            raise invalid(f"{self.name}: tile of {width} x {height} pixels; both are at least 1")
        self.tile_size = (width, height)

    def memory(self, reads: bool, pointer: Pointer) -> None:
        if self.reads is not None and self.reads is not reads:
            raise invalid(f"{self.name}: src() and dst() were both called; one chooses the way")
        self.reads, self.pointer = reads, pointer

    def tiles_per_trigger(self, count: int) -> None:
        if not 1 <= count <= MAX_TILES_PER_TRIGGER:
            raise invalid(f"{self.name}: {count} tiles a trigger; 1 to {MAX_TILES_PER_TRIGGER}")
        self.per_trigger = count

    def extents(self, width: int, height: int, pitch: int) -> None:
        if width < 1 or height < 1 or not width <= pitch <= MAX_PITCH:
            raise invalid(
                f"{self.name}: memory of {width} x {height} pixels with line pitch {pitch}; the "
                f"pitch is {max(width, 1)} to {MAX_PITCH}"
            )
        self.external = (width, height, pitch)

    @property
    def extent(self) -> tuple[int, int]:
        """Width and height of the memory in pixels."""
        return self.external[:2]

    def pad_val(self, mode: int, value: int = 0) -> None:
        if mode not in (PadMode.CONST, PadMode.BPE):
            raise invalid(f"{self.name}: padding mode {mode}; PAD_CONST (1) and PAD_BPE (2) exist")
        self.pad_mode, self.pad_value = PadMode(mode), value

    @property
    def offset_pointers(self) -> list[OffsetPointer]:
        return [self.pointer] if isinstance(self.pointer, OffsetPointer) else []

    def moves(self, locate: Locator) -> list[Move]:
        """A pattern for the VPU: one tile at the memory's start. Raises CupvaError."""
        self.require_handler()
        if self.reads is None:
            raise invalid(f"{self.name}: neither src() nor dst() was called")
        place = outside_vmem(
            located(locate, self.pointer, f"{self.name}: the memory"), f"{self.name}: the memory"
        )
        width, height, pitch = self.external
        if not width:
            raise invalid(f"{self.name}: the extent of the memory was not given")
        room = (place.limits[1] - place.at) // self.pixel_bytes
        if pitch * (height - 1) + width > room:
            raise invalid(
                f"{self.name}: {width} x {height} pixels with line pitch {pitch} do not fit the "
                f"buffer of {room} pixels"
            )
        outside = Side(place.space, place.at, place.limits, pitch, what=place.what)
        inside = Side(1, 0, (0, 1 << 30), width, what="VMEM")
        sides = (outside, inside) if self.reads else (inside, outside)
        pad = Padding(mode=int(self.pad_mode), value=self.pad_value)
        return [Move(*(self.tile_size or (1, 1)), self.pixel_bytes, *sides, pad)]

    def device_info(self, locate: Locator) -> dict[str, int]:
        """``planes``: tiles a trigger; ``advance``, ``ring``: the memory; ``layout``: pad mode."""
        width, height, _ = self.external
        return {
            "bpp_log2": self.pixel_bytes.bit_length() - 1,
            "bpp": self.pixel_bytes,
            "reads": int(bool(self.reads)),
            "planes": self.per_trigger,
            "advance": width,
            "ring": height,
            "layout": int(self.pad_mode),
        }

    def tiles(self, locate: Locator) -> list[Tile]:
        """Empty: the VPU program chooses the positions."""
        self.moves(locate)
        return []
