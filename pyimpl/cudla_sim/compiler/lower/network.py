"""A whole network: the operations of all passes, in order."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cudla_sim.nvdla.facts.configs import HardwareConfig
from cudla_sim.nvdla.facts.precisions import FP16, INT16_TOP, TOPS

from .. import graph as g
from ..errors import Refusal, Refused
from ..formats import Formats
from ..legalise.nodes import GatherLines, Interleave, KernelConv, View
from ..options import FLYING
from . import at_once, conv, convert, layouts, moves, pictures, planes, pool, sdp, zeros
from .at_once import ALONE, Together
from .cubes import Buffer, Cube, Values, cube_bytes, packed
from .fit import Fit, Limit
from .homes import Homes
from .layouts import Layout
from .onward import Pooling
from .passes import Former, Pass
from .task import Task


@dataclass(eq=False)
class Network:
    """Lowers legal nodes; results are in *task*."""

    config: HardwareConfig
    precision: int
    nodes: list[g.Node]
    inputs: list[g.Value]
    outputs: list[g.Value]
    scales: dict[g.Value, float]
    formats: Formats
    means: dict[g.Value, NDArray[Any]] = field(default_factory=dict)
    spans: dict[g.Value, tuple[float, float]] = field(default_factory=dict)
    without: tuple[str, ...] = ()
    """Optimisations that are left out."""
    batches: bool = True
    """Convolutions may take several pictures at once, where the hardware can."""
    winograd: bool = False
    picture_line: int = 64
    """Convolutions may be in Winograd mode, where that takes less time."""
    task: Task = field(init=False)
    homes: Homes = field(init=False)
    passes: list[Pass] = field(default_factory=list)
    input_buffers: list[Buffer] = field(default_factory=list)
    output_buffers: list[Buffer] = field(default_factory=list)
    emulated: g.Softmax | None = None
    emulated_sources: list[Cube] = field(default_factory=list)
    """What the host's softmax reads, a cube a picture."""
    ranges: dict[g.Value, range] = field(default_factory=dict)
    """Which operations write a value."""
    _pooled: dict[g.Value, g.Value] = field(default_factory=dict)
    """Results that are pooled on the fly, with what becomes of them; that, too, with itself."""

    def __post_init__(self) -> None:
        self.task = Task(self.config, self.without)
        self.homes = Homes(
            self.config,
            self.precision,
            self.inputs,
            self.outputs,
            set(self.formats.halves),
            self.scales,
            self.winograd,
            self.formats.pictures,
            picture_line=self.picture_line,
        )

    def form(self) -> None:
        """Group nodes into passes; a softmax at the end is the host's."""
        nodes = list(self.nodes)
        if nodes and isinstance(nodes[-1], g.Softmax):
            last = nodes.pop()
            assert isinstance(last, g.Softmax)
            self.emulated = last
        readers: dict[g.Value, list[g.Node]] = {}
        for node in self.nodes:
            for value in set(node.inputs):
                readers.setdefault(value, []).append(node)
        former = Former(self.config, self.precision, self.formats.kept, self.outputs, readers)
        self.passes = former.form(nodes)
        self._check_pictures()

    def zero_points(self) -> None:
        """Let integers other than 0 mean 0 where that makes steps finer."""
        kept = {*self.inputs, *self.outputs}
        if self.emulated is not None:
            kept.update((*self.emulated.inputs, self.emulated.output))
        for value, (scale, zero) in zeros.choose(
            self.passes, kept, self.scales, self.spans
        ).items():
            self.scales[value], self.homes.zeros[value] = scale, zero

    def _check_pictures(self) -> None:
        """Only convolutions read pictures."""
        found = []
        for item in self.passes:
            for value in self.formats.pictures.keys() & set(item.head.inputs):
                why = pictures.reason(item.head, self.homes.picture(value))
                if item.precision != self.precision:
                    why = "a layer in fp16 reads no int8 picture"
                if why is not None:
                    cure = f"take the feature format for {value.name}"
                    found.append(Refusal(item.head.name, item.head.kind, why, cure))
        if found:
            raise Refused(found)

    def arrange(self) -> None:
        """Decide where everything lives."""
        homes = self.homes
        homes.arrange(self.passes)
        self.input_buffers = [self._bound(value) for value in self.inputs]
        for value in self.outputs:
            home = homes.homes.get(value, None)
            buffer = None if home is None else home.buffer
            wanted = self.port_precision(value)
            direct = (
                home is not None
                and buffer is not None
                and value not in self.inputs
                and value not in self.formats.planes
                and home.layout.dense
                and home.precision == wanted
                and home.coded is None
                and buffer not in self.output_buffers
            )
            if not direct or buffer is None:
                size = cube_bytes(self.config, wanted, value.shape[1:]) * value.shape[0]
                if value in self.formats.planes:
                    size = planes.strides(value.shape, wanted)[2] * value.shape[0]
                buffer = Buffer(value.name, size)
            elif buffer in homes.buffers:
                homes.buffers.remove(buffer)
            self.output_buffers.append(buffer)

    def _bound(self, value: g.Value) -> Buffer:
        """The memory of an input; behind planes, the feature cube is one of the activations."""
        own = self._own(value)
        if value not in self.formats.planes:
            return own
        self.homes.buffers.append(own)
        size = planes.strides(value.shape, self.precision)[2]
        return Buffer(f"{value.name} planes", size * value.shape[0])

    def _own(self, value: g.Value) -> Buffer:
        buffer = self.homes[value].buffer
        assert buffer is not None
        return buffer

    def port_precision(self, value: g.Value) -> int:
        """Precision of a network input or output."""
        return FP16 if value in self.formats.halves else self.precision

    def scale(self, value: g.Value) -> float:
        """Real value of one step of a value."""
        return self.homes.scale(value)

    # -- operations ---------------------------------------------------------------------------

    def lower(self) -> None:
        """Append the operations of all passes. Raises Refused."""
        images = self.inputs[0].shape[0] if self.inputs else 1
        for value, buffer in zip(self.inputs, self.input_buffers, strict=True):
            for image in range(value.shape[0] if value in self.formats.planes else 0):
                self.task.label = f"{value.name} from planes"
                self.homes.image = image
                planes.merge(self.task, value, buffer, self.homes.cube(value), image)
        refusals: list[Refusal] = []
        for item in self.passes:
            self.task.label = item.head.name
            start = len(self.task.ops)
            try:
                if item.output not in self._pooled:
                    count = max(images, item.output.shape[0])
                    together = self._together(item, count)
                    for image in range(1 if together.count > 1 else count):
                        self.homes.image = image
                        self._emit(item, together)
            except Refused as error:
                refusals += error.refusals
            made = self._pooled.get(item.output, item.output)
            self.ranges.setdefault(made, range(start, len(self.task.ops)))
        if refusals:
            raise Refused(refusals)
        if self.emulated is not None:
            value = self.emulated.inputs[0]
            for image in range(value.shape[0]):
                self.emulated_sources.append(self._contiguous(value, image))
        for value, buffer in zip(self.outputs, self.output_buffers, strict=True):
            if self.emulated is not None and value is self.emulated.output:
                continue
            for image in range(value.shape[0]):
                self.homes.image = image
                cube = self.homes.cube(value)
                if cube.buffer is not buffer:
                    self._deliver(value, cube, buffer, image)
        self.homes.image = 0

    def _together(self, item: Pass, count: int) -> Together:
        """The pictures of a batch, where a convolution may take several of them at once."""
        node, homes = item.head, self.homes
        if count == 1 or not self.batches or not self.config.batch:
            return ALONE
        if not isinstance(node, KernelConv) or item.fit is None or item.main in homes.pictures:
            return ALONE
        if homes[item.output].tiles is not None:
            return ALONE
        if homes.cube(item.output).loose or not at_once.possible(item.fit):
            return ALONE
        if any(homes[value].precision != item.precision for value in (item.main, item.output)):
            return ALONE
        return Together(count, self._apart(item.main), self._apart(item.output))

    def _apart(self, value: g.Value) -> int:
        """Bytes from a picture's cube to that of the next."""
        homes, image = self.homes, self.homes.image
        here = homes.cube(value).offset
        homes.image = image + 1
        there = homes.cube(value).offset
        homes.image = image
        return there - here

    def _contiguous(self, value: g.Value, image: int) -> Cube:
        """A value whose channels lie one after the other at each pixel, as softmax reads them."""
        self.task.label = f"{value.name} for the host"
        self.homes.image = image
        cube = self.homes.cube(value)
        close = cube.surfaces == 1 or cube.surface == self.config.memory_atom
        if cube.dense and close:
            return cube
        layout = layouts.dense(value.shape[1])
        size = (cube.height, cube.width)
        target = self.homes.temporary(value.name, cube.precision, layout, size, cube.scale)
        self._rearrange(cube, target)
        return target

    def _deliver(self, value: g.Value, source: Cube, buffer: Buffer, image: int) -> None:
        """Copy a value to the buffer of an output."""
        self.task.label = f"{value.name} to output"
        wanted = self.port_precision(value)
        _, channels, height, width = value.shape
        size = cube_bytes(self.config, wanted, (channels, height, width))
        scale = 1.0 if wanted == FP16 else source.scale
        layout = layouts.dense(channels)
        target = packed(buffer, self.config, wanted, (channels, height, width), None, scale)
        target = replace(target, offset=image * size)
        if value in self.formats.planes:
            target = self.homes.temporary(value.name, wanted, layout, (height, width), scale)
        self._copy_out(value, source, target, layout)
        if value in self.formats.planes:
            planes.split(self.task, value, target, buffer, image)

    def _copy_out(self, value: g.Value, source: Cube, target: Cube, layout: Layout) -> None:
        """Bring a value into the precision and order of channels of an output."""
        wanted = target.precision
        if wanted == FP16 and (source.precision != FP16 or source.scale != 1.0):
            dense = self._aligned(source, layout, value.name)
            if dense.precision != FP16:
                dense = convert.count(self.task, self.homes, dense)
            convert.real(self.task, dense, target)
            return
        self._rearrange(source, target)

    def _rearrange(self, source: Cube, target: Cube) -> None:
        """Copy channels to where another cube has them."""
        if np.array_equal(source.positions, target.positions):
            sdp.copy(self.task, source.whole(), replace(target, channels=source.channels).whole())
            return
        if (source.scale, source.zero) == (target.scale, target.zero):  # the integers themselves
            source, target = replace(source, zero=0), replace(target, zero=0)
        count = len(source.positions)
        node = KernelConv(
            name=self.task.label,
            inputs=[],
            output=g.Value("", (1, count, source.height, source.width)),
            weights=np.ones((count, 1, 1, 1), np.float32),
        )
        fit = Fit(self.config, source.precision, True, count)
        values = Values(lambda _: source, lambda _: source.scale)
        exact = replace(source, scale=1.0), replace(target, scale=target.scale / source.scale)
        if source.precision != FP16:
            exact = source, target
        conv.emit(self.task, node, fit, exact[0], exact[1], values)

    def _aligned(self, cube: Cube, layout: Layout, name: str) -> Cube:
        """The cube itself, or a copy with its channels where *layout* has them."""
        if np.array_equal(cube.positions, layout.positions):
            return cube
        size = (cube.height, cube.width)
        target = self.homes.temporary(
            f"{name} rearranged", cube.precision, layout, size, cube.scale
        )
        target = replace(target, zero=cube.zero)
        self._rearrange(cube, target)
        return target

    def _emit(self, item: Pass, together: Together = ALONE) -> None:
        node, task, homes = item.head, self.task, self.homes
        if isinstance(node, g.Concat):
            self._concat(node)
            return
        if isinstance(node, g.Slice | View) and homes[item.output].buffer is None:
            return
        source, target = homes.cube(item.main), homes.cube(item.output)
        if item.fit is not None:
            self._sdp(item, source, target, together)
        elif isinstance(node, g.Slice):
            base = homes[item.main].layout
            _, first = layouts.part(base, node.starts[0], node.output.shape[1], homes.atom)
            piece, _ = source.channel_range(first, first + target.channels - 1)
            _, _, height, width = node.output.shape
            box = piece.box(node.starts[1], height, node.starts[2], width)
            sdp.copy(task, box.whole(), target.whole())
        elif isinstance(node, g.Pool):
            pool.emit(task, node, source, target)
        elif isinstance(node, g.Lrn):
            self._lrn(node, source, target)
        elif isinstance(node, Interleave):
            moves.interleave(task, node, source, target)
        elif isinstance(node, GatherLines):
            rows = moves.is_identity(node.rows, source.height)
            columns = moves.is_identity(node.columns, source.width)
            middle = None
            if not rows and not columns:
                size = (len(node.rows), source.width)
                middle = homes.temporary(
                    f"{node.output.name} lines",
                    source.precision,
                    homes[item.main].layout,
                    size,
                    source.scale,
                )
                middle = replace(middle, zero=source.zero)
            moves.gather(task, node, source, target, middle)
        elif isinstance(node, g.Transpose):
            moves.transpose(task, source, target)
        else:
            raise Refused([Refusal(node.name, node.kind, "has no lowering")])

    def _lrn(self, node: g.Lrn, source: Cube, target: Cube) -> None:
        """LRN looks at neighbouring channels: without holes."""
        from . import lrn

        layout = layouts.dense(node.output.shape[1])
        plain = self._aligned(source, layout, node.name)
        if plain is source:
            lrn.emit(self.task, node, source, target)
            return
        size = (target.height, target.width)
        middle = self.homes.temporary(node.name, target.precision, layout, size, target.scale)
        lrn.emit(self.task, node, plain, middle)
        self._rearrange(middle, target)

    def _sdp(self, item: Pass, source: Cube, target: Cube, together: Together = ALONE) -> None:
        assert item.fit is not None
        homes, task = self.homes, self.task
        fit = replace(item.fit, nodes=list(item.fit.nodes))
        if fit.lut is not None:
            fit.seen = self._seen(fit.lut)
        task.label = " + ".join(dict.fromkeys(node.name for node in item.nodes))
        half = item.precision == FP16
        if half and source.precision != FP16:
            source = convert.count(task, homes, source)
        out = target
        if half and target.precision != FP16:
            layout = Layout(target.channels, target.positions)
            size = (target.height, target.width)
            out = homes.temporary(f"{item.output.name} fp16", FP16, layout, size, 1.0)
        layout = Layout(out.channels, out.positions)
        moved: dict[g.Value, Cube] = {}
        for operand in fit.operands:
            cube = homes.cube(operand.value)
            if half:
                cube = convert.to_half(task, homes, cube)
            moved[operand.value] = self._aligned(cube, layout, operand.value.name)
        for operand in fit.operands:
            zero = moved[operand.value].zero
            if zero and fit.zero_at(operand) == "x1":
                shift = 0.0 if fit.shift is None else fit.shift
                fit.shift = np.atleast_1d(shift - zero * homes.scale(operand.value))
        values = Values(lambda value: moved[value], homes.scale)
        self._limits(fit, out)
        pooling = self._pooling(item, out) if out is target else None
        flying = False
        if isinstance(item.head, KernelConv) and item.main in self.formats.pictures:
            picture = homes.picture(item.main)
            place = (self._own(item.main), homes.image * picture.size)
            mean = self.means.get(item.main)
            flying = pictures.emit(task, item.head, fit, picture, place, out, values, mean, pooling)
        elif isinstance(item.head, KernelConv) and homes[item.output].tiles is not None:
            from . import winograd

            tiles, mean = homes[item.output].tiles, self.means.get(item.main)
            assert tiles is not None
            winograd.emit(task, item.head, fit, source, out, values, tiles, mean)
        elif isinstance(item.head, KernelConv):
            mean = self.means.get(item.main)
            flying = conv.emit(task, item.head, fit, source, out, values, mean, pooling, together)
        elif pooling is not None and pooling.whole(out):
            flying = True
            sdp.emit(task, fit, source, out, values, onward=True)
            lines = pooling.lines(0, pooling.target.height, out.height)
            pooling.append(task, out, 0, out.channels - 1, lines)
        else:
            sdp.emit(task, fit, source, out, values)
        if flying and pooling is not None:
            after = pooling.node.output
            self._pooled.update({item.output: after, after: after})
        if out is not target:
            convert.to_integer(task, homes, out, target)

    def _pooling(self, item: Pass, made: Cube) -> Pooling | None:
        """What pools the result of a pass, if nobody else needs that."""
        readers = self.homes.readers.get(item.output, [])
        if FLYING in self.without or len(readers) != 1 or item.output in self.outputs:
            return None
        node = readers[0].head
        if not isinstance(node, g.Pool):
            return None
        target = self.homes.cube(node.output)
        kinds = [(cube.precision, cube.scale, cube.zero) for cube in (made, target)]
        same = kinds[0] == kinds[1]
        if not same or made.channels != target.channels or self.homes[node.output].coded:
            return None
        return Pooling(node, target, self._apart(node.output))

    def _seen(self, curve: g.Curve) -> tuple[float, float, float] | None:
        """Inputs and results of a curve in the data."""
        given, made = self.spans.get(curve.inputs[0]), self.spans.get(curve.output)
        if given is None:
            return None
        return *given, float(np.abs(made).max()) if made is not None else np.inf

    def _limits(self, fit: Fit, target: Cube) -> None:
        """Limits that the output's saturation does not keep get a stage."""
        if fit.precision == FP16:
            return
        stored = target.precision
        reach = TOPS[stored] if stored != FP16 else INT16_TOP
        top, bottom = (reach - target.zero) * target.scale, -reach * target.scale
        if target.zero:
            bottom = (-reach - 1 - target.zero) * target.scale
        for name, function, bound in (("high", "min", fit.high), ("low", "max", fit.low)):
            if not np.isfinite(bound):
                continue
            most = abs(bound) * 1e-6
            reached = top <= bound + most if name == "high" else bottom >= bound - most
            setattr(fit, name, np.inf if name == "high" else -np.inf)
            if not reached and not fit.limit(Limit(function, float(bound))):
                node = fit.nodes[-1]
                raise Refused(
                    [Refusal(node.name, node.kind, f"limit {bound} finds no stage of SDP")]
                )

    def _concat(self, node: g.Concat) -> None:
        """Copy what could not be written into place."""
        homes = self.homes
        target = homes.cube(node.output)
        parts = [homes[item].layout for item in node.inputs]
        _, starts = layouts.joined(parts, homes.atom)
        at = 0
        for item, start in zip(node.inputs, starts, strict=True):
            cube = homes.cube(item)
            if node.axis == 1:
                part, _ = target.channel_range(start, start + cube.channels - 1)
                out = replace(part, positions=cube.positions)
            else:
                y, x = (at, 0) if node.axis == 2 else (0, at)
                out = target.box(y, item.shape[2], x, item.shape[3])
            if (cube.buffer, cube.offset) != (out.buffer, out.offset):
                self.task.label = node.name
                self._rearrange(cube, out)
            at += item.shape[node.axis]
