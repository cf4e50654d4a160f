"""StaticDataFlow: tiles in up to three dimensions on each side, fixed when it is compiled.

Source of the rules: cuPVA API reference, class StaticDataFlow. Choices where it is silent are in
docs/decisions.md.
"""

from __future__ import annotations

from enum import IntEnum, IntFlag

from ..dma import (
    ADV_LIMIT,
    MAX_NITER,
    MAX_PAD,
    MAX_PITCH,
    MAX_TILE,
    VMEM,
    Move,
    Padding,
    Side,
)
from ..errors import Error, error
from ..pointers import OffsetPointer
from .base import DataFlow, Locator, PadMode, Pointer, Tile, invalid, located


class Granularity(IntEnum):
    """``cupvaGranType_t``: how much one trigger moves."""

    TILE = 1
    DIM1 = 2
    DIM2 = 3
    ALL = 4


class PadDir(IntFlag):
    """``cupva::PadDirType``: one bit a side."""

    NONE = 0
    TOP = 1
    BOTTOM = 2
    LEFT = 4
    RIGHT = 8


_OPPOSITE = {
    PadDir.TOP: PadDir.BOTTOM,
    PadDir.BOTTOM: PadDir.TOP,
    PadDir.LEFT: PadDir.RIGHT,
    PadDir.RIGHT: PadDir.LEFT,
}
_ALL_SIDES = PadDir.TOP | PadDir.BOTTOM | PadDir.LEFT | PadDir.RIGHT


class _Walk:
    """One side as the setters leave it."""

    def __init__(self) -> None:
        self.pointer: Pointer | None = None
        self.pitch: int | None = None
        self.dims: dict[int, tuple[int, int]] = {}
        self.ring: tuple[int, int] | None = None

    def copy_from(self, other: _Walk) -> None:
        self.pointer, self.pitch, self.ring = other.pointer, other.pitch, other.ring
        self.dims = dict(other.dims)

    @property
    def ordered_dims(self) -> tuple[tuple[int, int], ...]:
        return tuple(self.dims.get(i, (1, 0)) for i in (1, 2, 3))


