"""A whole network: passes of nodes, cubes of values, operations in order.

Nodes that SDP can do behind one another form a pass with the convolution (or the tensor) in
front. Values live in cubes of their own, inside the cube of a concatenation, or are views.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np

from cudla_sim.nvdla.hw.configs import HardwareConfig, element_size

from .. import graph as g
from ..errors import Refusal, Refused
from ..legalise.nodes import GatherLines, Interleave, KernelConv, View
from . import conv, layouts, lrn, moves, pool, sdp
from .cubes import Buffer, Cube, cube_bytes
from .fit import Fit, Limit
from .layouts import Layout
from .task import Task

CHAIN = (g.Affine, g.Clip, g.PRelu, g.Curve, g.Binary)
_TOPS = (127, 32767, 65504)


@dataclass(eq=False)
class Pass:
    """A convolution or a tensor with the nodes that SDP does to it; or a single other node."""

    head: g.Node
    fit: Fit | None
    main: g.Value
    output: g.Value
    order: int


@dataclass(eq=False)
class Home:
    """Where a value's cube is: a buffer of its own, or channels, lines, pixels of a parent."""

    layout: Layout
    buffer: Buffer | None = None
    parent: g.Value | None = None
    channel: int = 0
    line: int = 0
    pixel: int = 0
    flat: bool = False


