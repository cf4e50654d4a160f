"""Where values live: in cubes of their own, inside the cube of a concatenation, or as views."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from cudla_sim.nvdla.facts.configs import HardwareConfig
from cudla_sim.nvdla.facts.precisions import FP16

from .. import graph as g
from ..legalise.nodes import Interleave, KernelConv, View
from ..pixels import Image
from . import cuts, layouts
from .cubes import Buffer, Cube, cube_bytes, packed
from .layouts import Layout
from .passes import Pass
from .pictures import Picture
from .pictures import of as picture_of

if TYPE_CHECKING:
    from . import winograd


@dataclass(eq=False)
class Home:
    """Where a value's cube is: a buffer of its own, or channels, lines, pixels of a parent.

    *coded*: stored as fp16 numbers that count steps of *scale*. *tiles*: how the convolution
    that makes it goes in Winograd mode; its buffer has room for the tiles.
    """

    layout: Layout
    precision: int
    buffer: Buffer | None = None
    parent: g.Value | None = None
    channel: int = 0
    line: int = 0
    pixel: int = 0
    flat: bool = False
    coded: float | None = None
    tiles: winograd.Plan | None = None

    def room(self, value: g.Value) -> tuple[int, int]:
        """Lines and columns that are stored."""
        return value.shape[2:] if self.tiles is None else self.tiles.out


@dataclass(eq=False)
class Homes:
    """The homes of all stored values; *halves* are outputs that are wanted in fp16."""

    config: HardwareConfig
    precision: int
    inputs: list[g.Value]
    outputs: list[g.Value]
    halves: set[g.Value]
    scales: dict[g.Value, float]
    in_tiles: bool = False
    """Convolutions may be in Winograd mode where that takes less time."""
    pictures: Mapping[g.Value, Image | None] = field(default_factory=dict)
    readers: dict[g.Value, list[Pass]] = field(default_factory=dict)
    picture_line: int = 64
    """Bytes that a line of a picture is a multiple of."""
    homes: dict[g.Value, Home] = field(default_factory=dict)
    buffers: list[Buffer] = field(default_factory=list)
    image: int = 0
    """Number of the picture of a batch that is worked on."""
    zeros: dict[g.Value, int] = field(default_factory=dict)
    """Integers that mean 0, where that is not 0."""

    def __contains__(self, value: g.Value) -> bool:
        return value in self.homes

    def __getitem__(self, value: g.Value) -> Home:
        return self.homes[value]

    @property
    def atom(self) -> int:
        """Channels of a memory atom in the network's precision."""
        return self.config.channels_per_atom(self.precision)

    def scale(self, value: g.Value) -> float:
        """Real value of one step of a value; 0 where fp16 has none."""
        return self.scales.get(value, 0.0 if self.precision == FP16 else 1.0)

    # -- deciding -----------------------------------------------------------------------------

    def arrange(self, passes: list[Pass]) -> None:
        """Decide for every value how its channels lie and where its cube is."""
        for item in passes:
            operands = [] if item.fit is None else [one.value for one in item.fit.operands]
            for value in dict.fromkeys([*item.head.inputs, item.main, *operands]):
                self.readers.setdefault(value, []).append(item)
        for value in self.inputs:
            layout = layouts.dense(value.shape[1])
            buffer = self._buffer(value, layout)
            if value in self.pictures:
                buffer.size = self.picture(value).size * value.shape[0]
            self.homes[value] = Home(layout, self.precision, buffer)
        for item in passes:
            self._home(item)
        self._join(passes)

    def _buffer(
        self,
        value: g.Value,
        layout: Layout,
        precision: int | None = None,
        room: tuple[int, int] | None = None,
    ) -> Buffer:
        shape = (layout.channels, *(value.shape[2:] if room is None else room))
        stored = self.precision if precision is None else precision
        return Buffer(value.name, cube_bytes(self.config, stored, shape) * value.shape[0])

    def _stored(self, item: Pass) -> tuple[int, float | None]:
        """Precision in which a pass leaves its output, and the scale of a coded one."""
        readers, value = self.readers.get(item.output, []), item.output
        half = value in self.halves
        if item.precision == FP16 and self.precision != FP16:
            free = all(other.precision == FP16 for other in readers)
            if free and (value not in self.outputs or half):
                return FP16, None
        if item.fit is not None and item.precision != FP16 and half and not readers:
            return FP16, self.scale(value) / 256
        return self.precision, None

    def _home(self, item: Pass) -> None:
        node, value = item.head, item.output
        source = self.homes[item.main].layout
        precision, coded = self._stored(item)
        if isinstance(node, g.Concat):
            parts = [self.homes[part].layout for part in node.inputs]
            layout = layouts.joined(parts, self.atom)[0] if node.axis == 1 else parts[0]
        elif isinstance(node, g.Slice):
            layout, base = layouts.part(source, node.starts[0], value.shape[1], self.atom)
            whole = value.shape[2:] == item.main.shape[2:]
            flat = any(isinstance(other.head, View) for other in self.readers.get(value, []))
            if whole or not flat:
                starts = node.starts[1], node.starts[2]
                self.homes[value] = Home(layout, precision, None, item.main, base, *starts)
                return
        elif isinstance(node, View):
            layout = layouts.dense(value.shape[1])
            if value.shape[2:] == (1, 1):
                _, _, height, width = item.main.shape
                layout = layouts.flattened(source, height, width, self.atom)
            self.homes[value] = Home(layout, precision, None, item.main, flat=True)
            return
        elif isinstance(node, KernelConv):
            layout = self._conv_layout(item, node)
        elif isinstance(node, Interleave):
            layout = layouts.dense(value.shape[1])
        else:
            layout = source
        home = Home(layout, precision, coded=coded)
        if self.in_tiles and isinstance(node, KernelConv):
            home.tiles = self._tiles(item, node, home)
        home.buffer = self._buffer(value, layout, precision, home.room(value))
        self.buffers.append(home.buffer)
        self.homes[value] = home

    def _tiles(self, item: Pass, node: KernelConv, home: Home) -> winograd.Plan | None:
        """How a convolution goes in Winograd mode, where it may: its output is stored as it is
        made, and all of its readers take a cube with room at the ends of lines and surfaces."""
        from . import winograd

        source, value = self.cube(item.main), item.output
        if item.fit is None or item.main in self.pictures or not home.layout.dense:
            return None
        if not (source.dense and source.precision == home.precision == item.precision):
            return None
        found = winograd.plan(
            self.config, item.precision, node, item.fit, (source.channels, source.width)
        )
        if found is None or found.out == value.shape[2:]:
            return found
        readers = self.readers.get(value, [])
        plain = all(other.fit is not None or isinstance(other.head, g.Pool) for other in readers)
        same = all(other.precision == item.precision for other in readers)
        return found if readers and plain and same and value not in self.outputs else None

    def _conv_layout(self, item: Pass, node: KernelConv) -> Layout:
        assert item.fit is not None
        operands = [self.homes[one.value].layout for one in item.fit.operands]
        if operands:
            return operands[0]
        source = replace(self.cube(item.main), precision=item.precision)
        positions = cuts.natural_positions(self.config, item.precision, node, source)
        return Layout(int(positions.max()) + 1, positions)

    def _join(self, passes: list[Pass]) -> None:
        """Let producers of concatenated values write into the concatenation's cube."""
        placed: set[g.Value] = set()
        joined: list[g.Concat] = []
        for item in reversed(passes):
            node = item.head
            if not isinstance(node, g.Concat) or self._inside(node, joined):
                continue
            joined.append(node)
            parts = [self.homes[part].layout for part in node.inputs]
            _, starts = layouts.joined(parts, self.atom)
            at = 0
            for number, value in enumerate(node.inputs):
                if value not in placed and self._movable(node, value):
                    placed.add(value)
                    home = self.homes[value]
                    if home.buffer in self.buffers:
                        self.buffers.remove(home.buffer)
                    home.buffer, home.parent = None, node.output
                    if node.axis == 1:
                        home.channel = starts[number]
                    elif node.axis == 2:
                        home.line = at
                    else:
                        home.pixel = at
                at += value.shape[node.axis]

    def _movable(self, node: g.Concat, value: g.Value) -> bool:
        """True if a value may live inside a concatenation that reads it."""
        home = self.homes[value]
        if home.buffer is None or value in self.inputs or value in self.outputs:
            return False
        if node.inputs.count(value) != 1 or home.precision != self.precision:
            return False
        flat = any(isinstance(other.head, View) for other in self.readers.get(value, []))
        return node.axis == 1 or (home.layout.same(self.homes[node.output].layout) and not flat)

    def _inside(self, node: g.Concat, joined: list[g.Concat]) -> bool:
        """Make a concatenation a part of a later one that joins the same values in a row."""
        home = self.homes[node.output]
        if node.axis != 1 or home.buffer is None or node.output in self.outputs:
            return False
        count = len(node.inputs)
        for other in joined:
            if other.axis != 1:
                continue
            parts = [self.homes[item].layout for item in other.inputs]
            _, starts = layouts.joined(parts, self.atom)
            for first in range(len(other.inputs) - count + 1):
                if other.inputs[first : first + count] == node.inputs:
                    self.buffers.remove(home.buffer)
                    home.buffer, home.parent = None, other.output
                    home.channel = starts[first]
                    return True
        return False

    def picture(self, value: g.Value) -> Picture:
        """A network input as a picture."""
        scale = self.scale(value) or 1.0
        image, line = self.pictures[value], self.picture_line
        return picture_of(self.config, self.precision, value, scale, image, line)

    # -- cubes --------------------------------------------------------------------------------

    def cube(self, value: g.Value) -> Cube:
        """The cube of a value, of the picture that is worked on."""
        home = self.homes[value]
        _, _, height, width = value.shape
        layout = home.layout
        scale = self.scale(value) if home.precision != FP16 else (home.coded or 1.0)
        atom = self.config.memory_atom
        if home.buffer is not None:
            shape = (layout.channels, *home.room(value))
            size = cube_bytes(self.config, home.precision, shape)
            positions = layout.positions
            cube = packed(home.buffer, self.config, home.precision, shape, positions, scale)
            return replace(
                cube,
                offset=self.image * size,
                height=height,
                width=width,
                zero=self.zeros.get(value, 0),
            )
        assert home.parent is not None
        whole = self.cube(home.parent)
        if home.flat:
            return replace(
                whole,
                channels=layout.channels,
                height=height,
                width=width,
                line=width * atom,
                surface=width * height * atom,
                positions=layout.positions,
                scale=scale,
                zero=self.zeros.get(value, 0),
            )
        first = home.channel // whole.per_atom
        part = replace(
            whole,
            offset=whole.offset + first * whole.surface,
            channels=layout.channels,
            positions=layout.positions,
            scale=scale,
            zero=self.zeros.get(value, 0),
        )
        return part.box(home.line, height, home.pixel, width)

    def temporary(
        self, name: str, precision: int, layout: Layout, size: tuple[int, int], scale: float
    ) -> Cube:
        """A cube for one operation."""
        shape = (layout.channels, *size)
        buffer = Buffer(name, cube_bytes(self.config, precision, shape))
        self.buffers.append(buffer)
        return packed(buffer, self.config, precision, shape, layout.positions, scale)