class StaticDataFlow(DataFlow):
    """A regular pattern of tiles. All sizes in pixels of ``bpp`` bytes."""

    kind = "StaticDataFlow"
    primitive = True

    def __init__(self, name: str = "") -> None:
        super().__init__(name)
        self.pixel_bytes = 1
        self.tile_size = (0, 0)
        self.source = _Walk()
        self.target = _Walk()
        self.second_target: Pointer | None = None
        self.pads: dict[PadDir, int] = {}
        self.pad_mode = PadMode.CONST
        self.pad_value = 0
        self.gran = Granularity.TILE
        self.following: list[tuple[DataFlow, bool]] = []

    # --- setters, in the order of the reference ---

    def link(self, following: DataFlow) -> None:
        """Puts a dataflow (with its own list) at the end of this list; it needs own triggers."""
        self._join(following, appended=False)

    def append(self, following: DataFlow) -> None:
        """The same without a boundary: it runs on when the one before is done."""
        self._join(following, appended=True)

    def _join(self, following: DataFlow, appended: bool) -> None:
        if following.kind == "ConfigDataFlow":
            raise error(
                Error.CUPVA_UNSUPPORTED_FEATURE,
                f"UnsupportedOperation: {following.name} in a list; it is a head of its own here, "
                "with its own trigger (addDataFlowHead)",
            )
        if not following.primitive:
            raise invalid(
                f"{following.name} cannot be linked; StaticDataFlow and ConfigDataFlow can"
            )
        if self in following.chain():
            raise invalid(f"{following.name} is already in front of {self.name} in a list")
        if any(following in (node, *node.chain()) for node, _ in self.following):
            raise invalid(f"{following.name} is already in the list of {self.name}")
        self.following.append((following, appended))

    def bpp(self, size: int) -> None:
        if not 1 <= size <= MAX_TILE:
            raise invalid(f"bpp is {size}; a pixel has 1 to {MAX_TILE} bytes")
        self.pixel_bytes = size

    def tile(self, width: int, height: int = 1) -> None:
        """(0, 0) is a dummy transfer."""
        dummy = width == 0 and height == 0
        if not dummy and not (1 <= width <= MAX_TILE and 1 <= height <= MAX_TILE):
            raise invalid(
                f"tile is {width} x {height}; each side is 1 to {MAX_TILE} pixels, 0 x 0 for a "
                "dummy transfer"
            )
        self.tile_size = (width, height)

    def pad_dim(self, direction: int, count: int) -> None:
        """Raises CupvaError(InvalidArgument) for opposite sides in one call, or a bad count.

        Opposite sides in several calls are found when the dataflow is compiled.
        """
        if direction & ~int(_ALL_SIDES):
            raise invalid(f"padding direction {direction:#x}; TOP 1, BOTTOM 2, LEFT 4, RIGHT 8")
        sides = [s for s in _OPPOSITE if direction & s]
        for side in sides:
            if direction & _OPPOSITE[side]:
                raise invalid(
                    f"padding on {side.name} and {_OPPOSITE[side].name} in one call; a tile is "
                    "padded on one side of each axis"
                )
        if not 0 <= count <= MAX_PAD:
            raise invalid(f"padding of {count} pixels; the engine pads 0 to {MAX_PAD}")
        if not sides:
            self.pads.clear()
        for side in sides:
            self.pads[side] = count

    def pad_val(self, mode: int, value: int = 0) -> None:
        if mode not in (PadMode.CONST, PadMode.BPE):
            raise invalid(f"padding mode {mode}; PAD_CONST (1) and PAD_BPE (2) exist")
        self.pad_mode, self.pad_value = PadMode(mode), value

    def granularity(self, kind: int) -> None:
        if kind not in tuple(Granularity):
            raise invalid(f"granularity {kind}; TILE (1), DIM1 (2), DIM2 (3) and ALL (4) exist")
        self.gran = Granularity(kind)

    def src(self, pointer: Pointer) -> None:
        self.source.pointer = pointer

    def dst(self, pointer: Pointer, second: Pointer | None = None) -> None:
        self.target.pointer, self.second_target = pointer, second

    def line_pitch(self, side: str, pitch: int) -> None:
        """``side``: "source" or "destination"."""
        if not 0 <= pitch <= MAX_PITCH:
            raise invalid(f"{side} line pitch {pitch}; it is 0 to {MAX_PITCH} pixels")
        self._walk(side).pitch = pitch

    def dim(self, side: str, number: int, niter: int, adv: int) -> None:
        """Dimension 1 (innermost), 2 or 3."""
        if not 1 <= niter <= MAX_NITER:
            raise invalid(
                f"{side} dimension {number} iterates {niter} times; it is 1 to {MAX_NITER}"
            )
        if not -ADV_LIMIT <= adv < ADV_LIMIT:
            raise invalid(
                f"{side} dimension {number} advances {adv} pixels; it is {-ADV_LIMIT} to "
                f"{ADV_LIMIT - 1}"
            )
        self._walk(side).dims[number] = (niter, adv)

    def circular_buffer(self, side: str, start: int, length: int) -> None:
        if length <= 0:
            raise invalid(f"{side} circular buffer of {length} pixels; it has at least one")
        self._walk(side).ring = (start, length)

    def _walk(self, side: str) -> _Walk:
        return self.source if side == "source" else self.target

    def copy(self, other: StaticDataFlow) -> None:
        """Takes over all fields of another one (not its handler's or list's ownership)."""
        self.pixel_bytes, self.tile_size = other.pixel_bytes, other.tile_size
        self.source.copy_from(other.source)
        self.target.copy_from(other.target)
        self.second_target = other.second_target
        self.pads, self.gran = dict(other.pads), other.gran
        self.pad_mode, self.pad_value = other.pad_mode, other.pad_value
        self.handler_symbol = other.handler_symbol
        self.following = list(other.following)

    # --- compilation ---

    def chain(self) -> list[DataFlow]:
        found: list[DataFlow] = [self]
        for node, _ in self.following:
            found += node.chain()
        return found

    @property
    def offset_pointers(self) -> list[OffsetPointer]:
        own = (self.source.pointer, self.target.pointer, self.second_target)
        found = [p for p in own if isinstance(p, OffsetPointer)]
        for node, _ in self.following:
            found += node.offset_pointers
        return found

    def moves(self, locate: Locator) -> list[Move]:
        moves = [self._move(locate)]
        for node, appended in self.following:
            moves[-1].chained = appended
            moves += node.moves(locate)
        return moves

    def _padding(self) -> Padding:
        for side, count in self.pads.items():
            if count and self.pads.get(_OPPOSITE[side]):
                raise invalid(
                    f"{self.name}: padding on both {side.name} and {_OPPOSITE[side].name}; a tile "
                    "is padded on one side of each axis"
                )
        get = self.pads.get
        return Padding(
            get(PadDir.LEFT, 0),
            get(PadDir.RIGHT, 0),
            get(PadDir.TOP, 0),
            get(PadDir.BOTTOM, 0),
            int(self.pad_mode),
            self.pad_value,
        )

    def _per_trigger(self) -> int:
        (n1, _), (n2, _), (n3, _) = self.source.ordered_dims
        return {
            Granularity.TILE: 1,
            Granularity.DIM1: n1,
            Granularity.DIM2: n1 * n2,
            Granularity.ALL: n1 * n2 * n3,
        }[self.gran]

    def _move(self, locate: Locator) -> Move:
        width, height = self.tile_size
        sides = []
        for name, walk in (("source", self.source), ("destination", self.target)):
            if not width and walk.pointer is None:
                place = (VMEM, 0, (0, 0), "dummy")
            else:
                place = located(locate, walk.pointer, f"{self.name}: the {name} pointer")
            pitch = width if walk.pitch is None else walk.pitch
            sides.append(
                Side(place[0], place[1], place[2], pitch, walk.ordered_dims, walk.ring, place[3])
            )
        source, target = sides
        if self.handler_symbol is not None and VMEM not in (source.space, target.space):
            raise invalid(
                f"{self.name}: a handler needs one side in VMEM; from DRAM to DRAM nothing can be "
                "triggered"
            )
        copy_at = -1
        if self.second_target is not None and self.second_target:
            second = located(locate, self.second_target, f"{self.name}: the second destination")
            if second.space != VMEM:
                raise invalid(f"{self.name}: the second destination is not in VMEM")
            copy_at = second.at
        move = Move(
            width, height, self.pixel_bytes, source, target, self._padding(), copy_at,
            self._per_trigger(),
        )  # fmt: skip
        move.check()
        return move

    def device_info(self, locate: Locator) -> dict[str, int]:
        """``planes``: its number, from which those of its list count on."""
        return {"planes": self.compiled_id or 0}

    def tiles(self, locate: Locator) -> list[Tile]:
        found: list[Tile] = []
        trigger = 0
        moves = self.moves(locate)
        for move in moves:
            trigger = _list_tiles(move, found, trigger)
        return found


def _position(side: Side, number: int) -> int:
    """Pixels from the side's start to the start of tile ``number``."""
    total = 0
    for niter, adv in side.padded_dims():
        number, index = divmod(number, niter)
        total += index * adv
    return total


def _list_tiles(move: Move, found: list[Tile], trigger: int) -> int:
    outside, inside = (move.src, move.dst) if move.dst.space == VMEM else (move.dst, move.src)
    read = move.tx - move.pad.left - move.pad.right, move.ty - move.pad.top - move.pad.bottom
    step = move.per_trigger or 1
    # tiles of one line that have their own width as pitch, as when none was set, lie in one line
    in_lines = outside.pitch and not (move.ty == 1 and outside.pitch == move.tx)
    for number in range(move.src.tiles):
        position = _position(outside, number)
        y, x = divmod(position, outside.pitch) if in_lines else (0, position)
        vmem = inside.at + _position(inside, number) * move.bpp
        found.append(Tile(len(found), x, y, *read, 0, move.pad, vmem, trigger + number // step))
    used = -(-move.src.tiles // step)
    return trigger + used - (1 if move.chained else 0)