@dataclass(eq=False)
class Network:
    """Lowers legal nodes; results are in *task*."""

    config: HardwareConfig
    precision: int
    nodes: list[g.Node]
    inputs: list[g.Value]
    outputs: list[g.Value]
    scales: dict[g.Value, float]
    task: Task = field(init=False)
    homes: dict[g.Value, Home] = field(default_factory=dict)
    buffers: list[Buffer] = field(default_factory=list)
    input_buffers: list[Buffer] = field(default_factory=list)
    output_buffers: list[Buffer] = field(default_factory=list)
    emulated: g.Softmax | None = None
    image: int = 0
    passes: list[Pass] = field(default_factory=list)
    ranges: dict[g.Value, range] = field(default_factory=dict)
    """Which operations write a value."""

    def __post_init__(self) -> None:
        self.task = Task(self.config)
        self._readers: dict[g.Value, list[g.Node]] = {}
        for node in self.nodes:
            for value in set(node.inputs):
                self._readers.setdefault(value, []).append(node)

    @property
    def atom(self) -> int:
        """Channels of a memory atom."""
        return self.config.channels_per_atom(self.precision)

    # -- passes -------------------------------------------------------------------------------

    def form(self) -> None:
        """Group nodes into passes, in the order in which they will run."""
        if self.nodes and isinstance(self.nodes[-1], g.Softmax):
            last = self.nodes[-1]
            assert isinstance(last, g.Softmax)
            self.emulated = last
        order = {node: number for number, node in enumerate(self.nodes)}
        taken: set[g.Node] = set()
        for node in self.nodes:
            if node in taken or node is self.emulated:
                continue
            taken.add(node)
            if isinstance(node, KernelConv):
                fit = Fit(self.config, self.precision, True, len(node.weights))
                if np.any(node.bias):
                    fit.level = fit.level.__class__.X1
                found = Pass(node, fit, node.inputs[0], node.output, order[node])
            elif isinstance(node, CHAIN):
                found = self._chain(node, order[node])
            else:
                self.passes.append(Pass(node, None, node.inputs[0], node.output, order[node]))
                continue
            self._extend(found, order, taken)
            self.passes.append(found)
        self.passes.sort(key=lambda item: item.order)

    def _chain(self, node: g.Node, order: int) -> Pass:
        for main in dict.fromkeys((node.inputs[-1], node.inputs[0])):
            if main.shape != node.output.shape:
                continue
            fit = Fit(self.config, self.precision, False, main.shape[1])
            if fit.take(node, main):
                return Pass(node, fit, main, node.output, order)
        function = node.function if isinstance(node, g.Curve | g.Binary) else ""
        raise Refused([Refusal(node.name, node.kind, f"{function} does not fit into SDP")])

    def _extend(self, found: Pass, order: dict[g.Node, int], taken: set[g.Node]) -> None:
        """Take over readers as long as they fit and nobody else needs the value."""
        assert found.fit is not None
        while True:
            value = found.output
            readers = self._readers.get(value, [])
            if value in self.outputs or len(readers) != 1:
                return
            node = readers[0]
            if node in taken or not isinstance(node, CHAIN):
                return
            if node.output.shape != value.shape or node.inputs.count(value) != 1:
                return
            if not found.fit.take(node, value):
                return
            taken.add(node)
            found.output, found.order = node.output, order[node]

    # -- layouts and homes --------------------------------------------------------------------

    def arrange(self) -> None:
        """Decide for every stored value how its channels lie and where its cube is."""
        for value in self.inputs:
            buffer = self._buffer(value, value.name)
            self.input_buffers.append(buffer)
            self.homes[value] = Home(layouts.dense(value.shape[1]), buffer)
        for found in self.passes:
            self._home(found)
        self._join()
        for value in self.outputs:
            home = self.homes.get(value)
            free = home is not None and home.buffer is not None and value not in self.inputs
            if free and home is not None and home.layout.dense and home.buffer is not None:
                buffer = home.buffer
                if buffer in self.output_buffers:
                    buffer = self._buffer(value, value.name)
            else:
                buffer = self._buffer(value, value.name)
            if buffer in self.buffers:
                self.buffers.remove(buffer)
            self.output_buffers.append(buffer)

    def _buffer(
        self, value: g.Value, name: str, channels: int | None = None, kept: bool = False
    ) -> Buffer:
        shape = (channels or value.shape[1], value.shape[2], value.shape[3])
        size = cube_bytes(self.config, self.precision, shape) * value.shape[0]
        made = Buffer(name, size)
        if kept:
            self.buffers.append(made)
        return made

    def _home(self, found: Pass) -> None:
        node, value = found.head, found.output
        source = self.homes[found.main].layout
        atom = self.atom
        if isinstance(node, g.Concat):
            parts = [self.homes[item].layout for item in node.inputs]
            if node.axis == 1:
                layout, _ = layouts.joined(parts, atom)
            else:
                layout = parts[0]
        elif isinstance(node, g.Slice):
            layout, base = layouts.part(source, node.starts[0], value.shape[1], atom)
            self.homes[value] = Home(layout, None, found.main, base, node.starts[1], node.starts[2])
            return
        elif isinstance(node, View):
            if value.shape[2:] == (1, 1):
                _, _, height, width = found.main.shape
                layout = layouts.flattened(source, height, width, atom)
            else:
                layout = layouts.dense(value.shape[1])
            self.homes[value] = Home(layout, None, found.main, flat=True)
            return
        elif isinstance(node, KernelConv):
            layout = self._conv_layout(found, node)
        elif isinstance(node, Interleave):
            layout = layouts.dense(value.shape[1])
        elif found.fit is not None and not source.dense and found.fit.operands:
            layout = source
        else:
            layout = source
        buffer = self._buffer(value, value.name, layout.channels, kept=True)
        self.homes[value] = Home(layout, buffer)

    def _conv_layout(self, found: Pass, node: KernelConv) -> Layout:
        assert found.fit is not None
        operands = [self.homes[item.value].layout for item in found.fit.operands]
        if operands:
            return operands[0]
        source = self.cube(found.main)
        positions = conv.natural_positions(self.config, self.precision, node, source)
        return Layout(int(positions.max()) + 1, positions)

    def _join(self) -> None:
        """Let producers of concatenated values write into the concatenation's cube."""
        placed: set[g.Value] = set()
        joined: list[g.Concat] = []
        for found in reversed(self.passes):
            node = found.head
            if not isinstance(node, g.Concat):
                continue
            if self._inside(node, joined):
                continue
            joined.append(node)
            parts = [self.homes[item].layout for item in node.inputs]
            _, starts = layouts.joined(parts, self.atom)
            at = 0
            for number, item in enumerate(node.inputs):
                home = self.homes[item]
                free = home.buffer is not None and item not in placed
                mine = node.inputs.count(item) == 1 and item not in self.outputs
                alike = node.axis == 1 or home.layout.same(self.homes[node.output].layout)
                if free and mine and alike and item not in self.inputs:
                    placed.add(item)
                    if home.buffer in self.buffers:
                        self.buffers.remove(home.buffer)
                    home.buffer, home.parent = None, node.output
                    if node.axis == 1:
                        home.channel = starts[number]
                    elif node.axis == 2:
                        home.line = at
                    else:
                        home.pixel = at
                at += item.shape[node.axis]

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

    # -- cubes --------------------------------------------------------------------------------

    def scale(self, value: g.Value) -> float:
        """Real value of one step of a value."""
        return self.scales.get(value, 0.0 if self.precision == 2 else 1.0)

    def cube(self, value: g.Value) -> Cube:
        """The cube of a value, of the image that is worked on."""
        home = self.homes[value]
        _, _, height, width = value.shape
        layout, scale = home.layout, self.scale(value)
        atom = self.config.memory_atom
        if home.buffer is not None:
            line = width * atom
            surfaces = -(-layout.channels // self.atom)
            return Cube(
                home.buffer,
                self.config,
                self.precision,
                layout.channels,
                height,
                width,
                line,
                line * height,
                layout.positions,
                self.image * surfaces * line * height,
                scale,
            )
        assert home.parent is not None
        whole = self.cube(home.parent)
        if home.flat:
            if (whole.line, whole.surface) != (
                whole.width * atom,
                whole.width * whole.height * atom,
            ):
                raise AssertionError("a view of a cube that is not packed")
            return replace(
                whole,
                channels=layout.channels,
                height=height,
                width=width,
                line=width * atom,
                surface=width * height * atom,
                positions=layout.positions,
                scale=scale,
            )
        first = home.channel // self.atom
        part = replace(
            whole,
            offset=whole.offset + first * whole.surface,
            channels=layout.channels,
            positions=layout.positions,
            scale=scale,
        )
        return part.box(home.line, height, home.pixel, width)

    # -- operations ---------------------------------------------------------------------------

    def lower(self) -> None:
        """Append the operations of all passes."""
        images = self.inputs[0].shape[0] if self.inputs else 1
        for found in self.passes:
            self.task.label = found.head.name
            start = len(self.task.ops)
            for image in range(max(images, found.output.shape[0])):
                self.image = image
                self._emit(found)
            self.ranges[found.output] = range(start, len(self.task.ops))
        self.image = 0
        for value, buffer in zip(self.outputs, self.output_buffers, strict=True):
            if self.emulated is not None and value is self.emulated.output:
                continue
            for image in range(value.shape[0]):
                self.image = image
                cube = self.cube(value)
                if cube.buffer is not buffer:
                    self._deliver(value, cube, buffer)
        self.image = 0

    def _deliver(self, value: g.Value, source: Cube, buffer: Buffer) -> None:
        """Copy a value to the buffer of an output."""
        self.task.label = f"{value.name} to output"
        _, channels, height, width = value.shape
        line = width * self.config.memory_atom
        size = cube_bytes(self.config, self.precision, (channels, height, width))
        target = Cube(
            buffer,
            self.config,
            self.precision,
            channels,
            height,
            width,
            line,
            line * height,
            np.arange(channels),
            self.image * size,
            source.scale,
        )
        self._rearrange(source, target)

    def _rearrange(self, source: Cube, target: Cube) -> None:
        """Copy channels to where another cube has them."""
        if np.array_equal(source.positions, target.positions):
            sdp.copy(self.task, source.whole(), replace(target, channels=source.channels).whole())
            return
        count = len(source.positions)
        node = KernelConv(
            name=self.task.label,
            inputs=[],
            output=g.Value("", (1, count, source.height, source.width)),
            weights=np.ones((count, 1, 1, 1), np.float32),
            bias=np.zeros(count),
            first=np.arange(count),
        )
        fit = Fit(self.config, self.precision, True, count)
        values = sdp.Values(lambda _: source, lambda _: source.scale)
        conv.emit(self.task, node, fit, source, target, values)

    def _aligned(self, cube: Cube, layout: Layout, name: str) -> Cube:
        """The cube itself, or a copy with its channels where *layout* has them."""
        if np.array_equal(cube.positions, layout.positions):
            return cube
        size = cube_bytes(self.config, self.precision, (layout.channels, cube.height, cube.width))
        buffer = Buffer(f"{name} rearranged", size)
        self.buffers.append(buffer)
        line = cube.width * self.config.memory_atom
        target = Cube(
            buffer,
            self.config,
            self.precision,
            layout.channels,
            cube.height,
            cube.width,
            line,
            line * cube.height,
            layout.positions,
            0,
            cube.scale,
        )
        self._rearrange(cube, target)
        return target

    def _emit(self, found: Pass) -> None:
        node, task = found.head, self.task
        if isinstance(node, g.Slice | View):
            return
        if isinstance(node, g.Concat):
            self._concat(node)
            return
        source, target = self.cube(found.main), self.cube(found.output)
        if found.fit is not None:
            self._sdp(found, source, target)
        elif isinstance(node, g.Pool):
            pool.emit(task, node, source, target)
        elif isinstance(node, g.Lrn):
            plain = self._aligned(source, layouts.dense(node.output.shape[1]), node.name)
            if plain is not source:
                middle = self._temporary(node.output, layouts.dense(node.output.shape[1]))
                lrn.emit(task, node, plain, middle)
                self._rearrange(middle, target)
            else:
                lrn.emit(task, node, source, target)
        elif isinstance(node, Interleave):
            moves.interleave(task, node, source, target)
        elif isinstance(node, GatherLines):
            both = not moves.is_identity(node.rows, source.height) and not moves.is_identity(
                node.columns, source.width
            )
            middle_cube = None
            if both:
                shape = (1, found.main.shape[1], len(node.rows), source.width)
                value = g.Value(f"{node.output.name} lines", shape)
                whole = self._temporary(value, self.homes[found.main].layout)
                middle_cube = replace(whole, scale=source.scale)
            moves.gather(task, node, source, target, middle_cube)
        elif isinstance(node, g.Transpose):
            moves.transpose(task, source, target)
        else:
            raise Refused([Refusal(node.name, node.kind, "has no lowering")])

    def _temporary(self, value: g.Value, layout: Layout) -> Cube:
        """A cube for one operation."""
        _, _, height, width = value.shape
        size = cube_bytes(self.config, self.precision, (layout.channels, height, width))
        buffer = Buffer(value.name, size)
        self.buffers.append(buffer)
        line = width * self.config.memory_atom
        return Cube(
            buffer,
            self.config,
            self.precision,
            layout.channels,
            height,
            width,
            line,
            line * height,
            layout.positions,
            0,
            self.scale(value),
        )

    def _sdp(self, found: Pass, source: Cube, target: Cube) -> None:
        assert found.fit is not None
        fit = replace(found.fit, nodes=list(found.fit.nodes))
        layout = Layout(target.channels, target.positions)
        moved: dict[g.Value, Cube] = {}
        for operand in fit.operands:
            cube = self.cube(operand.value)
            moved[operand.value] = self._aligned(cube, layout, operand.value.name)
        values = sdp.Values(lambda value: moved[value], self.scale)
        self._limits(fit, target)
        self.task.label = " + ".join(
            dict.fromkeys([found.head.name, *[node.name for node in fit.nodes]])
        )
        if isinstance(found.head, KernelConv):
            conv.emit(self.task, found.head, fit, source, target, values)
        else:
            sdp.emit(self.task, fit, source, target, values)

    def _limits(self, fit: Fit, target: Cube) -> None:
        """Limits that the output's saturation does not keep get a stage."""
        if self.precision == 2:
            return
        top = _TOPS[self.precision] * target.scale
        for name, function, bound in (("high", "min", fit.high), ("low", "max", fit.low)):
            if not np.isfinite(bound):
                continue
            reached = top <= bound * (1 + 1e-6) if name == "high" else -top >= bound * (1 + 1e-6)
            setattr(fit, name, np.inf if name == "high" else -np.inf)
            if reached:
                continue
            if not fit.limit(Limit(function, float(bound))):
                node = fit.nodes[-1]
                raise Refused(
                    [Refusal(node.name, node.kind, f"limit {bound} finds no stage of SDP")]
                )

    def _concat(self, node: g.Concat) -> None:
        """Copy what could not be written into place."""
        target = self.cube(node.output)
        parts = [self.homes[item].layout for item in node.inputs]
        _, starts = layouts.joined(parts, self.atom)
        at = 0
        for item, start in zip(node.inputs, starts, strict=True):
            cube = self.cube(item)
            if node.axis == 1:
                part, _ = target.channel_range(start, start + cube.channels - 1)
                out = replace(part, positions=cube.positions)
            else:
                y, x = (at, 0) if node.axis == 2 else (0, at)
                out = target.box(y, item.shape[2], x, item.shape[3])
            if (cube.buffer, cube.offset) != (out.buffer, out.offset):
                self.task.label = node.name
                self._requantise(cube, out)
            at += item.shape[node.axis]

    def _requantise(self, source: Cube, target: Cube) -> None:
        if np.array_equal(source.positions, target.positions):
            sdp.copy(self.task, source.whole(), replace(target, channels=source.channels).whole())
        else:
            self._rearrange(source, target)

    def bytes_per_element(self) -> int:
        """Bytes of one element."""
        return element_size(self.precision)
